// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --nn-form-groups --nn-choose-kernels | FileCheck %s

// Columns that a gather picks make a shortlist.
// CHECK-LABEL: func @columns
// CHECK: kernel = "gemm_shortlist"
func.func @columns(%x: tensor<1x64xf32>, %i: tensor<5xi64>) -> tensor<1x5xf32> {
  %c = nn.constant dense<0.25> : tensor<100x64xf32>
  %g = nn.gather %c, %i axis 0 : tensor<100x64xf32>, tensor<5xi64> -> tensor<5x64xf32>
  %r = nn.transpose %g [1, 0] : tensor<5x64xf32> -> tensor<64x5xf32>
  %y = nn.matmul %x, %r : tensor<1x64xf32>, tensor<64x5xf32> -> tensor<1x5xf32>
  return %y : tensor<1x5xf32>
}

// What is picked along the sum does not.
// CHECK-LABEL: func @sums
// CHECK-NOT: gemm_shortlist
// CHECK: return
func.func @sums(%x: tensor<1x5xf32>, %i: tensor<5xi64>) -> tensor<1x100xf32> {
  %c = nn.constant dense<0.25> : tensor<100x64xf32>
  %g = nn.gather %c, %i axis 1 : tensor<100x64xf32>, tensor<5xi64> -> tensor<100x5xf32>
  %r = nn.transpose %g [1, 0] : tensor<100x5xf32> -> tensor<5x100xf32>
  %y = nn.matmul %x, %r : tensor<1x5xf32>, tensor<5x100xf32> -> tensor<1x100xf32>
  return %y : tensor<1x100xf32>
}

// A left side that the product loads from a buffer and the epilogue needs, too, is a group of its own.
// CHECK-LABEL: func @left_side_in_epilogue
// CHECK: nn.group
// CHECK: nn.xor
// CHECK: nn.yield
// CHECK: nn.group
// CHECK-NOT: nn.xor
// CHECK: nn.matmul
func.func @left_side_in_epilogue(%a: tensor<3x1xi8>, %b: tensor<1x8xi8>) -> tensor<3x8xi32> {
  %s = nn.splat -128 : i8 -> tensor<3x1xi8>
  %x = nn.xor %a, %s : tensor<3x1xi8>
  %u = nn.bitcast %x : tensor<3x1xi8> -> tensor<3x1xui8>
  %p = nn.matmul %u, %b : tensor<3x1xui8>, tensor<1x8xi8> -> tensor<3x8xi32>
  %c = nn.cast %u : tensor<3x1xui8> -> tensor<3x1xi32>
  %w = nn.broadcast_to %c : tensor<3x1xi32> -> tensor<3x8xi32>
  %y = nn.sub %p, %w : tensor<3x8xi32>
  return %y : tensor<3x8xi32>
}
