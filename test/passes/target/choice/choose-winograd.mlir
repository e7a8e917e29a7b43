// RUN: kiln-opt %s --split-input-file --kiln-set-target=name=x86-64-v4 --nn-choose-winograd | FileCheck %s
// RUN: kiln-opt %s --split-input-file --kiln-set-target=name=x86-64-v4 --nn-choose-winograd=tile=2 | FileCheck %s --check-prefix=FORCED
// The group takes over the plan that was made with the form.
// RUN: kiln-opt %s --split-input-file --kiln-set-target=name=x86-64-v4 --nn-choose-winograd --nn-form-groups --nn-choose-kernels | FileCheck %s --check-prefix=GROUP
// Plans that were edited, and why they do not fit.
// RUN: kiln-opt %s --split-input-file --kiln-set-target=name=x86-64-v4 --nn-choose-winograd --nn-form-groups --nn-choose-kernels > %t.mlir
// RUN: sed -E '/nn.group/s/stride = 64, winograd/stride = 48, winograd/; /nn.group/s/depth = [0-9]+/depth = 24/' %t.mlir > %t.wrong.mlir
// RUN: not kiln-opt %t.wrong.mlir --split-input-file --nn-verify-target 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: sed -E '/nn.group/s/winograd = 4>/winograd = 2>/' %t.mlir > %t.other.mlir && not kiln-opt %t.other.mlir --split-input-file --nn-verify-target 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed -E '/nn.group/s/tile = \[14, 2, 16\](.*"winograd_tiles|, streams = 8, bands = 8, ahead)/tile = [14, 2, 64]\1/' %t.mlir > %t.wide.mlir
// RUN: not kiln-opt %t.wide.mlir --split-input-file --nn-verify-target 2>&1 | FileCheck %s --check-prefix=WIDE
// WRONG: kernel 'winograd_tiles' cannot follow it: a tile has 64 channels in vectors, 'stride' is 48
// WRONG: kernel 'winograd_columns' cannot follow it: 'depth' is 24, expected a multiple of 16 that divides the 256 input channels
// OTHER: kernel 'winograd_tiles' cannot follow it: the convolution has tiles of 4, 'winograd' is 2
// WIDE: kernel 'winograd_tiles' cannot follow it: the filters are in panels of 32 columns, a vector has 64

// Many tiles: the filters are transformed once, each block of tiles meets all of them.
// CHECK-LABEL: func @large
// CHECK: %[[U:.*]] = nn.winograd_filter %{{.*}} tile 4 : tensor<64x64x3x3xf32> -> tensor<36x2x65x32xf32>
// CHECK: nn.winograd_conv %{{.*}}, %{{.*}} transformed %[[U]] tile 4 {plan = #kernel.plan<kernel = "winograd_tiles", tile = [14, 2, 16], streams = 8, bands = 8, ahead = [512, 4096], block = 56, stride = 64, winograd = 4>}
// GROUP-LABEL: func @large
// GROUP: nn.group({{.*}}) {plan = #kernel.plan<kernel = "winograd_filters", blocks = 16>
// GROUP: nn.group({{.*}}) {plan = [[PLAN:#kernel.plan<kernel = "winograd_tiles".*>]], reason =
// GROUP: nn.winograd_conv {{.*}} {plan = [[PLAN]]}
// FORCED-LABEL: func @large
// FORCED: nn.winograd_conv {{.*}} tile 2
module {
  func.func @large(%x: tensor<1x58x58x64xf32>) -> tensor<1x56x56x64xf32> {
    %w = nn.constant dense<1.0> : tensor<64x64x3x3xf32>
    %r = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last
      : tensor<1x58x58x64xf32>, tensor<64x64x3x3xf32> -> tensor<1x56x56x64xf32>
    return %r : tensor<1x56x56x64xf32>
  }
}

// -----

// Few tiles and large filters: the kernel transforms them on the way.
// CHECK-LABEL: func @small
// CHECK-NOT: nn.winograd_filter
// CHECK: nn.winograd_conv %{{.*}}, %{{.*}} tile 4 {plan = #kernel.plan<kernel = "winograd_columns", {{.*}}, winograd = 4>} : tensor<1x16x16x256xf32>, tensor<256x256x3x3xf32>
module {
  func.func @small(%x: tensor<1x16x16x256xf32>) -> tensor<1x14x14x256xf32> {
    %w = nn.constant dense<1.0> : tensor<256x256x3x3xf32>
    %r = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last
      : tensor<1x16x16x256xf32>, tensor<256x256x3x3xf32> -> tensor<1x14x14x256xf32>
    return %r : tensor<1x14x14x256xf32>
  }
}

