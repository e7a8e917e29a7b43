// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v4 -kiln-target -kiln-kernel | FileCheck %s

// What a zero point that only run time knows takes from each column is computed once for the four rows of a tile: two vectors of 16 columns.
// CHECK-LABEL: func.func private @gemm_bytes
// CHECK-COUNT-2: arith.muli {{.*}} : vector<16xi32>
// CHECK-NOT: arith.muli {{.*}} : vector<16xi32>
// CHECK: return

// Bytes are stored behind numbers that are read once, before the loop.
// CHECK-LABEL: func.func private @loops
// CHECK: memref.load
// CHECK: memref.load
// CHECK: scf.for
// CHECK-NOT: memref.load
// CHECK: return
module attributes {nn.model = "m"} {
  func.func @main(%a: tensor<4x16xui8> {nn.name = "a"}, %z: tensor<ui8> {nn.name = "z"}, %x: tensor<64xf32> {nn.name = "x"}, %s: tensor<f32> {nn.name = "s"})
      -> (tensor<4x32xi32> {nn.name = "y"}, tensor<64xui8> {nn.name = "q"}) {
    %w = nn.constant dense<3> : tensor<16x32xi8>
    %za = nn.broadcast_to %z : tensor<ui8> -> tensor<4x16xui8>
    %zw = nn.splat 1 : i8 -> tensor<16x32xi8>
    %y = nn.quantized_matmul %a, %w zero_points %za, %zw : tensor<4x16xui8>, tensor<16x32xi8> -> tensor<4x32xi32>
    %ss = nn.broadcast_to %s : tensor<f32> -> tensor<64xf32>
    %zz = nn.broadcast_to %z : tensor<ui8> -> tensor<64xui8>
    %q = nn.quantize %x, %ss, %zz : tensor<64xf32>, tensor<64xf32> -> tensor<64xui8>
    return %y, %q : tensor<4x32xi32>, tensor<64xui8>
  }
}
