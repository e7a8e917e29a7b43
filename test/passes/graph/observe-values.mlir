// Import exposes every value as a result of @main; those that nobody asked for go.
// RUN: rm -rf %t && mkdir %t
// RUN: kiln-opt %s --nn-observe-values="outputs=1 values=a" > %t/kept.mlir && FileCheck %s --check-prefix=KEPT < %t/kept.mlir
// KEPT: func.func @main(%arg0: tensor<3xf32> {nn.name = "x"}) -> (tensor<3xf32> {nn.name = "y"}, tensor<3xf32> {nn.name = "a", nn.node = "n0(Relu)"})
// KEPT-NEXT: %[[A:.*]] = nn.relu %arg0
// KEPT-NEXT: %[[Y:.*]] = nn.neg %[[A]]
// KEPT-NEXT: return %[[Y]], %[[A]]

// Without any, only what the model's own outputs need is left.
// RUN: kiln-opt %s --nn-observe-values="outputs=1" | FileCheck %s --check-prefix=NONE
// NONE: -> (tensor<3xf32> {nn.name = "y"})
// NONE-NOT: nn.exp

// With `cut`, what follows a value computes from what the caller gives.
// RUN: kiln-opt %s --nn-observe-values="outputs=1 values=a cut" > %t/cut.mlir && FileCheck %s --check-prefix=CUT < %t/cut.mlir
// CUT: func.func @main(%arg0: tensor<3xf32> {nn.name = "x"}, %arg1: tensor<3xf32> {nn.name = "a"})
// CUT-NEXT: %[[A:.*]] = nn.relu %arg0
// CUT-NEXT: %[[Y:.*]] = nn.neg %arg1
// CUT-NEXT: return %[[Y]], %[[A]]

// A fault adds 1 to the value and to all that is computed from it.
// RUN: kiln-opt %s --nn-observe-values="outputs=1 values=a fault=a" > %t/fault.mlir
// RUN: %python -c 'import numpy; numpy.save("%t/x.npy", numpy.array([-1, 2, 3], "f4")); numpy.save("%t/a.npy", numpy.array([7, 8, 9], "f4"))'
// RUN: kiln run %t/kept.mlir --input x=%t/x.npy --output-dir %t/kept -q && kiln run %t/fault.mlir --input x=%t/x.npy --output-dir %t/fault -q
// RUN: kiln run %t/cut.mlir --input x=%t/x.npy --input a=%t/a.npy --output-dir %t/cut -q
// RUN: %python -c 'import numpy; [print(f, v, numpy.load(f"%t/{f}/{v}.npy").tolist()) for f in ("kept", "fault", "cut") for v in "ay"]' | FileCheck %s
// CHECK: kept a [0.0, 2.0, 3.0]
// CHECK-NEXT: kept y [-0.0, -2.0, -3.0]
// CHECK-NEXT: fault a [1.0, 3.0, 4.0]
// CHECK-NEXT: fault y [-1.0, -3.0, -4.0]
// CHECK-NEXT: cut a [0.0, 2.0, 3.0]
// CHECK-NEXT: cut y [-7.0, -8.0, -9.0]

// RUN: not kiln-opt %s --nn-observe-values="outputs=1 fault=z" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: no node computes a value 'z'
// RUN: not kiln-opt %s --nn-observe-values="outputs=1 fault=c" 2>&1 | FileCheck %s --check-prefix=BOOL
// BOOL: error: the value 'c' cannot be made wrong: its elements are bools

module attributes {nn.model = "m", nn.symbols = []} {
  func.func @main(%x: tensor<3xf32> {nn.name = "x"}) -> (tensor<3xf32> {nn.name = "y"}, tensor<3xf32> {nn.name = "a", nn.node = "n0(Relu)"},
                                                         tensor<3xf32> {nn.name = "b", nn.node = "n1(Exp)"},
                                                         tensor<3xi1> {nn.name = "c", nn.node = "n2(Less)"}) {
    %a = nn.relu %x : tensor<3xf32>
    %b = nn.exp %x : tensor<3xf32>
    %c = nn.less %x, %a : tensor<3xf32> -> tensor<3xi1>
    %y = nn.neg %a : tensor<3xf32>
    return %y, %a, %b, %c : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi1>
  }
}
