// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --nn-form-groups --nn-choose-kernels --nn-lower-groups --canonicalize --loop-invariant-code-motion --cse | FileCheck %s

// The innermost dimension is not padded: border, input, border as whole runs of vectors; rows outside are border alone.
module {
  // CHECK-LABEL: func.func private @pad_copy_0
  // CHECK: %[[INSIDE:.*]] = arith.andi
  // CHECK: scf.if %[[INSIDE]]
  // CHECK: vector.store %[[ZERO:.*]], %arg1
  // CHECK: scf.for {{.*}} to %c128 step %c8
  // CHECK: vector.load %arg0
  // CHECK: } else {
  // CHECK: scf.for {{.*}} to %c160 step %c8
  // CHECK: vector.store %[[ZERO]], %arg1
  // CHECK: kernel.launch @pad_copy_0({{.*}}) tasks(%c20)
  func.func @main(%x: tensor<2x8x8x16xf32>) -> tensor<2x10x10x16xf32> {
    %zero = nn.splat 0.0 : f32 -> tensor<f32>
    %p = nn.pad %x, %zero low affine_map<() -> (0, 1, 1, 0)> high affine_map<() -> (0, 1, 1, 0)> interior [0, 0, 0, 0] mode constant
      : tensor<2x8x8x16xf32>, tensor<f32> -> tensor<2x10x10x16xf32>
    return %p : tensor<2x10x10x16xf32>
  }
}
