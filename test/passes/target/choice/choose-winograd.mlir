// RUN: kiln-opt %s --split-input-file --kiln-set-target=name=x86-64-v4 --nn-choose-winograd | FileCheck %s
// RUN: kiln-opt %s --split-input-file --kiln-set-target=name=x86-64-v4 --nn-choose-winograd=tile=2 | FileCheck %s --check-prefix=FORCED
// The group takes over the plan that was made with the form.
// RUN: kiln-opt %s --split-input-file --kiln-set-target=name=x86-64-v4 --nn-choose-winograd --nn-form-groups --nn-choose-kernels | FileCheck %s --check-prefix=GROUP

// Many tiles: the filters are transformed once, each block of tiles meets all of them.
// CHECK-LABEL: func @large
// CHECK: %[[U:.*]] = nn.winograd_filter %{{.*}} tile 4 : tensor<64x64x3x3xf32> -> tensor<36x2x65x32xf32>
// CHECK: nn.winograd_conv %{{.*}}, %[[U]] tile 4 {plan = #kernel.plan<kernel = "winograd_tiles", tile = [14, 2, 16], streams = 8, block = 56, stride = 64, winograd = 4>}
// GROUP-LABEL: func @large
// GROUP: nn.group({{.*}}) {plan = #kernel.plan<kernel = "winograd_filters">
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
