// RUN: kiln-opt %s --nn-form-groups | FileCheck %s

// The bias, the activation and the residual go into the matmul's group; the broadcast of the bias is computed on load.
// CHECK-LABEL: func @epilogue
// CHECK: %[[R:.*]] = nn.group(%arg0, %arg1, %arg2, %arg3)
// CHECK: nn.matmul
// CHECK: nn.broadcast_to
// CHECK: nn.add
// CHECK: nn.relu
// CHECK: nn.add
// CHECK: nn.yield
// CHECK-NOT: nn.group
// CHECK: return %[[R]]
func.func @epilogue(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>, %residual: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %c = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
  %bias = nn.broadcast_to %b : tensor<6xf32> -> tensor<4x6xf32>
  %s = nn.add %c, %bias : tensor<4x6xf32>
  %r = nn.relu %s : tensor<4x6xf32>
  %t = nn.add %r, %residual : tensor<4x6xf32>
  return %t : tensor<4x6xf32>
}

// An operation that depends on the anchor by another way as well must stay outside: it would need its own result.
// CHECK-LABEL: func @other_way
// CHECK: nn.group
// CHECK: nn.matmul
// CHECK-NEXT: nn.yield
// CHECK: nn.group
// CHECK: nn.softmax
// CHECK: nn.add
func.func @other_way(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = nn.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %s = nn.softmax %c axis 1 : tensor<4x4xf32>
  %t = nn.add %c, %s : tensor<4x4xf32>
  return %t : tensor<4x4xf32>
}

// A chain before a softmax is computed while the row is read.
// CHECK-LABEL: func @prologue
// CHECK-COUNT-1: nn.group
// CHECK: nn.mul
// CHECK: nn.add
// CHECK: nn.softmax
func.func @prologue(%x: tensor<4x4xf32>, %scale: tensor<4x4xf32>, %mask: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %m = nn.mul %x, %scale : tensor<4x4xf32>
  %a = nn.add %m, %mask : tensor<4x4xf32>
  %s = nn.softmax %a axis 1 : tensor<4x4xf32>
  return %s : tensor<4x4xf32>
}

// A constant or an argument that is returned is copied.
// CHECK-LABEL: func @copy
// CHECK: %[[A:.*]] = nn.group(%arg0)
// CHECK: %[[B:.*]] = nn.group(%arg0)
// CHECK: return %[[A]], %[[B]]
func.func @copy(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// Heads that are split and joined around attention cost no copy: transposes on both sides are in its group.
// CHECK-LABEL: func @attention
// CHECK-COUNT-1: nn.group
// CHECK: nn.transpose
// CHECK: nn.attention
// CHECK: nn.transpose
// CHECK: nn.relu
func.func @attention(%q: tensor<1x4x2x8xf32>, %k: tensor<1x2x6x8xf32>) -> tensor<1x4x2x8xf32> {
  %t = nn.transpose %q [0, 2, 1, 3] : tensor<1x4x2x8xf32> -> tensor<1x2x4x8xf32>
  %a = nn.attention query(%t) key(%k) value(%k) scale 1.0 : (tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>) -> tensor<1x2x4x8xf32>
  %u = nn.transpose %a [0, 2, 1, 3] : tensor<1x2x4x8xf32> -> tensor<1x4x2x8xf32>
  %r = nn.relu %u : tensor<1x4x2x8xf32>
  return %r : tensor<1x4x2x8xf32>
}

// The maximum and the minimum of one tensor are one group, and so is what follows from both, wherever it is read; what they read has a buffer.
// CHECK-LABEL: func @extremes
// CHECK: %[[E:.*]] = nn.group(%arg0)
// CHECK: nn.exp
// CHECK: %[[R:.*]]:2 = nn.group(%[[E]])
// CHECK: nn.reduce max
// CHECK: nn.reduce min
// CHECK: nn.sub
// CHECK: nn.sqrt
// CHECK: nn.yield
// CHECK-NOT: nn.group
// CHECK: return %[[R]]#{{.}}, %[[R]]#{{.}}
func.func @extremes(%x: tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>) {
  %e = nn.exp %x : tensor<4x8xf32>
  %a = nn.reduce max %e [1] : tensor<4x8xf32> -> tensor<4x1xf32>
  %b = nn.reduce min %e [1] : tensor<4x8xf32> -> tensor<4x1xf32>
  %s = nn.sub %a, %b : tensor<4x1xf32>
  %t = nn.sqrt %s : tensor<4x1xf32>
  return %s, %t : tensor<4x1xf32>, tensor<4x1xf32>
}

// What reads a product several times and meets again stays in its group: x * tanh(x + x * 2).
// CHECK-LABEL: func @branches
// CHECK: %[[R:.*]] = nn.group(%arg0, %arg1)
// CHECK: nn.matmul
// CHECK: nn.tanh
// CHECK: nn.mul
// CHECK: nn.relu
// CHECK: nn.yield
// CHECK-NOT: nn.group
// CHECK: return %[[R]]
func.func @branches(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) -> tensor<4x6xf32> {
  %two = nn.splat 2.0 : f32 -> tensor<4x6xf32>
  %c = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
  %d = nn.mul %c, %two : tensor<4x6xf32>
  %s = nn.add %c, %d : tensor<4x6xf32>
  %t = nn.tanh %s : tensor<4x6xf32>
  %m = nn.mul %c, %t : tensor<4x6xf32>
  %r = nn.relu %m : tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// A value on the way that is a result of its own, or that another product reads, ends the group.
// CHECK-LABEL: func @open_branches
// CHECK: nn.group
// CHECK: nn.matmul
// CHECK-NEXT: nn.yield
// CHECK: nn.group
func.func @open_branches(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %c = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
  %t = nn.tanh %c : tensor<4x6xf32>
  %m = nn.mul %c, %t : tensor<4x6xf32>
  return %m, %t : tensor<4x6xf32>, tensor<4x6xf32>
}
