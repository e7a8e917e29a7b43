// RUN: kiln-opt %s --nn-recognize-composites --split-input-file | FileCheck %s

// CHECK-LABEL: func @plain
// CHECK-NEXT: %[[R:.*]] = nn.attention query(%arg0) key(%arg1) value(%arg2) scale 1.250000e-01
// CHECK-NEXT: return %[[R]]
func.func @plain(%q: tensor<2x4x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x5xf32>) -> tensor<2x4x5xf32> {
  %t = nn.transpose %k [0, 2, 1] : tensor<2x6x8xf32> -> tensor<2x8x6xf32>
  %s = nn.matmul %q, %t : tensor<2x4x8xf32>, tensor<2x8x6xf32> -> tensor<2x4x6xf32>
  %c = nn.splat 8.0 : f32 -> tensor<2x4x6xf32>
  %d = nn.div %s, %c : tensor<2x4x6xf32>
  %p = nn.softmax %d axis 2 : tensor<2x4x6xf32>
  %r = nn.matmul %p, %v : tensor<2x4x6xf32>, tensor<2x6x5xf32> -> tensor<2x4x5xf32>
  return %r : tensor<2x4x5xf32>
}

// -----

// The scale on both sides, heads that are split on the way, a mask to add, sizes known at run time.
// CHECK-LABEL: func @masked
// CHECK: %[[Q:.*]] = nn.transpose %arg0 [0, 2, 1, 3]
// CHECK: %[[V:.*]] = nn.transpose %arg2 [0, 2, 1, 3]
// CHECK: %[[B:.*]] = nn.broadcast_to %arg3
// CHECK: %[[K:.*]] = nn.transpose %arg1 [0, 2, 1, 3]
// CHECK: nn.attention query(%[[Q]]) key(%[[K]]) value(%[[V]]) bias(%[[B]]) scale 2.500000e-01
// CHECK-NOT: nn.matmul
func.func @masked(%q: tensor<1x?x2x8xf32, #nn.dims<()[s0] -> (1, s0, 2, 8)>>, %k: tensor<1x?x2x8xf32, #nn.dims<()[s0] -> (1, s0, 2, 8)>>,
                  %v: tensor<1x?x2x8xf32, #nn.dims<()[s0] -> (1, s0, 2, 8)>>, %m: tensor<1x1x1x?xf32, #nn.dims<()[s0] -> (1, 1, 1, s0)>>)
    -> tensor<1x2x?x8xf32, #nn.dims<()[s0] -> (1, 2, s0, 8)>> {
  %qt = nn.transpose %q [0, 2, 1, 3] : tensor<1x?x2x8xf32, #nn.dims<()[s0] -> (1, s0, 2, 8)>> -> tensor<1x2x?x8xf32, #nn.dims<()[s0] -> (1, 2, s0, 8)>>
  %vt = nn.transpose %v [0, 2, 1, 3] : tensor<1x?x2x8xf32, #nn.dims<()[s0] -> (1, s0, 2, 8)>> -> tensor<1x2x?x8xf32, #nn.dims<()[s0] -> (1, 2, s0, 8)>>
  %c = nn.splat 0.5 : f32 -> tensor<1x2x?x8xf32, #nn.dims<()[s0] -> (1, 2, s0, 8)>>
  %qs = nn.mul %qt, %c : tensor<1x2x?x8xf32, #nn.dims<()[s0] -> (1, 2, s0, 8)>>
  %e = nn.splat 0.5 : f32 -> tensor<1x?x2x8xf32, #nn.dims<()[s0] -> (1, s0, 2, 8)>>
  %ks = nn.mul %e, %k : tensor<1x?x2x8xf32, #nn.dims<()[s0] -> (1, s0, 2, 8)>>
  %kt = nn.transpose %ks [0, 2, 3, 1] : tensor<1x?x2x8xf32, #nn.dims<()[s0] -> (1, s0, 2, 8)>> -> tensor<1x2x8x?xf32, #nn.dims<()[s0] -> (1, 2, 8, s0)>>
  %s = nn.matmul %qs, %kt : tensor<1x2x?x8xf32, #nn.dims<()[s0] -> (1, 2, s0, 8)>>, tensor<1x2x8x?xf32, #nn.dims<()[s0] -> (1, 2, 8, s0)>>
    -> tensor<1x2x?x?xf32, #nn.dims<()[s0] -> (1, 2, s0, s0)>>
  %b = nn.broadcast_to %m : tensor<1x1x1x?xf32, #nn.dims<()[s0] -> (1, 1, 1, s0)>> -> tensor<1x2x?x?xf32, #nn.dims<()[s0] -> (1, 2, s0, s0)>>
  %a = nn.add %b, %s : tensor<1x2x?x?xf32, #nn.dims<()[s0] -> (1, 2, s0, s0)>>
  %p = nn.softmax %a axis 3 : tensor<1x2x?x?xf32, #nn.dims<()[s0] -> (1, 2, s0, s0)>>
  %r = nn.matmul %p, %vt : tensor<1x2x?x?xf32, #nn.dims<()[s0] -> (1, 2, s0, s0)>>, tensor<1x2x?x8xf32, #nn.dims<()[s0] -> (1, 2, s0, 8)>>
    -> tensor<1x2x?x8xf32, #nn.dims<()[s0] -> (1, 2, s0, 8)>>
  return %r : tensor<1x2x?x8xf32, #nn.dims<()[s0] -> (1, 2, s0, 8)>>
}

