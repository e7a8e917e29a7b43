// RUN: kiln-opt %s --nn-simplify-data-movement --nn-fold-constants --split-input-file | FileCheck %s

// Of a wide window, the line in the middle sees the picture.
// CHECK-LABEL: func @middle
// CHECK: %[[W:.*]] = nn.constant dense<5.0{{.*}}> : tensor<1x1x1x1xf32>
// CHECK: nn.conv %arg0, %[[W]] strides [1, 1] dilations [6, 6] pads [0, 0, 0, 0]
func.func @middle(%x: tensor<1x5x5x1xf32>) -> tensor<1x5x5x1xf32> {
  %w = nn.constant dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32>
  %r = nn.conv %x, %w strides [1, 1] dilations [6, 6] pads [6, 6, 6, 6] groups 1 layout channels_last
    : tensor<1x5x5x1xf32>, tensor<1x1x3x3xf32> -> tensor<1x5x5x1xf32>
  return %r : tensor<1x5x5x1xf32>
}

// -----

// One side of one dimension; the other dimension keeps its window.
// CHECK-LABEL: func @one_side
// CHECK: nn.conv %arg0, %{{.*}} strides [2, 1] dilations [4, 1] pads [0, 1, 1, 1]
// CHECK-SAME: tensor<1x1x2x3xf32>
func.func @one_side(%x: tensor<1x1x4x5xf32>) -> tensor<1x1x1x5xf32> {
  %w = nn.constant dense<2.0> : tensor<1x1x3x3xf32>
  %r = nn.conv %x, %w strides [2, 1] dilations [4, 1] pads [4, 1, 1, 1] groups 1 layout channels_first
    : tensor<1x1x4x5xf32>, tensor<1x1x3x3xf32> -> tensor<1x1x1x5xf32>
  return %r : tensor<1x1x1x5xf32>
}

// -----

// Zero times infinity is NaN.
// CHECK-LABEL: func @infinite
// CHECK: nn.conv {{.*}} pads [6, 6, 6, 6]
func.func @infinite(%x: tensor<1x5x5x1xf32>) -> tensor<1x5x5x1xf32> {
  %w = nn.constant dense<[[[[0x7F800000, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32>
  %r = nn.conv %x, %w strides [1, 1] dilations [6, 6] pads [6, 6, 6, 6] groups 1 layout channels_last
    : tensor<1x5x5x1xf32>, tensor<1x1x3x3xf32> -> tensor<1x5x5x1xf32>
  return %r : tensor<1x5x5x1xf32>
}

// -----

// Some pixels see each line.
// CHECK-LABEL: func @seen
// CHECK: nn.conv {{.*}} pads [4, 4, 4, 4]
func.func @seen(%x: tensor<1x5x5x1xf32>) -> tensor<1x5x5x1xf32> {
  %w = nn.constant dense<2.0> : tensor<1x1x3x3xf32>
  %r = nn.conv %x, %w strides [1, 1] dilations [4, 4] pads [4, 4, 4, 4] groups 1 layout channels_last
    : tensor<1x5x5x1xf32>, tensor<1x1x3x3xf32> -> tensor<1x5x5x1xf32>
  return %r : tensor<1x5x5x1xf32>
}
