// Every composite is recognised in its own parts: decomposing and recognising is the identity.
// RUN: kiln-opt %s --nn-decompose-composites=decompose=all --nn-recognize-composites --cse | FileCheck %s
// Half of it alone is not the identity, so the test sees both.
// RUN: kiln-opt %s --nn-decompose-composites=decompose=all | FileCheck %s --check-prefix=PARTS
// PARTS-NOT: = nn.{{softmax|attention|layer_norm|gelu|elu|mish|lp_norm}}
// nn.composite has none: its body is what a user writes. nn.batch_norm and nn.conv_transpose have no recogniser: constants are folded into the parts of the first, and models do not write the second.
// nn.quantize, nn.dequantize, nn.quantized_matmul and nn.quantized_conv are operators of the model's, or made by --nn-recognize-quantized.


// CHECK-LABEL: func @leaky_relu(
// CHECK-NEXT: nn.leaky_relu %arg0 {alpha = 2.500000e-01 : f64} :
// CHECK-NEXT: return
func.func @leaky_relu(%x: tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>) -> tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>> {
  %r = nn.leaky_relu %x {alpha = 2.500000e-01 : f64} : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
  return %r : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
}

// CHECK-LABEL: func @thresholded_relu(
// CHECK-NEXT: nn.thresholded_relu %arg0 {alpha = 1.500000e+00 : f64} :
// CHECK-NEXT: return
func.func @thresholded_relu(%x: tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>) -> tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>> {
  %r = nn.thresholded_relu %x {alpha = 1.500000e+00 : f64} : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
  return %r : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
}

// CHECK-LABEL: func @elu_2(
// CHECK-NEXT: nn.elu %arg0 {alpha = 5.000000e-01 : f64} :
// CHECK-NEXT: return
func.func @elu_2(%x: tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>) -> tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>> {
  %r = nn.elu %x {alpha = 5.000000e-01 : f64} : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
  return %r : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
}

// CHECK-LABEL: func @elu_3(
// CHECK-NEXT: nn.elu %arg0 {alpha = 1.000000e+00 : f64} :
// CHECK-NEXT: return
func.func @elu_3(%x: tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>) -> tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>> {
  %r = nn.elu %x {alpha = 1.000000e+00 : f64} : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
  return %r : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
}

// CHECK-LABEL: func @celu(
// CHECK-NEXT: nn.celu %arg0 {alpha = 2.000000e+00 : f64} :
// CHECK-NEXT: return
func.func @celu(%x: tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>) -> tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>> {
  %r = nn.celu %x {alpha = 2.000000e+00 : f64} : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
  return %r : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
}

// CHECK-LABEL: func @selu(
// CHECK-NEXT: nn.selu %arg0 {alpha = 1.500000e+00 : f64, gamma = 1.250000e+00 : f64} :
// CHECK-NEXT: return
func.func @selu(%x: tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>) -> tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>> {
  %r = nn.selu %x {alpha = 1.500000e+00 : f64, gamma = 1.250000e+00 : f64} : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
  return %r : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
}

// CHECK-LABEL: func @softplus(
// CHECK-NEXT: nn.softplus %arg0 :
// CHECK-NEXT: return
func.func @softplus(%x: tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>) -> tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>> {
  %r = nn.softplus %x : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
  return %r : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
}

// CHECK-LABEL: func @softsign(
// CHECK-NEXT: nn.softsign %arg0 :
// CHECK-NEXT: return
func.func @softsign(%x: tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>) -> tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>> {
  %r = nn.softsign %x : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
  return %r : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
}

// CHECK-LABEL: func @mish(
// CHECK-NEXT: nn.mish %arg0 :
// CHECK-NEXT: return
func.func @mish(%x: tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>) -> tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>> {
  %r = nn.mish %x : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
  return %r : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
}

// CHECK-LABEL: func @swish_9(
// CHECK-NEXT: nn.swish %arg0 {alpha = 1.500000e+00 : f64} :
// CHECK-NEXT: return
func.func @swish_9(%x: tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>) -> tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>> {
  %r = nn.swish %x {alpha = 1.500000e+00 : f64} : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
  return %r : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
}

