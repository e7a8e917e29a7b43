// RUN: kiln-opt %s --nn-form-groups --nn-choose-kernels --nn-lower-groups --canonicalize --loop-invariant-code-motion --cse | FileCheck %s

// Nearest by two with channels last: the index is halved, no coordinate is computed, channels are copied in vectors.
module attributes {kernel.target = #kernel.target<name = "test", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", vector_bits = 256, registers = 16, l1 = 32768, l2 = 1048576, l3 = 33554432, features = ["avx2", "fma"]>} {
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
