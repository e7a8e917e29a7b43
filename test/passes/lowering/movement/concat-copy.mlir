// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --nn-form-groups --nn-choose-kernels --nn-lower-groups --canonicalize --loop-invariant-code-motion --cse | FileCheck %s

// Operands side by side: one run each in vectors; the element-wise producer and consumer are computed on the way.
module {
  // CHECK-LABEL: func.func private @concat_copy_0
  // CHECK: scf.for
  // CHECK: scf.for {{.*}} to %c48 step %c8
  // CHECK: %[[A:.*]] = vector.load %arg0
  // CHECK: math.exp %[[A]]
  // CHECK: arith.maximumf
  // CHECK: vector.store {{.*}}, %arg2
  // CHECK: scf.for {{.*}} to %c80 step %c8
  // CHECK: vector.load %arg1
  // CHECK: arith.maximumf
  // CHECK: kernel.launch @concat_copy_0({{.*}}) tasks(%c2)
  func.func @main(%x: tensor<2x3x16xf32>, %y: tensor<2x5x16xf32>) -> tensor<2x8x16xf32> {
    %e = nn.exp %x : tensor<2x3x16xf32>
    %c = nn.concat %e, %y axis 1 : (tensor<2x3x16xf32>, tensor<2x5x16xf32>) -> tensor<2x8x16xf32>
    %r = nn.relu %c : tensor<2x8x16xf32>
    return %r : tensor<2x8x16xf32>
  }
}
