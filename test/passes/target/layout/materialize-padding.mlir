// RUN: kiln-opt %s --nn-materialize-padding | FileCheck %s

// CHECK: #[[LOW:.*]] = affine_map<() -> (0, 1, 2, 0)>
// CHECK: #[[HIGH:.*]] = affine_map<() -> (0, 3, 4, 0)>
// CHECK-LABEL: func @same_padding
// CHECK: %[[ZERO:.*]] = nn.splat 0.000000e+00
// CHECK: %[[P:.*]] = nn.pad %{{.*}}, %[[ZERO]] low #[[LOW]] high #[[HIGH]]
// CHECK-SAME: -> tensor<1x12x14x3xf32>
// CHECK: nn.conv %[[P]], %{{.*}} pads [0, 0, 0, 0]
func.func @same_padding(%x: tensor<1x8x8x3xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<1x10x12x16xf32> {
  %r = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [1, 2, 3, 4] groups 1 layout channels_last
    : tensor<1x8x8x3xf32>, tensor<16x3x3x3xf32> -> tensor<1x10x12x16xf32>
  return %r : tensor<1x10x12x16xf32>
}

// CHECK-LABEL: func @no_padding
// CHECK-NOT: nn.pad
func.func @no_padding(%x: tensor<1x8x8x3xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<1x6x6x16xf32> {
  %r = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last
    : tensor<1x8x8x3xf32>, tensor<16x3x3x3xf32> -> tensor<1x6x6x16xf32>
  return %r : tensor<1x6x6x16xf32>
}
