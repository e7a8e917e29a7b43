// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --nn-form-groups --nn-choose-kernels --nn-lower-groups | FileCheck %s

// The sum that ends a product may take over the other summand, a softmax of the last dimension its operand. A softmax of another dimension, a
// product's own operands and what is read at other places may not be overwritten.
module {
  func.func @main(%x: tensor<16x16xf32>, %y: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
    // CHECK: kernel.launch @gemm_{{[a-z]*}}_0({{.*}} kernel.overwrites = array<i64: 2, 3>
    %w = nn.constant dense<0.5> : tensor<16x16xf32>
    %p = nn.matmul %x, %w : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
    %s = nn.add %p, %y : tensor<16x16xf32>
    // CHECK: kernel.launch @softmax_rows_1({{.*}} kernel.overwrites = array<i64: 0, 1>
    %last = nn.softmax %s axis 1 : tensor<16x16xf32>
    // CHECK: kernel.launch @softmax_rows_2(
    // CHECK-NOT: kernel.overwrites
    %first = nn.softmax %last axis 0 : tensor<16x16xf32>
    // CHECK: kernel.launch @{{loops|transpose_tiled}}_3(
    // CHECK-NOT: kernel.overwrites
    %t = nn.transpose %first [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
    %u = nn.mul %t, %first : tensor<16x16xf32>
    return %s, %last, %first, %u : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  }
}
