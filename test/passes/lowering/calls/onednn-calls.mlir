// What goes to a library, with what it can do besides; the rest of a group is a kernel of its own.
// RUN: kiln-opt %s -kiln-target | FileCheck %s --check-prefix=TARGET
// RUN: kiln-opt %s -kiln-target -kiln-kernel | FileCheck %s

// The convolution keeps its padding, and takes bias and relu; the addition of a tensor does not go along.
// TARGET-LABEL: func.func @main
// TARGET: nn.group{{.*}}kernel = "onednn_matmul"{{.*}}>, reason = "library onednn: asked for; matmul with its bias"
// TARGET: nn.group{{.*}}kernel = "softmax_rows"{{.*}}>, reason = "kept whole: {{.*}}; not onednn: the axis is not the last"
// TARGET: nn.group{{.*}}kernel = "onednn_conv"{{.*}}>, reason = "library onednn: asked for; conv with its bias and relu"
// TARGET: nn.conv {{.*}} pads [1, 1, 1, 1]
// TARGET: nn.add
// TARGET-NEXT: nn.relu
// TARGET-NEXT: nn.yield
// TARGET: nn.group{{.*}}kernel = "onednn_conv"{{.*}}>, reason = "library onednn: asked for; conv"
// TARGET: nn.conv
// TARGET-NEXT: nn.yield
// TARGET: nn.group{{.*}}kernel = "gemm_tiled"{{.*}}>, reason = "{{.*}}; not onednn: its functions are for f32"
// TARGET: nn.group{{.*}}kernel = "transpose_tiled"
// TARGET: nn.add

// CHECK: kernel.external @kiln_onednn_conv : {{.*}} -> i32 writes [0, 7] header "kiln/onednn.h" library "onednn"
// CHECK: kernel.external @kiln_onednn_matmul : {{.*}} -> i32 writes [0, 7] header "kiln/onednn.h" library "onednn"
// CHECK-LABEL: func.func private @onednn_conv_
// CHECK-SAME: %[[STATE:[a-z0-9]+]]: memref<?xi8> {kernel.name = "state", kernel.written}, %[[THREADS:[a-z0-9]+]]: index {kernel.name = "threads"}
// CHECK-SAME: %[[STATUS:[a-z0-9]+]]: memref<1xi32> {kernel.name = "status", kernel.status, kernel.written}
// CHECK-SAME: %[[BEGIN:[a-z0-9]+]]: index {kernel.name = "begin"}, %[[END:[a-z0-9]+]]: index {kernel.name = "end"}
// CHECK: %[[SHAPE:.*]] = kernel.numbers {{.*}} : memref<21xi64>
// CHECK: kernel.call @kiln_onednn_conv(%[[STATE]], %[[BEGIN]], %[[END]], %[[THREADS]], {{.*}}) reports %[[STATUS]]
// A task for each thread, where that pays: the product is too small.
// CHECK: kernel.entry @run
// CHECK: kernel.state : memref<64xi8>
// CHECK: kernel.launch @onednn_matmul_{{.*}} tasks(%{{.*}}) {
// CHECK: %[[N:.*]] = kernel.threads
// CHECK: kernel.launch @onednn_conv_{{.*}} tasks(%[[N]]) parallel
module attributes {nn.model = "m", kernel.target = #kernel.target<name = "wide", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, features = ["avx512f"], libraries = ["onednn:all"]>} {
  func.func @main(%a: tensor<1x8x40x40xf32> {nn.name = "a"}, %b: tensor<4x10xf32> {nn.name = "b"}, %c: tensor<2x3x4xf32> {nn.name = "c"},
                  %d: tensor<4x4xf16> {nn.name = "d"})
      -> (tensor<1x8x40x40xf32> {nn.name = "y"}, tensor<4x5xf32> {nn.name = "z"}, tensor<2x3x4xf32> {nn.name = "s"}, tensor<4x4xf16> {nn.name = "h"}) {
    %w = nn.constant dense<1.0> : tensor<8x8x3x3xf32>
    %v = nn.constant dense<[[[0.0]], [[1.0]], [[2.0]], [[3.0]], [[4.0]], [[5.0]], [[6.0]], [[7.0]]]> : tensor<8x1x1xf32>
    %bias = nn.broadcast_to %v : tensor<8x1x1xf32> -> tensor<1x8x40x40xf32>
    %conv = nn.conv %a, %w strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1] groups 1 layout channels_first : tensor<1x8x40x40xf32>, tensor<8x8x3x3xf32> -> tensor<1x8x40x40xf32>
    %biased = nn.add %conv, %bias : tensor<1x8x40x40xf32>
    %first = nn.relu %biased : tensor<1x8x40x40xf32>
    %again = nn.conv %first, %w strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1] groups 1 layout channels_first : tensor<1x8x40x40xf32>, tensor<8x8x3x3xf32> -> tensor<1x8x40x40xf32>
    %sum = nn.add %again, %a : tensor<1x8x40x40xf32>
    %y = nn.relu %sum : tensor<1x8x40x40xf32>
    %m = nn.constant dense<2.0> : tensor<10x5xf32>
    %n = nn.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0]> : tensor<5xf32>
    %spread = nn.broadcast_to %n : tensor<5xf32> -> tensor<4x5xf32>
    %product = nn.matmul %b, %m : tensor<4x10xf32>, tensor<10x5xf32> -> tensor<4x5xf32>
    %z = nn.add %product, %spread : tensor<4x5xf32>
    %s = nn.softmax %c axis 1 : tensor<2x3x4xf32>
    %h = nn.matmul %d, %d : tensor<4x4xf16>, tensor<4x4xf16> -> tensor<4x4xf16>
    return %y, %z, %s, %h : tensor<1x8x40x40xf32>, tensor<4x5xf32>, tensor<2x3x4xf32>, tensor<4x4xf16>
  }
}
