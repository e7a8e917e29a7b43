// The numbers of plans on targets with other registers. What a formula gives is the same for all vectors; what is measured is the target's.
// RUN: kiln-opt %s --kiln-set-target=name=generic --nn-form-groups --nn-choose-kernels | FileCheck %s --check-prefixes=CHECK,SIXTEEN -DLANES=4
// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --nn-form-groups --nn-choose-kernels | FileCheck %s --check-prefixes=CHECK,SIXTEEN -DLANES=8
// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v4 --nn-form-groups --nn-choose-kernels | FileCheck %s --check-prefixes=CHECK,MANY -DLANES=16
// RUN: echo '{"name": "tuned", "base": "generic", "registers": 32, "tuning": {"streams": 2, "depthwise_lines": 2, "piece_bytes": 4096, "near_ahead": 64,' > %t.json
// RUN: echo '"far_ahead": 128, "coming_blocks": 2, "most_coming_blocks": 3, "coming_steps": 5, "packed_rows": 8, "packed_depth": 64, "packed_blocks": 4, "dots": 2,' >> %t.json
// RUN: echo '"dot_blocks": 3, "column_elements": 512, "inner_weight_bytes": 1000, "attention_keys": 64, "attention_most_keys": 90, "attention_rows": 40, "attention_dots": 3,' >> %t.json
// RUN: echo '"squares_along": 2, "squares_across": 5}}' >> %t.json
// RUN: kiln-opt %s --kiln-set-target=name=%t.json --nn-form-groups --nn-choose-kernels | FileCheck %s --check-prefix=TUNED

// CHECK-LABEL: func @product
// SIXTEEN: plan = #kernel.plan<kernel = "gemm_tiled", tile = [6, 2, [[LANES]]], chunk = {{[0-9]+}}, streams = 4{{[^>]*}}>
// MANY: plan = #kernel.plan<kernel = "gemm_tiled", tile = [14, 2, 16], chunk = {{[0-9]+}}, streams = 8, piece = 32768, near = 21845, ahead = [512, 4096], coming = [4, 24, 8]>
// TUNED: plan = #kernel.plan<kernel = "gemm_tiled", tile = [14, 2, 4], chunk = {{[0-9]+}}, streams = 2, piece = 4096, near = {{[0-9]+}}, ahead = [64, 128], coming = [2, 3, 5]>
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
// SIXTEEN: kernel = "product_softmax", tile = [6, 2, [[LANES]]], chunk = {{[0-9]+}}, streams = 4, strip = {{16|32}}{{[^>]*}}>
// MANY: kernel = "product_softmax", tile = [14, 2, 16], chunk = {{[0-9]+}}, streams = 8, strip = 128{{[^>]*}}>
func.func @product_and_softmax(%x: tensor<100x80xf32>) -> tensor<100x256xf32> {
  %w = nn.constant dense<1.0> : tensor<80x256xf32>
  %y = nn.matmul %x, %w : tensor<100x80xf32>, tensor<80x256xf32> -> tensor<100x256xf32>
  %s = nn.softmax %y axis 1 : tensor<100x256xf32>
  return %s : tensor<100x256xf32>
}

// CHECK-LABEL: func @depthwise
// SIXTEEN: plan = #kernel.plan<kernel = "conv_depthwise", lines = 1, pixels = 4, inside = true>
// MANY: plan = #kernel.plan<kernel = "conv_depthwise", lines = 2, pixels = 8, inside = true>
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
// SIXTEEN: plan = #kernel.plan<kernel = "lstm_steps", tile = [2, 1, [[LANES]]], streams = 8>
// MANY: plan = #kernel.plan<kernel = "lstm_steps", tile = [4, 1, 16], streams = 8>
func.func @recurrent(%g: tensor<5x10x256xf32>, %h: tensor<1x10x64xf32>) -> tensor<5x1x10x64xf32> {
  %r = nn.constant dense<1.0> : tensor<1x64x256xf32>
  %y, %a, %b = nn.lstm gates(%g) recurrence(%r) hidden(%h) cell(%h) activations ["Sigmoid", "Tanh", "Tanh"]
    : (tensor<5x10x256xf32>, tensor<1x64x256xf32>, tensor<1x10x64xf32>, tensor<1x10x64xf32>) -> (tensor<5x1x10x64xf32>, tensor<1x10x64xf32>, tensor<1x10x64xf32>)
  return %y : tensor<5x1x10x64xf32>
}

