// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --nn-form-groups --nn-choose-kernels --nn-place-results | FileCheck %s

// What depends on constants only is computed right before its first use, not at the start.
module {
  func.func @main(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %w = nn.constant dense<0.5> : tensor<16x16xf32>
    // CHECK: kernel = "softmax_rows"
    // CHECK: kernel = "reduce_loops"
    // CHECK: kernel = "gemm_
    %r = nn.reduce sum %w [1] : tensor<16x16xf32> -> tensor<16x1xf32>
    %s = nn.softmax %x axis 1 : tensor<16x16xf32>
    %p = nn.matmul %s, %r : tensor<16x16xf32>, tensor<16x1xf32> -> tensor<16x1xf32>
    %b = nn.broadcast_to %p : tensor<16x1xf32> -> tensor<16x16xf32>
    %y = nn.add %b, %s : tensor<16x16xf32>
    return %y : tensor<16x16xf32>
  }
}
