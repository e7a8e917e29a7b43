// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --nn-form-groups --nn-choose-kernels --nn-place-results | FileCheck %s
// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --nn-form-groups --nn-choose-kernels --nn-place-results --nn-lower-groups | FileCheck %s --check-prefix=LAUNCH

// Both operands of the concatenation are computed inside of the padded tensor. The concatenation has no kernel, the padding writes the border.
// CHECK-DAG: #[[LEFT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 * 1600 + d1 * 160 + d2 * 16 + d3 + 176)>
// CHECK-DAG: #[[RIGHT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 * 1600 + d1 * 160 + d2 * 16 + d3 + 180)>
// LAUNCH: memref.cast %arg2
// LAUNCH: kernel.launch @pool_windows_0
// LAUNCH: memref.cast %arg2
// LAUNCH: kernel.launch @pool_windows_1
// LAUNCH: kernel.launch @pad_copy_2
// LAUNCH-NOT: kernel.launch
module {
  func.func @main(%x: tensor<1x8x8x4xf32>, %y: tensor<1x8x8x12xf32>) -> tensor<1x10x10x16xf32> {
    // CHECK: nn.group(%arg0) {places = [unit, #[[LEFT]]], plan = #kernel.plan<kernel = "pool_windows">
    %a = nn.max_pool %x kernel [1, 1] strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] layout channels_last : tensor<1x8x8x4xf32> -> tensor<1x8x8x4xf32>
    // CHECK: nn.group(%arg1) {places = [unit, #[[RIGHT]]], plan = #kernel.plan<kernel = "pool_windows">
    %b = nn.max_pool %y kernel [1, 1] strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] layout channels_last : tensor<1x8x8x12xf32> -> tensor<1x8x8x12xf32>
    // CHECK: nn.group({{.*}}) {in_place = array<i64: 0, 1>, places = [#[[LEFT]], #[[RIGHT]], #[[LEFT]]], plan = #kernel.plan<kernel = "concat_copy">
    %c = nn.concat %a, %b axis 3 : (tensor<1x8x8x4xf32>, tensor<1x8x8x12xf32>) -> tensor<1x8x8x16xf32>
    %zero = nn.splat 0.0 : f32 -> tensor<f32>
    // CHECK: nn.group({{.*}}) {in_place = array<i64: 0>, {{.*}}plan = #kernel.plan<kernel = "pad_copy">
    %p = nn.pad %c, %zero low affine_map<() -> (0, 1, 1, 0)> high affine_map<() -> (0, 1, 1, 0)> interior [0, 0, 0, 0] mode constant
      : tensor<1x8x8x16xf32>, tensor<f32> -> tensor<1x10x10x16xf32>
    return %p : tensor<1x10x10x16xf32>
  }
}
