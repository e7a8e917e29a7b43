// RUN: kiln-opt %s --nn-decompose-composites | FileCheck %s --check-prefixes=CHECK,FUSED
// RUN: kiln-opt %s --nn-decompose-composites=decompose=none | FileCheck %s --check-prefixes=CHECK,FUSED
// RUN: kiln-opt %s --nn-decompose-composites=decompose=all | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: kiln-opt %s --nn-decompose-composites=decompose=layer_norm,nn.gelu | FileCheck %s --check-prefixes=CHECK,SOME
// RUN: not kiln-opt %s --nn-decompose-composites=decompose=softmaxx 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not kiln-opt %s --nn-decompose-composites=decompose=add 2>&1 | FileCheck %s --check-prefix=SIMPLE

// UNKNOWN: error: cannot decompose 'softmaxx': no such operation; expected auto, all, none or names among {{.*}}gelu, {{.*}}softmax
// SIMPLE: error: cannot decompose 'add': it is not made of simpler operations

// CHECK-LABEL: func @softmax
// FUSED: nn.softmax %{{.*}} axis 1 {nn.form = "fused: the target has a kernel for it"}
// SOME: nn.softmax
// ALL: %[[MAX:.*]] = nn.reduce max %arg0 [1] {nn.form = "part of nn.softmax: --decompose=all"}
// ALL: %[[SPREAD:.*]] = nn.broadcast_to %[[MAX]]
// ALL: %[[SHIFTED:.*]] = nn.sub %arg0, %[[SPREAD]]
// ALL: %[[EXP:.*]] = nn.exp %[[SHIFTED]]
// ALL: %[[SUM:.*]] = nn.reduce sum %[[EXP]] [1]
// ALL: %[[SUMS:.*]] = nn.broadcast_to %[[SUM]]
// ALL: nn.div %[[EXP]], %[[SUMS]]
func.func @softmax(%x: tensor<2x10xf32>) -> tensor<2x10xf32> {
  %r = nn.softmax %x axis 1 : tensor<2x10xf32>
  return %r : tensor<2x10xf32>
}

// CHECK-LABEL: func @layer_norm
// FUSED: nn.layer_norm
// SOME-NOT: = nn.layer_norm
// SOME: nn.reduce mean {{.*}} {nn.form = "part of nn.layer_norm: --decompose=layer_norm"}
// ALL-NOT: = nn.layer_norm
func.func @layer_norm(%x: tensor<2x10xf32>, %s: tensor<10xf32>) -> tensor<2x10xf32> {
  %r = nn.layer_norm %x, %s axis 1 epsilon 1.0e-5 : tensor<2x10xf32>, tensor<10xf32>
  return %r : tensor<2x10xf32>
}

// CHECK-LABEL: func @gelu
// FUSED: nn.gelu
// SOME-NOT: = nn.gelu
// SOME: nn.erf
// ALL: nn.erf
func.func @gelu(%x: tensor<?x10xf32, #nn.dims<()[s0] -> (s0, 10)>>) -> tensor<?x10xf32, #nn.dims<()[s0] -> (s0, 10)>> {
  %r = nn.gelu %x : tensor<?x10xf32, #nn.dims<()[s0] -> (s0, 10)>>
  return %r : tensor<?x10xf32, #nn.dims<()[s0] -> (s0, 10)>>
}

// What has no fused kernel is decomposed whatever the option says.
// CHECK-LABEL: func @hardmax
// CHECK-NOT: = nn.hardmax
// FUSED: nn.arg_reduce max {{.*}} {nn.form = "part of nn.hardmax: the target has no fused kernel for it"}
func.func @hardmax(%x: tensor<2x10xf32>) -> tensor<2x10xf32> {
  %r = nn.hardmax %x axis 1 : tensor<2x10xf32>
  return %r : tensor<2x10xf32>
}

