// RUN: kiln-opt %s --nn-set-io-layouts="layouts=nhwc,line=nwc" | FileCheck %s
// RUN: kiln-opt %s --nn-set-io-layouts="layouts=y=nhwc outputs=1" | FileCheck %s --check-prefix=ONE
// RUN: not kiln-opt %s --nn-set-io-layouts="layouts=chwn" 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: error: --io-layout=chwn: expected nwc, nhwc or ndhwc, alone or behind TENSOR=
// RUN: not kiln-opt %s --nn-set-io-layouts="layouts=z=nhwc" 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: --io-layout=z=nhwc: the model has no input or output 'z'
// RUN: not kiln-opt %s --nn-set-io-layouts="layouts=line=nhwc" 2>&1 | FileCheck %s --check-prefix=RANK
// RANK: error: --io-layout=line=nhwc: expected a tensor of rank 4, it has 3
// RUN: not kiln-opt %s --nn-set-io-layouts="layouts=ndhwc" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: --io-layout=ndhwc: no input or output has rank 5
// RUN: echo 'module {}' | not kiln-opt - --nn-set-io-layouts="layouts=nhwc" 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: error: --io-layout=nhwc: the IR has its kernels chosen already

// Every tensor of rank 4 and the named one change; symbols move with their dimension, and so does the axis of scales.
// CHECK: func.func @main
// CHECK-SAME: tensor<?x6x7x3xui8, #nn.dims<()[s0] -> (s0, 6, 7, 3)>> {nn.layout = "nhwc", nn.name = "x", nn.quantization = {axis = 3 : i64
// CHECK-SAME: tensor<2x9x5xf32> {nn.layout = "nwc", nn.name = "line"}
// CHECK-SAME: nn.layout = "nhwc", nn.name = "y"
// CHECK-DAG: nn.transpose %{{.*}} [0, 3, 1, 2] : tensor<?x6x7x3xui8
// CHECK-DAG: nn.transpose %{{.*}} [0, 2, 1] : tensor<2x9x5xf32> -> tensor<2x5x9xf32>
// CHECK: nn.transpose %{{.*}} [0, 2, 3, 1]
// CHECK: nn.transpose %{{.*}} [0, 2, 1] : tensor<2x5x9xf32> -> tensor<2x9x5xf32>

// The second result is only shown for inspection.
// ONE: func.func @main
// ONE-NOT: nn.layout
// ONE: nn.layout = "nhwc", nn.name = "y"
// ONE-NOT: nn.layout
// ONE: nn.transpose
// ONE-NOT: nn.transpose

module attributes {nn.model = "m", nn.symbols = ["batch"]} {
  func.func @main(%x: tensor<?x3x6x7xui8, #nn.dims<()[s0] -> (s0, 3, 6, 7)>> {nn.name = "x", nn.quantization = {axis = 1 : i64, scales = array<f32: 1.0, 2.0, 3.0>, zero_points = array<i64: 0, 0, 0>}},
                  %line: tensor<2x5x9xf32> {nn.name = "line"})
      -> (tensor<?x3x6x7xf32, #nn.dims<()[s0] -> (s0, 3, 6, 7)>> {nn.name = "y"}, tensor<2x5x9xf32> {nn.name = "line"}) {
    %y = nn.cast %x : tensor<?x3x6x7xui8, #nn.dims<()[s0] -> (s0, 3, 6, 7)>> -> tensor<?x3x6x7xf32, #nn.dims<()[s0] -> (s0, 3, 6, 7)>>
    %r = nn.relu %line : tensor<2x5x9xf32>
    return %y, %r : tensor<?x3x6x7xf32, #nn.dims<()[s0] -> (s0, 3, 6, 7)>>, tensor<2x5x9xf32>
  }
}