// CHECK-LABEL: func @swish_10(
// CHECK-NEXT: nn.swish %arg0 {alpha = 1.000000e+00 : f64} :
// CHECK-NEXT: return
func.func @swish_10(%x: tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>) -> tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>> {
  %r = nn.swish %x {alpha = 1.000000e+00 : f64} : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
  return %r : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
}

// CHECK-LABEL: func @hard_sigmoid(
// CHECK-NEXT: nn.hard_sigmoid %arg0 {alpha = 2.500000e-01 : f64, beta = 5.000000e-01 : f64} :
// CHECK-NEXT: return
func.func @hard_sigmoid(%x: tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>) -> tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>> {
  %r = nn.hard_sigmoid %x {alpha = 2.500000e-01 : f64, beta = 5.000000e-01 : f64} : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
  return %r : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
}

// CHECK-LABEL: func @hard_swish(
// CHECK-NEXT: nn.hard_swish %arg0 :
// CHECK-NEXT: return
func.func @hard_swish(%x: tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>) -> tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>> {
  %r = nn.hard_swish %x : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
  return %r : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
}

// CHECK-LABEL: func @gelu(
// CHECK-NEXT: nn.gelu %arg0 :
// CHECK-NEXT: return
func.func @gelu(%x: tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>) -> tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>> {
  %r = nn.gelu %x : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
  return %r : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
}

// CHECK-LABEL: func @gelu_tanh(
// CHECK-NEXT: nn.gelu_tanh %arg0 :
// CHECK-NEXT: return
func.func @gelu_tanh(%x: tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>) -> tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>> {
  %r = nn.gelu_tanh %x : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
  return %r : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
}

// CHECK-LABEL: func @shrink(
// CHECK-NEXT: nn.shrink %arg0 {bias = 5.000000e-01 : f64, lambda = 7.500000e-01 : f64} :
// CHECK-NEXT: return
func.func @shrink(%x: tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>) -> tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>> {
  %r = nn.shrink %x {bias = 5.000000e-01 : f64, lambda = 7.500000e-01 : f64} : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
  return %r : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
}

// CHECK-LABEL: func @swiglu(
// CHECK-NEXT: nn.swiglu %arg0, %arg1 {alpha = 1.500000e+00 : f64}
// CHECK-NEXT: return
func.func @swiglu(%x: tensor<2x4x8xf32>, %y: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %r = nn.swiglu %x, %y {alpha = 1.500000e+00 : f64} : tensor<2x4x8xf32>
  return %r : tensor<2x4x8xf32>
}

// CHECK-LABEL: func @softmax_0(
// CHECK-NEXT: nn.softmax %arg0 axis 0 :
// CHECK-NEXT: return
func.func @softmax_0(%x: tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>) -> tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>> {
  %r = nn.softmax %x axis 0 : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
  return %r : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
}

// CHECK-LABEL: func @softmax_2(
// CHECK-NEXT: nn.softmax %arg0 axis 2 :
// CHECK-NEXT: return
func.func @softmax_2(%x: tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>) -> tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>> {
  %r = nn.softmax %x axis 2 : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
  return %r : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
}

// CHECK-LABEL: func @log_softmax_0(
// CHECK-NEXT: nn.log_softmax %arg0 axis 0 :
// CHECK-NEXT: return
func.func @log_softmax_0(%x: tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>) -> tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>> {
  %r = nn.log_softmax %x axis 0 : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
  return %r : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
}

// CHECK-LABEL: func @log_softmax_2(
// CHECK-NEXT: nn.log_softmax %arg0 axis 2 :
// CHECK-NEXT: return
func.func @log_softmax_2(%x: tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>) -> tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>> {
  %r = nn.log_softmax %x axis 2 : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
  return %r : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
}

// CHECK-LABEL: func @hardmax_0(
// CHECK-NEXT: nn.hardmax %arg0 axis 0 :
// CHECK-NEXT: return
func.func @hardmax_0(%x: tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>) -> tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>> {
  %r = nn.hardmax %x axis 0 : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
  return %r : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
}

// CHECK-LABEL: func @hardmax_2(
// CHECK-NEXT: nn.hardmax %arg0 axis 2 :
// CHECK-NEXT: return
func.func @hardmax_2(%x: tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>) -> tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>> {
  %r = nn.hardmax %x axis 2 : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
  return %r : tensor<2x4x?xf32, #nn.dims<()[s0] -> (2, 4, s0)>>
}

