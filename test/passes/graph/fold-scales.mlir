// RUN: kiln-opt %s --nn-fold-scales --split-input-file | FileCheck %s

// A convolution with bias, then a normalization: one scaled weight and one add.
// CHECK-LABEL: func @batch_norm
// CHECK-DAG: %[[W:.*]] = nn.constant dense<{{\[\[\[\[}}2.000000e+00]]], {{\[\[\[}}9.000000e+00]]]]> : tensor<2x1x1x1xf32>
// CHECK-DAG: %[[B:.*]] = nn.constant dense<{{\[\[\[}}2.100000e+01]], {{\[\[}}3.200000e+01]]]> : tensor<2x1x1xf32>
// CHECK: %[[C:.*]] = nn.conv %arg0, %[[W]]
// CHECK: %[[S:.*]] = nn.broadcast_to %[[B]]
// CHECK: %[[R:.*]] = nn.add %[[C]], %[[S]]
// CHECK: return %[[R]]
func.func @batch_norm(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = nn.constant dense<[[[[1.0]]], [[[3.0]]]]> : tensor<2x1x1x1xf32>
  %0 = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32> -> tensor<1x2x4x4xf32>
  %b = nn.constant dense<[[[1.0]], [[5.0]]]> : tensor<2x1x1xf32>
  %bs = nn.broadcast_to %b : tensor<2x1x1xf32> -> tensor<1x2x4x4xf32>
  %1 = nn.add %0, %bs : tensor<1x2x4x4xf32>
  %m = nn.constant dense<[[[0.5]], [[1.0]]]> : tensor<2x1x1xf32>
  %ms = nn.broadcast_to %m : tensor<2x1x1xf32> -> tensor<1x2x4x4xf32>
  %2 = nn.sub %1, %ms : tensor<1x2x4x4xf32>
  %s = nn.constant dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>
  %ss = nn.broadcast_to %s : tensor<2x1x1xf32> -> tensor<1x2x4x4xf32>
  %3 = nn.mul %2, %ss : tensor<1x2x4x4xf32>
  %t = nn.splat 20.0 : f32 -> tensor<1x2x4x4xf32>
  %4 = nn.add %3, %t : tensor<1x2x4x4xf32>
  return %4 : tensor<1x2x4x4xf32>
}

// -----

