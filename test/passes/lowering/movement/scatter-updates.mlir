// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --nn-form-groups --nn-choose-kernels --nn-lower-groups --canonicalize --loop-invariant-code-motion --cse | FileCheck %s

// A copy, then the updates by the same task; what follows is a kernel of its own.
module {
  // CHECK-LABEL: func.func private @scatter_updates_0
  // CHECK: vector.load %arg0
  // CHECK: memref.load %arg1
  // CHECK: scf.if
  // CHECK: vector.load %arg3
  // CHECK: arith.addf
  // CHECK: kernel.fail
  // CHECK-LABEL: func.func private @loops_1
  // CHECK: kernel.launch @scatter_updates_0({{.*}}) tasks(%c1)
  func.func @main(%x: tensor<9x128xf32>, %i: tensor<4x1xi64>, %u: tensor<4x128xf32>) -> tensor<9x128xf32> {
    %s = nn.scatter_nd %x, %i, %u reduction add : tensor<9x128xf32>, tensor<4x1xi64>, tensor<4x128xf32>
    %r = nn.relu %s : tensor<9x128xf32>
    return %r : tensor<9x128xf32>
  }
}