// -----

// A slice of a triangle that begins where the past ends: no mask is read.
// CHECK-LABEL: func @causal
// CHECK-NOT: keep
// CHECK: nn.attention query(%arg0) key(%arg1) value(%arg1) scale 1.000000e+00 causal {fill = -1.000000e+04 : f64}
func.func @causal(%q: tensor<1x2x8xf32>, %k: tensor<1x3x8xf32>) -> tensor<1x2x8xf32> {
  %m = nn.constant dense<[[[true, false, false, false], [true, true, false, false], [true, true, true, false], [true, true, true, true]]]> : tensor<1x4x4xi1>
  %l = nn.slice %m starts affine_map<() -> (0, 1, 0)> steps [1, 1, 1] : tensor<1x4x4xi1> -> tensor<1x2x3xi1>
  %t = nn.transpose %k [0, 2, 1] : tensor<1x3x8xf32> -> tensor<1x8x3xf32>
  %s = nn.matmul %q, %t : tensor<1x2x8xf32>, tensor<1x8x3xf32> -> tensor<1x2x3xf32>
  %f = nn.splat -10000.0 : f32 -> tensor<1x2x3xf32>
  %w = nn.select %l, %s, %f : tensor<1x2x3xi1>, tensor<1x2x3xf32>
  %p = nn.softmax %w axis 2 : tensor<1x2x3xf32>
  %r = nn.matmul %p, %k : tensor<1x2x3xf32>, tensor<1x3x8xf32> -> tensor<1x2x8xf32>
  return %r : tensor<1x2x8xf32>
}

// -----

// The same mask at another place is one like any other; one that hides is turned around.
// CHECK-LABEL: func @selected
// CHECK: %[[L:.*]] = nn.slice
// CHECK: %[[N:.*]] = nn.not %[[L]]
// CHECK: nn.attention query(%arg0) key(%arg1) value(%arg1) keep(%[[N]]) scale 1.000000e+00 :
func.func @selected(%q: tensor<1x2x8xf32>, %k: tensor<1x3x8xf32>) -> tensor<1x2x8xf32> {
  %m = nn.constant dense<[[[true, false, false, false], [true, true, false, false], [true, true, true, false], [true, true, true, true]]]> : tensor<1x4x4xi1>
  %l = nn.slice %m starts affine_map<() -> (0, 2, 0)> steps [1, 1, 1] : tensor<1x4x4xi1> -> tensor<1x2x3xi1>
  %t = nn.transpose %k [0, 2, 1] : tensor<1x3x8xf32> -> tensor<1x8x3xf32>
  %s = nn.matmul %q, %t : tensor<1x2x8xf32>, tensor<1x8x3xf32> -> tensor<1x2x3xf32>
  %f = nn.splat 0xFF800000 : f32 -> tensor<1x2x3xf32>
  %w = nn.select %l, %f, %s : tensor<1x2x3xi1>, tensor<1x2x3xf32>
  %p = nn.softmax %w axis 2 : tensor<1x2x3xf32>
  %r = nn.matmul %p, %k : tensor<1x2x3xf32>, tensor<1x3x8xf32> -> tensor<1x2x8xf32>
  return %r : tensor<1x2x8xf32>
}