// -----

// Strides, one input channel, weights that are computed: the direct form, whatever is asked for.
// CHECK-LABEL: func @direct
// CHECK-NOT: nn.winograd_conv
// FORCED-LABEL: func @direct
// FORCED-NOT: nn.winograd_conv
module {
  func.func @direct(%x: tensor<1x58x58x64xf32>, %v: tensor<64x64x3x3xf32>) -> (tensor<1x28x28x64xf32>, tensor<1x56x56x64xf32>) {
    %w = nn.constant dense<1.0> : tensor<64x64x3x3xf32>
    %r = nn.conv %x, %w strides [2, 2] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last
      : tensor<1x58x58x64xf32>, tensor<64x64x3x3xf32> -> tensor<1x28x28x64xf32>
    %s = nn.conv %x, %v strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last
      : tensor<1x58x58x64xf32>, tensor<64x64x3x3xf32> -> tensor<1x56x56x64xf32>
    return %r, %s : tensor<1x28x28x64xf32>, tensor<1x56x56x64xf32>
  }
}

// -----

// A weight that is no number, or so large that transforms could overflow: the direct form.
// FORCED-LABEL: func @extreme
// FORCED-NOT: nn.winograd_conv
module {
  func.func @extreme(%x: tensor<1x58x58x16xf32>) -> (tensor<1x56x56x64xf32>, tensor<1x56x56x64xf32>) {
    %w = nn.constant dense<0x7FC00000> : tensor<64x16x3x3xf32>
    %v = nn.constant dense<1.0e10> : tensor<64x16x3x3xf32>
    %r = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last
      : tensor<1x58x58x16xf32>, tensor<64x16x3x3xf32> -> tensor<1x56x56x64xf32>
    %s = nn.conv %x, %v strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last
      : tensor<1x58x58x16xf32>, tensor<64x16x3x3xf32> -> tensor<1x56x56x64xf32>
    return %r, %s : tensor<1x56x56x64xf32>, tensor<1x56x56x64xf32>
  }
}

// -----

// Lines and pixels that only run time knows count as those of an image: Winograd's form if that would pay for small images, too, in blocks of any number of tiles.
// CHECK-LABEL: func @open
// CHECK: nn.winograd_conv {{.*}} tile 4 {plan = #kernel.plan<kernel = "winograd_tiles",
// FORCED-LABEL: func @open
// FORCED: nn.winograd_conv {{.*}} tile 2 {plan = #kernel.plan<kernel = "winograd_tiles",
#in = #nn.dims<()[s0, s1] -> (1, s0 + 2, s1 + 2, 64)>
#out = #nn.dims<()[s0, s1] -> (1, s0, s1, 64)>
module attributes {nn.symbols = ["h", "w"]} {
  func.func @open(%x: tensor<1x?x?x64xf32, #in>) -> tensor<1x?x?x64xf32, #out> {
    %w = nn.constant dense<1.0> : tensor<64x64x3x3xf32>
    %r = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last
      : tensor<1x?x?x64xf32, #in>, tensor<64x64x3x3xf32> -> tensor<1x?x?x64xf32, #out>
    return %r : tensor<1x?x?x64xf32, #out>
  }
}

// -----

// A thirty-second of a small image has few tiles, for which transforming the filters takes longer than it saves.
// CHECK-LABEL: func @deep
// CHECK-NOT: nn.winograd_conv
#in = #nn.dims<()[s0] -> (1, s0 floordiv 32 + 2, s0 floordiv 32 + 2, 256)>
#out = #nn.dims<()[s0] -> (1, s0 floordiv 32, s0 floordiv 32, 256)>
module attributes {nn.symbols = ["h"]} {
  func.func @deep(%x: tensor<1x?x?x256xf32, #in>) -> tensor<1x?x?x256xf32, #out> {
    %w = nn.constant dense<1.0> : tensor<256x256x3x3xf32>
    %r = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last
      : tensor<1x?x?x256xf32, #in>, tensor<256x256x3x3xf32> -> tensor<1x?x?x256xf32, #out>
    return %r : tensor<1x?x?x256xf32, #out>
  }
}
