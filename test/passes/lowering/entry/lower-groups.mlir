// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --nn-form-groups --nn-choose-kernels --nn-lower-groups --canonicalize --cse | FileCheck %s

// Softmax, fused: one loop over rows (the tasks), three passes within, one exponential in the text for vectors.
module {
  // CHECK-LABEL: func.func private @softmax_rows_0
  // CHECK-SAME: kernel.name = "out", kernel.written
  // CHECK: scf.for %[[TASK:.*]] = %arg2 to %arg3
  // CHECK: scf.for {{.*}} iter_args
  // CHECK: vector.load %arg0
  // CHECK: arith.maximumf
  // CHECK: vector.reduction <maximumf>
  // CHECK: scf.for
  // CHECK-COUNT-1: math.exp
  // CHECK: vector.reduction <add>
  // CHECK: arith.divf
  // CHECK: arith.mulf
  // CHECK: return
  // CHECK-LABEL: kernel.entry @run
  // CHECK: kernel.launch @softmax_rows_0({{.*}}) tasks(%c4)
  func.func @main(%x: tensor<4x640xf32> {nn.name = "x"}) -> (tensor<4x640xf32> {nn.name = "y"}) {
    %s = nn.softmax %x axis 1 : tensor<4x640xf32>
    return %s : tensor<4x640xf32>
  }
}