// CHECK-LABEL: func @layer_norm(
// CHECK-NEXT: nn.layer_norm %arg0, %arg1, %arg2 axis 1 epsilon 0.001{{[0-9]*}} :
// CHECK-NEXT: return
func.func @layer_norm(%x: tensor<2x4x8xf32>, %s: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<2x4x8xf32> {
  %r = nn.layer_norm %x, %s, %b axis 1 epsilon 1.0e-3 : tensor<2x4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<2x4x8xf32>
}

// CHECK-LABEL: func @rms_norm(
// CHECK-NEXT: nn.rms_norm %arg0, %arg1 axis 1 epsilon 0.001{{[0-9]*}} :
// CHECK-NEXT: return
func.func @rms_norm(%x: tensor<2x4x8xf32>, %s: tensor<4x8xf32>) -> tensor<2x4x8xf32> {
  %r = nn.rms_norm %x, %s axis 1 epsilon 1.0e-3 : tensor<2x4x8xf32>, tensor<4x8xf32>
  return %r : tensor<2x4x8xf32>
}

// CHECK-LABEL: func @mean_variance_norm(
// CHECK-NEXT: nn.mean_variance_norm %arg0 [0, 2]
// CHECK-NEXT: return
func.func @mean_variance_norm(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %r = nn.mean_variance_norm %x [0, 2] : tensor<2x4x8xf32>
  return %r : tensor<2x4x8xf32>
}

// CHECK-LABEL: func @lp_norm_1(
// CHECK-NEXT: nn.lp_norm %arg0 axis 1 p 1
// CHECK-NEXT: return
func.func @lp_norm_1(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %r = nn.lp_norm %x axis 1 p 1 : tensor<2x4x8xf32>
  return %r : tensor<2x4x8xf32>
}

// CHECK-LABEL: func @lp_norm_2(
// CHECK-NEXT: nn.lp_norm %arg0 axis 1 p 2
// CHECK-NEXT: return
func.func @lp_norm_2(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %r = nn.lp_norm %x axis 1 p 2 : tensor<2x4x8xf32>
  return %r : tensor<2x4x8xf32>
}

// CHECK-LABEL: func @attention(
// CHECK-NEXT: nn.attention query(%arg0) key(%arg1) value(%arg2) scale 2.500000e-01 :
// CHECK-NEXT: return
func.func @attention(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x8xf32>) -> tensor<2x5x8xf32> {
  %r = nn.attention query(%q) key(%k) value(%v) scale 2.500000e-01 : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>) -> tensor<2x5x8xf32>
  return %r : tensor<2x5x8xf32>
}

// CHECK-LABEL: func @attention_causal(
// CHECK-NEXT: nn.attention query(%arg0) key(%arg1) value(%arg2) scale 2.500000e-01 causal :
// CHECK-NEXT: return
func.func @attention_causal(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x8xf32>) -> tensor<2x5x8xf32> {
  %r = nn.attention query(%q) key(%k) value(%v) scale 2.500000e-01 causal : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>) -> tensor<2x5x8xf32>
  return %r : tensor<2x5x8xf32>
}

// CHECK-LABEL: func @attention_windowed(
// CHECK-NEXT: nn.attention query(%arg0) key(%arg1) value(%arg2) scale 2.500000e-01 causal window 3 :
// CHECK-NEXT: return
func.func @attention_windowed(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x8xf32>) -> tensor<2x5x8xf32> {
  %r = nn.attention query(%q) key(%k) value(%v) scale 2.500000e-01 causal window 3 : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>) -> tensor<2x5x8xf32>
  return %r : tensor<2x5x8xf32>
}

// CHECK-LABEL: func @attention_masked(
// CHECK-NEXT: nn.attention query(%arg0) key(%arg1) value(%arg2) keep(%arg3) scale 2.500000e-01 :
// CHECK-NEXT: return
func.func @attention_masked(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x8xf32>, %m: tensor<2x5x7xi1>) -> tensor<2x5x8xf32> {
  %r = nn.attention query(%q) key(%k) value(%v) keep(%m) scale 2.500000e-01 : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>, tensor<2x5x7xi1>) -> tensor<2x5x8xf32>
  return %r : tensor<2x5x8xf32>
}

