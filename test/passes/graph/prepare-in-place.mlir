// RUN: rm -rf %t && mkdir %t
// Tensors of one shape are only recorded: output 1 in input 0.
// RUN: kiln-opt %s --nn-prepare-in-place="pairs=state=before" | FileCheck %s --check-prefix=SAME
// SAME: nn.asked_in_place = array<i64: 0, 1>

// A cache becomes its whole buffer, of which the model reads the rows in use, and writes those that are new.
// RUN: kiln-opt %s --nn-prepare-in-place="pairs=present_*=past_*:8" > %t/grown.mlir && FileCheck %s < %t/grown.mlir
// CHECK: #[[ROOM:.*]] = affine_map<()[s0] -> ((-s0 + 6) floordiv 1099511627776)>
// CHECK: nn.asked_in_place = array<i64: 1, 0>, nn.constraint_nodes = ["--in-place=present_k=past_k:8"], nn.constraints = #[[ROOM]]
// CHECK: func.func @main(%[[BEFORE:.*]]: tensor<2xf32> {nn.name = "before"}, %[[BUFFER:.*]]: tensor<8x2xf32> {nn.name = "past_k"}, %[[NEW:.*]]: tensor<2x2xf32>
// CHECK-SAME: -> (tensor<8x2xf32>
// CHECK: %[[ALL:.*]] = nn.scatter_elements %[[BUFFER]], %{{.*}}, %[[NEW]]
// CHECK: nn.slice %[[ALL]]
// CHECK: return %[[ALL]]

// The sum over the rows in use is the same, and the rows behind them are as they were.
// RUN: kiln run %s --input before=0 --input past_k=1 --input k=2 --run-dim past=3 --output-dir %t/a -q
// RUN: kiln run %t/grown.mlir --input before=0 --input past_k=1 --input k=2 --run-dim past=3 --output-dir %t/b -q
// RUN: %python -c 'import numpy; a, b = ([numpy.load(f"%t/{d}/{v}.npy") for v in ("present_k", "sum")] for d in "ab"); print((a[0] == b[0][:5]).all(), b[0][5:].tolist(), (a[1] == b[1]).all())' | FileCheck %s --check-prefix=NUMBERS
// NUMBERS: True {{\[\[}}1.0, 1.0], [1.0, 1.0], [1.0, 1.0]] True

// RUN: not kiln-opt %s --nn-prepare-in-place="pairs=state=nothing,other=k" 2>&1 | FileCheck %s --check-prefix=NAMES
// NAMES: error: --in-place=state=nothing: the model has no input 'nothing', it has 'before', 'past_k', 'k'
// NAMES: error: --in-place=other=k: the model has no output 'other', it has 'present_k', 'state', 'sum'
// RUN: not kiln-opt %s --nn-prepare-in-place="pairs=sum=before,state=before" 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: --in-place=state=before: one of the two is already in another pair
// RUN: not kiln-opt %s --nn-prepare-in-place="pairs=state=before:4" 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: error: --in-place=state=before:4: only the result of a Concat that begins with the input takes a number of rows
// RUN: not kiln-opt %s --nn-prepare-in-place="pairs=present_k=past_k" 2>&1 | FileCheck %s --check-prefix=LONGER
// LONGER: error: --in-place=present_k=past_k: the output is longer than the input: say how many rows the buffer has room for
// RUN: not kiln-opt %s --nn-prepare-in-place="pairs=state=k" 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: error: --in-place=state=k: output and input differ in shape or element type

module attributes {nn.model = "m", nn.symbols = ["past"]} {
  func.func @main(%before: tensor<2xf32> {nn.name = "before"}, %past: tensor<?x2xf32, #nn.dims<()[s0] -> (s0, 2)>> {nn.name = "past_k"},
                  %k: tensor<2x2xf32> {nn.name = "k"})
      -> (tensor<?x2xf32, #nn.dims<()[s0] -> (s0 + 2, 2)>> {nn.name = "present_k"}, tensor<2xf32> {nn.name = "state"}, tensor<2xf32> {nn.name = "sum"}) {
    %present = nn.concat %past, %k axis 0 : (tensor<?x2xf32, #nn.dims<()[s0] -> (s0, 2)>>, tensor<2x2xf32>) -> tensor<?x2xf32, #nn.dims<()[s0] -> (s0 + 2, 2)>>
    %row = nn.reduce sum %present [0] : tensor<?x2xf32, #nn.dims<()[s0] -> (s0 + 2, 2)>> -> tensor<1x2xf32>
    %sum = nn.reshape %row : tensor<1x2xf32> -> tensor<2xf32>
    %state = nn.add %before, %sum : tensor<2xf32>
    return %present, %state, %sum : tensor<?x2xf32, #nn.dims<()[s0] -> (s0 + 2, 2)>>, tensor<2xf32>, tensor<2xf32>
  }
}
