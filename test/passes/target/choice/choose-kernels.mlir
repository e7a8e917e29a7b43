// RUN: kiln-opt %s --split-input-file --kiln-set-target=name=x86-64-v3 --nn-form-groups --nn-choose-kernels | FileCheck %s

module {
  // CHECK: nn.group({{.*}}) {kernel = "softmax_rows", reason = "kept whole: {{.*}}"}
  // CHECK: nn.group({{.*}}) {kernel = "reduce_loops", reason = "reduction{{.*}}"}
  // CHECK: nn.group({{.*}}) {kernel = "loops", reason = "element-wise{{.*}}"}
  func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>) {
    %s = nn.softmax %x axis 1 : tensor<4x4xf32>
    %m = nn.reduce max %s [1] : tensor<4x4xf32> -> tensor<4x1xf32>
    %a = nn.reshape %m : tensor<4x1xf32> -> tensor<4xf32>
    %e = nn.exp %a : tensor<4xf32>
    %r = nn.reshape %e : tensor<4xf32> -> tensor<4x1xf32>
    return %r, %m : tensor<4x1xf32>, tensor<4x1xf32>
  }
}

// -----

// A right side that is computed is packed at run time when enough rows share it.
// CHECK: nn.group({{.*}}) {kernel = "gemm_packed", reason = "f32 product of computed operands{{.*}}"}
// CHECK: nn.group({{.*}}) {kernel = "gemm_tiled", reason = "f32 product of few rows{{.*}}"}
// CHECK: nn.group({{.*}}) {kernel = "gemm_tiled", reason = "f32 product with constant weights{{.*}}"}
// CHECK: nn.group({{.*}}) {kernel = "gemm_dots", reason = "f32 product of few rows{{.*}}"}
module {
  func.func @main(%a: tensor<16x4xf32>, %b: tensor<3x4xf32>, %c: tensor<4x5xf32>) -> (tensor<16x5xf32>, tensor<3x5xf32>, tensor<3x6xf32>, tensor<3x16xf32>) {
    %w = nn.constant dense<1.0> : tensor<4x6xf32>
    %0 = nn.matmul %a, %c : tensor<16x4xf32>, tensor<4x5xf32> -> tensor<16x5xf32>
    %1 = nn.matmul %b, %c : tensor<3x4xf32>, tensor<4x5xf32> -> tensor<3x5xf32>
    %2 = nn.matmul %b, %w : tensor<3x4xf32>, tensor<4x6xf32> -> tensor<3x6xf32>
    %t = nn.transpose %a [1, 0] : tensor<16x4xf32> -> tensor<4x16xf32>
    %3 = nn.matmul %b, %t : tensor<3x4xf32>, tensor<4x16xf32> -> tensor<3x16xf32>
    return %0, %1, %2, %3 : tensor<16x5xf32>, tensor<3x5xf32>, tensor<3x6xf32>, tensor<3x16xf32>
  }
}

// -----

// CHECK: nn.group({{.*}}) {kernel = "loops", reason = "element-wise{{.*}}"}
// CHECK: nn.group({{.*}}) {kernel = "transpose_tiled", reason = "reads an operand across{{.*}}"}
module {
  func.func @main(%a: tensor<9x8xf32>, %b: tensor<3x9xf32>) -> (tensor<8x9xf32>, tensor<9x3xf32>) {
    %0 = nn.transpose %a [1, 0] : tensor<9x8xf32> -> tensor<8x9xf32>
    %1 = nn.relu %0 : tensor<8x9xf32>
    %2 = nn.transpose %b [1, 0] : tensor<3x9xf32> -> tensor<9x3xf32>
    return %1, %2 : tensor<8x9xf32>, tensor<9x3xf32>
  }
}

// -----

// What was measured goes first: a kernel that is not the first that matches, and its tile. An entry whose kernel does not fit changes nothing, and the
// attribute is gone afterwards.
// CHECK: module attributes {
// CHECK-NOT: kernel.profile =
// CHECK: nn.group({{.*}}) {chunk = 4096 : i64, kernel = "matmul_loops", reason = "profile: measured to be the fastest; {{.*}}", tile = array<i64: 3, 1>}
// CHECK: nn.group({{.*}}) {kernel = "gemm_tiled", reason = "f32 product with constant weights{{.*}}"}
module attributes {kernel.profile = {"matmul f32[3, 4] f32[4, 6]* -> f32[3, 6] relu" = {algorithm = "matmul_loops", tile = array<i64: 3, 1>, chunk = 4096 : i64},
                      "matmul f32[5, 4] f32[4, 6]* -> f32[5, 6]" = {algorithm = "softmax_rows"}}} {
  func.func @main(%a: tensor<3x4xf32>, %b: tensor<5x4xf32>) -> (tensor<3x6xf32>, tensor<5x6xf32>) {
    %w = nn.constant dense<1.0> : tensor<4x6xf32>
    %0 = nn.matmul %a, %w : tensor<3x4xf32>, tensor<4x6xf32> -> tensor<3x6xf32>
    %1 = nn.relu %0 : tensor<3x6xf32>
    %2 = nn.matmul %b, %w : tensor<5x4xf32>, tensor<4x6xf32> -> tensor<5x6xf32>
    return %1, %2 : tensor<3x6xf32>, tensor<5x6xf32>
  }
}
