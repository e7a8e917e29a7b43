// The form that `kiln verify` compares with: one operation a group, the least special kernel of the table.
// RUN: kiln-opt %s --nn-form-groups=fuse=false --nn-choose-kernels=plainest | FileCheck %s
// CHECK: nn.group{{.*}}kernel = "matmul_loops"{{.*}}>, reason = "the least special kernel was asked for"
// CHECK: nn.group{{.*}}kernel = "loops"
// CHECK-NEXT: {{^}} {{.*}}bb0
// CHECK-NEXT: nn.relu
// CHECK-NEXT: nn.yield

// RUN: kiln-opt %s --nn-form-groups --nn-choose-kernels | FileCheck %s --check-prefix=FUSED
// FUSED: nn.group{{.*}}kernel = "gemm_tiled"
// FUSED-NOT: nn.group

module attributes {kernel.target = #kernel.target<name = "test", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64", vector_bits = 128, registers = 16, l1 = 32768, l2 = 524288, l3 = 4194304, features = []>} {
  func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
    %product = nn.matmul %x, %w : tensor<8x16xf32>, tensor<16x4xf32> -> tensor<8x4xf32>
    %result = nn.relu %product : tensor<8x4xf32>
    return %result : tensor<8x4xf32>
  }
}
