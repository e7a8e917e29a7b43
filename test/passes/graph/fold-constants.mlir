// RUN: kiln-opt %s --nn-fold-constants --split-input-file | FileCheck %s

// CHECK-LABEL: func @scalar_bodies
// CHECK-DAG: %[[F:.*]] = nn.constant dense<[1.000000e+00, 2.000000e+00, 0x{{[7F]}}FC00000]> : tensor<3xf32>
// CHECK-DAG: %[[I:.*]] = nn.constant dense<[-2, 3, 7]> : tensor<3xi8>
// CHECK-DAG: %[[U:.*]] = nn.constant dense<[200, 0, 250]> : tensor<3xui8>
// CHECK-DAG: %[[B:.*]] = nn.constant dense<[true, false, false]> : tensor<3xi1>
// CHECK-DAG: %[[M:.*]] = nn.constant dense<[2, -1, 1]> : tensor<3xi64>
// CHECK-DAG: %[[H:.*]] = nn.constant dense<[1.000000e+00, 1.002200e-01, 6.550400e+04]> : tensor<3xf16>
// CHECK: return %[[F]], %[[I]], %[[U]], %[[B]], %[[M]], %[[H]]
func.func @scalar_bodies() -> (tensor<3xf32>, tensor<3xi8>, tensor<3xui8>, tensor<3xi1>, tensor<3xi64>, tensor<3xf16>) {
  %x = nn.constant dense<[1.0, 4.0, -1.0]> : tensor<3xf32>
  %root = nn.sqrt %x : tensor<3xf32>
  %i = nn.constant dense<[127, 1, 3]> : tensor<3xi8>
  %j = nn.constant dense<[127, 2, 4]> : tensor<3xi8>
  %sum = nn.add %i, %j : tensor<3xi8>
  %u = nn.constant dense<[200, 0, 250]> : tensor<3xui8>
  %v = nn.constant dense<[100, 0, 3]> : tensor<3xui8>
  %max = nn.maximum %u, %v : tensor<3xui8>
  %same = nn.constant dense<[1.0, 3.0, 0x7FC00000]> : tensor<3xf32>
  %n = nn.constant dense<[1.0, 4.0, 0x7FC00000]> : tensor<3xf32>
  %equal = nn.equal %same, %n : tensor<3xf32> -> tensor<3xi1>
  %p = nn.constant dense<[-7, 7, 7]> : tensor<3xi64>
  %q = nn.constant dense<[3, -2, 3]> : tensor<3xi64>
  %mod = nn.mod %p, %q : tensor<3xi64>
  %w = nn.constant dense<[1.0, 0.1002, 65504.0]> : tensor<3xf32>
  %half = nn.cast %w : tensor<3xf32> -> tensor<3xf16>
  return %root, %sum, %max, %equal, %mod, %half : tensor<3xf32>, tensor<3xi8>, tensor<3xui8>, tensor<3xi1>, tensor<3xi64>, tensor<3xf16>
}

// -----

// CHECK-LABEL: func @movement
// CHECK-DAG: %[[T:.*]] = nn.constant dense<{{\[\[}}1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
// CHECK-DAG: %[[S:.*]] = nn.constant dense<{{\[\[}}6, 4]]> : tensor<1x2xi32>
// CHECK-DAG: %[[C:.*]] = nn.constant dense<{{\[\[}}1, 2, 3, 7], [4, 5, 6, 8]]> : tensor<2x4xi32>
// CHECK-DAG: %[[G:.*]] = nn.constant dense<{{\[\[}}3, 1], [6, 4]]> : tensor<2x2xi32>
// CHECK-DAG: %[[R:.*]] = nn.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
// CHECK-DAG: %[[B:.*]] = nn.constant dense<{{\[\[}}7, 7], [8, 8]]> : tensor<2x2xi32>
// CHECK: return %[[T]], %[[S]], %[[C]], %[[G]], %[[R]], %[[B]]
func.func @movement() -> (tensor<3x2xi32>, tensor<1x2xi32>, tensor<2x4xi32>, tensor<2x2xi32>, tensor<6xi32>, tensor<2x2xi32>) {
  %x = nn.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %y = nn.constant dense<[[7], [8]]> : tensor<2x1xi32>
  %i = nn.constant dense<[-1, 0]> : tensor<2xi64>
  %t = nn.transpose %x [1, 0] : tensor<2x3xi32> -> tensor<3x2xi32>
  %s = nn.slice %x starts affine_map<() -> (1, 2)> steps [1, -2] : tensor<2x3xi32> -> tensor<1x2xi32>
  %c = nn.concat %x, %y axis 1 : (tensor<2x3xi32>, tensor<2x1xi32>) -> tensor<2x4xi32>
  %g = nn.gather %x, %i axis 1 : tensor<2x3xi32>, tensor<2xi64> -> tensor<2x2xi32>
  %r = nn.reshape %x : tensor<2x3xi32> -> tensor<6xi32>
  %b = nn.broadcast_to %y : tensor<2x1xi32> -> tensor<2x2xi32>
  return %t, %s, %c, %g, %r, %b : tensor<3x2xi32>, tensor<1x2xi32>, tensor<2x4xi32>, tensor<2x2xi32>, tensor<6xi32>, tensor<2x2xi32>
}