// -----

// The weights are a result as well.
// CHECK-LABEL: func @weights_used
// CHECK-NOT: nn.attention
// CHECK: return
func.func @weights_used(%q: tensor<2x4x8xf32>, %t: tensor<2x8x6xf32>, %v: tensor<2x6x5xf32>) -> (tensor<2x4x5xf32>, tensor<2x4x6xf32>) {
  %s = nn.matmul %q, %t : tensor<2x4x8xf32>, tensor<2x8x6xf32> -> tensor<2x4x6xf32>
  %p = nn.softmax %s axis 2 : tensor<2x4x6xf32>
  %r = nn.matmul %p, %v : tensor<2x4x6xf32>, tensor<2x6x5xf32> -> tensor<2x4x5xf32>
  return %r, %p : tensor<2x4x5xf32>, tensor<2x4x6xf32>
}

// -----

// Another operation reads the scores.
// CHECK-LABEL: func @scores_used
// CHECK-NOT: nn.attention
// CHECK: return
func.func @scores_used(%q: tensor<2x4x8xf32>, %t: tensor<2x8x6xf32>, %v: tensor<2x6x5xf32>) -> (tensor<2x4x5xf32>, tensor<2x4x6xf32>) {
  %s = nn.matmul %q, %t : tensor<2x4x8xf32>, tensor<2x8x6xf32> -> tensor<2x4x6xf32>
  %e = nn.exp %s : tensor<2x4x6xf32>
  %p = nn.softmax %s axis 2 : tensor<2x4x6xf32>
  %r = nn.matmul %p, %v : tensor<2x4x6xf32>, tensor<2x6x5xf32> -> tensor<2x4x5xf32>
  return %r, %e : tensor<2x4x5xf32>, tensor<2x4x6xf32>
}

// -----

// Along the queries; the softmax on the right; a mask that is scaled with the scores; a shared right side.
// CHECK-LABEL: func @other_forms
// CHECK-NOT: nn.attention
// CHECK: return
func.func @other_forms(%q: tensor<2x4x8xf32>, %t: tensor<2x8x4xf32>, %v: tensor<2x4x5xf32>, %m: tensor<2x4x4xf32>, %w: tensor<4x5xf32>)
    -> (tensor<2x4x5xf32>, tensor<2x4x4xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>) {
  %s0 = nn.matmul %q, %t : tensor<2x4x8xf32>, tensor<2x8x4xf32> -> tensor<2x4x4xf32>
  %p0 = nn.softmax %s0 axis 1 : tensor<2x4x4xf32>
  %r0 = nn.matmul %p0, %v : tensor<2x4x4xf32>, tensor<2x4x5xf32> -> tensor<2x4x5xf32>
  %s1 = nn.matmul %q, %t : tensor<2x4x8xf32>, tensor<2x8x4xf32> -> tensor<2x4x4xf32>
  %p1 = nn.softmax %s1 axis 2 : tensor<2x4x4xf32>
  %r1 = nn.matmul %m, %p1 : tensor<2x4x4xf32>, tensor<2x4x4xf32> -> tensor<2x4x4xf32>
  %s2 = nn.matmul %q, %t : tensor<2x4x8xf32>, tensor<2x8x4xf32> -> tensor<2x4x4xf32>
  %a2 = nn.add %s2, %m : tensor<2x4x4xf32>
  %c2 = nn.splat 0.5 : f32 -> tensor<2x4x4xf32>
  %m2 = nn.mul %a2, %c2 : tensor<2x4x4xf32>
  %p2 = nn.softmax %m2 axis 2 : tensor<2x4x4xf32>
  %r2 = nn.matmul %p2, %v : tensor<2x4x4xf32>, tensor<2x4x5xf32> -> tensor<2x4x5xf32>
  %s3 = nn.matmul %q, %t : tensor<2x4x8xf32>, tensor<2x8x4xf32> -> tensor<2x4x4xf32>
  %p3 = nn.softmax %s3 axis 2 : tensor<2x4x4xf32>
  %r3 = nn.matmul %p3, %w : tensor<2x4x4xf32>, tensor<4x5xf32> -> tensor<2x4x5xf32>
  return %r0, %r1, %r2, %r3 : tensor<2x4x5xf32>, tensor<2x4x4xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>
}

// -----

