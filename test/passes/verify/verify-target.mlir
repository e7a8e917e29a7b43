// RUN: not kiln-opt %s --nn-verify-target 2>&1 | FileCheck %s

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: error: 'nn.exp' op is outside of a group after the target stage
  %e = nn.exp %x : tensor<2xf32>
  // CHECK: error: 'nn.group' op is a group without a decision after the target stage
  %r = nn.group(%e) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%y: tensor<2xf32>):
    nn.yield %y : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
