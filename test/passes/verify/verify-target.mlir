// RUN: not kiln-opt %s --nn-verify-target 2>&1 | FileCheck %s

func.func @main(%x: tensor<2xf32>, %a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x4xf32>) {
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
  // CHECK: error: 'nn.group' op has a plan that its kernel cannot follow: kernel 'gemm_tiled' is for other groups
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
  return %r, %s, %t, %u, %v : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x4xf32>
}
