// RUN: kiln-opt %s --nn-propagate-layout --split-input-file | FileCheck %s

// A residual block, its bias and a pool: one transpose at the input, one at the output.
// CHECK-LABEL: module attributes {nn.transposes = 2 : i64}
// CHECK-LABEL: func @residual
// CHECK-COUNT-1: nn.transpose {{.*}} [0, 2, 3, 1]
// CHECK: %[[C:.*]] = nn.conv {{.*}} layout channels_last
// CHECK: %[[B:.*]] = nn.broadcast_to {{.*}} : tensor<1x1x1x8xf32> -> tensor<1x4x4x8xf32>
// CHECK: %[[A:.*]] = nn.add %[[C]], %[[B]]
// CHECK: %[[D:.*]] = nn.conv %{{.*}}, {{.*}} layout channels_last
// CHECK: %[[S:.*]] = nn.add %{{.*}}, %{{.*}} : tensor<1x4x4x8xf32>
// CHECK: nn.max_pool %[[S]] {{.*}} layout channels_last
// CHECK-COUNT-1: nn.transpose {{.*}} [0, 3, 1, 2]
// CHECK-NOT: nn.transpose
func.func @residual(%x: tensor<1x8x4x4xf32>, %w: tensor<8x8x1x1xf32>, %b: tensor<8x1x1xf32>) -> tensor<1x8x2x2xf32> {
  %0 = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32> -> tensor<1x8x4x4xf32>
  %1 = nn.broadcast_to %b : tensor<8x1x1xf32> -> tensor<1x8x4x4xf32>
  %2 = nn.add %0, %1 : tensor<1x8x4x4xf32>
  %3 = nn.relu %2 : tensor<1x8x4x4xf32>
  %4 = nn.conv %3, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32> -> tensor<1x8x4x4xf32>
  %5 = nn.add %4, %2 : tensor<1x8x4x4xf32>
  %6 = nn.max_pool %5 kernel [2, 2] strides [2, 2] dilations [1, 1] pads [0, 0, 0, 0] layout channels_first
    : tensor<1x8x4x4xf32> -> tensor<1x8x2x2xf32>
  return %6 : tensor<1x8x2x2xf32>
}

// -----

