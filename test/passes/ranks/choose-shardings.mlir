// Two products around an element-wise operation: the first is cut by columns, the second along its sum, so that one exchange is enough.
// RUN: kiln-opt %s --nn-choose-shardings=grid=2 > %t.mlir && FileCheck %s < %t.mlir
// CHECK: shard.grid @ranks(shape = 2)
// CHECK: %[[FIRST:.*]] = nn.matmul
// CHECK-NEXT: %[[CUT:.*]] = shard.sharding @ranks split_axes = {{\[\[}}], [0]]
// CHECK-NEXT: shard.shard %[[FIRST]] to %[[CUT]] : tensor<64x4096xf32>
// CHECK: nn.relu

// The module of rank 1 has its half of each weight.
// RUN: kiln-opt %t.mlir --nn-partition-ranks=rank=1 --canonicalize | FileCheck %s --check-prefix=PART
// PART-NOT: shard.
// PART-DAG: nn.constant dense<2.000000e+00> : tensor<2048x256xf32>
// PART-DAG: nn.constant dense<1.000000e+00> : tensor<256x2048xf32>
// PART: nn.matmul %{{.*}} -> tensor<64x2048xf32>
// PART: nn.relu %{{.*}} : tensor<64x2048xf32>
// PART: nn.matmul %{{.*}} -> tensor<64x256xf32>
// PART: nn.all_reduce %{{.*}} sum ranks [0, 1] index 1 number 0 : tensor<64x256xf32>

// RUN: not kiln-opt %t.mlir --nn-partition-ranks=rank=2 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: the grid has no rank 2
// RUN: not kiln-opt %s --nn-partition-ranks 2>&1 | FileCheck %s --check-prefix=BARE
// BARE: error: expected @main with the annotations of --nn-choose-shardings
// RUN: not kiln-opt %s --nn-choose-shardings=grid=2x2x2x2 2>&1 | FileCheck %s --check-prefix=GRID
// GRID: error: '2x2x2x2' is not a grid of up to 256 ranks and three axes, such as 4 or 2x4

// What a user asks for is kept.
// RUN: not kiln-opt %s --nn-choose-shardings="grid=2x2 wishes=y=0;1" 2>&1 | FileCheck %s --check-prefix=WISH
// WISH: error: --shard=y=0;1: '0;1' is no dimension
// RUN: kiln-opt %s --nn-choose-shardings="grid=2 wishes=y=0" | FileCheck %s --check-prefix=ROWS
// ROWS: %[[SPLIT:.*]] = shard.sharding @ranks split_axes = {{\[\[}}0]]
// ROWS: return
// RUN: not kiln-opt %s --nn-choose-shardings="grid=2 wishes=z=0" 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: --shard=z=0: the model has no input, output or node 'z'
// RUN: not kiln-opt %s --nn-choose-shardings="grid=3 wishes=y=0" 2>&1 | FileCheck %s --check-prefix=EQUAL
// EQUAL: error: --shard=y=0: output 'y' of type 'tensor<64x256xf32>' has no such equal parts
// RUN: not kiln-opt %s --nn-choose-shardings="grid=2x2 wishes=y=0" 2>&1 | FileCheck %s --check-prefix=AXES
// AXES: error: --shard=y=0: the grid has 2 axes, and the wish 1

func.func @main(%x: tensor<64x256xf32> {nn.name = "x"}) -> (tensor<64x256xf32> {nn.name = "y"}) {
  %0 = nn.constant dense<1.0> : tensor<256x4096xf32>
  %1 = nn.constant dense<2.0> : tensor<4096x256xf32>
  %2 = nn.matmul %x, %0 : tensor<64x256xf32>, tensor<256x4096xf32> -> tensor<64x4096xf32>
  %3 = nn.relu %2 : tensor<64x4096xf32>
  %4 = nn.matmul %3, %1 : tensor<64x4096xf32>, tensor<4096x256xf32> -> tensor<64x256xf32>
  return %4 : tensor<64x256xf32>
}
