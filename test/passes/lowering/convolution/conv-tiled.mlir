// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v4 -kiln-target -kiln-kernel | FileCheck %s

// Two lines of seven pixels share a tile; of the window's loops, columns and channels (3 * 16) are one.
// CHECK: kernel.weight @{{.*}} packed <shape = [1, 2, 3, 16, 32], map = (d0, d1, d2, d3, d4) -> (d0 * 32 + d4, d3, d1, d2)>
// CHECK: kernel.weight @{{.*}} packed <shape = [3, 3, 32], map = (d0, d1, d2) -> (d2, 0, d0, d1)>
// CHECK-LABEL: func.func private @conv_tiled_0
// CHECK-DAG: %[[KH:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[TAPS:.*]] = arith.constant 48 : index
// CHECK: %{{.*}}:28 = scf.for %{{.*}} to %[[KH]]
// CHECK: %{{.*}}:28 = scf.for %{{.*}} to %[[TAPS]]

// Each pixel under a block is loaded once: a block of two lines of 5 pixels with 3 x 3 taps loads 4 lines of 7 pixels and 9 weights.
// CHECK-LABEL: func.func private @conv_depthwise_1
// CHECK: scf.for %{{.*}} step %c1
// CHECK: scf.for %{{.*}} step %c16
// CHECK-COUNT-37: vector.load
// CHECK-NOT: vector.load
// CHECK-COUNT-10: vector.store
// CHECK-NOT: vector.store
module attributes {nn.model = "m"} {
  func.func @main(%x: tensor<1x9x9x16xf32> {nn.name = "x"}) -> (tensor<1x6x5x32xf32> {nn.name = "y"}) {
    %w = nn.constant dense<1.0> : tensor<32x16x2x3xf32>
    %d = nn.constant dense<1.0> : tensor<32x1x3x3xf32>
    %c = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last
      : tensor<1x9x9x16xf32>, tensor<32x16x2x3xf32> -> tensor<1x8x7x32xf32>
    %r = nn.conv %c, %d strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 32 layout channels_last
      : tensor<1x8x7x32xf32>, tensor<32x1x3x3xf32> -> tensor<1x6x5x32xf32>
    return %r : tensor<1x6x5x32xf32>
  }
}
