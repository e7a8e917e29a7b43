// Without a list of operations only that goes to the library which it is measured to be faster at.
// RUN: kiln-opt %s -kiln-target | FileCheck %s
// RUN: kiln-opt %s -kiln-target | FileCheck %s --check-prefix=COUNT
// RUN: sed 's/nn.model = "m"/nn.model = "m", nn.accuracy = "strict"/' %s | kiln-opt -kiln-target | FileCheck %s --check-prefix=STRICT
// CHECK-DAG: kernel = "onednn_conv"{{.*}}>, reason = "library onednn: measured to be faster at this; conv by Winograd with its relu"
// Fewer channels and products of computed sides stay.
// CHECK-DAG: kernel = "winograd_columns"
// CHECK-DAG: kernel = "gemm_tiled"{{.*}}>, reason = "{{.*}}; not onednn: it is not measured to be faster at this"
// COUNT-COUNT-1: kernel = "onednn_
// COUNT-NOT: kernel = "onednn_
// STRICT-NOT: kernel = "onednn_
module attributes {nn.model = "m", kernel.target = #kernel.target<name = "wide", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, features = ["avx512f"], libraries = ["onednn"]>} {
  func.func @main(%a: tensor<1x1024x7x7xf32> {nn.name = "a"}, %b: tensor<12x128x64xf32> {nn.name = "b"}, %c: tensor<12x64x128xf32> {nn.name = "c"},
                  %d: tensor<1x512x7x7xf32> {nn.name = "d"})
      -> (tensor<1x1024x7x7xf32> {nn.name = "x"}, tensor<12x128x128xf32> {nn.name = "y"}, tensor<1x512x7x7xf32> {nn.name = "z"}) {
    %w = nn.constant dense<1.0> : tensor<1024x1024x3x3xf32>
    %conv = nn.conv %a, %w strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1] groups 1 layout channels_first : tensor<1x1024x7x7xf32>, tensor<1024x1024x3x3xf32> -> tensor<1x1024x7x7xf32>
    %x = nn.relu %conv : tensor<1x1024x7x7xf32>
    %y = nn.matmul %b, %c : tensor<12x128x64xf32>, tensor<12x64x128xf32> -> tensor<12x128x128xf32>
    %v = nn.constant dense<1.0> : tensor<512x512x3x3xf32>
    %z = nn.conv %d, %v strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1] groups 1 layout channels_first : tensor<1x512x7x7xf32>, tensor<512x512x3x3xf32> -> tensor<1x512x7x7xf32>
    return %x, %y, %z : tensor<1x1024x7x7xf32>, tensor<12x128x128xf32>, tensor<1x512x7x7xf32>
  }
}