// CHECK-LABEL: func @attention_biased(
// CHECK-NEXT: nn.attention query(%arg0) key(%arg1) value(%arg2) bias(%arg3) keep(%arg4) scale 2.500000e-01 :
// CHECK-NEXT: return
func.func @attention_biased(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x8xf32>, %b: tensor<2x5x7xf32>, %m: tensor<2x5x7xi1>) -> tensor<2x5x8xf32> {
  %r = nn.attention query(%q) key(%k) value(%v) bias(%b) keep(%m) scale 2.500000e-01 : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>, tensor<2x5x7xf32>, tensor<2x5x7xi1>) -> tensor<2x5x8xf32>
  return %r : tensor<2x5x8xf32>
}

// Losses: all reductions, with weights and a class that is ignored.
// CHECK-LABEL: func @losses(
// CHECK-DAG: nn.negative_log_likelihood none %arg0, %arg1 :
// CHECK-DAG: nn.negative_log_likelihood none %arg0, %arg1 ignore 7 :
// CHECK-DAG: nn.negative_log_likelihood none %arg0, %arg1 weight %arg2 :
// CHECK-DAG: nn.negative_log_likelihood sum %arg0, %arg1 weight %arg2 ignore -1 :
// CHECK-DAG: nn.negative_log_likelihood mean %arg0, %arg1 :
// CHECK-DAG: nn.negative_log_likelihood mean %arg0, %arg1 ignore 7 :
// CHECK-DAG: nn.negative_log_likelihood mean %arg0, %arg1 weight %arg2 :
// CHECK-DAG: nn.negative_log_likelihood mean %arg0, %arg1 weight %arg2 ignore -1 :
func.func @losses(%x: tensor<3x5x4xf32>, %t: tensor<3x4xi32>, %w: tensor<5xf32>)
    -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = nn.negative_log_likelihood none %x, %t : tensor<3x5x4xf32>, tensor<3x4xi32> -> tensor<3x4xf32>
  %1 = nn.negative_log_likelihood none %x, %t ignore 7 : tensor<3x5x4xf32>, tensor<3x4xi32> -> tensor<3x4xf32>
  %2 = nn.negative_log_likelihood none %x, %t weight %w : tensor<3x5x4xf32>, tensor<3x4xi32>, tensor<5xf32> -> tensor<3x4xf32>
  %3 = nn.negative_log_likelihood sum %x, %t weight %w ignore -1 : tensor<3x5x4xf32>, tensor<3x4xi32>, tensor<5xf32> -> tensor<f32>
  %4 = nn.negative_log_likelihood mean %x, %t : tensor<3x5x4xf32>, tensor<3x4xi32> -> tensor<f32>
  %5 = nn.negative_log_likelihood mean %x, %t ignore 7 : tensor<3x5x4xf32>, tensor<3x4xi32> -> tensor<f32>
  %6 = nn.negative_log_likelihood mean %x, %t weight %w : tensor<3x5x4xf32>, tensor<3x4xi32>, tensor<5xf32> -> tensor<f32>
  %7 = nn.negative_log_likelihood mean %x, %t weight %w ignore -1 : tensor<3x5x4xf32>, tensor<3x4xi32>, tensor<5xf32> -> tensor<f32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func @cross_entropy(
// CHECK-NEXT: %[[LOSS:.*]], %[[LOGS:.*]] = nn.softmax_cross_entropy mean %arg0, %arg1 weight %arg2 ignore 3 {accuracy = #kernel.accuracy<ulp4>} :
// CHECK-NEXT: %[[ABS:.*]] = nn.abs %[[LOGS]]
// CHECK-NEXT: return %[[LOSS]], %[[ABS]]
func.func @cross_entropy(%x: tensor<3x5xf32>, %t: tensor<3xi64>, %w: tensor<5xf32>) -> (tensor<f32>, tensor<3x5xf32>) {
  %0, %1 = nn.softmax_cross_entropy mean %x, %t weight %w ignore 3 {accuracy = #kernel.accuracy<ulp4>}
    : tensor<3x5xf32>, tensor<3xi64>, tensor<5xf32> -> tensor<f32>
  %2 = nn.abs %1 : tensor<3x5xf32>
  return %0, %2 : tensor<f32>, tensor<3x5xf32>
}
