// RUN: kiln-opt %s --nn-split-concats | FileCheck %s

// CHECK-LABEL: @many
// CHECK: %[[FIRST:.*]] = nn.concat {{.*}} -> tensor<64x2xf32>
// CHECK: %[[REST:.*]] = nn.concat %arg0, %arg0 axis 0 : {{.*}} -> tensor<2x2xf32>
// CHECK: %[[ALL:.*]] = nn.concat %[[FIRST]], %[[REST]] axis 0 : {{.*}} -> tensor<66x2xf32>
// CHECK: return %[[ALL]]
func.func @many(%x: tensor<1x2xf32>) -> tensor<66x2xf32> {
  %r = nn.concat %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x,
    %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x axis 0
    : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>,
    tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>,
    tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>,
    tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>,
    tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>,
    tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>,
    tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>,
    tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>,
    tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<66x2xf32>
  return %r : tensor<66x2xf32>
}

// CHECK-LABEL: @few
// CHECK: nn.concat %arg0, %arg1 axis 0
// CHECK-NOT: nn.concat
func.func @few(%x: tensor<1x2xf32>, %y: tensor<3x2xf32>) -> tensor<4x2xf32> {
  %r = nn.concat %x, %y axis 0 : (tensor<1x2xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}
