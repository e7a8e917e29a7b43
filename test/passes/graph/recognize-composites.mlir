// RUN: kiln-opt %s --nn-recognize-composites --split-input-file | FileCheck %s

// CHECK-LABEL: func @softmax
// CHECK-NEXT: %[[R:.*]] = nn.softmax %arg0 axis 1 : tensor<2x8xf32>
// CHECK-NEXT: return %[[R]]
func.func @softmax(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %m = nn.reduce max %x [1] : tensor<2x8xf32> -> tensor<2x1xf32>
  %mb = nn.broadcast_to %m : tensor<2x1xf32> -> tensor<2x8xf32>
  %d = nn.sub %x, %mb : tensor<2x8xf32>
  %e = nn.exp %d : tensor<2x8xf32>
  %s = nn.reduce sum %e [1] : tensor<2x8xf32> -> tensor<2x1xf32>
  %sb = nn.broadcast_to %s : tensor<2x1xf32> -> tensor<2x8xf32>
  %r = nn.div %e, %sb : tensor<2x8xf32>
  return %r : tensor<2x8xf32>
}

// -----

// Without the max, with a reciprocal, along the first axis.
// CHECK-LABEL: func @softmax_reciprocal
// CHECK-NEXT: nn.softmax %arg0 axis 0
func.func @softmax_reciprocal(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %e = nn.exp %x : tensor<2x8xf32>
  %s = nn.reduce sum %e [0] : tensor<2x8xf32> -> tensor<1x8xf32>
  %q = nn.reciprocal %s : tensor<1x8xf32>
  %qb = nn.broadcast_to %q : tensor<1x8xf32> -> tensor<2x8xf32>
  %r = nn.mul %qb, %e : tensor<2x8xf32>
  return %r : tensor<2x8xf32>
}

// -----

