// RUN: kiln-opt %s --nn-simplify-data-movement --split-input-file | FileCheck %s

// CHECK: #[[MAP:.*]] = affine_map<() -> (1, 3)>
// CHECK-LABEL: func @slice_of_slice
// CHECK: nn.slice %arg0 starts #[[MAP]] steps [1, 2] : tensor<4x8xf32> -> tensor<3x2xf32>
func.func @slice_of_slice(%x: tensor<4x8xf32>) -> tensor<3x2xf32> {
  %a = nn.slice %x starts affine_map<() -> (0, 2)> steps [1, 1] : tensor<4x8xf32> -> tensor<4x6xf32>
  %b = nn.slice %a starts affine_map<() -> (1, 1)> steps [1, 2] : tensor<4x6xf32> -> tensor<3x2xf32>
  return %b : tensor<3x2xf32>
}

// -----

// CHECK-LABEL: func @slice_of_concat
// CHECK-NOT: nn.
// CHECK: return %arg1
func.func @slice_of_concat(%x: tensor<4x8xf32>, %y: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %a = nn.concat %x, %y axis 1 : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<4x10xf32>
  %b = nn.slice %a starts affine_map<() -> (0, 8)> steps [1, 1] : tensor<4x10xf32> -> tensor<4x2xf32>
  return %b : tensor<4x2xf32>
}

// -----

