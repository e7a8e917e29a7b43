// RUN: not kiln-opt %s --kiln-set-target=name=x86-64-v3 --nn-verify-target 2>&1 | FileCheck %s

func.func @main(%x: tensor<2xf32>, %a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %f: tensor<2x3xi32>, %g: tensor<3x4xi32>, %index: tensor<2xi64>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x4xf32>) {
  // CHECK: error: 'nn.exp' op is outside of a group after the target stage
  %e = nn.exp %x : tensor<2xf32>
  // CHECK: error: 'nn.group' op is a group without a plan or a reason after the target stage
  %r = nn.group(%e) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%y: tensor<2xf32>):
    nn.yield %y : tensor<2xf32>
  }
  // CHECK: error: 'nn.group' op has a plan that its kernel cannot follow: kernel 'lops' is not known
  %s = nn.group(%e) {plan = #kernel.plan<kernel = "lops">, reason = ""} : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%y: tensor<2xf32>):
    nn.yield %y : tensor<2xf32>
  }
  // CHECK: error: 'nn.group' op has a plan that its kernel cannot follow: kernel 'gemm_tiled' does not compute this group: computes an anchor, the group has element-wise operations and views only
  %t = nn.group(%e) {plan = #kernel.plan<kernel = "gemm_tiled", tile = [1, 1, 4], chunk = 64>, reason = ""} : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%y: tensor<2xf32>):
    nn.yield %y : tensor<2xf32>
  }
  // CHECK: error: 'nn.group' op has a plan that its kernel cannot follow: kernel 'loops' has no chunk
  %u = nn.group(%e) {plan = #kernel.plan<kernel = "loops", chunk = 64>, reason = ""} : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%y: tensor<2xf32>):
    nn.yield %y : tensor<2xf32>
  }
  // CHECK: error: 'nn.group' op has a plan that its kernel cannot follow: kernel 'gemm_tiled' needs a tile
  %v = nn.group(%a, %b) {plan = #kernel.plan<kernel = "gemm_tiled", chunk = 64>, reason = ""} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%y: tensor<2x3xf32>, %z: tensor<3x4xf32>):
    %p = nn.matmul %y, %z : tensor<2x3xf32>, tensor<3x4xf32> -> tensor<2x4xf32>
    nn.yield %p : tensor<2x4xf32>
  }
  // CHECK: error: 'nn.group' op has a plan that its kernel cannot follow: kernel 'gemm_tiled' needs streams
  %w = nn.group(%a, %b) {plan = #kernel.plan<kernel = "gemm_tiled", tile = [2, 1, 4], chunk = 64>, reason = ""} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%y: tensor<2x3xf32>, %z: tensor<3x4xf32>):
    %p = nn.matmul %y, %z : tensor<2x3xf32>, tensor<3x4xf32> -> tensor<2x4xf32>
    nn.yield %p : tensor<2x4xf32>
  }
  // What a kernel's row says of a group holds for plans that are written by hand.
  // CHECK: error: 'nn.group' op has a plan that its kernel cannot follow: kernel 'gemm_tiled' does not compute this group: it is for f32, f16 and bf16, or f64 alone, the left side is i32
  %d = nn.group(%f, %g) {plan = #kernel.plan<kernel = "gemm_tiled", tile = [2, 1, 4], chunk = 64, streams = 1>, reason = ""} : (tensor<2x3xi32>, tensor<3x4xi32>) -> tensor<2x4xi32> {
  ^bb0(%y: tensor<2x3xi32>, %z: tensor<3x4xi32>):
    %p = nn.matmul %y, %z : tensor<2x3xi32>, tensor<3x4xi32> -> tensor<2x4xi32>
    nn.yield %p : tensor<2x4xi32>
  }
  // CHECK: error: 'nn.group' op has a plan that its kernel cannot follow: kernel 'transpose_tiled' does not compute this group: expected one operand that is read across
  %h = nn.group(%e) {plan = #kernel.plan<kernel = "transpose_tiled", tile = [4, 1, 4]>, reason = ""} : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%y: tensor<2xf32>):
    nn.yield %y : tensor<2xf32>
  }
  // CHECK: error: 'nn.group' op has a plan that its kernel cannot follow: kernel 'softmax_rows' has no chunk
  %i = nn.group(%a) {plan = #kernel.plan<kernel = "softmax_rows", chunk = 64>, reason = ""} : (tensor<2x3xf32>) -> tensor<2x3xf32> {
  ^bb0(%y: tensor<2x3xf32>):
    %p = nn.softmax %y axis 1 : tensor<2x3xf32>
    nn.yield %p : tensor<2x3xf32>
  }
  // CHECK: kernel 'softmax_rows' does not compute this group: computes groups of the form plain, this one is softmax_scan
  %j = nn.group(%a) {form = #nn.group_form<softmax_scan>, plan = #kernel.plan<kernel = "softmax_rows">, reason = ""} : (tensor<2x3xf32>) -> tensor<2x1xi64> {
  ^bb0(%y: tensor<2x3xf32>):
    %p = nn.softmax %y axis 1 : tensor<2x3xf32>
    %q = nn.arg_reduce max %p axis 1 : tensor<2x3xf32> -> tensor<2x1xi64>
    nn.yield %q : tensor<2x1xi64>
  }
  // CHECK: kernel 'softmax_scan' does not compute this group: expected a softmax along the last dimension
  %k = nn.group(%a) {form = #nn.group_form<softmax_scan>, plan = #kernel.plan<kernel = "softmax_scan">, reason = ""} : (tensor<2x3xf32>) -> tensor<2x1xi64> {
  ^bb0(%y: tensor<2x3xf32>):
    %p = nn.softmax %y axis 0 : tensor<2x3xf32>
    %q = nn.arg_reduce max %p axis 1 : tensor<2x3xf32> -> tensor<2x1xi64>
    nn.yield %q : tensor<2x1xi64>
  }
  // CHECK: kernel 'product_softmax' does not compute this group: expected a softmax along the product's columns
  %l = nn.group(%a, %b) {form = #nn.group_form<product_softmax>, plan = #kernel.plan<kernel = "product_softmax", tile = [2, 1, 4], chunk = 64, streams = 1, strip = 4>, reason = ""} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%y: tensor<2x3xf32>, %z: tensor<3x4xf32>):
    %p = nn.matmul %y, %z : tensor<2x3xf32>, tensor<3x4xf32> -> tensor<2x4xf32>
    %q = nn.softmax %p axis 0 : tensor<2x4xf32>
    nn.yield %q : tensor<2x4xf32>
  }
  // CHECK: kernel 'gather_copy' does not compute this group: loads operand 0 from a buffer, but the group computes it by nn.exp
  %n = nn.group(%b, %index) {plan = #kernel.plan<kernel = "gather_copy">, reason = ""} : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<2x4xf32> {
  ^bb0(%y: tensor<3x4xf32>, %z: tensor<2xi64>):
    %q = nn.exp %y : tensor<3x4xf32>
    %p = nn.gather %q, %z axis 0 : tensor<3x4xf32>, tensor<2xi64> -> tensor<2x4xf32>
    nn.yield %p : tensor<2x4xf32>
  }
  return %r, %s, %t, %u, %v : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x4xf32>
}
