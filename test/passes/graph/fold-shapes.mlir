// RUN: kiln-opt %s --nn-fold-shapes --canonicalize | FileCheck %s

// CHECK-DAG: #[[PRODUCT:.*]] = affine_map<()[s0] -> (s0 * 12)>
// CHECK-DAG: #[[ALL:.*]] = affine_map<()[s0, s1] -> (s0, s1, 12, 64)>
// CHECK-LABEL: func @arithmetic
// CHECK-DAG: %[[P:.*]] = nn.dim_values #[[PRODUCT]] : tensor<i64>
// CHECK-DAG: %[[A:.*]] = nn.dim_values #[[ALL]] : tensor<4xi64>
// CHECK-DAG: %[[C:.*]] = nn.constant dense<768> : tensor<1xi32>
// CHECK: return %[[P]], %[[A]], %[[C]]
func.func @arithmetic() -> (tensor<i64>, tensor<4xi64>, tensor<1xi32>) {
  %shape = nn.dim_values affine_map<()[s0, s1] -> (s0, s1, 768)> : tensor<3xi64>
  %zero = nn.constant dense<0> : tensor<i64>
  %twelve = nn.constant dense<12> : tensor<i64>
  %batch = nn.gather %shape, %zero axis 0 : tensor<3xi64>, tensor<i64> -> tensor<i64>
  %product = nn.mul %batch, %twelve : tensor<i64>
  %front = nn.slice %shape starts affine_map<() -> (0)> steps [1] : tensor<3xi64> -> tensor<2xi64>
  %heads = nn.constant dense<[12, 64]> : tensor<2xi64>
  %all = nn.concat %front, %heads axis 0 : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
  %back = nn.slice %shape starts affine_map<() -> (2)> steps [1] : tensor<3xi64> -> tensor<1xi64>
  %cast = nn.cast %back : tensor<1xi64> -> tensor<1xi32>
  return %product, %all, %cast : tensor<i64>, tensor<4xi64>, tensor<1xi32>
}

// A data tensor is left alone.
// CHECK-LABEL: func @data
// CHECK: nn.add
func.func @data(%x: tensor<1xi64>) -> tensor<1xi64> {
  %d = nn.dim_values affine_map<()[s0] -> (s0)> : tensor<1xi64>
  %r = nn.add %d, %x : tensor<1xi64>
  return %r : tensor<1xi64>
}