// A split put together again.
// CHECK-LABEL: func @concat_of_slices
// CHECK-NOT: nn.
// CHECK: return %arg0
func.func @concat_of_slices(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = nn.slice %x starts affine_map<() -> (0, 0)> steps [1, 1] : tensor<4x8xf32> -> tensor<4x3xf32>
  %b = nn.slice %x starts affine_map<() -> (0, 3)> steps [1, 1] : tensor<4x8xf32> -> tensor<4x5xf32>
  %c = nn.concat %a, %b axis 1 : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func @flatten_concat
// CHECK: nn.concat %arg0, %arg0, %arg0 axis 0
func.func @flatten_concat(%x: tensor<4x8xf32>) -> tensor<12x8xf32> {
  %a = nn.concat %x, %x axis 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %b = nn.concat %a, %x axis 0 : (tensor<8x8xf32>, tensor<4x8xf32>) -> tensor<12x8xf32>
  return %b : tensor<12x8xf32>
}

// -----

// The first row of each sequence; the last one of a symbolic length, of which a run checks that it is not 0.
// CHECK-DAG: #[[FIRST:.*]] = affine_map<() -> (0, 0, 0)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<()[s0] -> (0, s0 - 1, 0)>
// CHECK-LABEL: func @gather_row
// CHECK: nn.slice %arg0 starts #[[FIRST]]
// CHECK: nn.reshape {{.*}} -> tensor<2x8xf32>
// CHECK: nn.slice %arg0 starts #[[LAST]]
module attributes {nn.symbols = ["n"], nn.constraints = affine_map<()[s0] -> ((s0 - 1) floordiv 1099511627776)>} {
func.func @gather_row(%x: tensor<2x?x8xf32, #nn.dims<()[s0] -> (2, s0, 8)>>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %zero = nn.constant dense<0> : tensor<i64>
  %minus = nn.constant dense<-1> : tensor<i64>
  %a = nn.gather %x, %zero axis 1 : tensor<2x?x8xf32, #nn.dims<()[s0] -> (2, s0, 8)>>, tensor<i64> -> tensor<2x8xf32>
  %b = nn.gather %x, %minus axis 1 : tensor<2x?x8xf32, #nn.dims<()[s0] -> (2, s0, 8)>>, tensor<i64> -> tensor<2x8xf32>
  return %a, %b : tensor<2x8xf32>, tensor<2x8xf32>
}
}

// -----

// Without that it stays a gather, which checks its index.
// CHECK-LABEL: func @gather_of_none
// CHECK: nn.gather
func.func @gather_of_none(%x: tensor<?x8xf32, #nn.dims<()[s0] -> (s0, 8)>>) -> tensor<8xf32> {
  %zero = nn.constant dense<0> : tensor<i64>
  %a = nn.gather %x, %zero axis 0 : tensor<?x8xf32, #nn.dims<()[s0] -> (s0, 8)>>, tensor<i64> -> tensor<8xf32>
  return %a : tensor<8xf32>
}

// -----

// Out of bounds, or not known to be in bounds: stays a gather.
// CHECK-LABEL: func @gather_unknown
// CHECK-COUNT-2: nn.gather
func.func @gather_unknown(%x: tensor<?xf32, #nn.dims<()[s0] -> (s0)>>, %y: tensor<3xf32>) -> (tensor<f32>, tensor<f32>) {
  %five = nn.constant dense<5> : tensor<i64>
  %a = nn.gather %x, %five axis 0 : tensor<?xf32, #nn.dims<()[s0] -> (s0)>>, tensor<i64> -> tensor<f32>
  %b = nn.gather %y, %five axis 0 : tensor<3xf32>, tensor<i64> -> tensor<f32>
  return %a, %b : tensor<f32>, tensor<f32>
}

// -----

// CHECK-LABEL: func @pad_into_conv
// CHECK-NOT: nn.pad
// CHECK: nn.conv %arg0, %arg1 strides [2, 2] dilations [1, 1] pads [1, 2, 2, 1]
func.func @pad_into_conv(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x5x5xf32> {
  %zero = nn.splat 0.0 : f32 -> tensor<f32>
  %p = nn.pad %x, %zero low affine_map<() -> (0, 0, 0, 1)> high affine_map<() -> (0, 0, 1, 0)> interior [0, 0, 0, 0] mode constant
    : tensor<1x3x8x8xf32>, tensor<f32> -> tensor<1x3x9x9xf32>
  %c = nn.conv %p, %w strides [2, 2] dilations [1, 1] pads [1, 1, 1, 1] groups 1 layout channels_first
    : tensor<1x3x9x9xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x5x5xf32>
  return %c : tensor<1x4x5x5xf32>
}

// -----

// Padding with ones, padded channels: not the convolution's own padding.
// CHECK-LABEL: func @pad_stays
// CHECK-COUNT-2: nn.pad
func.func @pad_stays(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %v: tensor<4x4x3x3xf32>) -> (tensor<1x4x7x6xf32>, tensor<1x4x6x6xf32>) {
  %zero = nn.splat 0.0 : f32 -> tensor<f32>
  %one = nn.splat 1.0 : f32 -> tensor<f32>
  %p = nn.pad %x, %one low affine_map<() -> (0, 0, 1, 0)> high affine_map<() -> (0, 0, 0, 0)> interior [0, 0, 0, 0] mode constant
    : tensor<1x3x8x8xf32>, tensor<f32> -> tensor<1x3x9x8xf32>
  %c = nn.conv %p, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x3x9x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x7x6xf32>
  %q = nn.pad %x, %zero low affine_map<() -> (0, 1, 0, 0)> high affine_map<() -> (0, 0, 0, 0)> interior [0, 0, 0, 0] mode constant
    : tensor<1x3x8x8xf32>, tensor<f32> -> tensor<1x4x8x8xf32>
  %d = nn.conv %q, %v strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32> -> tensor<1x4x6x6xf32>
  return %c, %d : tensor<1x4x7x6xf32>, tensor<1x4x6x6xf32>
}

// -----

// CHECK-LABEL: func @broadcast_after
// CHECK: %[[E:.*]] = nn.exp %arg0 : tensor<4x1xf32>
// CHECK: %[[S:.*]] = nn.add %[[E]], %{{.*}} : tensor<4x1xf32>
// CHECK: nn.broadcast_to %[[S]] : tensor<4x1xf32> -> tensor<2x4x8xf32>
func.func @broadcast_after(%x: tensor<4x1xf32>) -> tensor<2x4x8xf32> {
  %b = nn.broadcast_to %x : tensor<4x1xf32> -> tensor<2x4x8xf32>
  %e = nn.exp %b : tensor<2x4x8xf32>
  %two = nn.splat 2.0 : f32 -> tensor<2x4x8xf32>
  %s = nn.add %e, %two : tensor<2x4x8xf32>
  return %s : tensor<2x4x8xf32>
}

// -----

// Integers are reshaped, and not what they stand for; scales of a channel stay where they are.
// CHECK-LABEL: func @reshaped_integers
// CHECK: %[[I:.*]] = nn.reshape %arg0 : tensor<2x12xui8> -> tensor<2x3x4xui8>
// CHECK: %[[D:.*]] = nn.dequantize %[[I]]
// CHECK: %[[E:.*]] = nn.exp %[[D]]
// CHECK: %[[Q:.*]] = nn.quantize %[[E]], %{{.*}} : tensor<2x3x4xf32>, tensor<2x3x4xf32> -> tensor<2x3x4xi8>
// CHECK: nn.reshape %[[Q]] : tensor<2x3x4xi8> -> tensor<6x4xi8>
// CHECK: %[[C:.*]] = nn.dequantize %arg0
// CHECK: nn.reshape %[[C]] : tensor<2x12xf32> -> tensor<24xf32>
func.func @reshaped_integers(%x: tensor<2x12xui8>, %one: tensor<1xf32>, %many: tensor<12xf32>) -> (tensor<6x4xi8>, tensor<24xf32>) {
  %s = nn.splat 0.5 : f32 -> tensor<2x12xf32>
  %z = nn.splat 3 : ui8 -> tensor<2x12xui8>
  %d = nn.dequantize %x, %s, %z : tensor<2x12xui8>, tensor<2x12xf32> -> tensor<2x12xf32>
  %r = nn.reshape %d : tensor<2x12xf32> -> tensor<2x3x4xf32>
  %e = nn.exp %r : tensor<2x3x4xf32>
  %f = nn.reshape %e : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %t = nn.broadcast_to %one : tensor<1xf32> -> tensor<6x4xf32>
  %y = nn.splat -2 : i8 -> tensor<6x4xi8>
  %q = nn.quantize %f, %t, %y : tensor<6x4xf32>, tensor<6x4xf32> -> tensor<6x4xi8>
  %m = nn.broadcast_to %many : tensor<12xf32> -> tensor<2x12xf32>
  %c = nn.dequantize %x, %m, %z : tensor<2x12xui8>, tensor<2x12xf32> -> tensor<2x12xf32>
  %g = nn.reshape %c : tensor<2x12xf32> -> tensor<24xf32>
  return %q, %g : tensor<6x4xi8>, tensor<24xf32>
}
