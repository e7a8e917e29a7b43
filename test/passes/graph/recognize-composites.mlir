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

// -----

// An upper bound behind the lower one makes it no relu; bounds that are both numbers make a hard sigmoid only of a sum.
// CHECK-LABEL: func @no_relu
// CHECK-NOT: nn.relu
// CHECK-NOT: nn.hard_sigmoid
// CHECK: return
func.func @no_relu(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = nn.splat 0.0 : f32 -> tensor<4xf32>
  %one = nn.splat 1.0 : f32 -> tensor<4xf32>
  %a = nn.minimum %x, %one : tensor<4xf32>
  %b = nn.maximum %a, %zero : tensor<4xf32>
  %c = nn.clamp %x {min = 0.0, max = 1.0} : tensor<4xf32>
  return %b, %c : tensor<4xf32>, tensor<4xf32>
}

// -----

// The exp of an elu that is used elsewhere; a choice by another value; the branches the other way around.
// CHECK-LABEL: func @no_elu
// CHECK-NOT: nn.elu
// CHECK-NOT: nn.selu
// CHECK: return
func.func @no_elu(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = nn.splat 0.0 : f32 -> tensor<4xf32>
  %one = nn.splat 1.0 : f32 -> tensor<4xf32>
  %e = nn.exp %x : tensor<4xf32>
  %m = nn.sub %e, %one : tensor<4xf32>
  %n = nn.less %x, %zero : tensor<4xf32> -> tensor<4xi1>
  %a = nn.select %n, %m, %x : tensor<4xi1>, tensor<4xf32>
  %f = nn.exp %y : tensor<4xf32>
  %g = nn.sub %f, %one : tensor<4xf32>
  %b = nn.select %n, %g, %y : tensor<4xi1>, tensor<4xf32>
  %o = nn.less %y, %zero : tensor<4xf32> -> tensor<4xi1>
  %c = nn.select %o, %y, %g : tensor<4xi1>, tensor<4xf32>
  return %a, %b, %c, %e : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Of two numbers that are one in the composite, both must be found the same.
// CHECK-LABEL: func @no_celu
// CHECK-NOT: nn.celu
// CHECK: return
func.func @no_celu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = nn.splat 2.0 : f32 -> tensor<4xf32>
  %three = nn.splat 3.0 : f32 -> tensor<4xf32>
  %a = nn.div %x, %two : tensor<4xf32>
  %b = nn.elu %a {alpha = 1.0} : tensor<4xf32>
  %c = nn.mul %b, %three : tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

// ONNX's body of LayerNormalization: mean(x * x) - mean(x) * mean(x), over rows that are reshaped before and after.
// CHECK-LABEL: func @layer_norm_of_squares
// CHECK: nn.layer_norm %arg0, %{{.*}}, %{{.*}} axis 1 epsilon 9.99{{.*}} : tensor<2x3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>
// CHECK-NOT: nn.mul
// CHECK: return
func.func @layer_norm_of_squares(%x: tensor<2x3x5xf32>, %g: tensor<3x5xf32>, %b: tensor<3x5xf32>) -> tensor<2x3x5xf32> {
  %r = nn.reshape %x : tensor<2x3x5xf32> -> tensor<2x15xf32>
  %m = nn.reduce mean %r [1] : tensor<2x15xf32> -> tensor<2x1xf32>
  %q = nn.mul %r, %r : tensor<2x15xf32>
  %s = nn.reduce mean %q [1] : tensor<2x15xf32> -> tensor<2x1xf32>
  %mm = nn.mul %m, %m : tensor<2x1xf32>
  %v = nn.sub %s, %mm : tensor<2x1xf32>
  %eps = nn.splat 1.0e-5 : f32 -> tensor<2x1xf32>
  %ve = nn.add %v, %eps : tensor<2x1xf32>
  %d = nn.sqrt %ve : tensor<2x1xf32>
  %mb = nn.broadcast_to %m : tensor<2x1xf32> -> tensor<2x15xf32>
  %c = nn.sub %r, %mb : tensor<2x15xf32>
  %db = nn.broadcast_to %d : tensor<2x1xf32> -> tensor<2x15xf32>
  %n = nn.div %c, %db : tensor<2x15xf32>
  %gr = nn.reshape %g : tensor<3x5xf32> -> tensor<1x15xf32>
  %gb = nn.broadcast_to %gr : tensor<1x15xf32> -> tensor<2x15xf32>
  %o = nn.mul %n, %gb : tensor<2x15xf32>
  %br = nn.reshape %b : tensor<3x5xf32> -> tensor<1x15xf32>
  %bb = nn.broadcast_to %br : tensor<1x15xf32> -> tensor<2x15xf32>
  %p = nn.add %o, %bb : tensor<2x15xf32>
  %e = nn.reshape %p : tensor<2x15xf32> -> tensor<2x3x5xf32>
  return %e : tensor<2x3x5xf32>
}

// -----

// The epsilon behind the root, and added to the mean of other squares: not the formula of a norm.
// CHECK-LABEL: func @no_norm
// CHECK-NOT: _norm %
// CHECK: return
func.func @no_norm(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %q = nn.mul %x, %x : tensor<4x8xf32>
  %v = nn.reduce mean %q [1] : tensor<4x8xf32> -> tensor<4x1xf32>
  %s = nn.sqrt %v : tensor<4x1xf32>
  %eps = nn.splat 1.0e-5 : f32 -> tensor<4x1xf32>
  %se = nn.add %s, %eps : tensor<4x1xf32>
  %sb = nn.broadcast_to %se : tensor<4x1xf32> -> tensor<4x8xf32>
  %a = nn.div %x, %sb : tensor<4x8xf32>
  %ve = nn.add %v, %eps : tensor<4x1xf32>
  %t = nn.sqrt %ve : tensor<4x1xf32>
  %tb = nn.broadcast_to %t : tensor<4x1xf32> -> tensor<4x8xf32>
  %b = nn.div %y, %tb : tensor<4x8xf32>
  return %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Transposes that undo each other around a row-wise composite go; the rows are then along another axis. Those that do not stay.
// CHECK-LABEL: func @transposed_rows
// CHECK-NEXT: nn.transpose %arg0
// CHECK-NEXT: nn.log_softmax %arg0 axis 1 : tensor<2x3x5xf32>
// CHECK-NEXT: nn.softmax %{{.*}} axis 2 : tensor<2x5x3xf32>
// CHECK-NEXT: nn.transpose
// CHECK-NEXT: return
func.func @transposed_rows(%x: tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, tensor<5x2x3xf32>) {
  %t = nn.transpose %x [0, 2, 1] : tensor<2x3x5xf32> -> tensor<2x5x3xf32>
  %l = nn.log_softmax %t axis 2 : tensor<2x5x3xf32>
  %a = nn.transpose %l [0, 2, 1] : tensor<2x5x3xf32> -> tensor<2x3x5xf32>
  %s = nn.softmax %t axis 2 : tensor<2x5x3xf32>
  %b = nn.transpose %s [1, 0, 2] : tensor<2x5x3xf32> -> tensor<5x2x3xf32>
  return %a, %b : tensor<2x3x5xf32>, tensor<5x2x3xf32>
}

// -----

// Rows of another length are other rows.
// CHECK-LABEL: func @reshaped_rows
// CHECK-NEXT: nn.softmax %arg0 axis 0 : tensor<6x4xf32>
// CHECK: nn.reshape %arg0
// CHECK: nn.softmax %{{.*}} axis 1 : tensor<3x8xf32>
// CHECK: return
func.func @reshaped_rows(%x: tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>) {
  %a = nn.reshape %x : tensor<6x4xf32> -> tensor<6x2x2xf32>
  %b = nn.softmax %a axis 0 : tensor<6x2x2xf32>
  %c = nn.reshape %b : tensor<6x2x2xf32> -> tensor<6x4xf32>
  %d = nn.reshape %x : tensor<6x4xf32> -> tensor<3x8xf32>
  %e = nn.softmax %d axis 1 : tensor<3x8xf32>
  %f = nn.reshape %e : tensor<3x8xf32> -> tensor<6x4xf32>
  return %c, %f : tensor<6x4xf32>, tensor<6x4xf32>
}

// -----

// Any operation on rows whose result has the shape of its operand: one that can be transposed, and one that cannot.
// CHECK-LABEL: func @other_rows
// CHECK-NEXT: nn.cumulative sum %arg0 axis 1 : tensor<2x3x5xf32>
// CHECK-NEXT: nn.lp_norm %arg1 axis 0 p 2 : tensor<6x4xf32>
// CHECK-NEXT: nn.transpose %arg0
// CHECK-NEXT: nn.lp_norm %{{.*}} axis 2 p 1 : tensor<2x5x3xf32>
// CHECK-NEXT: nn.transpose
// CHECK-NEXT: return
func.func @other_rows(%x: tensor<2x3x5xf32>, %y: tensor<6x4xf32>) -> (tensor<2x3x5xf32>, tensor<6x4xf32>, tensor<2x3x5xf32>) {
  %t = nn.transpose %x [0, 2, 1] : tensor<2x3x5xf32> -> tensor<2x5x3xf32>
  %c = nn.cumulative sum %t axis 2 : tensor<2x5x3xf32>
  %a = nn.transpose %c [0, 2, 1] : tensor<2x5x3xf32> -> tensor<2x3x5xf32>
  %r = nn.reshape %y : tensor<6x4xf32> -> tensor<6x2x2xf32>
  %n = nn.lp_norm %r axis 0 p 2 : tensor<6x2x2xf32>
  %b = nn.reshape %n : tensor<6x2x2xf32> -> tensor<6x4xf32>
  %u = nn.transpose %x [0, 2, 1] : tensor<2x3x5xf32> -> tensor<2x5x3xf32>
  %m = nn.lp_norm %u axis 2 p 1 : tensor<2x5x3xf32>
  %d = nn.transpose %m [0, 2, 1] : tensor<2x5x3xf32> -> tensor<2x3x5xf32>
  return %a, %b, %d : tensor<2x3x5xf32>, tensor<6x4xf32>, tensor<2x3x5xf32>
}

// -----

// The numbers of a half-precision model are rounded to its type.
// CHECK-LABEL: func @gelu_half
// CHECK-NEXT: nn.gelu_tanh %arg0 : tensor<4xbf16>
// CHECK-NEXT: return
func.func @gelu_half(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %half = nn.splat 0.5 : bf16 -> tensor<4xbf16>
  %three = nn.splat 3.0 : bf16 -> tensor<4xbf16>
  %cubic = nn.splat 0.044715 : bf16 -> tensor<4xbf16>
  %root = nn.splat 0.7978845834732056 : bf16 -> tensor<4xbf16>
  %one = nn.splat 1.0 : bf16 -> tensor<4xbf16>
  %a = nn.mul %x, %half : tensor<4xbf16>
  %b = nn.pow %x, %three : tensor<4xbf16>
  %c = nn.mul %b, %cubic : tensor<4xbf16>
  %d = nn.add %x, %c : tensor<4xbf16>
  %e = nn.mul %d, %root : tensor<4xbf16>
  %f = nn.tanh %e : tensor<4xbf16>
  %g = nn.add %f, %one : tensor<4xbf16>
  %h = nn.mul %a, %g : tensor<4xbf16>
  return %h : tensor<4xbf16>
}

// -----

// A one at the last of equal elements, or at the smallest, is no hardmax.
// CHECK-LABEL: func @no_hardmax
// CHECK-NOT: nn.hardmax
// CHECK: return
func.func @no_hardmax(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %one = nn.splat 1.0 : f32 -> tensor<4x8xf32>
  %zero = nn.splat 0.0 : f32 -> tensor<4x8xf32>
  %i = nn.iota axis 1 : tensor<4x8xi64>
  %m = nn.arg_reduce max %x axis 1 last : tensor<4x8xf32> -> tensor<4x1xi64>
  %mb = nn.broadcast_to %m : tensor<4x1xi64> -> tensor<4x8xi64>
  %h = nn.equal %i, %mb : tensor<4x8xi64> -> tensor<4x8xi1>
  %a = nn.select %h, %one, %zero : tensor<4x8xi1>, tensor<4x8xf32>
  %n = nn.arg_reduce min %x axis 1 : tensor<4x8xf32> -> tensor<4x1xi64>
  %nb = nn.broadcast_to %n : tensor<4x1xi64> -> tensor<4x8xi64>
  %g = nn.equal %i, %nb : tensor<4x8xi64> -> tensor<4x8xi1>
  %b = nn.select %g, %one, %zero : tensor<4x8xi1>, tensor<4x8xf32>
  return %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// The operands of the equality may stand in either order; other operands, and other comparisons, are no such pair.
// CHECK-LABEL: func @or_equal
// CHECK-DAG: %[[A:.*]] = nn.less_equal %arg0, %arg1
// CHECK-DAG: %[[B:.*]] = nn.greater_equal %arg0, %arg1
// CHECK-DAG: %[[C:.*]] = nn.or
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @or_equal(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  %less = nn.less %x, %y : tensor<4xf32> -> tensor<4xi1>
  %greater = nn.greater %x, %y : tensor<4xf32> -> tensor<4xi1>
  %same = nn.equal %y, %x : tensor<4xf32> -> tensor<4xi1>
  %other = nn.equal %x, %z : tensor<4xf32> -> tensor<4xi1>
  %a = nn.or %less, %same : tensor<4xi1>
  %b = nn.or %same, %greater : tensor<4xi1>
  %c = nn.or %less, %other : tensor<4xi1>
  return %a, %b, %c : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}
