// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --nn-form-groups --nn-choose-kernels --nn-lower-groups --canonicalize --loop-invariant-code-motion --cse | FileCheck %s

// One checked index a slice; the slice is copied in vectors although the indices are 64 bits wide. Out of bounds nothing is read.
module {
  // CHECK-LABEL: func.func private @gather_copy_0
  // CHECK-SAME: kernel.status
  // CHECK: memref.load %arg1
  // CHECK: arith.select
  // CHECK: scf.if %[[IN:.*]] {
  // CHECK: scf.for {{.*}} step %c8
  // CHECK: vector.load %arg0
  // CHECK: vector.store
  // CHECK: arith.xori %[[IN]]
  // CHECK: kernel.fail %arg3, "KILN_STATUS_INDEX_OUT_OF_BOUNDS"
  func.func @main(%x: tensor<9x128xf32>, %i: tensor<4xi64>) -> tensor<4x128xf32> {
    %g = nn.gather %x, %i axis 0 : tensor<9x128xf32>, tensor<4xi64> -> tensor<4x128xf32>
    return %g : tensor<4x128xf32>
  }
}
