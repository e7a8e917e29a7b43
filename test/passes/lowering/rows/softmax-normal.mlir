// RUN: kiln-opt %s --kiln-set-target=name=generic --nn-prove-shortcuts --nn-form-groups --nn-choose-kernels --nn-lower-groups | FileCheck %s

// Where a proof says that each exponential is a normal number, exp needs no limits; with a maximum it may be anything.
// CHECK: no maximum: x in [-10, 10]
// CHECK: math.exp {{.*}} {kernel.normal}
// CHECK: kept whole: three passes
// CHECK: math.exp
// CHECK-NOT: kernel.normal
// CHECK: return
module {
  func.func @main(%x: tensor<4x64xf32> {nn.name = "x", nn.range = array<f64: -10.0, 10.0>}, %z: tensor<4x64xf32> {nn.name = "z"})
      -> (tensor<4x64xf32> {nn.name = "y"}, tensor<4x64xf32> {nn.name = "w"}) {
    %y = nn.softmax %x axis 1 : tensor<4x64xf32>
    %w = nn.softmax %z axis 1 : tensor<4x64xf32>
    return %y, %w : tensor<4x64xf32>, tensor<4x64xf32>
  }
}
