// RUN: kiln-opt %s --nn-order-filters | FileCheck %s

// Two convolutions share what they have in common.
// CHECK-LABEL: func @computed
// CHECK: %[[FLAT:.*]] = nn.reshape %arg1 : tensor<16x8x3x3xf32> -> tensor<16x8x9xf32>
// CHECK-NEXT: %[[MOVED:.*]] = nn.transpose %[[FLAT]] [2, 1, 0] : tensor<16x8x9xf32> -> tensor<9x8x16xf32>
// CHECK-NEXT: %[[WINDOW:.*]] = nn.reshape %[[MOVED]] : tensor<9x8x16xf32> -> tensor<3x3x8x16xf32>
// CHECK-NEXT: %[[VIEW:.*]] = nn.transpose %[[WINDOW]] [3, 2, 0, 1] : tensor<3x3x8x16xf32> -> tensor<16x8x3x3xf32>
// CHECK-NEXT: nn.conv %arg0, %[[VIEW]]
// CHECK-NEXT: nn.conv %arg0, %[[VIEW]]
func.func @computed(%x: tensor<1x9x9x8xf32>, %w: tensor<16x8x3x3xf32>) -> (tensor<1x7x7x16xf32>, tensor<1x4x4x16xf32>) {
  %r = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last
    : tensor<1x9x9x8xf32>, tensor<16x8x3x3xf32> -> tensor<1x7x7x16xf32>
  %s = nn.conv %x, %w strides [2, 2] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last
    : tensor<1x9x9x8xf32>, tensor<16x8x3x3xf32> -> tensor<1x4x4x16xf32>
  return %r, %s : tensor<1x7x7x16xf32>, tensor<1x4x4x16xf32>
}

// Integers, and filters that lie so already.
// CHECK-LABEL: func @others
// CHECK: nn.conv %arg0, %arg1
// CHECK-NEXT: %[[VIEW:.*]] = nn.transpose %arg3 [3, 2, 0, 1]
// CHECK-NEXT: nn.conv %arg2, %[[VIEW]]
func.func @others(%x: tensor<1x9x9x8xi32>, %w: tensor<16x8x3x3xi32>, %y: tensor<1x9x9x8xf32>, %v: tensor<3x3x8x16xf32>)
    -> (tensor<1x7x7x16xi32>, tensor<1x7x7x16xf32>) {
  %r = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last
    : tensor<1x9x9x8xi32>, tensor<16x8x3x3xi32> -> tensor<1x7x7x16xi32>
  %t = nn.transpose %v [3, 2, 0, 1] : tensor<3x3x8x16xf32> -> tensor<16x8x3x3xf32>
  %s = nn.conv %y, %t strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last
    : tensor<1x9x9x8xf32>, tensor<16x8x3x3xf32> -> tensor<1x7x7x16xf32>
  return %r, %s : tensor<1x7x7x16xi32>, tensor<1x7x7x16xf32>
}
