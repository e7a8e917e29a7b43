// The target of Intel's Xeon CPUs since 2023: products of bytes and of bf16 are computed by instructions on tiles. The innermost loops load tiles and multiply
// them; the sums leave their registers behind the loops only, and the tiles are given back at the end of each task.
// REQUIRES: x86-registered, gcc
// RUN: rm -rf %t && mkdir %t
// RUN: kiln %s --target=sapphirerapids --emit=lib,cpp -o %t/out --why 2>&1 | FileCheck %s --check-prefix=WHY
// WHY-DAG: gemm_tile_steps 32x32{{.*}} by tile_u8s8
// WHY-DAG: gemm_tile_steps 32x32{{.*}} by tile_bf16
// WHY-DAG: conv_tile_steps 32x32{{.*}} by tile_u8s8
// RUN: %cmake -G Ninja -S %t/out/src -B %t/build -DCMAKE_CXX_COMPILER=%gxx -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" > %t/log && %cmake --build %t/build >> %t/log
// RUN: %python %S/Inputs/tiles_in_loops.py %t/out/libm.a %t/build/libm.a | FileCheck %s
// CHECK-COUNT-2: tdpbusd, tdpbf16ps: every inner loop multiplies two by two tiles

// The library asks the CPU, and the operating system, whether it can run it; if not, it takes the level without tiles.
// RUN: grep '"sapphirerapids", kiln::cpu::with(.*amx_tile.*)' %t/out/src/m_run.cpp
// RUN: grep '"sapphirerapids-without-tiles", kiln::cpu::with(' %t/out/src/m_run.cpp | not grep amx
// RUN: grep choose_target %t/out/src/m_run.cpp
module attributes {nn.model = "m"} {
  func.func @main(%a: tensor<64x256xui8> {nn.name = "a"}, %b: tensor<64x256xbf16> {nn.name = "b"}, %x: tensor<1x64x16x16xui8> {nn.name = "x"})
      -> (tensor<64x64xi32> {nn.name = "y"}, tensor<64x64xf32> {nn.name = "z"}, tensor<1x32x14x14xi32> {nn.name = "c"}) {
    %v = nn.constant dense<3> : tensor<256x64xi8>
    %w = nn.constant dense<3.0> : tensor<256x64xbf16>
    %f = nn.constant dense<-5> : tensor<32x64x3x3xi8>
    %y = nn.matmul %a, %v : tensor<64x256xui8>, tensor<256x64xi8> -> tensor<64x64xi32>
    %z = nn.matmul %b, %w : tensor<64x256xbf16>, tensor<256x64xbf16> -> tensor<64x64xf32>
    %c = nn.conv %x, %f strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
      : tensor<1x64x16x16xui8>, tensor<32x64x3x3xi8> -> tensor<1x32x14x14xi32>
    return %y, %z, %c : tensor<64x64xi32>, tensor<64x64xf32>, tensor<1x32x14x14xi32>
  }
}
