// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --nn-form-groups=explain --split-input-file | FileCheck %s
// RUN: rm -rf %t && mkdir %t && echo '{"name": "short", "base": "generic", "vector_bits": 64}' > %t/short.json
// RUN: kiln-opt %s --kiln-set-target=name=%t/short.json --nn-form-groups=explain --split-input-file | FileCheck %s --check-prefix=SHORT
// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --nn-form-groups --split-input-file | FileCheck %s --check-prefix=QUIET --implicit-check-not=refusals

// Reasons for products that other passes have changed before groups are formed. Both groups have the note.
// CHECK-LABEL: func @channels_first
// CHECK: nn.group({{.*}}refusals = [#kernel.refusal<kernel = "product_softmax", why = "the convolution's channels come first, expected them last">]
// CHECK: nn.conv
// CHECK: nn.group({{.*}}refusals = [#kernel.refusal<kernel = "product_softmax", why = "the convolution's channels come first, expected them last">]
// CHECK: nn.softmax
// SHORT-LABEL: func @channels_first
// SHORT: why = "a vector of the target has 2 lanes, expected four"
// QUIET-LABEL: func @channels_first
func.func @channels_first(%x: tensor<2x8x5x5xf32>) -> tensor<2x4x5x5xf32> {
  %w = nn.constant dense<0.5> : tensor<4x8x1x1xf32>
  %c = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<2x8x5x5xf32>, tensor<4x8x1x1xf32> -> tensor<2x4x5x5xf32>
  %r = nn.softmax %c axis 3 : tensor<2x4x5x5xf32>
  return %r : tensor<2x4x5x5xf32>
}

// -----

// CHECK-LABEL: func @padded
// CHECK: why = "the convolution is padded"
func.func @padded(%x: tensor<2x5x5x8xf32>) -> tensor<2x5x5x4xf32> {
  %w = nn.constant dense<0.5> : tensor<4x8x3x3xf32>
  %c = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1] groups 1 layout channels_last
    : tensor<2x5x5x8xf32>, tensor<4x8x3x3xf32> -> tensor<2x5x5x4xf32>
  %r = nn.softmax %c axis 3 : tensor<2x5x5x4xf32>
  return %r : tensor<2x5x5x4xf32>
}

// -----

// CHECK-LABEL: func @nothing
// CHECK: why = "a product of nothing has no tiles"
func.func @nothing(%x: tensor<0x8xf32>) -> tensor<0x4xf32> {
  %w = nn.constant dense<0.5> : tensor<8x4xf32>
  %p = nn.matmul %x, %w : tensor<0x8xf32>, tensor<8x4xf32> -> tensor<0x4xf32>
  %r = nn.softmax %p axis 1 : tensor<0x4xf32>
  return %r : tensor<0x4xf32>
}