// -----

// CHECK-LABEL: func @reductions
// CHECK-DAG: %[[M:.*]] = nn.constant dense<{{\[\[}}2.000000e+00], [5.000000e+00]]> : tensor<2x1xf32>
// CHECK-DAG: %[[X:.*]] = nn.constant dense<{{\[\[}}4.000000e+00, 5.000000e+00, 6.000000e+00]]> : tensor<1x3xf32>
// CHECK: return %[[M]], %[[X]]
func.func @reductions() -> (tensor<2x1xf32>, tensor<1x3xf32>) {
  %x = nn.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %m = nn.reduce mean %x [1] : tensor<2x3xf32> -> tensor<2x1xf32>
  %n = nn.reduce max %x [0] : tensor<2x3xf32> -> tensor<1x3xf32>
  return %m, %n : tensor<2x1xf32>, tensor<1x3xf32>
}

// -----

// What would make the library larger, what the weight packing does anyway, and what must fail at run time stay.
// CHECK-LABEL: func @left_alone
// CHECK: nn.broadcast_to
// CHECK: nn.div
// CHECK: nn.gather
// CHECK: nn.transpose
func.func @left_alone(%x: tensor<4x256xf32>) -> (tensor<64x64xf32>, tensor<1xi64>, tensor<1xi64>, tensor<4x256xf32>) {
  %row = nn.constant dense<1.5> : tensor<64x1xf32>
  %wide = nn.broadcast_to %row : tensor<64x1xf32> -> tensor<64x64xf32>
  %one = nn.constant dense<1> : tensor<1xi64>
  %zero = nn.constant dense<0> : tensor<1xi64>
  %quotient = nn.div %one, %zero : tensor<1xi64>
  %outside = nn.gather %one, %one axis 0 : tensor<1xi64>, tensor<1xi64> -> tensor<1xi64>
  %weight = nn.constant dense<0.5> : tensor<256x256xf32>
  %turned = nn.transpose %weight [1, 0] : tensor<256x256xf32> -> tensor<256x256xf32>
  %product = nn.matmul %x, %turned : tensor<4x256xf32>, tensor<256x256xf32> -> tensor<4x256xf32>
  return %wide, %quotient, %outside, %product : tensor<64x64xf32>, tensor<1xi64>, tensor<1xi64>, tensor<4x256xf32>
}

// -----

// Narrow weights of a contraction grow to what it reads: 64x16 numbers and a scale for each column. What a gather reads of a table stays narrow.
// CHECK-LABEL: func @weights
// CHECK: %[[W:.*]] = nn.constant dense_resource<[[WEIGHTS:.*]]> : tensor<64x16xf32>
// CHECK: nn.matmul %{{.*}}, %[[W]]
// CHECK: %[[T:.*]] = nn.constant dense<3> : tensor<64x64xi8>
// CHECK: %[[C:.*]] = nn.cast %[[T]] : tensor<64x64xi8> -> tensor<64x64xf32>
// CHECK: nn.gather %[[C]]
// CHECK: [[WEIGHTS]]: "0x{{[0-9]*}}0000C03F0000C03F
func.func @weights(%x: tensor<4x64xf32>, %i: tensor<2xi64>) -> (tensor<4x16xf32>, tensor<2x64xf32>) {
  %narrow = nn.constant dense<4> : tensor<64x16xi8>
  %point = nn.constant dense<1.0> : tensor<1x1xf32>
  %scale = nn.constant dense<0.5> : tensor<16xf32>
  %wide = nn.cast %narrow : tensor<64x16xi8> -> tensor<64x16xf32>
  %points = nn.broadcast_to %point : tensor<1x1xf32> -> tensor<64x16xf32>
  %centred = nn.sub %wide, %points : tensor<64x16xf32>
  %row = nn.reshape %scale : tensor<16xf32> -> tensor<1x16xf32>
  %scales = nn.broadcast_to %row : tensor<1x16xf32> -> tensor<64x16xf32>
  %weight = nn.mul %centred, %scales : tensor<64x16xf32>
  %product = nn.matmul %x, %weight : tensor<4x64xf32>, tensor<64x16xf32> -> tensor<4x16xf32>
  %table = nn.constant dense<3> : tensor<64x64xi8>
  %real = nn.cast %table : tensor<64x64xi8> -> tensor<64x64xf32>
  %rows = nn.gather %real, %i axis 0 : tensor<64x64xf32>, tensor<2xi64> -> tensor<2x64xf32>
  return %product, %rows : tensor<4x16xf32>, tensor<2x64xf32>
}

// -----