// Two heads of keys for four of queries: nothing is repeated in memory, and the transposes around stay views.
// CHECK-LABEL: func @grouped
// CHECK-DAG: %[[Q:.*]] = nn.transpose %{{.*}} [0, 2, 3, 1, 4] : tensor<1x5x2x2x8xf32> -> tensor<1x2x2x5x8xf32>
// CHECK-DAG: %[[B:.*]] = nn.broadcast_to %{{.*}} : tensor<1x1x1x1x6xf32> -> tensor<1x2x2x5x6xf32>
// CHECK-DAG: %[[K:.*]] = nn.broadcast_to %{{.*}} : tensor<1x2x1x6x8xf32> -> tensor<1x2x2x6x8xf32>
// CHECK: %[[A:.*]] = nn.attention query(%[[Q]]) key(%[[K]]) value(%{{.*}}) bias(%[[B]]) scale 5.000000e-01 :
// CHECK: %[[T:.*]] = nn.transpose %[[A]] [0, 3, 1, 2, 4]
// CHECK: nn.reshape %[[T]] : tensor<1x5x2x2x8xf32> -> tensor<1x5x4x8xf32>
module {
  func.func @grouped(%q: tensor<1x5x4x8xf32>, %k: tensor<1x6x2x8xf32>, %m: tensor<1x1x1x6xf32>) -> tensor<1x5x4x8xf32> {
    %qt = nn.transpose %q [0, 2, 1, 3] : tensor<1x5x4x8xf32> -> tensor<1x4x5x8xf32>
    %kt = nn.transpose %k [0, 2, 1, 3] : tensor<1x6x2x8xf32> -> tensor<1x2x6x8xf32>
    %u = nn.reshape %kt : tensor<1x2x6x8xf32> -> tensor<1x2x1x6x8xf32>
    %w = nn.broadcast_to %u : tensor<1x2x1x6x8xf32> -> tensor<1x2x2x6x8xf32>
    %h = nn.reshape %w : tensor<1x2x2x6x8xf32> -> tensor<1x4x6x8xf32>
    %b = nn.broadcast_to %m : tensor<1x1x1x6xf32> -> tensor<1x4x5x6xf32>
    %a = nn.attention query(%qt) key(%h) value(%h) bias(%b) scale 0.5
      : (tensor<1x4x5x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x5x6xf32>) -> tensor<1x4x5x8xf32>
    %r = nn.transpose %a [0, 2, 1, 3] : tensor<1x4x5x8xf32> -> tensor<1x5x4x8xf32>
    return %r : tensor<1x5x4x8xf32>
  }
}

// -----

// ONNX's body of Attention: rows of weights that see no key are zeros, and so are the rows of the result. Zeros that are added are none.
// CHECK-LABEL: func @hidden_rows
// CHECK: %[[A:.*]] = nn.attention query(%arg0) key(%arg1) value(%arg2) scale 1.000000e+00 :
// CHECK: %[[H:.*]] = nn.broadcast_to %arg3 : tensor<2x4x1xi1> -> tensor<2x4x8xi1>
// CHECK: nn.select %[[H]], %{{.*}}, %[[A]]
func.func @hidden_rows(%q: tensor<2x4x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>, %h: tensor<2x4x1xi1>) -> tensor<2x4x8xf32> {
  %kt = nn.transpose %k [0, 2, 1] : tensor<2x6x8xf32> -> tensor<2x8x6xf32>
  %s = nn.matmul %q, %kt : tensor<2x4x8xf32>, tensor<2x8x6xf32> -> tensor<2x4x6xf32>
  %zero = nn.splat 0.0 : f32 -> tensor<2x4x6xf32>
  %t = nn.add %s, %zero : tensor<2x4x6xf32>
  %p = nn.softmax %t axis 2 : tensor<2x4x6xf32>
  %hb = nn.broadcast_to %h : tensor<2x4x1xi1> -> tensor<2x4x6xi1>
  %w = nn.select %hb, %zero, %p : tensor<2x4x6xi1>, tensor<2x4x6xf32>
  %r = nn.matmul %w, %v : tensor<2x4x6xf32>, tensor<2x6x8xf32> -> tensor<2x4x8xf32>
  return %r : tensor<2x4x8xf32>
}

// -----

