// RUN: kiln-opt %s --nn-form-groups --nn-choose-kernels --nn-place-results | FileCheck %s

// What depends on constants only is computed right before its first use, not at the start.
module attributes {kernel.target = #kernel.target<name = "test", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", vector_bits = 256, registers = 16, l1 = 32768, l2 = 1048576, l3 = 33554432, features = ["avx2", "fma"]>} {
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