// A zero point's addend and a bias behind a product of integers become one; sums that wrap around stay what they are.
// CHECK-LABEL: func @addends
// CHECK: %[[P:.*]] = nn.matmul %arg0, %arg1
// CHECK: %[[BOTH:.*]] = nn.constant dense<[11, -2147483648, 33]> : tensor<3xi32>
// CHECK: %[[SPREAD:.*]] = nn.broadcast_to %[[BOTH]]
// CHECK: %[[SUM:.*]] = nn.add %[[P]], %[[SPREAD]]
// CHECK: return %[[SUM]]
func.func @addends(%x: tensor<1000x4xui8>, %w: tensor<4x3xi8>) -> tensor<1000x3xi32> {
  %a = nn.constant dense<[1, 2147483647, 3]> : tensor<3xi32>
  %b = nn.constant dense<[10, 1, 30]> : tensor<3xi32>
  %p = nn.matmul %x, %w : tensor<1000x4xui8>, tensor<4x3xi8> -> tensor<1000x3xi32>
  %sa = nn.broadcast_to %a : tensor<3xi32> -> tensor<1000x3xi32>
  %sb = nn.broadcast_to %b : tensor<3xi32> -> tensor<1000x3xi32>
  %s = nn.add %p, %sa : tensor<1000x3xi32>
  %r = nn.add %s, %sb : tensor<1000x3xi32>
  return %r : tensor<1000x3xi32>
}

// -----

// The first sum has another user: both stay.
// CHECK-LABEL: func @used_addend
// CHECK: nn.add
// CHECK: nn.add
func.func @used_addend(%x: tensor<1000x4xui8>, %w: tensor<4x3xi8>) -> (tensor<1000x3xi32>, tensor<1000x3xi32>) {
  %a = nn.constant dense<[1, 2, 3]> : tensor<3xi32>
  %p = nn.matmul %x, %w : tensor<1000x4xui8>, tensor<4x3xi8> -> tensor<1000x3xi32>
  %sa = nn.broadcast_to %a : tensor<3xi32> -> tensor<1000x3xi32>
  %s = nn.add %p, %sa : tensor<1000x3xi32>
  %r = nn.add %s, %sa : tensor<1000x3xi32>
  return %s, %r : tensor<1000x3xi32>, tensor<1000x3xi32>
}

// Products pack a large constant through its transpose. Kernels of convolutions, and Winograd's, want the constant itself.
// CHECK-LABEL: func @transposed_weights
// CHECK: %[[W:.*]] = nn.constant {{.*}} : tensor<64x64x3x3xf32>
// CHECK-NOT: nn.transpose {{.*}} tensor<3x3x64x64xf32>
// CHECK: nn.conv %{{.*}}, %[[W]]
func.func @transposed_weights(%x: tensor<1x8x8x64xf32>) -> tensor<1x6x6x64xf32> {
  %c = nn.constant dense<5.000000e-01> : tensor<3x3x64x64xf32>
  %w = nn.transpose %c [3, 2, 0, 1] : tensor<3x3x64x64xf32> -> tensor<64x64x3x3xf32>
  %r = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last
    : tensor<1x8x8x64xf32>, tensor<64x64x3x3xf32> -> tensor<1x6x6x64xf32>
  return %r : tensor<1x6x6x64xf32>
}

// -----

// Numbers that are the same everywhere stay one number, whatever is computed from them. Weights become constants, which kernels pack.
// CHECK-LABEL: func @uniform
// CHECK: %[[S:.*]] = nn.splat 3.000000e+00 : f32 -> tensor<64x64xf32>
// CHECK: nn.mul %arg0, %[[S]]
// CHECK: %[[B:.*]] = nn.splat 200 : ui8 -> tensor<64x64xui8>
// CHECK: nn.maximum %arg1, %[[B]]
// CHECK: %[[W:.*]] = nn.constant {{.*}} : tensor<64x8xf32>
// CHECK: nn.matmul %arg0, %[[W]]
func.func @uniform(%x: tensor<64x64xf32>, %u: tensor<64x64xui8>) -> (tensor<64x64xf32>, tensor<64x64xui8>, tensor<64x8xf32>) {
  %a = nn.splat 6.0 : f32 -> tensor<64x64xf32>
  %b = nn.splat 2.0 : f32 -> tensor<64x64xf32>
  %factor = nn.div %a, %b : tensor<64x64xf32>
  %0 = nn.mul %x, %factor : tensor<64x64xf32>
  %c = nn.splat 200 : ui8 -> tensor<64x64xui8>
  %d = nn.splat 100 : ui8 -> tensor<64x64xui8>
  %most = nn.maximum %c, %d : tensor<64x64xui8>
  %1 = nn.maximum %u, %most : tensor<64x64xui8>
  %e = nn.splat 6.0 : f32 -> tensor<64x8xf32>
  %w = nn.sqrt %e : tensor<64x8xf32>
  %2 = nn.matmul %x, %w : tensor<64x64xf32>, tensor<64x8xf32> -> tensor<64x8xf32>
  return %0, %1, %2 : tensor<64x64xf32>, tensor<64x64xui8>, tensor<64x8xf32>
}
