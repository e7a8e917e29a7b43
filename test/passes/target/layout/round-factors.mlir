// RUN: kiln-opt %s --kiln-set-target=name=znver4 --nn-round-factors=types=bf16 | FileCheck %s
// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --nn-round-factors=types=bf16 | FileCheck %s --check-prefix=NONE
// RUN: not kiln-opt %s --kiln-set-target=name=znver4 --nn-round-factors=types=bf8 2>&1 | FileCheck %s --check-prefix=TYPE

// TYPE: error: factors 'bf8': expected TYPE or NODE=TYPE, where TYPE is bf16, f16, bf16x2 or f32
// CHECK: module attributes
// CHECK-SAME: nn.rounding = ["factors of 5 of 8 products and convolutions are rounded to bf16, each within 2^-8 of itself; sums of f32"]
// NONE: nn.rounding = ["no product or convolution has its factors rounded to bf16: the target has no step for bf16 and bf16 whose sums are f32"]
// NONE-NOT: bf16{{>}}

// The constant has its new type; 1.001 is not one of bf16, and 1.0 is the nearest.
// CHECK-LABEL: func @product
// CHECK-DAG: %[[W:.*]] = nn.constant dense<1.000000e+00> : tensor<8x16xbf16>
// CHECK-DAG: %[[X:.*]] = nn.cast %{{.*}} : tensor<4x8xf32> -> tensor<4x8xbf16>
// CHECK: nn.matmul %[[X]], %[[W]] {nn.rounding = "factors rounded to bf16, each within 2^-8 of itself; sums of f32"} : tensor<4x8xbf16>, tensor<8x16xbf16> -> tensor<4x16xf32>
func.func @product(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %w = nn.constant dense<1.001> : tensor<8x16xf32>
  %r = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}

// A value that two products read is rounded once, and weights are turned at compile time.
// CHECK-LABEL: func @shared
// CHECK: nn.reshape
// CHECK-NEXT: nn.cast %{{.*}} : tensor<4x8xf32> -> tensor<4x8xbf16>
// CHECK-NOT: nn.cast
// CHECK-NOT: nn.transpose
// CHECK: return
func.func @shared(%x: tensor<2x2x8xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %y = nn.relu %x : tensor<2x2x8xf32>
  %z = nn.reshape %y : tensor<2x2x8xf32> -> tensor<4x8xf32>
  %w = nn.constant dense<2.0> : tensor<8x16xf32>
  %v = nn.constant dense<3.0> : tensor<16x8xf32>
  %t = nn.transpose %v [1, 0] : tensor<16x8xf32> -> tensor<8x16xf32>
  %a = nn.matmul %z, %w : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  %b = nn.matmul %z, %t : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  return %a, %b : tensor<4x16xf32>, tensor<4x16xf32>
}

// CHECK-LABEL: func @convolution
// CHECK: nn.conv
// CHECK-SAME: : tensor<1x8x8x4xbf16>, tensor<16x4x1x1xbf16> -> tensor<1x8x8x16xf32>
func.func @convolution(%x: tensor<1x8x8x4xf32>) -> tensor<1x8x8x16xf32> {
  %w = nn.constant dense<1.0> : tensor<16x4x1x1xf32>
  %r = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last
    : tensor<1x8x8x4xf32>, tensor<16x4x1x1xf32> -> tensor<1x8x8x16xf32>
  return %r : tensor<1x8x8x16xf32>
}

// CHECK-LABEL: func @computed
// CHECK: nn.matmul %{{.*}} {nn.rounding = "not bf16: the right side is computed"} : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
func.func @computed(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %r = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}

// Attention counts as a product. Its casts stand before the views, one for all that read a value.
// CHECK-LABEL: func @attention
// CHECK: %[[Y:.*]] = nn.relu
// CHECK-NEXT: %[[C:.*]] = nn.cast %[[Y]] : tensor<16x2x32xf32> -> tensor<16x2x32xbf16>
// CHECK-NOT: nn.cast
// CHECK: %[[V:.*]] = nn.transpose %[[C]]
// CHECK: nn.attention {{.*}}nn.rounding = "factors rounded to bf16, each within 2^-8 of itself; sums of f32"
// CHECK-SAME: (tensor<2x16x32xbf16>, tensor<2x16x32xbf16>, tensor<2x16x32xbf16>) -> tensor<2x16x32xf32>
func.func @attention(%x: tensor<16x2x32xf32>) -> tensor<2x16x32xf32> {
  %y = nn.relu %x : tensor<16x2x32xf32>
  %q = nn.transpose %y [1, 0, 2] : tensor<16x2x32xf32> -> tensor<2x16x32xf32>
  %k = nn.transpose %y [1, 0, 2] : tensor<16x2x32xf32> -> tensor<2x16x32xf32>
  %v = nn.transpose %y [1, 0, 2] : tensor<16x2x32xf32> -> tensor<2x16x32xf32>
  %r = nn.attention query(%q) key(%k) value(%v) scale 1.0 : (tensor<2x16x32xf32>, tensor<2x16x32xf32>, tensor<2x16x32xf32>) -> tensor<2x16x32xf32>
  return %r : tensor<2x16x32xf32>
}

// CHECK-LABEL: func @few_queries
// CHECK: nn.attention {{.*}}nn.rounding = "not bf16: there are 4 queries, fewer than the 8 from which on keys are packed"
func.func @few_queries(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %r = nn.attention query(%x) key(%x) value(%x) scale 1.0 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %r : tensor<2x4x8xf32>
}

// CHECK-LABEL: func @given
// CHECK: nn.attention {{.*}}nn.rounding = "not bf16: its query, key or value is an input or an output of the model"
func.func @given(%x: tensor<2x16x32xf32>) -> tensor<2x16x32xf32> {
  %r = nn.attention query(%x) key(%x) value(%x) scale 1.0 : (tensor<2x16x32xf32>, tensor<2x16x32xf32>, tensor<2x16x32xf32>) -> tensor<2x16x32xf32>
  return %r : tensor<2x16x32xf32>
}
