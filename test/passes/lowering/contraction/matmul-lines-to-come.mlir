// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v4 -kiln-target -kiln-kernel | FileCheck %s

// 100 rows are eight blocks: the first of them ask for the panels of the next chunk, a line every four steps, while they read this one.
// The weight of 16 KiB stays in the first-level cache for all of them: the loop asks for none of its own lines. Of 64 KiB it does.
// CHECK-LABEL: func.func private @gemm_tiled_0
// CHECK-SAME: kernel.algorithm = "gemm_tiled 14x32"
// CHECK: %[[ASKS:.*]] = arith.cmpi slt, %{{.*}}, %c8{{.*}} : index
// CHECK: %[[FIRST:.*]] = arith.select %[[ASKS]], %{{.*}}, %{{.*}} : index
// CHECK: %{{.*}}:26 = scf.for
// CHECK-NOT: locality<3>
// CHECK: %[[LINE:.*]] = arith.addi %[[FIRST]], %{{.*}} : index
// CHECK: memref.prefetch %{{.*}}[%[[LINE]]], read, locality<2>, data
// CHECK-COUNT-13: vector.broadcast
// CHECK-LABEL: func.func private @gemm_tiled_1
// CHECK: scf.for
// CHECK-COUNT-2: memref.prefetch {{.*}}, read, locality<3>, data
module attributes {nn.model = "m"} {
  func.func @main(%a: tensor<100x64xf32> {nn.name = "a"}, %b: tensor<100x256xf32> {nn.name = "b"})
      -> (tensor<100x64xf32> {nn.name = "y"}, tensor<100x64xf32> {nn.name = "z"}) {
    %w = nn.constant dense<1.0> : tensor<64x64xf32>
    %c = nn.matmul %a, %w : tensor<100x64xf32>, tensor<64x64xf32> -> tensor<100x64xf32>
    %v = nn.constant dense<1.0> : tensor<256x64xf32>
    %d = nn.matmul %b, %v : tensor<100x256xf32>, tensor<256x64xf32> -> tensor<100x64xf32>
    return %c, %d : tensor<100x64xf32>, tensor<100x64xf32>
  }
}
