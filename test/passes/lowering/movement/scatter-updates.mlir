// RUN: kiln-opt %s --nn-form-groups --nn-choose-kernels --nn-lower-groups --canonicalize --loop-invariant-code-motion --cse | FileCheck %s

// A copy, then the updates by the same task; what follows is a kernel of its own.
module attributes {kernel.target = #kernel.target<name = "test", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", vector_bits = 256, registers = 16, l1 = 32768, l2 = 1048576, l3 = 33554432, features = ["avx2", "fma"]>} {
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
