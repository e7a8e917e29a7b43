// Products between dequantised numbers become products of integers with one rounding, where their weights are constant bytes.
// RUN: kiln-opt %s --nn-recognize-quantized | FileCheck %s
// RUN: kiln-opt %s --nn-recognize-quantized=products=false | FileCheck %s --check-prefix=PARTS

// The bias counts in units of both scales, and the factor has the result's.
// CHECK-LABEL: func @conv(
// CHECK-DAG: %[[BIAS:.*]] = nn.constant {{.*}}100, 100{{.*}}-200, -200{{.*}} : tensor<1x2x4x4xi32>
// CHECK-DAG: %[[FACTOR:.*]] = nn.constant {{.*}}0.166666672{{.*}}0.0833333358{{.*}} : tensor<2x1x1xf32>
// CHECK: %[[SUM:.*]] = nn.quantized_conv %arg0, %{{.*}} zero_points %{{.*}}, %{{.*}} strides [1, 1]
// CHECK: nn.add %[[SUM]], %[[BIAS]] : tensor<1x2x4x4xi32>
// CHECK: %[[SPREAD:.*]] = nn.broadcast_to %[[FACTOR]]
// CHECK: nn.mul %{{.*}}, %[[SPREAD]]
// CHECK: nn.relu
// CHECK: nn.quantize
// CHECK-NEXT: return
// PARTS-LABEL: func @conv(
// PARTS-NOT: nn.quantized_conv
// PARTS: nn.dequantize
// PARTS: nn.conv %{{.*}} : tensor<1x4x4x4xf32>, tensor<2x4x1x1xf32>
func.func @conv(%x: tensor<1x4x4x4xui8>) -> tensor<1x2x4x4xui8> {
  %w = nn.constant dense<3> : tensor<2x4x1x1xi8>
  %b = nn.constant dense<[100, -200]> : tensor<2xi32>
  %sx = nn.splat 0.5 : f32 -> tensor<1x4x4x4xf32>
  %zx = nn.splat 7 : ui8 -> tensor<1x4x4x4xui8>
  %scales = nn.constant dense<[[[[0.25]]], [[[0.125]]]]> : tensor<2x1x1x1xf32>
  %sw = nn.broadcast_to %scales : tensor<2x1x1x1xf32> -> tensor<2x4x1x1xf32>
  %zw = nn.splat 0 : i8 -> tensor<2x4x1x1xi8>
  %steps = nn.constant dense<[0.125, 0.0625]> : tensor<2xf32>
  %none = nn.splat 0 : i32 -> tensor<2xi32>
  %s = nn.splat 0.75 : f32 -> tensor<1x2x4x4xf32>
  %z = nn.splat 3 : ui8 -> tensor<1x2x4x4xui8>
  %a = nn.dequantize %x, %sx, %zx : tensor<1x4x4x4xui8>, tensor<1x4x4x4xf32> -> tensor<1x4x4x4xf32>
  %f = nn.dequantize %w, %sw, %zw : tensor<2x4x1x1xi8>, tensor<2x4x1x1xf32> -> tensor<2x4x1x1xf32>
  %c = nn.conv %a, %f strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x4x4x4xf32>, tensor<2x4x1x1xf32> -> tensor<1x2x4x4xf32>
  %d = nn.dequantize %b, %steps, %none : tensor<2xi32>, tensor<2xf32> -> tensor<2xf32>
  %e = nn.reshape %d : tensor<2xf32> -> tensor<2x1x1xf32>
  %g = nn.broadcast_to %e : tensor<2x1x1xf32> -> tensor<1x2x4x4xf32>
  %h = nn.add %c, %g : tensor<1x2x4x4xf32>
  %i = nn.relu %h : tensor<1x2x4x4xf32>
  %q = nn.quantize %i, %s, %z : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32> -> tensor<1x2x4x4xui8>
  return %q : tensor<1x2x4x4xui8>
}