// Zeros for single weights, which is a dropout, and another number than zero for rows.
// CHECK-LABEL: func @no_hidden_rows
// CHECK-NOT: nn.attention
// CHECK: return
func.func @no_hidden_rows(%q: tensor<2x4x8xf32>, %k: tensor<2x8x6xf32>, %v: tensor<2x6x8xf32>, %d: tensor<2x4x6xi1>, %h: tensor<2x4x1xi1>)
    -> (tensor<2x4x8xf32>, tensor<2x4x8xf32>) {
  %s = nn.matmul %q, %k : tensor<2x4x8xf32>, tensor<2x8x6xf32> -> tensor<2x4x6xf32>
  %p = nn.softmax %s axis 2 : tensor<2x4x6xf32>
  %zero = nn.splat 0.0 : f32 -> tensor<2x4x6xf32>
  %one = nn.splat 1.0 : f32 -> tensor<2x4x6xf32>
  %w = nn.select %d, %zero, %p : tensor<2x4x6xi1>, tensor<2x4x6xf32>
  %r = nn.matmul %w, %v : tensor<2x4x6xf32>, tensor<2x6x8xf32> -> tensor<2x4x8xf32>
  %e = nn.matmul %q, %k : tensor<2x4x8xf32>, tensor<2x8x6xf32> -> tensor<2x4x6xf32>
  %f = nn.softmax %e axis 2 : tensor<2x4x6xf32>
  %hb = nn.broadcast_to %h : tensor<2x4x1xi1> -> tensor<2x4x6xi1>
  %g = nn.select %hb, %one, %f : tensor<2x4x6xi1>, tensor<2x4x6xf32>
  %t = nn.matmul %g, %v : tensor<2x4x6xf32>, tensor<2x6x8xf32> -> tensor<2x4x8xf32>
  return %r, %t : tensor<2x4x8xf32>, tensor<2x4x8xf32>
}

// -----

// Constants that hide the keys after each query: causal.
// CHECK-LABEL: func @causal_bias
// CHECK: nn.attention query(%arg0) key(%{{.*}}) value(%arg2) scale 1.000000e+00 causal :
// CHECK: nn.attention query(%arg0) key(%{{.*}}) value(%arg2) bias(%{{.*}}) scale 1.000000e+00 :
func.func @causal_bias(%q: tensor<1x2x8xf32>, %k: tensor<1x8x3xf32>, %v: tensor<1x3x8xf32>) -> (tensor<1x2x8xf32>, tensor<1x2x8xf32>) {
  %s = nn.matmul %q, %k : tensor<1x2x8xf32>, tensor<1x8x3xf32> -> tensor<1x2x3xf32>
  %m = nn.constant dense<[[[0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0]]]> : tensor<1x2x3xf32>
  %t = nn.add %s, %m : tensor<1x2x3xf32>
  %p = nn.softmax %t axis 2 : tensor<1x2x3xf32>
  %r = nn.matmul %p, %v : tensor<1x2x3xf32>, tensor<1x3x8xf32> -> tensor<1x2x8xf32>
  %s2 = nn.matmul %q, %k : tensor<1x2x8xf32>, tensor<1x8x3xf32> -> tensor<1x2x3xf32>
  %n = nn.constant dense<[[[0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0xFF800000]]]> : tensor<1x2x3xf32>
  %t2 = nn.add %s2, %n : tensor<1x2x3xf32>
  %p2 = nn.softmax %t2 axis 2 : tensor<1x2x3xf32>
  %r2 = nn.matmul %p2, %v : tensor<1x2x3xf32>, tensor<1x3x8xf32> -> tensor<1x2x8xf32>
  return %r, %r2 : tensor<1x2x8xf32>, tensor<1x2x8xf32>
}

// -----

