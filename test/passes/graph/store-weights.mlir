// RUN: kiln-opt %s --nn-store-weights=type=bf16 | FileCheck %s --check-prefix=HALF
// RUN: kiln-opt %s --nn-store-weights=type=int8 | FileCheck %s --check-prefix=INT8
// RUN: kiln-opt %s --nn-store-weights=type=int4 | FileCheck %s --check-prefix=INT4
// RUN: kiln-opt %s --nn-store-weights="type=bf16 widen" | FileCheck %s --check-prefix=WIDE-HALF
// RUN: kiln-opt %s --nn-store-weights="type=int8 widen" | FileCheck %s --check-prefix=WIDE-INT8
// RUN: not kiln-opt %s --nn-store-weights=type=int2 2>&1 | FileCheck %s --check-prefix=TYPE

// TYPE: error: weights of type 'int2': expected f16, bf16, int8 or int4

// int8 has the weights as 127 steps of 2 / 127.
// HALF-LABEL: func @product
// HALF: %[[W:.*]] = nn.constant {nn.rounding = "weights stored as bf16: rms error 0 of the weights' rms, largest 0 of the largest weight"}
// HALF: nn.matmul %{{.*}}, %[[W]] : tensor<4x32xf32>, tensor<32x2xbf16> -> tensor<4x2xf32>
// INT8-LABEL: func @product
// INT8: %[[W:.*]] = nn.constant {nn.rounding = "weights stored as int8 with a scale for each column: rms error
// INT8: %[[S:.*]] = nn.constant dense<0.0157480314> : tensor<2xf32>
// INT8: %[[P:.*]] = nn.matmul %{{.*}}, %[[W]] : tensor<4x32xf32>, tensor<32x2xi8> -> tensor<4x2xf32>
// INT8: %[[F:.*]] = nn.broadcast_to %[[S]] : tensor<2xf32> -> tensor<4x2xf32>
// INT8: nn.mul %[[P]], %[[F]]
// INT4-LABEL: func @product
// INT4: nn.block_quantized_matmul %{{.*}} bits 4 : tensor<4x32xf32>, tensor<2x1x16xui8>, tensor<2x1xf16> -> tensor<4x2xf32>
// WIDE-HALF-LABEL: func @product
// WIDE-HALF: %[[W:.*]] = nn.cast %{{.*}} : tensor<32x2xbf16> -> tensor<32x2xf32>
// WIDE-HALF: nn.matmul %{{.*}}, %[[W]] : tensor<4x32xf32>, tensor<32x2xf32> -> tensor<4x2xf32>
// WIDE-INT8-LABEL: func @product
// WIDE-INT8: %[[F:.*]] = nn.broadcast_to %{{.*}} : tensor<2xf32> -> tensor<32x2xf32>
// WIDE-INT8: %[[W:.*]] = nn.cast %{{.*}} : tensor<32x2xi8> -> tensor<32x2xf32>
// WIDE-INT8: %[[M:.*]] = nn.mul %[[W]], %[[F]]
// WIDE-INT8: %[[R:.*]] = nn.matmul %{{.*}}, %[[M]]
// WIDE-INT8-NEXT: return %[[R]]
func.func @product(%x: tensor<4x32xf32>) -> tensor<4x2xf32> {
  %w = nn.constant dense<2.0> : tensor<32x2xf32>
  %r = nn.matmul %x, %w : tensor<4x32xf32>, tensor<32x2xf32> -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// HALF-LABEL: func @convolution
// HALF: nn.conv %{{.*}} : tensor<1x3x8x8xf32>, tensor<5x3x3x3xbf16> -> tensor<1x5x6x6xf32>
// INT8-LABEL: func @convolution
// INT8: %[[S:.*]] = nn.constant dense<{{.*}}> : tensor<5x1x1xf32>
// INT8: %[[P:.*]] = nn.conv %{{.*}} : tensor<1x3x8x8xf32>, tensor<5x3x3x3xi8> -> tensor<1x5x6x6xf32>
// INT8: %[[F:.*]] = nn.broadcast_to %[[S]] : tensor<5x1x1xf32> -> tensor<1x5x6x6xf32>
// INT8: nn.mul %[[P]], %[[F]]
// WIDE-INT8-LABEL: func @convolution
// WIDE-INT8: nn.broadcast_to %{{.*}} : tensor<5x1x1x1xf32> -> tensor<5x3x3x3xf32>
func.func @convolution(%x: tensor<1x3x8x8xf32>) -> tensor<1x5x6x6xf32> {
  %w = nn.constant dense<0.5> : tensor<5x3x3x3xf32>
  %r = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x3x8x8xf32>, tensor<5x3x3x3xf32> -> tensor<1x5x6x6xf32>
  return %r : tensor<1x5x6x6xf32>
}

// One table for a gather and a product.
// HALF-LABEL: func @tied
// HALF-COUNT-1: nn.constant
// HALF: nn.gather %{{.*}} axis 0 : tensor<10x32xbf16>, tensor<7xi64> -> tensor<7x32xbf16>
// HALF: nn.cast %{{.*}} : tensor<7x32xbf16> -> tensor<7x32xf32>
// HALF: nn.transpose %{{.*}} : tensor<10x32xbf16> -> tensor<32x10xbf16>
// INT8-LABEL: func @tied
// INT8: nn.gather %{{.*}} axis 0 : tensor<10x32xi8>, tensor<7xi64> -> tensor<7x32xi8>
// INT8: nn.gather %{{.*}} axis 0 : tensor<10x1xf32>, tensor<7xi64> -> tensor<7x1xf32>
// INT4-LABEL: func @tied
// INT4: nn.gather %{{.*}} axis 0 : tensor<10x32xi8>, tensor<7xi64> -> tensor<7x32xi8>
// INT4: nn.block_quantized_matmul %{{.*}} : tensor<7x32xf32>, tensor<10x1x16xui8>, tensor<10x1xf16> -> tensor<7x10xf32>
func.func @tied(%i: tensor<7xi64>) -> tensor<7x10xf32> {
  %w = nn.constant dense<0.25> : tensor<10x32xf32>
  %x = nn.gather %w, %i axis 0 : tensor<10x32xf32>, tensor<7xi64> -> tensor<7x32xf32>
  %t = nn.transpose %w [1, 0] : tensor<10x32xf32> -> tensor<32x10xf32>
  %r = nn.matmul %x, %t : tensor<7x32xf32>, tensor<32x10xf32> -> tensor<7x10xf32>
  return %r : tensor<7x10xf32>
}

// A transposed convolution takes its weights apart when it becomes convolutions: they stay f32.
// INT8-LABEL: func @transposed
// INT8: nn.constant {nn.rounding = "weights stay f32: a transposed convolution takes them apart"} dense<5.000000e-01> : tensor<3x5x2x2xf32>
func.func @transposed(%x: tensor<1x3x8x8xf32>) -> tensor<1x5x16x16xf32> {
  %w = nn.constant dense<0.5> : tensor<3x5x2x2xf32>
  %r = nn.conv_transpose %x, %w strides [2, 2] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x3x8x8xf32>, tensor<3x5x2x2xf32> -> tensor<1x5x16x16xf32>
  return %r : tensor<1x5x16x16xf32>
}
