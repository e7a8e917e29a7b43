// How far apart the rows of an operand lie decides the tile of the product that reads it, so a place that the operand gets in a larger buffer does, too: rows of
// 1024 elements share the sets of the first-level cache.
// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v4 --nn-form-groups --nn-choose-kernels | FileCheck %s --check-prefix=DENSE
// DENSE: plan = #kernel.plan<kernel = "gemm_tiled", tile = [14, 2, 16], chunk = 262144, streams = 8{{[^>]*}}>
// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v4 --nn-form-groups --nn-choose-kernels --nn-place-results | FileCheck %s --check-prefix=PLACED
// PLACED: places = {{.*}}plan = #kernel.plan<kernel = "gemm_tiled", tile = [8, 3, 16], chunk = 262144, streams = 8{{[^>]*}}>
// RUN: sed 's/"other work" = #kernel.plan<kernel = "loops">/"matmul f32[100, 512] f32[512, 64]* -> f32[100, 64]" = #kernel.plan<kernel = "gemm_tiled", tile = [6, 4, 16]>/' %s > %t.mlir
// RUN: kiln-opt %t.mlir --kiln-set-target=name=x86-64-v4 --nn-form-groups --nn-choose-kernels --nn-place-results | FileCheck %s --check-prefix=MEASURED
// MEASURED: plan = #kernel.plan<kernel = "gemm_tiled", tile = [6, 4, 16], chunk = 262144, streams = 8{{[^>]*}}, measured = true>
module attributes {kernel.profile = {"other work" = #kernel.plan<kernel = "loops">}} {
  func.func @main(%x: tensor<100x512xf32>) -> (tensor<100x64xf32>, tensor<100x1024xf32>) {
    %w = nn.constant dense<1.0> : tensor<512x64xf32>
    %a = nn.relu %x : tensor<100x512xf32>
    %b = nn.exp %x : tensor<100x512xf32>
    %y = nn.matmul %a, %w : tensor<100x512xf32>, tensor<512x64xf32> -> tensor<100x64xf32>
    %c = nn.concat %a, %b axis 1 : (tensor<100x512xf32>, tensor<100x512xf32>) -> tensor<100x1024xf32>
    return %y, %c : tensor<100x64xf32>, tensor<100x1024xf32>
  }
}