// Constants that hide, besides, what lies two or more places back: a window. The third mask has a hole, the fourth another window in its second matrix.
// CHECK-LABEL: func @window_bias
// CHECK: nn.attention query(%arg0) key(%{{.*}}) value(%arg2) scale 1.000000e+00 causal window 2 :
// CHECK: nn.attention query(%arg0) key(%{{.*}}) value(%arg2) scale 1.000000e+00 causal window 1 :
// CHECK: nn.attention query(%arg0) key(%{{.*}}) value(%arg2) bias(%{{.*}}) scale 1.000000e+00 :
// CHECK: nn.attention query(%arg0) key(%{{.*}}) value(%arg2) bias(%{{.*}}) scale 1.000000e+00 :
func.func @window_bias(%q: tensor<2x2x8xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x4x8xf32>)
    -> (tensor<2x2x8xf32>, tensor<2x2x8xf32>, tensor<2x2x8xf32>, tensor<2x2x8xf32>) {
  %s = nn.matmul %q, %k : tensor<2x2x8xf32>, tensor<2x8x4xf32> -> tensor<2x2x4xf32>
  %m = nn.constant dense<[[[0xFF800000, 0.0, 0.0, 0xFF800000], [0xFF800000, 0xFF800000, 0.0, 0.0]]]> : tensor<1x2x4xf32>
  %mb = nn.broadcast_to %m : tensor<1x2x4xf32> -> tensor<2x2x4xf32>
  %t = nn.add %s, %mb : tensor<2x2x4xf32>
  %p = nn.softmax %t axis 2 : tensor<2x2x4xf32>
  %r = nn.matmul %p, %v : tensor<2x2x4xf32>, tensor<2x4x8xf32> -> tensor<2x2x8xf32>
  %s2 = nn.matmul %q, %k : tensor<2x2x8xf32>, tensor<2x8x4xf32> -> tensor<2x2x4xf32>
  %m2 = nn.constant dense<[[[0xFF800000, 0xFF800000, 0.0, 0xFF800000], [0xFF800000, 0xFF800000, 0xFF800000, 0.0]]]> : tensor<1x2x4xf32>
  %mb2 = nn.broadcast_to %m2 : tensor<1x2x4xf32> -> tensor<2x2x4xf32>
  %t2 = nn.add %s2, %mb2 : tensor<2x2x4xf32>
  %p2 = nn.softmax %t2 axis 2 : tensor<2x2x4xf32>
  %r2 = nn.matmul %p2, %v : tensor<2x2x4xf32>, tensor<2x4x8xf32> -> tensor<2x2x8xf32>
  %s3 = nn.matmul %q, %k : tensor<2x2x8xf32>, tensor<2x8x4xf32> -> tensor<2x2x4xf32>
  %m3 = nn.constant dense<[[[0.0, 0.0, 0.0, 0xFF800000], [0.0, 0xFF800000, 0.0, 0.0]]]> : tensor<1x2x4xf32>
  %mb3 = nn.broadcast_to %m3 : tensor<1x2x4xf32> -> tensor<2x2x4xf32>
  %t3 = nn.add %s3, %mb3 : tensor<2x2x4xf32>
  %p3 = nn.softmax %t3 axis 2 : tensor<2x2x4xf32>
  %r3 = nn.matmul %p3, %v : tensor<2x2x4xf32>, tensor<2x4x8xf32> -> tensor<2x2x8xf32>
  %s4 = nn.matmul %q, %k : tensor<2x2x8xf32>, tensor<2x8x4xf32> -> tensor<2x2x4xf32>
  %m4 = nn.constant dense<[[[0xFF800000, 0.0, 0.0, 0xFF800000], [0xFF800000, 0xFF800000, 0.0, 0.0]],
                           [[0xFF800000, 0xFF800000, 0.0, 0xFF800000], [0xFF800000, 0xFF800000, 0xFF800000, 0.0]]]> : tensor<2x2x4xf32>
  %t4 = nn.add %s4, %m4 : tensor<2x2x4xf32>
  %p4 = nn.softmax %t4 axis 2 : tensor<2x2x4xf32>
  %r4 = nn.matmul %p4, %v : tensor<2x2x4xf32>, tensor<2x4x8xf32> -> tensor<2x2x8xf32>
  return %r, %r2, %r3, %r4 : tensor<2x2x8xf32>, tensor<2x2x8xf32>, tensor<2x2x8xf32>, tensor<2x2x8xf32>
}

// -----

