// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --nn-form-groups --nn-choose-kernels --nn-lower-groups --canonicalize --loop-invariant-code-motion --cse | FileCheck %s

// Nearest by two with channels last: the index is halved, no coordinate is computed, channels are copied in vectors.
module {
  // CHECK-LABEL: func.func private @resize_loops_0
  // CHECK-NOT: sitofp
  // CHECK: arith.divsi {{.*}}, %c2
  // CHECK: scf.for {{.*}} to %c8 step %c1
  // CHECK: arith.divsi {{.*}}, %c2
  // CHECK: scf.for {{.*}} to %c16 step %c8
  // CHECK: vector.load
  // CHECK: vector.store
  // CHECK: kernel.launch
  func.func @main(%x: tensor<1x4x4x16xf32>) -> tensor<1x8x8x16xf32> {
    %r = nn.resize %x mode nearest coordinates "asymmetric" nearest "floor" scales [1.0, 2.0, 2.0, 1.0]
      : tensor<1x4x4x16xf32> -> tensor<1x8x8x16xf32>
    return %r : tensor<1x8x8x16xf32>
  }
}
