// What several operations dequantise is stored as bytes, and each of them dequantises it while it loads; one user goes on in registers.
// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 -kiln-graph -kiln-target | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: %[[Q:.*]] = nn.group(%arg0, {{.*}}gemm_bytes{{.*}} -> tensor<9x8xui8>
// CHECK: nn.matmul
// CHECK: nn.quantize
// CHECK-NOT: nn.dequantize
// CHECK: nn.yield %{{.*}} : tensor<9x8xui8>
// CHECK: nn.group(%[[Q]]{{.*}} -> tensor<9x8xf32>
// CHECK: nn.dequantize
// CHECK: nn.exp
// CHECK: nn.group(%[[Q]]{{.*}} -> tensor<9x1xf32>
// CHECK: nn.dequantize
// CHECK: nn.reduce
module attributes {nn.model = "m"} {
  func.func @main(%x: tensor<9x16xui8> {nn.name = "x"}) -> (tensor<9x8xf32> {nn.name = "y"}, tensor<9x1xf32> {nn.name = "z"}) {
    %w = nn.constant dense<3> : tensor<16x8xi8>
    %zx = nn.splat 7 : ui8 -> tensor<9x16xui8>
    %zw = nn.splat 0 : i8 -> tensor<16x8xi8>
    %c = nn.quantized_matmul %x, %w zero_points %zx, %zw : tensor<9x16xui8>, tensor<16x8xi8> -> tensor<9x8xi32>
    %f = nn.cast %c : tensor<9x8xi32> -> tensor<9x8xf32>
    %s = nn.splat 5.000000e-01 : f32 -> tensor<9x8xf32>
    %z = nn.splat 9 : ui8 -> tensor<9x8xui8>
    %q = nn.quantize %f, %s, %z : tensor<9x8xf32>, tensor<9x8xf32> -> tensor<9x8xui8>
    %d = nn.dequantize %q, %s, %z : tensor<9x8xui8>, tensor<9x8xf32> -> tensor<9x8xf32>
    %y = nn.exp %d : tensor<9x8xf32>
    %r = nn.reduce sum %d [1] : tensor<9x8xf32> -> tensor<9x1xf32>
    return %y, %r : tensor<9x8xf32>, tensor<9x1xf32>
  }
}