// Places compared at run time, as exporters write a sliding window: key <= query and query - key < 4. In the second, keys are compared with keys.
// CHECK-LABEL: func @window_compared
// CHECK: nn.attention query(%arg0) key(%arg1) value(%arg1) scale 1.000000e+00 causal window 4 :
// CHECK: nn.attention query(%arg0) key(%arg1) value(%arg1) keep(%{{.*}}) scale 1.000000e+00 :
#square = #nn.dims<()[s0] -> (1, s0, s0)>
#places = #nn.dims<()[s0] -> (s0, s0)>
#wide = #nn.dims<()[s0] -> (1, s0, 8)>
#turned = #nn.dims<()[s0] -> (1, 8, s0)>
#column = #nn.dims<()[s0] -> (s0, 1)>
#row = #nn.dims<()[s0] -> (s0)>
func.func @window_compared(%q: tensor<1x?x8xf32, #wide>, %k: tensor<1x?x8xf32, #wide>) -> (tensor<1x?x8xf32, #wide>, tensor<1x?x8xf32, #wide>) {
  %t = nn.transpose %k [0, 2, 1] : tensor<1x?x8xf32, #wide> -> tensor<1x8x?xf32, #turned>
  %s = nn.matmul %q, %t : tensor<1x?x8xf32, #wide>, tensor<1x8x?xf32, #turned> -> tensor<1x?x?xf32, #square>
  %i = nn.iota axis 0 : tensor<?xi64, #row>
  %c = nn.reshape %i : tensor<?xi64, #row> -> tensor<?x1xi64, #column>
  %query = nn.broadcast_to %c : tensor<?x1xi64, #column> -> tensor<?x?xi64, #places>
  %key = nn.broadcast_to %i : tensor<?xi64, #row> -> tensor<?x?xi64, #places>
  %seen = nn.greater_equal %query, %key : tensor<?x?xi64, #places> -> tensor<?x?xi1, #places>
  %back = nn.sub %query, %key : tensor<?x?xi64, #places>
  %four = nn.splat 4 : i64 -> tensor<?x?xi64, #places>
  %near = nn.less %back, %four : tensor<?x?xi64, #places> -> tensor<?x?xi1, #places>
  %both = nn.and %near, %seen : tensor<?x?xi1, #places>
  %keep = nn.broadcast_to %both : tensor<?x?xi1, #places> -> tensor<1x?x?xi1, #square>
  %f = nn.splat 0xFF800000 : f32 -> tensor<1x?x?xf32, #square>
  %w = nn.select %keep, %s, %f : tensor<1x?x?xi1, #square>, tensor<1x?x?xf32, #square>
  %p = nn.softmax %w axis 2 : tensor<1x?x?xf32, #square>
  %r = nn.matmul %p, %k : tensor<1x?x?xf32, #square>, tensor<1x?x8xf32, #wide> -> tensor<1x?x8xf32, #wide>
  %s2 = nn.matmul %q, %t : tensor<1x?x8xf32, #wide>, tensor<1x8x?xf32, #turned> -> tensor<1x?x?xf32, #square>
  %same = nn.less_equal %key, %key : tensor<?x?xi64, #places> -> tensor<?x?xi1, #places>
  %keep2 = nn.broadcast_to %same : tensor<?x?xi1, #places> -> tensor<1x?x?xi1, #square>
  %w2 = nn.select %keep2, %s2, %f : tensor<1x?x?xi1, #square>, tensor<1x?x?xf32, #square>
  %p2 = nn.softmax %w2 axis 2 : tensor<1x?x?xf32, #square>
  %r2 = nn.matmul %p2, %k : tensor<1x?x?xf32, #square>, tensor<1x?x8xf32, #wide> -> tensor<1x?x8xf32, #wide>
  return %r, %r2 : tensor<1x?x8xf32, #wide>, tensor<1x?x8xf32, #wide>
}

// -----

// A mask whose data the text leaves out stays one.
// CHECK-LABEL: func @left_out
// CHECK: nn.attention query(%arg0) key(%arg1) value(%arg1) bias(%{{.*}}) scale 1.000000e+00
func.func @left_out(%q: tensor<16x8xf32>, %k: tensor<32x8xf32>) -> tensor<16x8xf32> {
  %t = nn.transpose %k [1, 0] : tensor<32x8xf32> -> tensor<8x32xf32>
  %s = nn.matmul %q, %t : tensor<16x8xf32>, tensor<8x32xf32> -> tensor<16x32xf32>
  %m = nn.constant dense_resource<__elided__> : tensor<16x32xf32>
  %a = nn.add %s, %m : tensor<16x32xf32>
  %p = nn.softmax %a axis 1 : tensor<16x32xf32>
  %r = nn.matmul %p, %k : tensor<16x32xf32>, tensor<32x8xf32> -> tensor<16x8xf32>
  return %r : tensor<16x8xf32>
}
