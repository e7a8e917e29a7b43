// The form that `kiln verify` compares with: one operation a group, the least special kernel of the table.
// RUN: kiln-opt %s --kiln-set-target=name=generic --nn-form-groups=fuse=false --nn-choose-kernels=plainest | FileCheck %s
// CHECK: nn.group{{.*}}kernel = "matmul_loops"{{.*}}>, reason = "the least special kernel was asked for"
// CHECK: nn.group{{.*}}kernel = "loops"
// CHECK-NEXT: {{^}} {{.*}}bb0
// CHECK-NEXT: nn.relu
// CHECK-NEXT: nn.yield

// RUN: kiln-opt %s --kiln-set-target=name=generic --nn-form-groups --nn-choose-kernels | FileCheck %s --check-prefix=FUSED
// FUSED: nn.group{{.*}}kernel = "gemm_tiled"
// FUSED-NOT: nn.group

module {
  func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
    %product = nn.matmul %x, %w : tensor<8x16xf32>, tensor<16x4xf32> -> tensor<8x4xf32>
    %result = nn.relu %product : tensor<8x4xf32>
    return %result : tensor<8x4xf32>
  }
}