// Without a result that is quantised, a bias of whole units is added to the sums all the same; another one is not.
// CHECK-LABEL: func @bias(
// CHECK-DAG: %[[UNITS:.*]] = nn.constant dense<{{\[\[}}100, -200], [100, -200]]> : tensor<2x2xi32>
// CHECK: %[[SUM:.*]] = nn.quantized_matmul
// CHECK: %[[OTHER:.*]] = nn.quantized_matmul
// CHECK: %[[CAST:.*]] = nn.cast %[[OTHER]]
// CHECK: %[[SCALED:.*]] = nn.mul %[[CAST]]
// CHECK: %[[WHOLE:.*]] = nn.add %[[SUM]], %[[UNITS]] : tensor<2x2xi32>
// CHECK: %[[REAL:.*]] = nn.cast %[[WHOLE]]
// CHECK: %[[R:.*]] = nn.mul %[[REAL]]
// CHECK: %[[S:.*]] = nn.add %[[SCALED]], %{{.*}} : tensor<2x2xf32>
// CHECK: return %[[R]], %[[S]]
func.func @bias(%x: tensor<2x8xui8>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = nn.constant dense<3> : tensor<8x2xi8>
  %v = nn.constant dense<5> : tensor<8x2xi8>
  %sx = nn.splat 0.5 : f32 -> tensor<2x8xf32>
  %zx = nn.splat 7 : ui8 -> tensor<2x8xui8>
  %sw = nn.splat 0.25 : f32 -> tensor<8x2xf32>
  %zw = nn.splat 0 : i8 -> tensor<8x2xi8>
  %a = nn.dequantize %x, %sx, %zx : tensor<2x8xui8>, tensor<2x8xf32> -> tensor<2x8xf32>
  %f = nn.dequantize %w, %sw, %zw : tensor<8x2xi8>, tensor<8x2xf32> -> tensor<8x2xf32>
  %g = nn.dequantize %v, %sw, %zw : tensor<8x2xi8>, tensor<8x2xf32> -> tensor<8x2xf32>
  %c = nn.matmul %a, %f : tensor<2x8xf32>, tensor<8x2xf32> -> tensor<2x2xf32>
  %d = nn.matmul %a, %g : tensor<2x8xf32>, tensor<8x2xf32> -> tensor<2x2xf32>
  %units = nn.constant dense<[12.5, -25.0]> : tensor<2xf32>
  %parts = nn.constant dense<[12.55, -25.0]> : tensor<2xf32>
  %us = nn.broadcast_to %units : tensor<2xf32> -> tensor<2x2xf32>
  %ps = nn.broadcast_to %parts : tensor<2xf32> -> tensor<2x2xf32>
  %r = nn.add %c, %us : tensor<2x2xf32>
  %s = nn.add %d, %ps : tensor<2x2xf32>
  return %r, %s : tensor<2x2xf32>, tensor<2x2xf32>
}

// Both sides of a product may be computed, and groups may have any number of channels.
// CHECK-LABEL: func @others(
// CHECK: nn.quantized_matmul %{{.*}} : tensor<2x8xui8>, tensor<8x4xi8>
// CHECK: nn.quantized_conv %{{.*}} groups 4
// CHECK: nn.quantized_conv %{{.*}} groups 2
func.func @others(%x: tensor<2x8xui8>, %w: tensor<8x4xi8>, %i: tensor<1x4x6x6xui8>) -> (tensor<2x4xf32>, tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) {
  %sx = nn.splat 0.5 : f32 -> tensor<2x8xf32>
  %zx = nn.splat 7 : ui8 -> tensor<2x8xui8>
  %sw = nn.splat 0.5 : f32 -> tensor<8x4xf32>
  %zw = nn.splat 0 : i8 -> tensor<8x4xi8>
  %a = nn.dequantize %x, %sx, %zx : tensor<2x8xui8>, tensor<2x8xf32> -> tensor<2x8xf32>
  %b = nn.dequantize %w, %sw, %zw : tensor<8x4xi8>, tensor<8x4xf32> -> tensor<8x4xf32>
  %r = nn.matmul %a, %b : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
  %k = nn.constant dense<3> : tensor<4x1x3x3xi8>
  %si = nn.splat 0.5 : f32 -> tensor<1x4x6x6xf32>
  %zi = nn.splat 7 : ui8 -> tensor<1x4x6x6xui8>
  %sk = nn.splat 0.5 : f32 -> tensor<4x1x3x3xf32>
  %zk = nn.splat 0 : i8 -> tensor<4x1x3x3xi8>
  %c = nn.dequantize %i, %si, %zi : tensor<1x4x6x6xui8>, tensor<1x4x6x6xf32> -> tensor<1x4x6x6xf32>
  %d = nn.dequantize %k, %sk, %zk : tensor<4x1x3x3xi8>, tensor<4x1x3x3xf32> -> tensor<4x1x3x3xf32>
  %s = nn.conv %c, %d strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 4 layout channels_first
    : tensor<1x4x6x6xf32>, tensor<4x1x3x3xf32> -> tensor<1x4x4x4xf32>
  %p = nn.constant dense<3> : tensor<4x2x3x3xi8>
  %sp = nn.splat 0.5 : f32 -> tensor<4x2x3x3xf32>
  %zp = nn.splat 0 : i8 -> tensor<4x2x3x3xi8>
  %e = nn.dequantize %p, %sp, %zp : tensor<4x2x3x3xi8>, tensor<4x2x3x3xf32> -> tensor<4x2x3x3xf32>
  %t = nn.conv %c, %e strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 2 layout channels_first
    : tensor<1x4x6x6xf32>, tensor<4x2x3x3xf32> -> tensor<1x4x4x4xf32>
  return %r, %s, %t : tensor<2x4xf32>, tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>
}

