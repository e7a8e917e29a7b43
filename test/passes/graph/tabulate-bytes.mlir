// Chains between bytes become tables, and what only moves numbers between bytes moves bytes.
// RUN: kiln-opt %s --nn-tabulate-bytes | FileCheck %s

// A pair of nn.quantize and nn.dequantize inside is part of the table: x * sigmoid(x) of (x - 128) / 32 in units of 1 / 16.
// CHECK-LABEL: func @swish(
// CHECK-NEXT: %[[R:.*]] = nn.lookup %arg0 in [-1, -1, {{.*}}, 62] : tensor<2x8xui8> -> tensor<2x8xi8>
// CHECK-NEXT: return %[[R]]
func.func @swish(%x: tensor<2x8xui8>) -> tensor<2x8xi8> {
  %s = nn.splat 3.125e-02 : f32 -> tensor<2x8xf32>
  %z = nn.splat 128 : ui8 -> tensor<2x8xui8>
  %a = nn.dequantize %x, %s, %z : tensor<2x8xui8>, tensor<2x8xf32> -> tensor<2x8xf32>
  %b = nn.sigmoid %a : tensor<2x8xf32>
  %t = nn.splat 3.906250e-03 : f32 -> tensor<2x8xf32>
  %y = nn.splat 0 : ui8 -> tensor<2x8xui8>
  %c = nn.quantize %b, %t, %y : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xui8>
  %d = nn.dequantize %c, %t, %y : tensor<2x8xui8>, tensor<2x8xf32> -> tensor<2x8xf32>
  %e = nn.mul %a, %d : tensor<2x8xf32>
  %u = nn.splat 6.250000e-02 : f32 -> tensor<2x8xf32>
  %w = nn.splat 0 : i8 -> tensor<2x8xi8>
  %q = nn.quantize %e, %u, %w : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xi8>
  return %q : tensor<2x8xi8>
}

// The sum of two tensors has no table, and neither has a scale for each column.
// CHECK-LABEL: func @two(
// CHECK-COUNT-2: nn.quantize
// CHECK-NOT: nn.lookup
func.func @two(%x: tensor<2x8xui8>, %y: tensor<2x8xui8>, %t: tensor<2x8xf32>) -> (tensor<2x8xui8>, tensor<2x8xui8>) {
  %s = nn.splat 0.5 : f32 -> tensor<2x8xf32>
  %z = nn.splat 7 : ui8 -> tensor<2x8xui8>
  %a = nn.dequantize %x, %s, %z : tensor<2x8xui8>, tensor<2x8xf32> -> tensor<2x8xf32>
  %b = nn.dequantize %y, %s, %z : tensor<2x8xui8>, tensor<2x8xf32> -> tensor<2x8xf32>
  %c = nn.add %a, %b : tensor<2x8xf32>
  %q = nn.quantize %c, %s, %z : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xui8>
  %r = nn.quantize %a, %t, %z : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xui8>
  return %q, %r : tensor<2x8xui8>, tensor<2x8xui8>
}

// Bytes are moved; with other parameters behind the movement, they are looked up first. The same parameters change nothing.
// CHECK-LABEL: func @moved(
// CHECK-DAG: %[[SAME:.*]] = nn.transpose %arg0 [1, 0] : tensor<2x8xui8> -> tensor<8x2xui8>
// CHECK-DAG: %[[MORE:.*]] = nn.lookup %arg0 in [1, 2, {{.*}}, 127, -128, {{.*}}, -2, -1, -1] : tensor<2x8xui8> -> tensor<2x8xui8>
// CHECK-DAG: %[[OTHER:.*]] = nn.transpose %[[MORE]] [1, 0] : tensor<2x8xui8> -> tensor<8x2xui8>
// CHECK: return %[[SAME]], %[[OTHER]]
func.func @moved(%x: tensor<2x8xui8>) -> (tensor<8x2xui8>, tensor<8x2xui8>) {
  %sx = nn.splat 0.5 : f32 -> tensor<2x8xf32>
  %zx = nn.splat 7 : ui8 -> tensor<2x8xui8>
  %s = nn.splat 0.5 : f32 -> tensor<8x2xf32>
  %z = nn.splat 7 : ui8 -> tensor<8x2xui8>
  %other = nn.splat 8 : ui8 -> tensor<8x2xui8>
  %a = nn.dequantize %x, %sx, %zx : tensor<2x8xui8>, tensor<2x8xf32> -> tensor<2x8xf32>
  %t = nn.transpose %a [1, 0] : tensor<2x8xf32> -> tensor<8x2xf32>
  %q = nn.quantize %t, %s, %z : tensor<8x2xf32>, tensor<8x2xf32> -> tensor<8x2xui8>
  %r = nn.quantize %t, %s, %other : tensor<8x2xf32>, tensor<8x2xf32> -> tensor<8x2xui8>
  return %q, %r : tensor<8x2xui8>, tensor<8x2xui8>
}

// A concatenation of bytes that have other parameters, and one with an operand that no bytes determine.
// CHECK-LABEL: func @joined(
// CHECK: %[[B:.*]] = nn.lookup %arg1 in
// CHECK: nn.concat %arg0, %[[B]] axis 0 : (tensor<2x8xui8>, tensor<2x8xui8>) -> tensor<4x8xui8>
// CHECK: nn.concat %{{.*}}, %arg2 axis 0 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
func.func @joined(%x: tensor<2x8xui8>, %y: tensor<2x8xui8>, %f: tensor<2x8xf32>) -> (tensor<4x8xui8>, tensor<4x8xui8>) {
  %s = nn.splat 0.5 : f32 -> tensor<2x8xf32>
  %t = nn.splat 0.75 : f32 -> tensor<2x8xf32>
  %z = nn.splat 7 : ui8 -> tensor<2x8xui8>
  %u = nn.splat 0.5 : f32 -> tensor<4x8xf32>
  %w = nn.splat 7 : ui8 -> tensor<4x8xui8>
  %a = nn.dequantize %x, %s, %z : tensor<2x8xui8>, tensor<2x8xf32> -> tensor<2x8xf32>
  %b = nn.dequantize %y, %t, %z : tensor<2x8xui8>, tensor<2x8xf32> -> tensor<2x8xf32>
  %c = nn.concat %a, %b axis 0 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  %q = nn.quantize %c, %u, %w : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xui8>
  %d = nn.concat %a, %f axis 0 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  %r = nn.quantize %d, %u, %w : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xui8>
  return %q, %r : tensor<4x8xui8>, tensor<4x8xui8>
}
