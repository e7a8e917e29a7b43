// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v4 -kiln-target -kiln-kernel | FileCheck %s

// 16 rows meet each vector of the right side at once: one pass over weights that come from memory, asked for ahead into both caches.
// CHECK: kernel.weight @{{.*}} : memref<2048xf32> = {{.*}} packed <shape = [2, 64, 16], map = (d0, d1, d2) -> (d1, d0 * 16 + d2)>
// CHECK-LABEL: func.func private @gemm_tiled_0
// CHECK-SAME: kernel.algorithm = "gemm_tiled 28x16"
// CHECK: %{{.*}}:16 = scf.for
// CHECK: vector.load
// CHECK: memref.prefetch {{.*}}, read, locality<3>, data
// CHECK: memref.prefetch {{.*}}, read, locality<2>, data
// CHECK-COUNT-16: vector.broadcast
// CHECK-NOT: vector.broadcast
// CHECK: kernel.launch @gemm_tiled_0
module attributes {nn.model = "m"} {
  func.func @main(%a: tensor<16x64xf32> {nn.name = "a"}) -> (tensor<16x32xf32> {nn.name = "y"}) {
    %w = nn.constant dense<1.0> : tensor<64x32xf32>
    %c = nn.matmul %a, %w : tensor<16x64xf32>, tensor<64x32xf32> -> tensor<16x32xf32>
    return %c : tensor<16x32xf32>
  }
}
