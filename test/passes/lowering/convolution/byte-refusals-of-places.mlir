// What depthwise_bytes and pad_woven say of operations that import makes seldom or never: weights that are computed, borders that cut or stand alone, and
// targets without vectors.
// RUN: kiln %s --target=x86-64-v3 --stop-after=target --why=computed 2>&1 >/dev/null | FileCheck %s --check-prefix=COMPUTED
// COMPUTED: not depthwise_bytes: the weight is not constant
// RUN: kiln %s --target=x86-64-v3 --stop-after=target --why=twice 2>&1 >/dev/null | FileCheck %s --check-prefix=TWICE
// TWICE: not depthwise_bytes: each group has 1 input and 2 output channels, expected one of each
// RUN: kiln %s --target=x86-64-v3 --stop-after=target --why=cut 2>&1 >/dev/null | FileCheck %s --check-prefix=CUT
// CUT: not pad_woven: the border is cut off or known at run time only
// RUN: kiln %s --target=x86-64-v3 --stop-after=target --why=alone 2>&1 >/dev/null | FileCheck %s --check-prefix=ALONE
// ALONE: not pad_woven: nothing is computed before the border, or something behind it
// RUN: rm -rf %t && mkdir %t && echo '{"name": "short", "base": "generic", "vector_bits": 64}' > %t/short.json
// RUN: kiln %s --target=%t/short.json --stop-after=target --why=wide 2>&1 >/dev/null | FileCheck %s --check-prefix=WIDE
// WIDE: not pad_woven: the target has no vectors for such elements
module attributes {nn.model = "m"} {
  func.func @main(%x: tensor<1x9x9x3xf32> {nn.name = "x"}, %y: tensor<1x9x9x8xui8> {nn.name = "y"}, %w: tensor<8x1x3x3xi8> {nn.name = "w"},
                  %p: tensor<1x9x9x3xui8> {nn.name = "p"})
      -> (tensor<1x11x11x4xui8> {nn.name = "a"}, tensor<1x7x7x8xi32> {nn.name = "b"}, tensor<1x7x7x16xi32> {nn.name = "c"}, tensor<1x10x8x4xui8> {nn.name = "d"},
          tensor<1x11x11x4xui8> {nn.name = "e"}) {
    %l = nn.constant dense<3> : tensor<16x1x3x3xi8>
    %z = nn.splat 7 : ui8 -> tensor<ui8>
    %n = nn.cast %x : tensor<1x9x9x3xf32> -> tensor<1x9x9x3xui8> loc("wide")
    %a = nn.pad %n, %z low affine_map<() -> (0, 1, 1, 0)> high affine_map<() -> (0, 1, 1, 1)> interior [0, 0, 0, 0] mode constant
      : tensor<1x9x9x3xui8>, tensor<ui8> -> tensor<1x11x11x4xui8> loc("wide")
    %b = nn.conv %y, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 8 layout channels_last
      : tensor<1x9x9x8xui8>, tensor<8x1x3x3xi8> -> tensor<1x7x7x8xi32> loc("computed")
    %c = nn.conv %y, %l strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 8 layout channels_last
      : tensor<1x9x9x8xui8>, tensor<16x1x3x3xi8> -> tensor<1x7x7x16xi32> loc("twice")
    %top = nn.splat 128 : ui8 -> tensor<1x9x9x3xui8>
    %q = nn.xor %p, %top : tensor<1x9x9x3xui8> loc("cut")
    %d = nn.pad %q, %z low affine_map<() -> (0, 1, -1, 0)> high affine_map<() -> (0, 0, 0, 1)> interior [0, 0, 0, 0] mode constant
      : tensor<1x9x9x3xui8>, tensor<ui8> -> tensor<1x10x8x4xui8> loc("cut")
    %e = nn.pad %p, %z low affine_map<() -> (0, 1, 1, 0)> high affine_map<() -> (0, 1, 1, 1)> interior [0, 0, 0, 0] mode constant
      : tensor<1x9x9x3xui8>, tensor<ui8> -> tensor<1x11x11x4xui8> loc("alone")
    return %a, %b, %c, %d, %e : tensor<1x11x11x4xui8>, tensor<1x7x7x8xi32>, tensor<1x7x7x16xi32>, tensor<1x10x8x4xui8>, tensor<1x11x11x4xui8>
  }
}
