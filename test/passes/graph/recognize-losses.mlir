// What is like a loss and is none stays what it is.
// RUN: kiln-opt %s --nn-recognize-composites | FileCheck %s

// Along another axis; of more than one class a place.
// CHECK-LABEL: func @picked
// CHECK-NOT: nn.negative_log_likelihood
func.func @picked(%x: tensor<3x5xf32>, %a: tensor<1x5xi64>, %b: tensor<3x2xi64>) -> (tensor<1x5xf32>, tensor<3x2xf32>) {
  %0 = nn.gather_elements %x, %a axis 0 : tensor<3x5xf32>, tensor<1x5xi64> -> tensor<1x5xf32>
  %1 = nn.neg %0 : tensor<1x5xf32>
  %2 = nn.gather_elements %x, %b axis 1 : tensor<3x5xf32>, tensor<3x2xi64> -> tensor<3x2xf32>
  %3 = nn.neg %2 : tensor<3x2xf32>
  return %1, %3 : tensor<1x5xf32>, tensor<3x2xf32>
}

// Weights of other classes; a mean over the places where classes have weights; a log softmax that somebody reads before the loss.
// CHECK-LABEL: func @weights
// CHECK: nn.log_softmax
// CHECK: nn.abs
// CHECK: %[[LOSS:.*]] = nn.negative_log_likelihood none %{{.*}}, %arg1 :
// CHECK: nn.gather %arg3, %arg2
// CHECK: nn.mul
// CHECK: nn.negative_log_likelihood none %{{.*}}, %arg1 weight %arg3
// CHECK: nn.reduce mean
func.func @weights(%x: tensor<3x5xf32>, %t: tensor<3xi64>, %u: tensor<3xi64>, %w: tensor<5xf32>) -> (tensor<3xf32>, tensor<1xf32>, tensor<3x5xf32>) {
  %l = nn.log_softmax %x axis 1 : tensor<3x5xf32>
  %a = nn.abs %l : tensor<3x5xf32>
  %0 = nn.negative_log_likelihood none %l, %t : tensor<3x5xf32>, tensor<3xi64> -> tensor<3xf32>
  %1 = nn.gather %w, %u axis 0 : tensor<5xf32>, tensor<3xi64> -> tensor<3xf32>
  %2 = nn.mul %0, %1 : tensor<3xf32>
  %3 = nn.negative_log_likelihood none %l, %t weight %w : tensor<3x5xf32>, tensor<3xi64>, tensor<5xf32> -> tensor<3xf32>
  %4 = nn.reduce mean %3 [0] : tensor<3xf32> -> tensor<1xf32>
  return %2, %4, %a : tensor<3xf32>, tensor<1xf32>, tensor<3x5xf32>
}

// The class that the values ignore is not the one that the weights ignore.
// CHECK-LABEL: func @ignored
// CHECK: nn.negative_log_likelihood none %arg0, %{{.*}} ignore 2 :
// CHECK: nn.mul
func.func @ignored(%x: tensor<3x5xf32>, %t: tensor<3x1xi64>) -> tensor<3x1xf32> {
  %two = nn.splat 2 : i64 -> tensor<3x1xi64>
  %three = nn.splat 3 : i64 -> tensor<3x1xi64>
  %none = nn.splat 0 : i64 -> tensor<3x1xi64>
  %zero = nn.splat 0.0 : f32 -> tensor<3x1xf32>
  %one = nn.splat 1.0 : f32 -> tensor<3x1xf32>
  %c = nn.equal %t, %two : tensor<3x1xi64> -> tensor<3x1xi1>
  %d = nn.equal %t, %three : tensor<3x1xi64> -> tensor<3x1xi1>
  %at = nn.select %c, %none, %t : tensor<3x1xi1>, tensor<3x1xi64>
  %p = nn.gather_elements %x, %at axis 1 : tensor<3x5xf32>, tensor<3x1xi64> -> tensor<3x1xf32>
  %q = nn.select %c, %zero, %p : tensor<3x1xi1>, tensor<3x1xf32>
  %n = nn.neg %q : tensor<3x1xf32>
  %w = nn.select %d, %zero, %one : tensor<3x1xi1>, tensor<3x1xf32>
  %r = nn.mul %n, %w : tensor<3x1xf32>
  return %r : tensor<3x1xf32>
}

// A weight of one number, which all classes but the first lack.
// CHECK-LABEL: func @narrow
// CHECK: nn.gather %arg2, %arg1
// CHECK: nn.mul
func.func @narrow(%x: tensor<3x5xf32>, %t: tensor<3xi64>, %w: tensor<1xf32>) -> tensor<3xf32> {
  %0 = nn.negative_log_likelihood none %x, %t : tensor<3x5xf32>, tensor<3xi64> -> tensor<3xf32>
  %1 = nn.gather %w, %t axis 0 : tensor<1xf32>, tensor<3xi64> -> tensor<3xf32>
  %2 = nn.mul %0, %1 : tensor<3xf32>
  return %2 : tensor<3xf32>
}
