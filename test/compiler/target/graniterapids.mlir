// The target of Intel's Xeon CPUs since 2024 has an instruction on tiles of f16, too: models of f16 have it, and f32 ones that ask for f16.
// REQUIRES: x86-registered
// RUN: rm -rf %t && mkdir %t
// RUN: kiln %s --target=graniterapids --compute=f16 --emit=lib,cpp -o %t/out --why 2>&1 | FileCheck %s --check-prefix=WHY
// WHY-DAG: gemm_tile_steps 32x32{{.*}} 32 products of f16 and f16 for each sum, by tile_f16{{$}}
// WHY-DAG: gemm_tile_steps 32x32{{.*}} by tile_f16; factors rounded to f16, each within 2^-11 of itself
// WHY-DAG: gemm_tile_steps 32x32{{.*}} by tile_bf16
// RUN: llvm-objdump -d --no-show-raw-insn %t/out/libm.a | grep -oE 'tdp[a-z0-9]+' | sort | uniq -c | FileCheck %s --check-prefix=CODE
// CODE: tdpbf16ps
// CODE-NEXT: tdpfp16ps
// RUN: cat %t/out/src/m*.cpp | grep -c tile_f16
// RUN: bash -c 'for f in %t/out/src/m*.cpp; do %clangxx -std=c++17 -O1 -march=graniterapids -Wall -Wextra -Werror -I%t/out/src -I%runtime_include -c $f -o %t/m.o || exit 1; done'

// The library asks the CPU for them; one of 2023 computes the same step in C++.
// RUN: grep 'kiln::cpu::with(.*amx_fp16.*)' %t/out/src/m_run.cpp
// RUN: bash -c 'for f in %t/out/src/m*.cpp; do %clangxx -std=c++17 -O1 -march=sapphirerapids -Wall -Wextra -Werror -I%t/out/src -I%runtime_include -c $f -o %t/m.o || exit 1; done'
module attributes {nn.model = "m"} {
  func.func @main(%a: tensor<64x256xf16> {nn.name = "a"}, %b: tensor<64x256xbf16> {nn.name = "b"}, %x: tensor<64x256xf32> {nn.name = "x"})
      -> (tensor<64x64xf16> {nn.name = "y"}, tensor<64x64xf32> {nn.name = "z"}, tensor<64x64xf32> {nn.name = "c"}) {
    %v = nn.constant dense<3.0> : tensor<256x64xf16>
    %w = nn.constant dense<3.0> : tensor<256x64xbf16>
    %f = nn.constant dense<0.1> : tensor<256x64xf32>
    %y = nn.matmul %a, %v : tensor<64x256xf16>, tensor<256x64xf16> -> tensor<64x64xf16>
    %z = nn.matmul %b, %w : tensor<64x256xbf16>, tensor<256x64xbf16> -> tensor<64x64xf32>
    %e = nn.relu %x : tensor<64x256xf32>
    %c = nn.matmul %e, %f : tensor<64x256xf32>, tensor<256x64xf32> -> tensor<64x64xf32>
    return %y, %z, %c : tensor<64x64xf16>, tensor<64x64xf32>, tensor<64x64xf32>
  }
}
