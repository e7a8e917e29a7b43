// RUN: kiln-opt %s --nn-widen-recurrences | FileCheck %s

// CHECK-LABEL: func @rnn
// CHECK-DAG: %[[G:.*]] = nn.cast %arg0 : tensor<5x1x4xf16> -> tensor<5x1x4xf32>
// CHECK-DAG: %[[R:.*]] = nn.cast %arg1 : tensor<1x4x4xf16> -> tensor<1x4x4xf32>
// CHECK-DAG: %[[H:.*]] = nn.cast %arg2 : tensor<1x1x4xf16> -> tensor<1x1x4xf32>
// CHECK: %[[Y:.*]], %{{.*}} = nn.rnn gates(%[[G]]) recurrence(%[[R]]) hidden(%[[H]]) lengths(%arg3)
// CHECK-SAME: -> (tensor<5x1x1x4xf32>, tensor<1x1x4xf32>)
// CHECK: %[[N:.*]] = nn.cast %[[Y]] : tensor<5x1x1x4xf32> -> tensor<5x1x1x4xf16>
// CHECK-NOT: nn.cast
// CHECK: return %[[N]]
func.func @rnn(%g: tensor<5x1x4xf16>, %r: tensor<1x4x4xf16>, %h: tensor<1x1x4xf16>, %n: tensor<1xi32>) -> tensor<5x1x1x4xf16> {
  %y, %l = nn.rnn gates(%g) recurrence(%r) hidden(%h) lengths(%n) activations ["Tanh"]
    : (tensor<5x1x4xf16>, tensor<1x4x4xf16>, tensor<1x1x4xf16>, tensor<1xi32>) -> (tensor<5x1x1x4xf16>, tensor<1x1x4xf16>)
  return %y : tensor<5x1x1x4xf16>
}

// Other types stay as they are.
// CHECK-LABEL: func @doubles
// CHECK-NOT: nn.cast
// CHECK: return
func.func @doubles(%g: tensor<5x1x4xf64>, %r: tensor<1x4x4xf64>, %h: tensor<1x1x4xf64>) -> tensor<5x1x1x4xf64> {
  %y, %l = nn.rnn gates(%g) recurrence(%r) hidden(%h) activations ["Tanh"]
    : (tensor<5x1x4xf64>, tensor<1x4x4xf64>, tensor<1x1x4xf64>) -> (tensor<5x1x1x4xf64>, tensor<1x1x4xf64>)
  return %y : tensor<5x1x1x4xf64>
}
