// Halves of an image: rank 0 gets a row of rank 1, which gets one of rank 0, and each has padding only where the image ends.
// RUN: kiln-opt %s --nn-choose-shardings="grid=2 wishes=x=2,y=2" > %t.mlir
// RUN: kiln-opt %t.mlir --nn-partition-ranks=rank=0 --canonicalize --cse | FileCheck %s --check-prefix=FIRST
// RUN: kiln-opt %t.mlir --nn-partition-ranks=rank=1 --canonicalize --cse | FileCheck %s --check-prefix=LAST

// FIRST: func.func @main(%[[PART:.*]]: tensor<1x64x64x96xf32> {{.*}}) -> (tensor<1x64x64x96xf32>
// FIRST: nn.shift %{{.*}} by 1 ranks [0, 1] index 0 number 0 : tensor<1x64x1x96xf32>
// FIRST: %[[BEHIND:.*]] = nn.shift %{{.*}} by -1 ranks [0, 1] index 0 number 1 : tensor<1x64x1x96xf32>
// FIRST: %[[ALL:.*]] = nn.concat %[[PART]], %[[BEHIND]] axis 2 : {{.*}} -> tensor<1x64x65x96xf32>
// FIRST: nn.conv %[[ALL]], %{{.*}} pads [1, 1, 0, 1] {{.*}} -> tensor<1x64x64x96xf32>

// LAST: %[[BEFORE:.*]] = nn.shift %{{.*}} by 1 ranks [0, 1] index 1 number 0
// LAST: nn.shift %{{.*}} by -1 ranks [0, 1] index 1 number 1
// LAST: %[[ALL:.*]] = nn.concat %[[BEFORE]], %{{.*}} axis 2
// LAST: nn.conv %[[ALL]], %{{.*}} pads [0, 1, 1, 1]

// A rank that has the whole image takes all its rows from there.
// RUN: kiln-opt %s --nn-choose-shardings="grid=4 wishes=y=2" --nn-partition-ranks=rank=1 --canonicalize --cse | FileCheck %s --check-prefix=WHOLE
// WHOLE-NOT: nn.shift
// WHOLE: %[[ROWS:.*]] = nn.slice %{{.*}} starts #{{.*}} steps [1, 1, 1, 1] : tensor<1x64x128x96xf32> -> tensor<1x64x34x96xf32>
// WHOLE-NEXT: nn.conv %[[ROWS]], %{{.*}} pads [0, 1, 0, 1]

func.func @main(%x: tensor<1x64x128x96xf32> {nn.name = "x"}, %w: tensor<64x64x3x3xf32> {nn.name = "w"}) -> (tensor<1x64x128x96xf32> {nn.name = "y"}) {
  %1 = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1] groups 1 layout channels_first
    : tensor<1x64x128x96xf32>, tensor<64x64x3x3xf32> -> tensor<1x64x128x96xf32>
  return %1 : tensor<1x64x128x96xf32>
}
