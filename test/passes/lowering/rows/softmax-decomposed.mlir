// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --nn-decompose-composites=decompose=all --nn-form-groups --nn-choose-kernels --nn-lower-groups | FileCheck %s
// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --nn-decompose-composites=decompose=none --nn-form-groups --nn-choose-kernels --nn-lower-groups | FileCheck %s --check-prefix=FUSED

// Decomposed: max, exp and sum, and the division are kernels of their own. Fused: one kernel.
module {
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
