// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --nn-form-groups --nn-choose-kernels --nn-lower-groups --canonicalize --cse | FileCheck %s

// Windows are clipped to the input by their bounds; the vector runs over channels.
module {
  // CHECK-LABEL: func.func private @pool_windows_0
  // CHECK: scf.for
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<8xf32>)
  // CHECK: scf.for {{.*}} iter_args
  // CHECK: vector.load
  // CHECK: arith.maximumf
  // CHECK: vector.store
  func.func @main(%x: tensor<1x8x8x16xf32>) -> tensor<1x4x4x16xf32> {
    %r = nn.max_pool %x kernel [3, 3] strides [2, 2] dilations [1, 1] pads [1, 1, 1, 1] layout channels_last
      : tensor<1x8x8x16xf32> -> tensor<1x4x4x16xf32>
    return %r : tensor<1x4x4x16xf32>
  }
}