// The columns of a matrix that is stored transposed.
// CHECK-LABEL: func @matmul
// CHECK: %[[W:.*]] = nn.constant dense<{{\[\[}}2.000000e+00, 4.000000e+00, 6.000000e+00], [1.200000e+01, 1.500000e+01, 1.800000e+01]]>
// CHECK: %[[T:.*]] = nn.transpose %[[W]] [1, 0]
// CHECK: %[[R:.*]] = nn.matmul %arg0, %[[T]]
// CHECK: return %[[R]]
func.func @matmul(%x: tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = nn.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %t = nn.transpose %w [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  %p = nn.matmul %x, %t : tensor<4x3xf32>, tensor<3x2xf32> -> tensor<4x2xf32>
  %s = nn.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %ss = nn.broadcast_to %s : tensor<2xf32> -> tensor<4x2xf32>
  %r = nn.mul %ss, %p : tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// -----

// A weight with two users, a product with another user, a factor that is no constant per channel: all stay.
// CHECK-LABEL: func @left_alone
// CHECK-COUNT-3: nn.mul
func.func @left_alone(%x: tensor<1x1x2x2xf32>, %f: tensor<1x2x2x2xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) {
  %w = nn.constant dense<1.0> : tensor<2x1x1x1xf32>
  %two = nn.splat 2.0 : f32 -> tensor<1x2x2x2xf32>
  %0 = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32> -> tensor<1x2x2x2xf32>
  %1 = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32> -> tensor<1x2x2x2xf32>
  %a = nn.mul %0, %two : tensor<1x2x2x2xf32>
  %b = nn.mul %1, %two : tensor<1x2x2x2xf32>
  %v = nn.constant dense<4.0> : tensor<2x1x1x1xf32>
  %2 = nn.conv %x, %v strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32> -> tensor<1x2x2x2xf32>
  %c = nn.mul %2, %f : tensor<1x2x2x2xf32>
  return %a, %b, %c : tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>
}

// -----

// Factors that weights would overflow with, divisors without a normal inverse, and an addend that overflows: all stay. A factor within the range goes in.
// CHECK-LABEL: func @out_of_range
// CHECK: nn.constant dense<5.0000{{.*}}E+30>
// CHECK: nn.matmul
// CHECK: nn.mul
// CHECK: nn.matmul
// CHECK: nn.div
// CHECK: nn.matmul
// CHECK: nn.div
// CHECK: nn.matmul
// CHECK: nn.add
// CHECK: nn.mul
// CHECK: nn.matmul
// CHECK: return
func.func @out_of_range(%x: tensor<4x3xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) {
  %v = nn.constant dense<1.0e20> : tensor<3x2xf32>
  %v1 = nn.constant dense<2.0e20> : tensor<3x2xf32>
  %v2 = nn.constant dense<3.0e20> : tensor<3x2xf32>
  %v3 = nn.constant dense<4.0e20> : tensor<3x2xf32>
  %v4 = nn.constant dense<5.0e20> : tensor<3x2xf32>
  %large = nn.splat 1.0e30 : f32 -> tensor<4x2xf32>
  %middle = nn.splat 1.0e10 : f32 -> tensor<4x2xf32>
  %subnormal = nn.splat 1.0e-40 : f32 -> tensor<4x2xf32>
  %infinite = nn.splat 0x7F800000 : f32 -> tensor<4x2xf32>
  %m = nn.matmul %x, %v : tensor<4x3xf32>, tensor<3x2xf32> -> tensor<4x2xf32>
  %0 = nn.mul %m, %large : tensor<4x2xf32>
  %m1 = nn.matmul %x, %v1 : tensor<4x3xf32>, tensor<3x2xf32> -> tensor<4x2xf32>
  %1 = nn.div %m1, %subnormal : tensor<4x2xf32>
  %m2 = nn.matmul %x, %v2 : tensor<4x3xf32>, tensor<3x2xf32> -> tensor<4x2xf32>
  %2 = nn.div %m2, %infinite : tensor<4x2xf32>
  %m3 = nn.matmul %x, %v3 : tensor<4x3xf32>, tensor<3x2xf32> -> tensor<4x2xf32>
  %a3 = nn.add %m3, %large : tensor<4x2xf32>
  %3 = nn.mul %a3, %middle : tensor<4x2xf32>
  %m4 = nn.matmul %x, %v4 : tensor<4x3xf32>, tensor<3x2xf32> -> tensor<4x2xf32>
  %4 = nn.mul %m4, %middle : tensor<4x2xf32>
  return %0, %1, %2, %3, %4 : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
}

// -----

// A factor that makes weights subnormal or zero stays, also if others are large enough, and also behind an addend. Factors of zero and one go in.
// CHECK-LABEL: func @vanishing
// CHECK: nn.constant dense<{{\[\[}}1.000000e-30, {{.*}} : tensor<3x2xf32>
// CHECK: nn.matmul
// CHECK: nn.mul
// CHECK: nn.matmul
// CHECK-NEXT: nn.matmul
// CHECK: nn.mul
// CHECK: nn.add
// CHECK-NEXT: return
func.func @vanishing(%x: tensor<4x3xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) {
  %v = nn.constant dense<[[1.0e-30, 1.0], [2.0, 3.0], [4.0, 5.0]]> : tensor<3x2xf32>
  %v1 = nn.constant dense<[[1.0e-40, 1.0e-41], [2.0, 3.0], [4.0, 5.0]]> : tensor<3x2xf32>
  %v2 = nn.constant dense<1.0e-30> : tensor<3x2xf32>
  %small = nn.splat 1.0e-20 : f32 -> tensor<4x2xf32>
  %f = nn.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %plain = nn.broadcast_to %f : tensor<2xf32> -> tensor<4x2xf32>
  %m = nn.matmul %x, %v : tensor<4x3xf32>, tensor<3x2xf32> -> tensor<4x2xf32>
  %0 = nn.mul %m, %small : tensor<4x2xf32>
  %m1 = nn.matmul %x, %v1 : tensor<4x3xf32>, tensor<3x2xf32> -> tensor<4x2xf32>
  %1 = nn.mul %m1, %plain : tensor<4x2xf32>
  %m2 = nn.matmul %x, %v2 : tensor<4x3xf32>, tensor<3x2xf32> -> tensor<4x2xf32>
  %a2 = nn.add %m2, %small : tensor<4x2xf32>
  %2 = nn.mul %a2, %small : tensor<4x2xf32>
  return %0, %1, %2 : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
}

// -----

// In f16, where weights are often subnormal, the largest one of a channel has to be normal.
// CHECK-LABEL: func @halves
// CHECK: nn.matmul
// CHECK-NEXT: nn.matmul
// CHECK: nn.mul
// CHECK-NEXT: return
func.func @halves(%x: tensor<4x3xf16>) -> (tensor<4x2xf16>, tensor<4x2xf16>) {
  %v = nn.constant dense<[[1.0e-4, 1.0], [2.0, 3.0], [4.0, 5.0]]> : tensor<3x2xf16>
  %v1 = nn.constant dense<[[1.0e-4, 1.0], [2.0e-4, 3.0], [4.0e-4, 5.0]]> : tensor<3x2xf16>
  %tenth = nn.splat 0.1 : f16 -> tensor<4x2xf16>
  %m = nn.matmul %x, %v : tensor<4x3xf16>, tensor<3x2xf16> -> tensor<4x2xf16>
  %0 = nn.mul %m, %tenth : tensor<4x2xf16>
  %m1 = nn.matmul %x, %v1 : tensor<4x3xf16>, tensor<3x2xf16> -> tensor<4x2xf16>
  %1 = nn.mul %m1, %tenth : tensor<4x2xf16>
  return %0, %1 : tensor<4x2xf16>, tensor<4x2xf16>
}

// -----

// Summands whose sum overflows stay two.
// CHECK-LABEL: func @large_sum
// CHECK-COUNT-2: nn.add
func.func @large_sum(%x: tensor<4x3xf32>) -> tensor<4x2xf32> {
  %v = nn.constant dense<1.0> : tensor<3x2xf32>
  %a = nn.splat 3.0e38 : f32 -> tensor<4x2xf32>
  %b = nn.splat 2.0e38 : f32 -> tensor<4x2xf32>
  %m = nn.matmul %x, %v : tensor<4x3xf32>, tensor<3x2xf32> -> tensor<4x2xf32>
  %0 = nn.add %m, %a : tensor<4x2xf32>
  %1 = nn.add %0, %b : tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}