// Of two phases in each dimension, the first has two of the kernel's elements and the second one: four convolutions.
// CHECK-LABEL: func @conv_transpose
// CHECK: nn.pad {{.*}} interior [0, 0, 0, 0] mode constant {nn.form = "part of nn.conv_transpose: {{.*}}"} {{.*}} -> tensor<1x6x6x8xf32>
// CHECK: nn.slice %arg1 {{.*}} steps [1, 1, -2, -2] {{.*}} -> tensor<8x4x2x2xf32>
// CHECK: nn.conv {{.*}} tensor<1x6x6x8xf32>, tensor<4x8x2x2xf32> -> tensor<1x5x5x4xf32>
// CHECK: nn.conv {{.*}} tensor<1x6x5x8xf32>, tensor<4x8x2x1xf32> -> tensor<1x5x5x4xf32>
// CHECK: nn.concat {{.*}} -> tensor<1x5x5x1x1x2x4xf32>
// CHECK: nn.conv {{.*}} tensor<1x5x6x8xf32>, tensor<4x8x1x2xf32> -> tensor<1x5x5x4xf32>
// CHECK: nn.conv {{.*}} tensor<1x5x5x8xf32>, tensor<4x8x1x1xf32> -> tensor<1x5x5x4xf32>
// CHECK: nn.concat {{.*}} -> tensor<1x5x5x1x2x2x4xf32>
// CHECK: nn.slice {{.*}} : tensor<1x10x10x4xf32> -> tensor<1x9x9x4xf32>
func.func @conv_transpose(%x: tensor<1x8x4x4xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<1x4x9x9xf32> {
  %r = nn.conv_transpose %x, %w strides [2, 2] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x8x4x4xf32>, tensor<8x4x3x3xf32> -> tensor<1x4x9x9xf32>
  return %r : tensor<1x4x9x9xf32>
}

// Kernels that lie side by side are patches of one pointwise convolution.
// CHECK-LABEL: func @patches
// CHECK-NOT: nn.pad
// CHECK: nn.conv {{.*}} : tensor<1x4x5x8xf32>, tensor<24x8x1x1xf32> -> tensor<1x4x5x24xf32>
// CHECK: nn.transpose {{.*}} [0, 1, 4, 2, 5, 3, 6] {{.*}} : tensor<1x4x5x1x2x3x4xf32> -> tensor<1x4x2x5x3x1x4xf32>
// CHECK: nn.reshape {{.*}} -> tensor<1x8x15x4xf32>
// CHECK-NOT: nn.slice
// CHECK: nn.transpose {{.*}} -> tensor<1x4x8x15xf32>
func.func @patches(%x: tensor<1x8x4x5xf32>, %w: tensor<8x4x2x3xf32>) -> tensor<1x4x8x15xf32> {
  %r = nn.conv_transpose %x, %w strides [2, 3] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x8x4x5xf32>, tensor<8x4x2x3xf32> -> tensor<1x4x8x15xf32>
  return %r : tensor<1x4x8x15xf32>
}

// CHECK-LABEL: func @attention
// FUSED: nn.attention {{.*}} {nn.form = "fused: the target has a kernel for it"}
// SOME: nn.attention
// ALL: %[[KT:.*]] = nn.transpose %arg1 [0, 2, 1]
// ALL: %[[S:.*]] = nn.matmul %arg0, %[[KT]] {nn.form = "part of nn.attention: --decompose=all"}
// ALL: %[[SCALED:.*]] = nn.mul %[[S]],
// ALL: %[[KEEP:.*]] = nn.less_equal
// ALL: nn.select %{{.*}}, %[[SCALED]],
// ALL: nn.add {{.*}}, %arg3
// ALL: nn.reduce max
// ALL: nn.matmul {{.*}}, %arg2 {nn.form = "part of nn.attention: --decompose=all"}
func.func @attention(%q: tensor<2x4x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x5xf32>, %b: tensor<2x4x6xf32>) -> tensor<2x4x5xf32> {
  %r = nn.attention query(%q) key(%k) value(%v) bias(%b) scale 0.125 causal
    : (tensor<2x4x8xf32>, tensor<2x6x8xf32>, tensor<2x6x5xf32>, tensor<2x4x6xf32>) -> tensor<2x4x5xf32>
  return %r : tensor<2x4x5xf32>
}

// Halves have the kernel, too. Split, the scale is split so that the product stays in range.
// CHECK-LABEL: func @attention_of_halves
// FUSED: nn.attention {{.*}} {nn.form = "fused: the target has a kernel for it"}
// SOME: nn.attention
// ALL-NOT: = nn.attention
// ALL-COUNT-2: nn.mul
// ALL: nn.matmul
func.func @attention_of_halves(%q: tensor<4x8xf16>, %k: tensor<6x8xf16>) -> tensor<4x8xf16> {
  %r = nn.attention query(%q) key(%k) value(%k) scale 0.25 : (tensor<4x8xf16>, tensor<6x8xf16>, tensor<6x8xf16>) -> tensor<4x8xf16>
  return %r : tensor<4x8xf16>
}
