// A picture of three channels gets its border and a fourth channel in vectors; without channels to fill up, it is copied in squares.
// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 -kiln-graph -kiln-target | FileCheck %s
// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 -kiln-graph -kiln-target -kiln-kernel | FileCheck %s --check-prefix=LOOPS

// CHECK: nn.group(%{{.*}}) {plan = #kernel.plan<kernel = "pad_woven">
// CHECK: nn.pad %{{.*}} -> tensor<1x11x11x4xui8>
// CHECK: nn.group(%{{.*}}) {plan = #kernel.plan<kernel = "pad_squares", tile = [8, 1, 8]>
// CHECK: nn.pad %{{.*}} -> tensor<1x11x11x8xui8>
// LOOPS-LABEL: func.func private @pad_woven
// LOOPS: vector.shuffle
// LOOPS: vector.store
module attributes {nn.model = "m"} {
  func.func @main(%x: tensor<1x3x9x9xui8> {nn.name = "x"}, %y: tensor<1x8x9x9xui8> {nn.name = "y"})
      -> (tensor<1x16x9x9xi32> {nn.name = "a"}, tensor<1x16x9x9xi32> {nn.name = "b"}) {
    %w = nn.constant dense<3> : tensor<16x3x3x3xi8>
    %zx = nn.splat 9 : ui8 -> tensor<1x3x9x9xui8>
    %zw = nn.splat 0 : i8 -> tensor<16x3x3x3xi8>
    %a = nn.quantized_conv %x, %w zero_points %zx, %zw strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1] groups 1 layout channels_first
      : tensor<1x3x9x9xui8>, tensor<16x3x3x3xi8> -> tensor<1x16x9x9xi32>
    %v = nn.constant dense<3> : tensor<16x8x3x3xi8>
    %zy = nn.splat 9 : ui8 -> tensor<1x8x9x9xui8>
    %zv = nn.splat 0 : i8 -> tensor<16x8x3x3xi8>
    %b = nn.quantized_conv %y, %v zero_points %zy, %zv strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1] groups 1 layout channels_first
      : tensor<1x8x9x9xui8>, tensor<16x8x3x3xi8> -> tensor<1x16x9x9xi32>
    return %a, %b : tensor<1x16x9x9xi32>, tensor<1x16x9x9xi32>
  }
}
