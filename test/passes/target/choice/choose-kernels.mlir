// RUN: kiln-opt %s --split-input-file --kiln-set-target=name=x86-64-v3 --nn-form-groups --nn-choose-kernels | FileCheck %s

module {
  // CHECK: nn.group({{.*}}) {plan = #kernel.plan<kernel = "softmax_rows"{{.*}}>, reason = "kept whole: {{.*}}"}
  // CHECK: nn.group({{.*}}) {plan = #kernel.plan<kernel = "reduce_loops"{{.*}}>, reason = "reduction{{.*}}"}
  // CHECK: nn.group({{.*}}) {plan = #kernel.plan<kernel = "loops"{{.*}}>, reason = "element-wise{{.*}}"}
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
// CHECK: nn.group({{.*}}) {plan = #kernel.plan<kernel = "gemm_packed"{{.*}}>, reason = "f32 product of computed operands{{.*}}"}
// CHECK: nn.group({{.*}}) {plan = #kernel.plan<kernel = "gemm_tiled"{{.*}}>, reason = "f32 product of few rows{{.*}}"}
// CHECK: nn.group({{.*}}) {plan = #kernel.plan<kernel = "gemm_tiled"{{.*}}>, reason = "f32 product with constant weights{{.*}}"}
// CHECK: nn.group({{.*}}) {plan = #kernel.plan<kernel = "gemm_dots"{{.*}}>, reason = "f32 product of few rows{{.*}}"}
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

// CHECK: nn.group({{.*}}) {plan = #kernel.plan<kernel = "loops"{{.*}}>, reason = "element-wise{{.*}}"}
// CHECK: nn.group({{.*}}) {plan = #kernel.plan<kernel = "transpose_tiled"{{.*}}>, reason = "reads an operand across{{.*}}"}
module {
  func.func @main(%a: tensor<9x8xf32>, %b: tensor<3x9xf32>) -> (tensor<8x9xf32>, tensor<9x3xf32>) {
    %0 = nn.transpose %a [1, 0] : tensor<9x8xf32> -> tensor<8x9xf32>
    %1 = nn.relu %0 : tensor<8x9xf32>
    %2 = nn.transpose %b [1, 0] : tensor<3x9xf32> -> tensor<9x3xf32>
    return %1, %2 : tensor<8x9xf32>, tensor<9x3xf32>
  }
}

// -----

// What was measured goes first: a kernel that is not the first that matches, and a tile or chunk. An entry whose kernel does not fit, or has no such
// number, or vectors of another width, changes nothing, and the attribute is gone afterwards.
// CHECK: module attributes {
// CHECK-NOT: kernel.profile =
// CHECK: nn.group({{.*}}) {plan = #kernel.plan<kernel = "matmul_loops">, reason = "profile: measured to be the fastest; {{.*}}"}
// CHECK: nn.group({{.*}}) {plan = #kernel.plan<kernel = "gemm_tiled", tile = [12, 1, 8], chunk = 262144, streams = 4{{[^>]*}}>, reason = "f32 product with constant weights{{.*}}"}
// CHECK: nn.group({{.*}}) {plan = #kernel.plan<kernel = "gemm_tiled", tile = [3, 1, 8], chunk = 4096, streams = 4{{[^>]*}}, measured = true>, reason = "profile: {{.*}}"}
// CHECK: nn.group({{.*}}) {plan = #kernel.plan<kernel = "gemm_tiled", tile = [12, 1, 8], chunk = 262144, streams = 4{{[^>]*}}>, reason = "f32 product with constant weights{{.*}}"}
// CHECK: nn.group({{.*}}) {plan = #kernel.plan<kernel = "gemm_tiled", tile = [12, 1, 8], chunk = 262144, streams = 4{{[^>]*}}>, reason = "f32 product with constant weights{{.*}}"}
module attributes {kernel.profile = {"matmul f32[3, 4] f32[4, 6]* -> f32[3, 6] relu" = #kernel.plan<kernel = "matmul_loops">,
                      "matmul f32[4, 4] f32[4, 6]* -> f32[4, 6]" = #kernel.plan<kernel = "matmul_loops", chunk = 4096>,
                      "matmul f32[5, 4] f32[4, 6]* -> f32[5, 6]" = #kernel.plan<kernel = "gemm_tiled", tile = [3, 1, 8], chunk = 4096>,
                      "matmul f32[6, 4] f32[4, 6]* -> f32[6, 6]" = #kernel.plan<kernel = "softmax_rows">,
                      "matmul f32[7, 4] f32[4, 6]* -> f32[7, 6]" = #kernel.plan<kernel = "gemm_tiled", tile = [3, 1, 16]>}} {
  func.func @main(%a: tensor<3x4xf32>, %b: tensor<4x4xf32>, %c: tensor<5x4xf32>, %d: tensor<6x4xf32>, %e: tensor<7x4xf32>)
      -> (tensor<3x6xf32>, tensor<4x6xf32>, tensor<5x6xf32>, tensor<6x6xf32>, tensor<7x6xf32>) {
    %w = nn.constant dense<1.0> : tensor<4x6xf32>
    %0 = nn.matmul %a, %w : tensor<3x4xf32>, tensor<4x6xf32> -> tensor<3x6xf32>
    %1 = nn.relu %0 : tensor<3x6xf32>
    %2 = nn.matmul %b, %w : tensor<4x4xf32>, tensor<4x6xf32> -> tensor<4x6xf32>
    %3 = nn.matmul %c, %w : tensor<5x4xf32>, tensor<4x6xf32> -> tensor<5x6xf32>
    %4 = nn.matmul %d, %w : tensor<6x4xf32>, tensor<4x6xf32> -> tensor<6x6xf32>
    %5 = nn.matmul %e, %w : tensor<7x4xf32>, tensor<4x6xf32> -> tensor<7x6xf32>
    return %1, %2, %3, %4, %5 : tensor<3x6xf32>, tensor<4x6xf32>, tensor<5x6xf32>, tensor<6x6xf32>, tensor<7x6xf32>
  }
}
