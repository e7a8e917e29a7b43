// RUN: rm -rf %t && mkdir %t
// RUN: kiln-opt %s --nn-specialize-sizes="sizes=-1,3" > %t/three.mlir && FileCheck %s < %t/three.mlir
// The symbols stay, so that the entry takes the same arguments and can refuse other sizes.
// CHECK: module attributes {
// CHECK-NOT: nn.constraints
// CHECK-SAME: nn.special_sizes = array<i64: -1, 3>, nn.symbol_bounds = [array<i64: 1, 8>, array<i64: 3, 3>], nn.symbols = ["batch", "seq"]
// CHECK: func.func @main(%arg0: tensor<?x3xf32, #nn.dims<()[s0] -> (s0, 3)>>
// CHECK: nn.broadcast_to {{.*}} tensor<3xf32>

// The same numbers for the sizes that it is for; others are refused.
// RUN: kiln run %s --input x=random --input b=random:2 --run-dim batch=2 --run-dim seq=3 --output-dir %t/any -q
// RUN: kiln run %t/three.mlir --input x=random --input b=random:2 --run-dim batch=2 --run-dim seq=3 --output-dir %t/three -q && cmp %t/any/y.npy %t/three/y.npy

// RUN: not kiln-opt %s --nn-specialize-sizes="sizes=-1,9" 2>&1 | FileCheck %s --check-prefix=NEVER
// NEVER: error: --specialize: the model cannot run with seq=9: its dimensions do not fit each other then
// RUN: not kiln-opt %s --nn-specialize-sizes="sizes=3" 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: error: expected a size for each of the 2 symbols, got 1

// seq is at most 7.
module attributes {nn.model = "m", nn.symbols = ["batch", "seq"], nn.symbol_bounds = [array<i64: 1, 8>, array<i64>],
                   nn.constraints = affine_map<()[s0, s1] -> (s1 floordiv 8)>} {
  func.func @main(%x: tensor<?x?xf32, #nn.dims<()[s0, s1] -> (s0, s1)>> {nn.name = "x"}, %b: tensor<?xf32, #nn.dims<()[s0, s1] -> (s1)>> {nn.name = "b"})
      -> (tensor<?x?xf32, #nn.dims<()[s0, s1] -> (s0, s1)>> {nn.name = "y"}) {
    %w = nn.broadcast_to %b : tensor<?xf32, #nn.dims<()[s0, s1] -> (s1)>> -> tensor<?x?xf32, #nn.dims<()[s0, s1] -> (s0, s1)>>
    %y = nn.add %x, %w : tensor<?x?xf32, #nn.dims<()[s0, s1] -> (s0, s1)>>
    return %y : tensor<?x?xf32, #nn.dims<()[s0, s1] -> (s0, s1)>>
  }
}
