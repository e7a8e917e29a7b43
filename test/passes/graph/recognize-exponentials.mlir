// Models write these with exp, log and tanh; the composites, which keep the digits that 1 takes from small numbers, are recognised in that form, too.
// RUN: kiln-opt %s --split-input-file --nn-recognize-composites --cse | FileCheck %s

// CHECK-LABEL: func @elu
// CHECK-NEXT: nn.elu %arg0 {alpha = 5.000000e-01 : f64}
// CHECK-NEXT: return
func.func @elu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = nn.splat 0.0 : f32 -> tensor<4xf32>
  %one = nn.splat 1.0 : f32 -> tensor<4xf32>
  %alpha = nn.splat 0.5 : f32 -> tensor<4xf32>
  %a = nn.exp %x : tensor<4xf32>
  %b = nn.sub %a, %one : tensor<4xf32>
  %c = nn.mul %b, %alpha : tensor<4xf32>
  %d = nn.less %x, %zero : tensor<4xf32> -> tensor<4xi1>
  %r = nn.select %d, %c, %x : tensor<4xi1>, tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func @mish
// CHECK-NEXT: nn.mish %arg0
// CHECK-NEXT: return
func.func @mish(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = nn.splat 1.0 : f32 -> tensor<4xf32>
  %a = nn.exp %x : tensor<4xf32>
  %b = nn.add %a, %one : tensor<4xf32>
  %c = nn.log %b : tensor<4xf32>
  %d = nn.tanh %c : tensor<4xf32>
  %r = nn.mul %x, %d : tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func @softplus
// CHECK-NEXT: nn.softplus %arg0
// CHECK-NEXT: return
func.func @softplus(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = nn.splat 0.0 : f32 -> tensor<4xf32>
  %one = nn.splat 1.0 : f32 -> tensor<4xf32>
  %a = nn.abs %x : tensor<4xf32>
  %b = nn.neg %a : tensor<4xf32>
  %c = nn.exp %b : tensor<4xf32>
  %d = nn.add %c, %one : tensor<4xf32>
  %e = nn.log %d : tensor<4xf32>
  %f = nn.maximum %x, %zero : tensor<4xf32>
  %r = nn.add %f, %e : tensor<4xf32>
  return %r : tensor<4xf32>
}
