// RUN: not kiln-opt %s --nn-verify-graph 2>&1 | FileCheck %s

// CHECK: error: 'arith.constant' op is not an nn operation after the graph stage
func.func @main() -> tensor<2xf32> {
  %r = arith.constant dense<1.0> : tensor<2xf32>
  return %r : tensor<2xf32>
}
