// Collectives of one kind, none of which needs another one's result, are one message. What needs the result of one moves behind it.
// RUN: kiln-opt %s --nn-merge-exchanges --split-input-file | FileCheck %s

// CHECK: exchanges = {apart = [{exchanges = 1 : i64, nodes = [], reason = "they are of different kinds"}], calls = 2 : i64, exchanges = 4 : i64
// CHECK-SAME: merged = [{bytes = 144 : i64, exchanges = 3 : i64, kind = "all_gather", nodes = []}]}
// CHECK-LABEL: func.func @main(
// CHECK: %[[H:.*]] = nn.relu %{{.*}} : tensor<2x8xf32>
// CHECK: %[[G:.*]]:3 = nn.merged_exchange "all_gather"(%{{[a-z0-9]*}}, %[[H]], %{{[a-z0-9]*}}) ranks [0, 1] index 0 number 0 : (tensor<4xf32>, tensor<2x8xf32>, tensor<2x4xi64>) -> (tensor<2x4xf32>, tensor<2x2x8xf32>, tensor<2x2x4xi64>)
// CHECK-NEXT: nn.sigmoid %[[G]]#0
// CHECK: nn.all_reduce %{{.*}} sum ranks [0, 1] index 0 number 1
func.func @main(%k: tensor<4xf32>, %v: tensor<2x8xf32>, %ids: tensor<2x4xi64>, %part: tensor<4xf32>)
    -> (tensor<2x4xf32>, tensor<2x2x8xf32>, tensor<2x2x4xi64>, tensor<4xf32>) {
  %0 = nn.all_gather %k ranks [0, 1] index 0 number 0 : tensor<4xf32> -> tensor<2x4xf32>
  %1 = nn.sigmoid %0 : tensor<2x4xf32>
  %h = nn.relu %v : tensor<2x8xf32>
  %2 = nn.all_gather %h ranks [0, 1] index 0 number 1 : tensor<2x8xf32> -> tensor<2x2x8xf32>
  %3 = nn.all_gather %ids ranks [0, 1] index 0 number 2 : tensor<2x4xi64> -> tensor<2x2x4xi64>
  %4 = nn.all_reduce %part sum ranks [0, 1] index 0 number 3 : tensor<4xf32>
  return %1, %2, %3, %4 : tensor<2x4xf32>, tensor<2x2x8xf32>, tensor<2x2x4xi64>, tensor<4xf32>
}

// -----

// Others stay as they are, and the module says why.
// CHECK: {exchanges = 2 : i64, nodes = [], reason = "the second one needs the result of the first one"}
// CHECK-SAME: {exchanges = 1 : i64, nodes = [], reason = "they are among different ranks"}
// CHECK-SAME: {exchanges = 1 : i64, nodes = [], reason = "they combine in different ways"}
// CHECK-SAME: {exchanges = 1 : i64, nodes = [], reason = "they go to different neighbours"
// CHECK-SAME: merged = []
// CHECK-NOT: nn.merged_exchange
func.func @main(%x: tensor<4xf32>, %y: tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.all_reduce %x sum ranks [0, 1] index 0 number 0 : tensor<4xf32>
  %1 = nn.all_reduce %0 sum ranks [0, 1] index 0 number 1 : tensor<4xf32>
  %2 = nn.all_reduce %y sum ranks [0, 2] index 0 number 2 : tensor<8xf32>
  %3 = nn.all_reduce %y max ranks [0, 2] index 0 number 3 : tensor<8xf32>
  %4 = nn.all_reduce %3 max ranks [0, 2] index 0 number 4 : tensor<8xf32>
  %5 = nn.shift %x by 1 ranks [0, 1] index 0 number 5 : tensor<4xf32>
  %6 = nn.shift %x by -1 ranks [0, 1] index 0 number 6 : tensor<4xf32>
  return %1, %2, %3, %4, %5, %6 : tensor<4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// The first exchange is done beside the product for the second one, which is done beside the first one's own product.
// CHECK: reason = "apart, they are hidden by the work beside them"
// CHECK-NOT: nn.merged_exchange
func.func @main(%a: tensor<256x512xf32>, %b: tensor<256x512xf32>, %w: tensor<512x512xf32>, %u: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<2x256x512xf32>) {
  %0 = nn.all_gather %a ranks [0, 1] index 0 number 0 : tensor<256x512xf32> -> tensor<2x256x512xf32>
  %1 = nn.reshape %0 : tensor<2x256x512xf32> -> tensor<512x512xf32>
  %2 = nn.matmul %1, %w : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
  %3 = nn.matmul %b, %u : tensor<256x512xf32>, tensor<512x512xf32> -> tensor<256x512xf32>
  %4 = nn.all_gather %3 ranks [0, 1] index 0 number 1 : tensor<256x512xf32> -> tensor<2x256x512xf32>
  return %2, %4 : tensor<512x512xf32>, tensor<2x256x512xf32>
}

// -----

// Exchanges before and behind a loop that has some of its own keep their order on all ranks, whether the loop needs them or not.
// CHECK: apart = [{exchanges = 1 : i64, nodes = [], reason = "a loop with exchanges is between them"}], calls = 3 : i64, exchanges = 3 : i64
// CHECK-NOT: nn.merged_exchange
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>, %x: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<4xf32>) {
  %0 = nn.all_gather %a ranks [0, 1] index 0 number 0 : tensor<4xf32> -> tensor<2x4xf32>
  %1 = nn.loop steps affine_map<() -> (3)> step 1 carries(%x) uses() axes [] backwards [] : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%state: tensor<4xf32>):
    %sum = nn.all_reduce %state sum ranks [0, 1] index 0 number 1 : tensor<4xf32>
    nn.yield %sum : tensor<4xf32>
  }
  %2 = nn.all_gather %b ranks [0, 1] index 0 number 2 : tensor<4xf32> -> tensor<2x4xf32>
  return %0, %2, %1 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<4xf32>
}
