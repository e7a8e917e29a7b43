// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v4 -kiln-target -kiln-kernel | FileCheck %s

// The constant right side lies in panels of the tile's 32 columns, the last one of a single vector. 29 rows are cut into 10, 10 and 9, not 14, 14 and 1.
// CHECK: kernel.weight @[[W:.*]] : memref<3072xf32> = {{.*}} packed <shape = [2, 64, 32], map = (d0, d1, d2) -> (d1, d0 * 32 + d2), tail = [0, 16]>
// CHECK-LABEL: func.func private @gemm_tiled_0
// CHECK-SAME: kernel.algorithm = "gemm_tiled 14x32"
// CHECK: scf.if
// CHECK: %{{.*}}:20 = scf.for
// CHECK-COUNT-2: vector.load
// CHECK-COUNT-10: vector.broadcast
// CHECK: vector.fma
// CHECK-NOT: vector.broadcast
// CHECK: scf.yield
// CHECK: %{{.*}}:10 = scf.for
// CHECK: scf.if
// CHECK: %{{.*}}:18 = scf.for
// CHECK: kernel.launch @gemm_tiled_0
module attributes {nn.model = "m"} {
  func.func @main(%a: tensor<29x64xf32> {nn.name = "a"}) -> (tensor<29x33xf32> {nn.name = "y"}) {
    %w = nn.constant dense<1.0> : tensor<33x64xf32>
    %t = nn.transpose %w [1, 0] : tensor<33x64xf32> -> tensor<64x33xf32>
    %c = nn.matmul %a, %t : tensor<29x64xf32>, tensor<64x33xf32> -> tensor<29x33xf32>
    %r = nn.relu %c : tensor<29x33xf32>
    return %r : tensor<29x33xf32>
  }
}