// The exp is used elsewhere; the sum is along another axis than the max; the sum is of something else.
// CHECK-LABEL: func @no_softmax
// CHECK-NOT: nn.softmax %arg0
// CHECK: return
func.func @no_softmax(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) {
  %e = nn.exp %x : tensor<2x8xf32>
  %s = nn.reduce sum %e [1] : tensor<2x8xf32> -> tensor<2x1xf32>
  %sb = nn.broadcast_to %s : tensor<2x1xf32> -> tensor<2x8xf32>
  %r = nn.div %e, %sb : tensor<2x8xf32>
  %n = nn.exp %r : tensor<2x8xf32>
  %t = nn.reduce sum %r [1] : tensor<2x8xf32> -> tensor<2x1xf32>
  %tb = nn.broadcast_to %t : tensor<2x1xf32> -> tensor<2x8xf32>
  %u = nn.div %n, %tb : tensor<2x8xf32>
  return %e, %r, %u : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func @log_softmax
// CHECK-NEXT: %[[A:.*]] = nn.log_softmax %arg0 axis 1
// CHECK-NEXT: %[[B:.*]] = nn.log_softmax %arg0 axis 1
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @log_softmax(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %m = nn.reduce max %x [1] : tensor<2x8xf32> -> tensor<2x1xf32>
  %mb = nn.broadcast_to %m : tensor<2x1xf32> -> tensor<2x8xf32>
  %d = nn.sub %x, %mb : tensor<2x8xf32>
  %e = nn.exp %d : tensor<2x8xf32>
  %s = nn.reduce sum %e [1] : tensor<2x8xf32> -> tensor<2x1xf32>
  %l = nn.log %s : tensor<2x1xf32>
  %lb = nn.broadcast_to %l : tensor<2x1xf32> -> tensor<2x8xf32>
  %a = nn.sub %d, %lb : tensor<2x8xf32>
  %p = nn.softmax %x axis 1 : tensor<2x8xf32>
  %b = nn.log %p : tensor<2x8xf32>
  return %a, %b : tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// PyTorch's layer norm: Pow, Sqrt, Div, Mul, Add.
// CHECK-LABEL: func @layer_norm
// CHECK-NEXT: %[[R:.*]] = nn.layer_norm %arg0, %arg1, %arg2 axis 2 epsilon
// CHECK-NEXT: return %[[R]]
func.func @layer_norm(%x: tensor<1x?x8xf32, #nn.dims<()[s0] -> (1, s0, 8)>>, %g: tensor<8xf32>, %b: tensor<8xf32>)
    -> tensor<1x?x8xf32, #nn.dims<()[s0] -> (1, s0, 8)>> {
  %m = nn.reduce mean %x [2] : tensor<1x?x8xf32, #nn.dims<()[s0] -> (1, s0, 8)>> -> tensor<1x?x1xf32, #nn.dims<()[s0] -> (1, s0, 1)>>
  %mb = nn.broadcast_to %m : tensor<1x?x1xf32, #nn.dims<()[s0] -> (1, s0, 1)>> -> tensor<1x?x8xf32, #nn.dims<()[s0] -> (1, s0, 8)>>
  %d = nn.sub %x, %mb : tensor<1x?x8xf32, #nn.dims<()[s0] -> (1, s0, 8)>>
  %two = nn.splat 2.0 : f32 -> tensor<1x?x8xf32, #nn.dims<()[s0] -> (1, s0, 8)>>
  %q = nn.pow %d, %two : tensor<1x?x8xf32, #nn.dims<()[s0] -> (1, s0, 8)>>
  %v = nn.reduce mean %q [2] : tensor<1x?x8xf32, #nn.dims<()[s0] -> (1, s0, 8)>> -> tensor<1x?x1xf32, #nn.dims<()[s0] -> (1, s0, 1)>>
  %eps = nn.splat 1.0e-12 : f32 -> tensor<1x?x1xf32, #nn.dims<()[s0] -> (1, s0, 1)>>
  %ve = nn.add %v, %eps : tensor<1x?x1xf32, #nn.dims<()[s0] -> (1, s0, 1)>>
  %s = nn.sqrt %ve : tensor<1x?x1xf32, #nn.dims<()[s0] -> (1, s0, 1)>>
  %sb = nn.broadcast_to %s : tensor<1x?x1xf32, #nn.dims<()[s0] -> (1, s0, 1)>> -> tensor<1x?x8xf32, #nn.dims<()[s0] -> (1, s0, 8)>>
  %n = nn.div %d, %sb : tensor<1x?x8xf32, #nn.dims<()[s0] -> (1, s0, 8)>>
  %gb = nn.broadcast_to %g : tensor<8xf32> -> tensor<1x?x8xf32, #nn.dims<()[s0] -> (1, s0, 8)>>
  %ng = nn.mul %gb, %n : tensor<1x?x8xf32, #nn.dims<()[s0] -> (1, s0, 8)>>
  %bb = nn.broadcast_to %b : tensor<8xf32> -> tensor<1x?x8xf32, #nn.dims<()[s0] -> (1, s0, 8)>>
  %r = nn.add %ng, %bb : tensor<1x?x8xf32, #nn.dims<()[s0] -> (1, s0, 8)>>
  return %r : tensor<1x?x8xf32, #nn.dims<()[s0] -> (1, s0, 8)>>
}

// -----

// The mean of other axes than the variance's is no layer norm, and the norm of x * x over leading axes no RMS norm.
// CHECK-LABEL: func @no_layer_norm
// CHECK-NOT: _norm %
// CHECK: return
func.func @no_layer_norm(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %q = nn.mul %x, %x : tensor<4x8xf32>
  %v = nn.reduce mean %q [0] : tensor<4x8xf32> -> tensor<1x8xf32>
  %eps = nn.splat 1.0e-5 : f32 -> tensor<1x8xf32>
  %ve = nn.add %v, %eps : tensor<1x8xf32>
  %s = nn.sqrt %ve : tensor<1x8xf32>
  %sb = nn.broadcast_to %s : tensor<1x8xf32> -> tensor<4x8xf32>
  %n = nn.div %x, %sb : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func @rms_norm
// CHECK-NEXT: nn.rms_norm %arg0, %arg1 axis 1
func.func @rms_norm(%x: tensor<4x8xf32>, %g: tensor<8xf32>) -> tensor<4x8xf32> {
  %q = nn.mul %x, %x : tensor<4x8xf32>
  %v = nn.reduce mean %q [1] : tensor<4x8xf32> -> tensor<4x1xf32>
  %eps = nn.splat 1.0e-5 : f32 -> tensor<4x1xf32>
  %ve = nn.add %v, %eps : tensor<4x1xf32>
  %s = nn.sqrt %ve : tensor<4x1xf32>
  %i = nn.reciprocal %s : tensor<4x1xf32>
  %ib = nn.broadcast_to %i : tensor<4x1xf32> -> tensor<4x8xf32>
  %n = nn.mul %x, %ib : tensor<4x8xf32>
  %gb = nn.broadcast_to %g : tensor<8xf32> -> tensor<4x8xf32>
  %r = nn.mul %n, %gb : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func @gelu
// CHECK-NEXT: nn.gelu %arg0 : tensor<4xf32>
// CHECK-NEXT: nn.gelu %arg0 : tensor<4xf32>
// CHECK-NEXT: return
func.func @gelu(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %root = nn.splat 1.4142135 : f32 -> tensor<4xf32>
  %one = nn.splat 1.0 : f32 -> tensor<4xf32>
  %half = nn.splat 0.5 : f32 -> tensor<4xf32>
  %a = nn.div %x, %root : tensor<4xf32>
  %b = nn.erf %a : tensor<4xf32>
  %c = nn.add %b, %one : tensor<4xf32>
  %d = nn.mul %x, %c : tensor<4xf32>
  %e = nn.mul %d, %half : tensor<4xf32>
  %inverse = nn.splat 0.70710677 : f32 -> tensor<4xf32>
  %f = nn.mul %x, %inverse : tensor<4xf32>
  %g = nn.erf %f : tensor<4xf32>
  %h = nn.add %one, %g : tensor<4xf32>
  %i = nn.mul %x, %half : tensor<4xf32>
  %j = nn.mul %i, %h : tensor<4xf32>
  return %e, %j : tensor<4xf32>, tensor<4xf32>
}

// -----

// GPT-2's form.
// CHECK-LABEL: func @gelu_tanh
// CHECK-NEXT: nn.gelu_tanh %arg0
// CHECK-NEXT: return
func.func @gelu_tanh(%x: tensor<4xf32>) -> tensor<4xf32> {
  %half = nn.splat 0.5 : f32 -> tensor<4xf32>
  %three = nn.splat 3.0 : f32 -> tensor<4xf32>
  %cubic = nn.splat 0.044715 : f32 -> tensor<4xf32>
  %root = nn.splat 0.7978845834732056 : f32 -> tensor<4xf32>
  %one = nn.splat 1.0 : f32 -> tensor<4xf32>
  %a = nn.mul %x, %half : tensor<4xf32>
  %b = nn.pow %x, %three : tensor<4xf32>
  %c = nn.mul %b, %cubic : tensor<4xf32>
  %d = nn.add %x, %c : tensor<4xf32>
  %e = nn.mul %d, %root : tensor<4xf32>
  %f = nn.tanh %e : tensor<4xf32>
  %g = nn.add %f, %one : tensor<4xf32>
  %h = nn.mul %a, %g : tensor<4xf32>
  return %h : tensor<4xf32>
}

// -----

// Wrong constants, wrong operands.
// CHECK-LABEL: func @no_gelu
// CHECK-NOT: nn.gelu
// CHECK: return
func.func @no_gelu(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %root = nn.splat 1.5 : f32 -> tensor<4xf32>
  %right = nn.splat 1.4142135 : f32 -> tensor<4xf32>
  %one = nn.splat 1.0 : f32 -> tensor<4xf32>
  %half = nn.splat 0.5 : f32 -> tensor<4xf32>
  %a = nn.div %x, %root : tensor<4xf32>
  %b = nn.erf %a : tensor<4xf32>
  %c = nn.add %b, %one : tensor<4xf32>
  %d = nn.mul %x, %c : tensor<4xf32>
  %e = nn.mul %d, %half : tensor<4xf32>
  %f = nn.div %x, %right : tensor<4xf32>
  %g = nn.erf %f : tensor<4xf32>
  %h = nn.add %g, %one : tensor<4xf32>
  %i = nn.mul %y, %h : tensor<4xf32>
  %j = nn.mul %i, %half : tensor<4xf32>
  return %e, %j : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func @sigmoids
// CHECK-DAG: nn.swish %arg0 {alpha = 1.000000e+00 : f64}
// CHECK-DAG: nn.swish %arg0 {alpha = 2.000000e+00 : f64}
// CHECK-DAG: nn.sigmoid %arg1
// CHECK: return
func.func @sigmoids(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %s = nn.sigmoid %x : tensor<4xf32>
  %a = nn.mul %x, %s : tensor<4xf32>
  %two = nn.splat 2.0 : f32 -> tensor<4xf32>
  %one = nn.splat 1.0 : f32 -> tensor<4xf32>
  %d = nn.mul %x, %two : tensor<4xf32>
  %t = nn.sigmoid %d : tensor<4xf32>
  %b = nn.mul %t, %x : tensor<4xf32>
  %n = nn.neg %y : tensor<4xf32>
  %e = nn.exp %n : tensor<4xf32>
  %p = nn.add %e, %one : tensor<4xf32>
  %c = nn.div %one, %p : tensor<4xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func @hard
// CHECK-NEXT: %[[A:.*]] = nn.hard_swish %arg0
// CHECK-NEXT: %[[B:.*]] = nn.hard_sigmoid %arg1 {alpha = 0.1666{{.*}} : f64, beta = 5.000000e-01 : f64}
// CHECK-NEXT: %[[C:.*]] = nn.hard_swish %arg1
// CHECK-NEXT: return %[[A]], %[[B]], %[[C]]
func.func @hard(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %three = nn.splat 3.0 : f32 -> tensor<4xf32>
  %six = nn.splat 6.0 : f32 -> tensor<4xf32>
  %a = nn.add %x, %three : tensor<4xf32>
  %b = nn.clamp %a {min = 0.0, max = 6.0} : tensor<4xf32>
  %c = nn.mul %x, %b : tensor<4xf32>
  %d = nn.div %c, %six : tensor<4xf32>
  %e = nn.add %y, %three : tensor<4xf32>
  %f = nn.clamp %e {min = 0.0, max = 6.0} : tensor<4xf32>
  %g = nn.div %f, %six : tensor<4xf32>
  %h = nn.hard_sigmoid %y {alpha = 0.1666666716337204, beta = 0.5} : tensor<4xf32>
  %i = nn.mul %y, %h : tensor<4xf32>
  return %d, %g, %i : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func @mish
// CHECK-NEXT: nn.mish %arg0
// CHECK-NEXT: nn.softplus %arg1
// CHECK-NEXT: return
func.func @mish(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %one = nn.splat 1.0 : f32 -> tensor<4xf32>
  %a = nn.softplus %x : tensor<4xf32>
  %b = nn.tanh %a : tensor<4xf32>
  %c = nn.mul %x, %b : tensor<4xf32>
  %d = nn.exp %y : tensor<4xf32>
  %e = nn.add %one, %d : tensor<4xf32>
  %f = nn.log %e : tensor<4xf32>
  return %c, %f : tensor<4xf32>, tensor<4xf32>
}
