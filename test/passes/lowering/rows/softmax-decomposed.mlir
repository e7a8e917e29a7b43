// RUN: kiln-opt %s --nn-decompose-composites=decompose=all --nn-form-groups --nn-choose-kernels --nn-lower-groups | FileCheck %s
// RUN: kiln-opt %s --nn-decompose-composites=decompose=none --nn-form-groups --nn-choose-kernels --nn-lower-groups | FileCheck %s --check-prefix=FUSED

// Decomposed: max, exp and sum, and the division are kernels of their own. Fused: one kernel.
module attributes {kernel.target = #kernel.target<name = "test", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", vector_bits = 256, registers = 16, l1 = 32768, l2 = 1048576, l3 = 33554432, features = ["avx2", "fma"]>} {
  // CHECK: func.func private @reduce_loops_0
  // CHECK: arith.maximumf
  // CHECK: func.func private @loops_1
  // CHECK: math.exp
  // CHECK: func.func private @reduce_loops_2
  // CHECK: arith.addf
  // CHECK: func.func private @loops_3
  // CHECK: arith.divf
  // FUSED: func.func private @softmax_rows_0
  // FUSED-NOT: func.func private
  func.func @main(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
    %s = nn.softmax %x axis 1 : tensor<4x64xf32>
    return %s : tensor<4x64xf32>
  }
}
