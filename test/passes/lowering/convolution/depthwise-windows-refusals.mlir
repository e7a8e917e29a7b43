// What depthwise_windows and depthwise_rows say of convolutions that are not theirs.
// RUN: kiln %s --target=x86-64-v3 --stop-after=target --why=large 2>&1 >/dev/null | FileCheck %s --check-prefix=STEP
// STEP: not depthwise_windows: the target has no step of rows side by side for these types
// STEP: not depthwise_rows: the target has no step of rows side by side for these types
// RUN: kiln %s --target=cortex-m55 --stop-after=target --why=large 2>&1 >/dev/null | FileCheck %s --check-prefix=LARGE
// LARGE: not depthwise_windows: its window is not three by three neighbouring pixels
// RUN: kiln %s --target=cortex-m55 --stop-after=target --why=apart 2>&1 >/dev/null | FileCheck %s --check-prefix=LARGE
// RUN: kiln %s --target=cortex-m55 --stop-after=target --why=odd 2>&1 >/dev/null | FileCheck %s --check-prefix=ODD
// ODD: not depthwise_windows: there are 12 channels, expected a multiple of 8
// ODD: not depthwise_rows: there are 12 channels, expected a multiple of 8
// RUN: kiln %s --target=cortex-m55 --stop-after=target --why=long 2>&1 >/dev/null | FileCheck %s --check-prefix=LONG
// LONG: not depthwise_windows: the columns of a line take 9632 bytes, expected at most 8192
// RUN: kiln %s --target=cortex-m55 --stop-after=target --why=open 2>&1 >/dev/null | FileCheck %s --check-prefix=OPEN
// OPEN: not depthwise_windows: only run time knows how long a line is
// An input that lies in a larger tensor has gaps, so its kernel is chosen once more.
// RUN: kiln %s --target=cortex-m55 --stop-after=target > %t.mlir 2> %t.log
// RUN: sed '/places/s/depthwise_rows/depthwise_windows/' %t.mlir > %t.edited.mlir && not cmp %t.mlir %t.edited.mlir
// RUN: not kiln-opt %t.edited.mlir --nn-verify-target 2>&1 | FileCheck %s --check-prefix=GAPS
// GAPS: there are gaps between the input's pixels
// RUN: kiln %s --target=cortex-m55 --stop-after=target --why=dense 2>&1 >/dev/null | FileCheck %s --check-prefix=DENSE
// DENSE: not depthwise_windows: it is no depthwise convolution in two dimensions
module attributes {nn.model = "m", nn.symbols = ["w"]} {
  func.func @main(%x: tensor<1x9x9x8xi8> {nn.name = "x"}, %o: tensor<1x9x9x12xi8> {nn.name = "o"}, %l: tensor<1x3x300x8xi8> {nn.name = "l"},
                  %d: tensor<1x3x?x8xi8, #nn.dims<()[s0] -> (1, 3, s0, 8)>> {nn.name = "d"})
      -> (tensor<1x5x5x8xi32> {nn.name = "a"}, tensor<1x5x5x8xi32> {nn.name = "b"}, tensor<1x7x7x12xi32> {nn.name = "c"}, tensor<1x1x298x8xi32> {nn.name = "e"},
          tensor<1x1x?x8xi32, #nn.dims<()[s0] -> (1, 1, s0 - 2, 8)>> {nn.name = "f"}, tensor<1x7x7x8xi32> {nn.name = "g"}, tensor<1x9x9x16xi8> {nn.name = "h"},
          tensor<1x7x7x8xi32> {nn.name = "i"}) {
    %w5 = nn.constant dense<3> : tensor<8x1x5x5xi8>
    %w3 = nn.constant dense<3> : tensor<8x1x3x3xi8>
    %w12 = nn.constant dense<3> : tensor<12x1x3x3xi8>
    %w8 = nn.constant dense<3> : tensor<8x8x3x3xi8>
    %a = nn.conv %x, %w5 strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 8 layout channels_last
      : tensor<1x9x9x8xi8>, tensor<8x1x5x5xi8> -> tensor<1x5x5x8xi32> loc("large")
    %b = nn.conv %x, %w3 strides [1, 1] dilations [2, 2] pads [0, 0, 0, 0] groups 8 layout channels_last
      : tensor<1x9x9x8xi8>, tensor<8x1x3x3xi8> -> tensor<1x5x5x8xi32> loc("apart")
    %c = nn.conv %o, %w12 strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 12 layout channels_last
      : tensor<1x9x9x12xi8>, tensor<12x1x3x3xi8> -> tensor<1x7x7x12xi32> loc("odd")
    %e = nn.conv %l, %w3 strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 8 layout channels_last
      : tensor<1x3x300x8xi8>, tensor<8x1x3x3xi8> -> tensor<1x1x298x8xi32> loc("long")
    %f = nn.conv %d, %w3 strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 8 layout channels_last
      : tensor<1x3x?x8xi8, #nn.dims<()[s0] -> (1, 3, s0, 8)>>, tensor<8x1x3x3xi8> -> tensor<1x1x?x8xi32, #nn.dims<()[s0] -> (1, 1, s0 - 2, 8)>> loc("open")
    %n = nn.max_pool %x kernel [1, 1] strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] layout channels_last : tensor<1x9x9x8xi8> -> tensor<1x9x9x8xi8>
    %g = nn.conv %n, %w3 strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 8 layout channels_last
      : tensor<1x9x9x8xi8>, tensor<8x1x3x3xi8> -> tensor<1x7x7x8xi32> loc("gaps")
    %h = nn.concat %n, %x axis 3 : (tensor<1x9x9x8xi8>, tensor<1x9x9x8xi8>) -> tensor<1x9x9x16xi8>
    %i = nn.conv %x, %w8 strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last
      : tensor<1x9x9x8xi8>, tensor<8x8x3x3xi8> -> tensor<1x7x7x8xi32> loc("dense")
    return %a, %b, %c, %e, %f, %g, %h, %i : tensor<1x5x5x8xi32>, tensor<1x5x5x8xi32>, tensor<1x7x7x12xi32>, tensor<1x1x298x8xi32>,
      tensor<1x1x?x8xi32, #nn.dims<()[s0] -> (1, 1, s0 - 2, 8)>>, tensor<1x7x7x8xi32>, tensor<1x9x9x16xi8>, tensor<1x7x7x8xi32>
  }
}
