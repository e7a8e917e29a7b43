// RUN: kiln-opt %s --nn-widen-operands | FileCheck %s
// RUN: kiln-opt %s --kiln-set-target=name=znver4 --nn-widen-operands | FileCheck %s --check-prefix=STEP

// RUN: kiln-opt %s --kiln-set-target=name=sapphirerapids --nn-widen-operands | FileCheck %s --check-prefix=TILES

// CHECK-LABEL: func @product
// CHECK: %[[W:.*]] = nn.constant
// CHECK: %[[X:.*]] = nn.cast %{{.*}} : tensor<4x8xf16> -> tensor<4x8xf32>
// CHECK: nn.matmul %[[X]], %[[W]] : tensor<4x8xf32>, tensor<8x16xf16> -> tensor<4x16xf16>
func.func @product(%x: tensor<4x8xf16>) -> tensor<4x16xf16> {
  %w = nn.constant dense<1.0> : tensor<8x16xf16>
  %r = nn.matmul %x, %w : tensor<4x8xf16>, tensor<8x16xf16> -> tensor<4x16xf16>
  return %r : tensor<4x16xf16>
}

// CHECK-LABEL: func @two_users_share_the_cast
// CHECK-COUNT-1: nn.cast
// CHECK-NOT: nn.cast
// CHECK: return
func.func @two_users_share_the_cast(%x: tensor<4x8xbf16>, %w: tensor<8x16xbf16>) -> (tensor<4x16xbf16>, tensor<4x16xbf16>) {
  %a = nn.matmul %x, %w : tensor<4x8xbf16>, tensor<8x16xbf16> -> tensor<4x16xbf16>
  %b = nn.matmul %x, %w : tensor<4x8xbf16>, tensor<8x16xbf16> -> tensor<4x16xbf16>
  return %a, %b : tensor<4x16xbf16>, tensor<4x16xbf16>
}

// CHECK-LABEL: func @convolution
// CHECK: %[[Y:.*]] = nn.cast %{{.*}} : tensor<1x8x8x3xbf16> -> tensor<1x8x8x3xf32>
// CHECK: nn.conv %[[Y]]
// CHECK-SAME: : tensor<1x8x8x3xf32>, tensor<16x3x3x3xbf16> -> tensor<1x6x6x16xbf16>
func.func @convolution(%x: tensor<1x8x8x3xbf16>, %w: tensor<16x3x3x3xbf16>) -> tensor<1x6x6x16xbf16> {
  %r = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last
    : tensor<1x8x8x3xbf16>, tensor<16x3x3x3xbf16> -> tensor<1x6x6x16xbf16>
  return %r : tensor<1x6x6x16xbf16>
}

// What is read in vectors stays as it is: depthwise convolutions, products of one column; so do other types.
// CHECK-LABEL: func @stays
// CHECK-NOT: nn.cast
// CHECK: return
func.func @stays(%x: tensor<1x8x8x3xf16>, %w: tensor<3x1x3x3xf16>, %a: tensor<4x8xf16>, %b: tensor<8x1xf16>, %c: tensor<4x8xf64>, %d: tensor<8x4xf64>)
    -> (tensor<1x6x6x3xf16>, tensor<4x1xf16>, tensor<4x4xf64>) {
  %r = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 3 layout channels_last
    : tensor<1x8x8x3xf16>, tensor<3x1x3x3xf16> -> tensor<1x6x6x3xf16>
  %s = nn.matmul %a, %b : tensor<4x8xf16>, tensor<8x1xf16> -> tensor<4x1xf16>
  %t = nn.matmul %c, %d : tensor<4x8xf64>, tensor<8x4xf64> -> tensor<4x4xf64>
  return %r, %s, %t : tensor<1x6x6x3xf16>, tensor<4x1xf16>, tensor<4x4xf64>
}

// The target's step reads bf16 as it is. Seven products do not fill steps of two products.
// STEP-LABEL: func @steps
// STEP-NOT: nn.cast
// STEP: nn.matmul %{{.*}}, %{{.*}} : tensor<4x8xbf16>
// STEP: nn.cast %{{.*}} : tensor<4x7xbf16> -> tensor<4x7xf32>
// CHECK-LABEL: func @steps
// CHECK: nn.cast %{{.*}} : tensor<4x8xbf16> -> tensor<4x8xf32>
func.func @steps(%x: tensor<4x8xbf16>, %y: tensor<4x7xbf16>) -> (tensor<4x16xbf16>, tensor<4x16xbf16>) {
  %v = nn.constant dense<1.0> : tensor<8x16xbf16>
  %w = nn.constant dense<1.0> : tensor<7x16xbf16>
  %a = nn.matmul %x, %v : tensor<4x8xbf16>, tensor<8x16xbf16> -> tensor<4x16xbf16>
  %b = nn.matmul %y, %w : tensor<4x7xbf16>, tensor<7x16xbf16> -> tensor<4x16xbf16>
  return %a, %b : tensor<4x16xbf16>, tensor<4x16xbf16>
}

// Steps of several rows read bf16 as it is, where rows and products fill them.
// CHECK-LABEL: func @tiles
// TILES-LABEL: func @tiles
// TILES: nn.cast %{{.*}} : tensor<2x64xbf16> -> tensor<2x64xf32>
// TILES-NOT: nn.cast
// TILES: nn.matmul %{{.*}}, %{{.*}} : tensor<40x64xbf16>
// TILES: nn.conv
// TILES-SAME: : tensor<1x8x8x32xbf16>
func.func @tiles(%x: tensor<2x64xbf16>, %y: tensor<40x64xbf16>, %z: tensor<1x8x8x32xbf16>) -> (tensor<2x16xbf16>, tensor<40x16xbf16>, tensor<1x6x6x16xbf16>) {
  %v = nn.constant dense<1.0> : tensor<64x16xbf16>
  %w = nn.constant dense<1.0> : tensor<16x32x3x3xbf16>
  %a = nn.matmul %x, %v : tensor<2x64xbf16>, tensor<64x16xbf16> -> tensor<2x16xbf16>
  %b = nn.matmul %y, %v : tensor<40x64xbf16>, tensor<64x16xbf16> -> tensor<40x16xbf16>
  %c = nn.conv %z, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last
    : tensor<1x8x8x32xbf16>, tensor<16x32x3x3xbf16> -> tensor<1x6x6x16xbf16>
  return %a, %b, %c : tensor<2x16xbf16>, tensor<40x16xbf16>, tensor<1x6x6x16xbf16>
}