// Squeeze and excite stays channels_last throughout; the flattened end needs no transpose.
// CHECK-LABEL: module attributes {nn.transposes = 1 : i64}
// CHECK-LABEL: func @squeeze_excite
// CHECK-COUNT-1: nn.transpose
// CHECK: nn.conv
// CHECK: %[[M:.*]] = nn.reduce mean {{.*}} [1, 2] : tensor<1x4x4x8xf32> -> tensor<1x1x1x8xf32>
// CHECK: nn.conv %[[M]], {{.*}} : tensor<1x1x1x8xf32>, tensor<8x8x1x1xf32> -> tensor<1x1x1x8xf32>
// CHECK: nn.sigmoid {{.*}} : tensor<1x1x1x8xf32>
// CHECK: nn.broadcast_to {{.*}} : tensor<1x1x1x8xf32> -> tensor<1x4x4x8xf32>
// CHECK: nn.mul {{.*}} : tensor<1x4x4x8xf32>
// CHECK: nn.reshape {{.*}} -> tensor<1x8xf32>
// CHECK-NOT: nn.transpose
func.func @squeeze_excite(%x: tensor<1x8x4x4xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<1x8xf32> {
  %0 = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32> -> tensor<1x8x4x4xf32>
  %1 = nn.reduce mean %0 [2, 3] : tensor<1x8x4x4xf32> -> tensor<1x8x1x1xf32>
  %2 = nn.conv %1, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x8x1x1xf32>, tensor<8x8x1x1xf32> -> tensor<1x8x1x1xf32>
  %3 = nn.sigmoid %2 : tensor<1x8x1x1xf32>
  %4 = nn.broadcast_to %3 : tensor<1x8x1x1xf32> -> tensor<1x8x4x4xf32>
  %5 = nn.mul %0, %4 : tensor<1x8x4x4xf32>
  %6 = nn.reduce mean %5 [2, 3] : tensor<1x8x4x4xf32> -> tensor<1x8x1x1xf32>
  %7 = nn.reshape %6 : tensor<1x8x1x1xf32> -> tensor<1x8xf32>
  return %7 : tensor<1x8xf32>
}

// -----

// Channel shuffle costs the one transpose that it is.
// CHECK-LABEL: module attributes {nn.transposes = 3 : i64}
// CHECK-LABEL: func @shuffle
// CHECK: nn.transpose %arg0 [0, 2, 3, 1]
// CHECK: nn.conv
// CHECK: nn.transpose {{.*}} [0, 1, 2, 4, 3] : tensor<1x4x4x2x4xf32> -> tensor<1x4x4x4x2xf32>
// CHECK: nn.conv
// CHECK: nn.transpose {{.*}} [0, 3, 1, 2]
// CHECK-NOT: nn.transpose
func.func @shuffle(%x: tensor<1x8x4x4xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32> {
  %0 = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32> -> tensor<1x8x4x4xf32>
  %1 = nn.reshape %0 : tensor<1x8x4x4xf32> -> tensor<1x2x4x4x4xf32>
  %2 = nn.transpose %1 [0, 2, 1, 3, 4] : tensor<1x2x4x4x4xf32> -> tensor<1x4x2x4x4xf32>
  %3 = nn.reshape %2 : tensor<1x4x2x4x4xf32> -> tensor<1x8x4x4xf32>
  %4 = nn.conv %3, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32> -> tensor<1x8x4x4xf32>
  return %4 : tensor<1x8x4x4xf32>
}

// -----

// A detection head: concat along channels, flattened, rows last.
// CHECK-LABEL: module attributes {nn.transposes = 1 : i64}
// CHECK-LABEL: func @head
// CHECK-COUNT-1: nn.transpose
// CHECK: nn.concat {{.*}} axis 3
// CHECK: nn.reshape {{.*}} -> tensor<?x16x16xf32,
// CHECK-NOT: nn.transpose
// CHECK: return
func.func @head(%x: tensor<?x8x4x4xf32, #nn.dims<()[s0] -> (s0, 8, 4, 4)>>, %w: tensor<8x8x1x1xf32>)
    -> tensor<?x16x16xf32, #nn.dims<()[s0] -> (s0, 16, 16)>> {
  %0 = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<?x8x4x4xf32, #nn.dims<()[s0] -> (s0, 8, 4, 4)>>, tensor<8x8x1x1xf32> -> tensor<?x8x4x4xf32, #nn.dims<()[s0] -> (s0, 8, 4, 4)>>
  %1 = nn.sigmoid %0 : tensor<?x8x4x4xf32, #nn.dims<()[s0] -> (s0, 8, 4, 4)>>
  %2 = nn.concat %0, %1 axis 1 : (tensor<?x8x4x4xf32, #nn.dims<()[s0] -> (s0, 8, 4, 4)>>, tensor<?x8x4x4xf32, #nn.dims<()[s0] -> (s0, 8, 4, 4)>>)
    -> tensor<?x16x4x4xf32, #nn.dims<()[s0] -> (s0, 16, 4, 4)>>
  %3 = nn.reshape %2 : tensor<?x16x4x4xf32, #nn.dims<()[s0] -> (s0, 16, 4, 4)>> -> tensor<?x16x16xf32, #nn.dims<()[s0] -> (s0, 16, 16)>>
  %4 = nn.transpose %3 [0, 2, 1] : tensor<?x16x16xf32, #nn.dims<()[s0] -> (s0, 16, 16)>> -> tensor<?x16x16xf32, #nn.dims<()[s0] -> (s0, 16, 16)>>
  return %4 : tensor<?x16x16xf32, #nn.dims<()[s0] -> (s0, 16, 16)>>
}

// -----

// One dimension becomes two.
// CHECK-LABEL: module attributes {nn.transposes = 2 : i64}
// CHECK-LABEL: func @one_dim
// CHECK: nn.conv {{.*}} strides [1, 2] dilations [1, 1] pads [0, 1, 0, 1] groups 1 layout channels_last
// CHECK-SAME: tensor<1x1x8x4xf32>, tensor<6x4x1x3xf32> -> tensor<1x1x4x6xf32>
// CHECK: nn.relu {{.*}} : tensor<1x4x6xf32>
// CHECK: nn.conv {{.*}} layout channels_last
func.func @one_dim(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>, %v: tensor<6x6x1xf32>) -> tensor<1x6x4xf32> {
  %0 = nn.conv %x, %w strides [2] dilations [1] pads [1, 1] groups 1 layout channels_first
    : tensor<1x4x8xf32>, tensor<6x4x3xf32> -> tensor<1x6x4xf32>
  %1 = nn.relu %0 : tensor<1x6x4xf32>
  %2 = nn.conv %1, %v strides [1] dilations [1] pads [0, 0] groups 1 layout channels_first
    : tensor<1x6x4xf32>, tensor<6x6x1xf32> -> tensor<1x6x4xf32>
  return %2 : tensor<1x6x4xf32>
}

// -----

// Attributes that speak of dimensions follow.
// CHECK-DAG: #[[LOW:.*]] = affine_map<() -> (0, 1, 2, 0)>
// CHECK-DAG: #[[ZERO:.*]] = affine_map<() -> (0, 0, 0, 0)>
// CHECK-DAG: #[[STARTS:.*]] = affine_map<() -> (0, 1, 2, 3)>
// CHECK-LABEL: func @remapped
// CHECK: nn.pad {{.*}} low #[[LOW]] high #[[ZERO]]
// CHECK: nn.slice {{.*}} starts #[[STARTS]] steps [1, 1, 1, 1] : tensor<1x5x6x8xf32> -> tensor<1x4x4x4xf32>
// CHECK: nn.resize {{.*}} scales [1.000000e+00, 2.000000e+00, 3.000000e+00, 1.000000e+00]
// CHECK: nn.softmax {{.*}} axis 3 : tensor<1x8x12x4xf32>
// CHECK: nn.transpose {{.*}} [0, 3, 1, 2]
func.func @remapped(%x: tensor<1x8x4x4xf32>, %w: tensor<8x8x1x1xf32>, %z: tensor<f32>) -> tensor<1x4x8x12xf32> {
  %0 = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32> -> tensor<1x8x4x4xf32>
  %1 = nn.pad %0, %z low affine_map<() -> (0, 0, 1, 2)> high affine_map<() -> (0, 0, 0, 0)> interior [0, 0, 0, 0] mode constant
    : tensor<1x8x4x4xf32>, tensor<f32> -> tensor<1x8x5x6xf32>
  %2 = nn.slice %1 starts affine_map<() -> (0, 3, 1, 2)> steps [1, 1, 1, 1] : tensor<1x8x5x6xf32> -> tensor<1x4x4x4xf32>
  %3 = nn.resize %2 mode nearest coordinates "asymmetric" nearest "floor" scales [1.0, 1.0, 2.0, 3.0]
    : tensor<1x4x4x4xf32> -> tensor<1x4x8x12xf32>
  %4 = nn.softmax %3 axis 1 : tensor<1x4x8x12xf32>
  return %4 : tensor<1x4x8x12xf32>
}

// -----

// Dimensions that are equal because the module demands it do not stop a transpose, nor do those of size one.
// CHECK-LABEL: module attributes {{.*}}nn.transposes = 2 : i64}
// CHECK-LABEL: func @constrained
// CHECK: nn.transpose %arg0
// CHECK: nn.conv
// CHECK: nn.relu {{.*}} : tensor<1x1x1x8xf32>
// CHECK: nn.reshape {{.*}} -> tensor<1x?x4x8xf32, #nn.dims<()[s0, s1] -> (1, s1, 4, 8)>>
// CHECK: nn.mul {{.*}} : tensor<1x?x4x8xf32
// CHECK: nn.transpose
// CHECK-NOT: nn.transpose
module attributes {nn.constraints = affine_map<()[s0, s1] -> (s0 - s1)>} {
  func.func @constrained(%x: tensor<1x8x?x4xf32, #nn.dims<()[s0] -> (1, 8, s0, 4)>>, %w: tensor<8x8x1x1xf32>)
      -> tensor<1x8x?x4xf32, #nn.dims<()[s0, s1] -> (1, 8, s1, 4)>> {
    %0 = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
      : tensor<1x8x?x4xf32, #nn.dims<()[s0] -> (1, 8, s0, 4)>>, tensor<8x8x1x1xf32> -> tensor<1x8x?x4xf32, #nn.dims<()[s0] -> (1, 8, s0, 4)>>
    %1 = nn.reduce mean %0 [2, 3] : tensor<1x8x?x4xf32, #nn.dims<()[s0] -> (1, 8, s0, 4)>> -> tensor<1x8x1x1xf32>
    %2 = nn.relu %1 : tensor<1x8x1x1xf32>
    %3 = nn.broadcast_to %2 : tensor<1x8x1x1xf32> -> tensor<1x8x?x4xf32, #nn.dims<()[s0, s1] -> (1, 8, s1, 4)>>
    %4 = nn.reshape %0 : tensor<1x8x?x4xf32, #nn.dims<()[s0] -> (1, 8, s0, 4)>> -> tensor<1x8x?x4xf32, #nn.dims<()[s0, s1] -> (1, 8, s1, 4)>>
    %5 = nn.mul %4, %3 : tensor<1x8x?x4xf32, #nn.dims<()[s0, s1] -> (1, 8, s1, 4)>>
    return %5 : tensor<1x8x?x4xf32, #nn.dims<()[s0, s1] -> (1, 8, s1, 4)>>
  }
}

// -----

// With three dimensions the change to channels_last is its own inverse, and one of a column moves nothing: sinking one through the addition
// puts one on the constant, which looks as if it could sink in its turn.
// CHECK-LABEL: module attributes {nn.transposes = 1 : i64}
// CHECK-LABEL: func @bias_of_a_column
// CHECK: nn.transpose %{{.*}} [0, 2, 3, 1] : tensor<1x4x1x2xf32>
// CHECK: nn.conv
// CHECK-NOT: nn.transpose
// CHECK: nn.add
// CHECK-NOT: nn.transpose
// CHECK: return
func.func @bias_of_a_column(%x: tensor<1x4x2xf32>, %w: tensor<8x4x2xf32>) -> tensor<1x8x1xf32> {
  %bias = nn.constant dense<[[[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0]]]> : tensor<1x8x1xf32>
  %0 = nn.conv %x, %w strides [1] dilations [1] pads [0, 0] groups 1 layout channels_first
    : tensor<1x4x2xf32>, tensor<8x4x2xf32> -> tensor<1x8x1xf32>
  %1 = nn.add %0, %bias : tensor<1x8x1xf32>
  return %1 : tensor<1x8x1xf32>
}

// -----

// A value that is computed from smaller ones follows the order of what it is added to: a number for each pixel times one for each channel.
// CHECK-LABEL: module attributes {nn.transposes = 2 : i64}
// CHECK-LABEL: func @outer_product
// CHECK: %[[C:.*]] = nn.conv {{.*}} layout channels_last
// CHECK: %[[P:.*]] = nn.mul %{{.*}}, %{{.*}} : tensor<1x4x6x8xf32>
// CHECK: %[[S:.*]] = nn.sub %[[C]], %[[P]] : tensor<1x4x6x8xf32>
// CHECK: nn.transpose %[[S]] [0, 3, 1, 2]
func.func @outer_product(%x: tensor<1x8x4x6xf32>, %w: tensor<8x8x1x1xf32>, %pixels: tensor<1x1x4x6xf32>, %channels: tensor<8x1x1xf32>) -> tensor<1x8x4x6xf32> {
  %0 = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x8x4x6xf32>, tensor<8x8x1x1xf32> -> tensor<1x8x4x6xf32>
  %1 = nn.broadcast_to %pixels : tensor<1x1x4x6xf32> -> tensor<1x8x4x6xf32>
  %2 = nn.broadcast_to %channels : tensor<8x1x1xf32> -> tensor<1x8x4x6xf32>
  %3 = nn.mul %1, %2 : tensor<1x8x4x6xf32>
  %4 = nn.sub %0, %3 : tensor<1x8x4x6xf32>
  return %4 : tensor<1x8x4x6xf32>
}

// -----

// Single pixels in groups, with no other convolution near: a product of the weight and the pixels.
// CHECK-LABEL: module attributes {nn.transposes = 0 : i64}
// CHECK-LABEL: func @pointwise_groups
// CHECK: %[[W:.*]] = nn.reshape %arg1 : tensor<6x4x1x1xf32> -> tensor<1x2x3x4xf32>
// CHECK: %[[X:.*]] = nn.reshape %arg0 : tensor<3x8x4x5xf32> -> tensor<3x2x4x20xf32>
// CHECK: %[[A:.*]] = nn.broadcast_to %[[W]] : tensor<1x2x3x4xf32> -> tensor<3x2x3x4xf32>
// CHECK: %[[P:.*]] = nn.matmul %[[A]], %[[X]]
// CHECK: nn.reshape %[[P]] : tensor<3x2x3x20xf32> -> tensor<3x6x4x5xf32>
func.func @pointwise_groups(%x: tensor<3x8x4x5xf32>, %w: tensor<6x4x1x1xf32>) -> tensor<3x6x4x5xf32> {
  %0 = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 2 layout channels_first
    : tensor<3x8x4x5xf32>, tensor<6x4x1x1xf32> -> tensor<3x6x4x5xf32>
  %1 = nn.relu %0 : tensor<3x6x4x5xf32>
  return %1 : tensor<3x6x4x5xf32>
}

// -----

// The same before a pool: both have the channels last.
// CHECK-LABEL: module attributes {nn.transposes = 2 : i64}
// CHECK-LABEL: func @pointwise_groups_before_pool
// CHECK-NOT: nn.matmul
// CHECK: nn.conv {{.*}} groups 2 layout channels_last
// CHECK: nn.max_pool {{.*}} layout channels_last
func.func @pointwise_groups_before_pool(%x: tensor<3x8x4x4xf32>, %w: tensor<6x4x1x1xf32>) -> tensor<3x6x2x2xf32> {
  %0 = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 2 layout channels_first
    : tensor<3x8x4x4xf32>, tensor<6x4x1x1xf32> -> tensor<3x6x4x4xf32>
  %1 = nn.relu %0 : tensor<3x6x4x4xf32>
  %2 = nn.max_pool %1 kernel [2, 2] strides [2, 2] dilations [1, 1] pads [0, 0, 0, 0] layout channels_first : tensor<3x6x4x4xf32> -> tensor<3x6x2x2xf32>
  return %2 : tensor<3x6x2x2xf32>
}
