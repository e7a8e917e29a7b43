// RUN: kiln-opt %s --nn-emulate-factors="types=wide(MatMul)=bf16,c=f16" | FileCheck %s
// RUN: not kiln-opt %s --nn-emulate-factors=types=wide=bf16x2 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not kiln-opt %s --nn-emulate-factors=types=bf16 2>&1 | FileCheck %s --check-prefix=NODE

// TYPE: error: emulated factors 'wide=bf16x2': expected NODE=TYPE, where TYPE is bf16 or f16
// NODE: error: emulated factors 'bf16': expected NODE=TYPE, where TYPE is bf16 or f16

// Only products of that node, and both of their sides.
// CHECK-LABEL: func @main
// CHECK: %[[W:.*]] = nn.constant
// CHECK: %[[X:.*]] = nn.cast %{{.*}} : tensor<4x8xf32> -> tensor<4x8xbf16>
// CHECK: %[[LEFT:.*]] = nn.cast %[[X]] : tensor<4x8xbf16> -> tensor<4x8xf32>
// CHECK: %[[V:.*]] = nn.cast %[[W]] : tensor<8x16xf32> -> tensor<8x16xbf16>
// CHECK: %[[RIGHT:.*]] = nn.cast %[[V]] : tensor<8x16xbf16> -> tensor<8x16xf32>
// CHECK: %[[R:.*]] = nn.matmul %[[LEFT]], %[[RIGHT]] : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
// CHECK-NOT: nn.cast
// CHECK: nn.add %[[R]], %[[R]]
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %w = nn.constant dense<1.001> : tensor<8x16xf32>
  %r = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32> loc("wide(MatMul)")
  %s = nn.add %r, %r : tensor<4x16xf32> loc("wide(MatMul)")
  %t = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32> loc("other(MatMul)")
  return %s, %t : tensor<4x16xf32>, tensor<4x16xf32>
}
