// RUN: kiln-opt %s -kiln-target -kiln-kernel | FileCheck %s

// 100 rows are eight blocks: the first of them ask for the panels of the next chunk, a line every four steps, while they read this one.
// CHECK-LABEL: func.func private @gemm_tiled_0
// CHECK-SAME: kernel.algorithm = "gemm_tiled 14x32"
// CHECK: %[[ASKS:.*]] = arith.cmpi slt, %{{.*}}, %c8{{.*}} : index
// CHECK: %[[FIRST:.*]] = arith.select %[[ASKS]], %{{.*}}, %{{.*}} : index
// CHECK: %{{.*}}:26 = scf.for
// CHECK-COUNT-2: memref.prefetch {{.*}}, read, locality<3>, data
// CHECK: %[[LINE:.*]] = arith.addi %[[FIRST]], %{{.*}} : index
// CHECK: memref.prefetch %{{.*}}[%[[LINE]]], read, locality<2>, data
// CHECK-COUNT-13: vector.broadcast
// CHECK: kernel.launch @gemm_tiled_0
module attributes {nn.model = "m", kernel.target = #kernel.target<name = "wide", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, features = ["avx512f"]>} {
  func.func @main(%a: tensor<100x64xf32> {nn.name = "a"}) -> (tensor<100x64xf32> {nn.name = "y"}) {
    %w = nn.constant dense<1.0> : tensor<64x64xf32>
    %c = nn.matmul %a, %w : tensor<100x64xf32>, tensor<64x64xf32> -> tensor<100x64xf32>
    return %c : tensor<100x64xf32>
  }
}