// The height of the tile divides the rows of a task as well as it can.
// CHECK-LABEL: func @attention
// SIXTEEN: plan = #kernel.plan<kernel = "attention_rows", tile = [6, 2, [[LANES]]], streams = 4, rows = 96, keys = 96, dots = 8>
// MANY: plan = #kernel.plan<kernel = "attention_rows", tile = [12, 2, 16], streams = 8, rows = 96, keys = 96, dots = 8>
// TUNED-LABEL: func @attention
// TUNED: kernel = "attention_rows", {{.*}}rows = 32, keys = 64, dots = 3>
func.func @attention(%x: tensor<2x96x64xf32>) -> tensor<2x96x64xf32> {
  %y = nn.attention query(%x) key(%x) value(%x) scale 0.125 : (tensor<2x96x64xf32>, tensor<2x96x64xf32>, tensor<2x96x64xf32>) -> tensor<2x96x64xf32>
  return %y : tensor<2x96x64xf32>
}

// CHECK-LABEL: func @transposed
// SIXTEEN: kernel = "transpose_tiled", tile = {{.}}[[LANES]], 1, [[LANES]]{{.}}
// MANY: kernel = "transpose_tiled", tile = [16, 1, 16], squares = [4, 16]>
// TUNED-LABEL: func @transposed
// TUNED: kernel = "transpose_tiled", {{.*}}squares = [2, 5]>
func.func @transposed(%x: tensor<64x48xf32>) -> tensor<48x64xf32> {
  %t = nn.transpose %x [1, 0] : tensor<64x48xf32> -> tensor<48x64xf32>
  %y = nn.exp %t : tensor<48x64xf32>
  return %y : tensor<48x64xf32>
}

// A computed right side is packed at run time from a number of rows on that is measured.
// CHECK-LABEL: func @computed
// CHECK: kernel = "gemm_packed", {{.*}}blocks = 16, depth = 256>
// CHECK: kernel = "gemm_dots", tile = [4, 1, [[LANES]]], blocks = 16>
// CHECK: kernel = "gemm_dots"
// TUNED-LABEL: func @computed
// TUNED: kernel = "gemm_packed", {{.*}}blocks = 4, depth = 64>
// TUNED: kernel = "gemm_packed"
// TUNED: kernel = "gemm_dots", tile = [2, 1, 4], blocks = 3>
func.func @computed(%x: tensor<100x80xf32>, %y: tensor<81x80xf32>, %z: tensor<10x80xf32>, %c: tensor<80x1xf32>)
    -> (tensor<100x81xf32>, tensor<10x81xf32>, tensor<100x1xf32>) {
  %t = nn.transpose %y [1, 0] : tensor<81x80xf32> -> tensor<80x81xf32>
  %p = nn.matmul %x, %t : tensor<100x80xf32>, tensor<80x81xf32> -> tensor<100x81xf32>
  %q = nn.matmul %z, %t : tensor<10x80xf32>, tensor<80x81xf32> -> tensor<10x81xf32>
  %r = nn.matmul %x, %c : tensor<100x80xf32>, tensor<80x1xf32> -> tensor<100x1xf32>
  return %p, %q, %r : tensor<100x81xf32>, tensor<10x81xf32>, tensor<100x1xf32>
}

// A row of a softmax is in registers where it takes half of them at most; columns fit an array.
// CHECK-LABEL: func @softmax
// SIXTEEN: kernel = "softmax_rows", in_registers = true>
// SIXTEEN: kernel = "softmax_rows">
// MANY: kernel = "softmax_rows", in_registers = true>
// MANY: kernel = "softmax_rows", in_registers = true>
// CHECK: kernel = "softmax_rows", columns = {{[0-9]+}}>
// TUNED-LABEL: func @softmax
// TUNED: kernel = "softmax_rows", columns = 8>
func.func @softmax(%x: tensor<10x32xf32>, %y: tensor<10x80xf32>, %z: tensor<40x100xf32>) -> (tensor<10x32xf32>, tensor<10x80xf32>, tensor<40x100xf32>) {
  %p = nn.softmax %x axis 1 : tensor<10x32xf32>
  %q = nn.softmax %y axis 1 : tensor<10x80xf32>
  %r = nn.softmax %z axis 0 : tensor<40x100xf32>
  return %p, %q, %r : tensor<10x32xf32>, tensor<10x80xf32>, tensor<40x100xf32>
}