// An attention whose weights are real numbers stays whole, and channels of their own with large windows stay real.
// CHECK-LABEL: func @real(
// CHECK: nn.matmul %{{.*}} : tensor<2x8xf32>, tensor<8x2xf32>
// CHECK: nn.softmax
// CHECK: nn.matmul %{{.*}} : tensor<2x2xf32>, tensor<2x8xf32>
// CHECK: nn.conv %{{.*}} groups 4
func.func @real(%q: tensor<2x8xui8>, %k: tensor<8x2xi8>, %v: tensor<2x8xi8>, %i: tensor<1x4x9x9xui8>) -> (tensor<2x8xf32>, tensor<1x4x2x2xf32>) {
  %sq = nn.splat 0.5 : f32 -> tensor<2x8xf32>
  %zq = nn.splat 7 : ui8 -> tensor<2x8xui8>
  %sk = nn.splat 0.5 : f32 -> tensor<8x2xf32>
  %zk = nn.splat 0 : i8 -> tensor<8x2xi8>
  %sv = nn.splat 0.5 : f32 -> tensor<2x8xf32>
  %zv = nn.splat 0 : i8 -> tensor<2x8xi8>
  %a = nn.dequantize %q, %sq, %zq : tensor<2x8xui8>, tensor<2x8xf32> -> tensor<2x8xf32>
  %b = nn.dequantize %k, %sk, %zk : tensor<8x2xi8>, tensor<8x2xf32> -> tensor<8x2xf32>
  %c = nn.dequantize %v, %sv, %zv : tensor<2x8xi8>, tensor<2x8xf32> -> tensor<2x8xf32>
  %p = nn.matmul %a, %b : tensor<2x8xf32>, tensor<8x2xf32> -> tensor<2x2xf32>
  %half = nn.splat 0.5 : f32 -> tensor<2x2xf32>
  %scaled = nn.mul %p, %half : tensor<2x2xf32>
  %s = nn.softmax %scaled axis 1 : tensor<2x2xf32>
  %r = nn.matmul %s, %c : tensor<2x2xf32>, tensor<2x8xf32> -> tensor<2x8xf32>
  %w = nn.constant dense<3> : tensor<4x1x8x8xi8>
  %si = nn.splat 0.5 : f32 -> tensor<1x4x9x9xf32>
  %zi = nn.splat 7 : ui8 -> tensor<1x4x9x9xui8>
  %sw = nn.splat 0.5 : f32 -> tensor<4x1x8x8xf32>
  %zw = nn.splat 0 : i8 -> tensor<4x1x8x8xi8>
  %d = nn.dequantize %i, %si, %zi : tensor<1x4x9x9xui8>, tensor<1x4x9x9xf32> -> tensor<1x4x9x9xf32>
  %e = nn.dequantize %w, %sw, %zw : tensor<4x1x8x8xi8>, tensor<4x1x8x8xf32> -> tensor<4x1x8x8xf32>
  %t = nn.conv %d, %e strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 4 layout channels_first
    : tensor<1x4x9x9xf32>, tensor<4x1x8x8xf32> -> tensor<1x4x2x2xf32>
  return %r, %t : tensor<2x8xf32>, tensor<1x4x2x2xf32>
}

// A clamp that saturation repeats is dropped; one with a bound inside of the range is not, nor is one in front of several scales.
// CHECK-LABEL: func @clamps(
// CHECK: %[[RELU:.*]] = nn.relu %arg0
// CHECK: nn.quantize %arg0, {{.*}} -> tensor<2x4xui8>
// CHECK: nn.quantize %arg0, {{.*}} -> tensor<2x4xi8>
// CHECK: %[[CLAMP:.*]] = nn.clamp %arg0
// CHECK: nn.quantize %[[CLAMP]]
// CHECK: nn.quantize %[[RELU]]
// CHECK: nn.quantize %[[RELU]]
func.func @clamps(%x: tensor<2x4xf32>, %each: tensor<2x4xf32>) -> (tensor<2x4xui8>, tensor<2x4xi8>, tensor<2x4xi8>, tensor<2x4xui8>, tensor<2x4xui8>) {
  %s = nn.splat 0.5 : f32 -> tensor<2x4xf32>
  %zero = nn.splat 0 : ui8 -> tensor<2x4xui8>
  %three = nn.splat 3 : ui8 -> tensor<2x4xui8>
  %least = nn.splat -128 : i8 -> tensor<2x4xi8>
  %relu = nn.relu %x : tensor<2x4xf32>
  %a = nn.quantize %relu, %s, %zero : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xui8>
  %wide = nn.clamp %x {min = 0.0, max = 127.5} : tensor<2x4xf32>
  %b = nn.quantize %wide, %s, %least : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xi8>
  %narrow = nn.clamp %x {min = 0.0, max = 127.0} : tensor<2x4xf32>
  %c = nn.quantize %narrow, %s, %least : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xi8>
  %d = nn.quantize %relu, %s, %three : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xui8>
  %e = nn.quantize %relu, %each, %zero : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xui8>
  return %a, %b, %c, %d, %e : tensor<2x4xui8>, tensor<2x4xi8>, tensor<2x4xi8>, tensor<2x4xui8>, tensor<2x4xui8>
}
