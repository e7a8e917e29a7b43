// The numbers of plans on targets with other registers. What a formula gives is the same for all vectors; what is measured is the target's.
// RUN: kiln-opt %s --kiln-set-target=name=generic --nn-form-groups --nn-choose-kernels | FileCheck %s --check-prefixes=CHECK,SIXTEEN -DLANES=4
// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --nn-form-groups --nn-choose-kernels | FileCheck %s --check-prefixes=CHECK,SIXTEEN -DLANES=8
// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v4 --nn-form-groups --nn-choose-kernels | FileCheck %s --check-prefixes=CHECK,MANY -DLANES=16
// RUN: echo '{"name": "tuned", "base": "generic", "registers": 32, "tuning": {"streams": 2, "depthwise_lines": 2}}' > %t.json
// RUN: kiln-opt %s --kiln-set-target=name=%t.json --nn-form-groups --nn-choose-kernels | FileCheck %s --check-prefix=TUNED

// CHECK-LABEL: func @product
// SIXTEEN: plan = #kernel.plan<kernel = "gemm_tiled", tile = [6, 2, [[LANES]]], chunk = {{[0-9]+}}, streams = 4>
// MANY: plan = #kernel.plan<kernel = "gemm_tiled", tile = [14, 2, 16], chunk = {{[0-9]+}}, streams = 8>
// TUNED: plan = #kernel.plan<kernel = "gemm_tiled", tile = [14, 2, 4], chunk = {{[0-9]+}}, streams = 2>
func.func @product(%x: tensor<100x80xf32>) -> tensor<100x96xf32> {
  %w = nn.constant dense<1.0> : tensor<80x96xf32>
  %y = nn.matmul %x, %w : tensor<100x80xf32>, tensor<80x96xf32> -> tensor<100x96xf32>
  return %y : tensor<100x96xf32>
}

// CHECK-LABEL: func @few_rows
// SIXTEEN: tile = [6, 2, [[LANES]]]
// MANY: tile = [28, 1, 16]
// TUNED: tile = [14, 2, 4]
func.func @few_rows(%x: tensor<20x80xf32>) -> tensor<20x96xf32> {
  %w = nn.constant dense<1.0> : tensor<80x96xf32>
  %y = nn.matmul %x, %w : tensor<20x80xf32>, tensor<80x96xf32> -> tensor<20x96xf32>
  return %y : tensor<20x96xf32>
}

// A strip of the product has a quarter of the registers.
// CHECK-LABEL: func @product_and_softmax
// SIXTEEN: kernel = "product_softmax", tile = [6, 2, [[LANES]]], chunk = {{[0-9]+}}, streams = 4, strip = {{16|32}}>
// MANY: kernel = "product_softmax", tile = [14, 2, 16], chunk = {{[0-9]+}}, streams = 8, strip = 128>
func.func @product_and_softmax(%x: tensor<100x80xf32>) -> tensor<100x256xf32> {
  %w = nn.constant dense<1.0> : tensor<80x256xf32>
  %y = nn.matmul %x, %w : tensor<100x80xf32>, tensor<80x256xf32> -> tensor<100x256xf32>
  %s = nn.softmax %y axis 1 : tensor<100x256xf32>
  return %s : tensor<100x256xf32>
}

// CHECK-LABEL: func @depthwise
// SIXTEEN: plan = #kernel.plan<kernel = "conv_depthwise", lines = 1, pixels = 4>
// MANY: plan = #kernel.plan<kernel = "conv_depthwise", lines = 2, pixels = 8>
// TUNED: plan = #kernel.plan<kernel = "conv_depthwise", lines = 2, pixels = 8>
func.func @depthwise(%x: tensor<1x30x30x32xf32>) -> tensor<1x28x28x32xf32> {
  %w = nn.constant dense<1.0> : tensor<32x1x3x3xf32>
  %y = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 32 layout channels_last
    : tensor<1x30x30x32xf32>, tensor<32x1x3x3xf32> -> tensor<1x28x28x32xf32>
  return %y : tensor<1x28x28x32xf32>
}

// Lines that have no input line in common gain nothing from each other.
// CHECK-LABEL: func @apart
// CHECK: kernel = "conv_depthwise", lines = 1, pixels =
func.func @apart(%x: tensor<1x30x30x32xf32>) -> tensor<1x10x10x32xf32> {
  %w = nn.constant dense<1.0> : tensor<32x1x3x3xf32>
  %y = nn.conv %x, %w strides [3, 3] dilations [1, 1] pads [0, 0, 0, 0] groups 32 layout channels_last
    : tensor<1x30x30x32xf32>, tensor<32x1x3x3xf32> -> tensor<1x10x10x32xf32>
  return %y : tensor<1x10x10x32xf32>
}

// Ten rows of the batch: as even tiles as half of the registers allow for four gates.
// CHECK-LABEL: func @recurrent
// SIXTEEN: plan = #kernel.plan<kernel = "lstm_steps", tile = [2, 1, [[LANES]]]>
// MANY: plan = #kernel.plan<kernel = "lstm_steps", tile = [4, 1, 16]>
func.func @recurrent(%g: tensor<5x10x256xf32>, %h: tensor<1x10x64xf32>) -> tensor<5x1x10x64xf32> {
  %r = nn.constant dense<1.0> : tensor<1x64x256xf32>
  %y, %a, %b = nn.lstm gates(%g) recurrence(%r) hidden(%h) cell(%h) activations ["Sigmoid", "Tanh", "Tanh"]
    : (tensor<5x10x256xf32>, tensor<1x64x256xf32>, tensor<1x10x64xf32>, tensor<1x10x64xf32>) -> (tensor<5x1x10x64xf32>, tensor<1x10x64xf32>, tensor<1x10x64xf32>)
  return %y : tensor<5x1x10x64xf32>
}

// The height of the tile divides the rows of a task as well as it can.
// CHECK-LABEL: func @attention
// SIXTEEN: plan = #kernel.plan<kernel = "attention_rows", tile = [6, 2, [[LANES]]], streams = 4, rows = 96, keys = 96>
// MANY: plan = #kernel.plan<kernel = "attention_rows", tile = [12, 2, 16], streams = 8, rows = 96, keys = 96>
func.func @attention(%x: tensor<2x96x64xf32>) -> tensor<2x96x64xf32> {
  %y = nn.attention query(%x) key(%x) value(%x) scale 0.125 : (tensor<2x96x64xf32>, tensor<2x96x64xf32>, tensor<2x96x64xf32>) -> tensor<2x96x64xf32>
  return %y : tensor<2x96x64xf32>
}

// CHECK-LABEL: func @transposed
// SIXTEEN: kernel = "transpose_tiled", tile = {{.}}[[LANES]], 1, [[LANES]]{{.}}
// MANY: kernel = "transpose_tiled", tile = [16, 1, 16]
func.func @transposed(%x: tensor<64x48xf32>) -> tensor<48x64xf32> {
  %t = nn.transpose %x [1, 0] : tensor<64x48xf32> -> tensor<48x64xf32>
  %y = nn.exp %t : tensor<48x64xf32>
  return %y : tensor<48x64xf32>
}
