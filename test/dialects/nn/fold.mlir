// RUN: kiln-opt %s --canonicalize | FileCheck %s

// What changes nothing goes away.
// CHECK-LABEL: func @identities
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0
func.func @identities(%x: tensor<4x1xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>) {
  %v = nn.splat 0.0 : f32 -> tensor<f32>
  %0 = nn.cast %x : tensor<4x1xf32> -> tensor<4x1xf32>
  %r = nn.reshape %x : tensor<4x1xf32> -> tensor<2x2xf32>
  %1 = nn.reshape %r : tensor<2x2xf32> -> tensor<4x1xf32>
  %t = nn.transpose %x [1, 0] : tensor<4x1xf32> -> tensor<1x4xf32>
  %2 = nn.transpose %t [1, 0] : tensor<1x4xf32> -> tensor<4x1xf32>
  %3 = nn.broadcast_to %x : tensor<4x1xf32> -> tensor<4x1xf32>
  %4 = nn.slice %x starts affine_map<() -> (0, 0)> steps [1, 1] : tensor<4x1xf32> -> tensor<4x1xf32>
  %5 = nn.concat %x axis 0 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %6 = nn.reduce sum %x [1] : tensor<4x1xf32> -> tensor<4x1xf32>
  %7 = nn.pad %x, %v low affine_map<() -> (0, 0)> high affine_map<() -> (0, 0)> interior [0, 0] mode constant : tensor<4x1xf32>, tensor<f32> -> tensor<4x1xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>
}

// CHECK-LABEL: func @forms
// CHECK-DAG: %[[D:.*]] = nn.constant dense<[3, 4]> : tensor<2xi64>
// CHECK-DAG: %[[U:.*]] = nn.reshape %arg0 : tensor<1x3x1xf32> -> tensor<3x1x1xf32>
// CHECK-DAG: %[[B:.*]] = nn.broadcast_to %arg0 : tensor<1x3x1xf32> -> tensor<2x4x3x5xf32>
// CHECK-DAG: %[[S:.*]] = nn.splat 2.000000e+00 : f32 -> tensor<3x4xf32>
// CHECK: return %[[D]], %[[U]], %[[B]], %[[S]]
func.func @forms(%x: tensor<1x3x1xf32>) -> (tensor<2xi64>, tensor<3x1x1xf32>, tensor<2x4x3x5xf32>, tensor<3x4xf32>) {
  %0 = nn.dim_values affine_map<() -> (3, 4)> : tensor<2xi64>
  %1 = nn.transpose %x [1, 0, 2] : tensor<1x3x1xf32> -> tensor<3x1x1xf32>
  %r = nn.reshape %x : tensor<1x3x1xf32> -> tensor<1x1x3x1xf32>
  %b = nn.broadcast_to %r : tensor<1x1x3x1xf32> -> tensor<1x4x3x5xf32>
  %2 = nn.broadcast_to %b : tensor<1x4x3x5xf32> -> tensor<2x4x3x5xf32>
  %c = nn.constant dense<2.0> : tensor<1xf32>
  %3 = nn.broadcast_to %c : tensor<1xf32> -> tensor<3x4xf32>
  return %0, %1, %2, %3 : tensor<2xi64>, tensor<3x1x1xf32>, tensor<2x4x3x5xf32>, tensor<3x4xf32>
}

// Two transposes that are not each other's inverse become one; a splat under another shape is a splat; what a reshape of a reshape says last counts.
// CHECK-LABEL: func @merges
// CHECK-DAG: %[[T:.*]] = nn.transpose %arg0 [2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
// CHECK-DAG: %[[S:.*]] = nn.splat 1.000000e+00 : f32 -> tensor<6xf32>
// CHECK-DAG: %[[R:.*]] = nn.reshape %arg0 : tensor<2x3x4xf32> -> tensor<24xf32>
// CHECK: return %[[T]], %[[S]], %[[R]]
func.func @merges(%x: tensor<2x3x4xf32>) -> (tensor<4x2x3xf32>, tensor<6xf32>, tensor<24xf32>) {
  %a = nn.transpose %x [1, 2, 0] : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  %0 = nn.transpose %a [1, 2, 0] : tensor<3x4x2xf32> -> tensor<4x2x3xf32>
  %s = nn.splat 1.0 : f32 -> tensor<2x3xf32>
  %1 = nn.reshape %s : tensor<2x3xf32> -> tensor<6xf32>
  %r = nn.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %2 = nn.reshape %r : tensor<6x4xf32> -> tensor<24xf32>
  return %0, %1, %2 : tensor<4x2x3xf32>, tensor<6xf32>, tensor<24xf32>
}

// What looks alike but changes something stays.
// CHECK-LABEL: func @stays
// CHECK: nn.reduce sum %arg0 [0]
// CHECK: nn.slice %arg0
// CHECK: nn.pad %arg0
// CHECK: nn.cast %arg0
func.func @stays(%x: tensor<4x1xf32>) -> (tensor<1x1xf32>, tensor<4x1xf32>, tensor<4x2xf32>, tensor<4x1xf64>) {
  %v = nn.splat 0.0 : f32 -> tensor<f32>
  %0 = nn.reduce sum %x [0] : tensor<4x1xf32> -> tensor<1x1xf32>
  %1 = nn.slice %x starts affine_map<() -> (3, 0)> steps [-1, 1] : tensor<4x1xf32> -> tensor<4x1xf32>
  %2 = nn.pad %x, %v low affine_map<() -> (0, 0)> high affine_map<() -> (0, 1)> interior [0, 0] mode constant : tensor<4x1xf32>, tensor<f32> -> tensor<4x2xf32>
  %3 = nn.cast %x : tensor<4x1xf32> -> tensor<4x1xf64>
  return %0, %1, %2, %3 : tensor<1x1xf32>, tensor<4x1xf32>, tensor<4x2xf32>, tensor<4x1xf64>
}

// Constants are known on both sides of a composite's border; a composite that nobody needs goes away. Its operands stay: they are its signature.
// CHECK-LABEL: func @composite_borders
// CHECK-DAG: %[[TWO:.*]] = nn.splat 2.000000e+00 : f32 -> tensor<4xf32>
// CHECK-DAG: %[[ONE:.*]] = nn.splat 1.000000e+00 : f32 -> tensor<2xf32>
// CHECK: %[[R:.*]]:3 = nn.composite "f" version 1(%arg0, %[[TWO]])
// CHECK-DAG: %[[INSIDE:.*]] = nn.splat 2.000000e+00 : f32 -> tensor<4xf32>
// CHECK: nn.mul %{{.*}}, %[[INSIDE]]
// CHECK-NOT: nn.composite
// CHECK: return %[[R]]#0, %arg0, %[[ONE]]
func.func @composite_borders(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>) {
  %two = nn.splat 2.0 : f32 -> tensor<4xf32>
  %r:3 = nn.composite "f" version 1(%x, %two) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %m = nn.mul %a, %b : tensor<4xf32>
    %one = nn.splat 1.0 : f32 -> tensor<2xf32>
    nn.yield %m, %a, %one : tensor<4xf32>, tensor<4xf32>, tensor<2xf32>
  }
  %unused = nn.composite "f" version 1(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %e = nn.exp %a : tensor<4xf32>
    nn.yield %e : tensor<4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>, tensor<2xf32>
}
