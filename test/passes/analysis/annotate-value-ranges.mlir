// RUN: kiln-opt %s --nn-annotate-value-ranges | FileCheck %s

module attributes {nn.symbols = ["n", "m"], nn.symbol_bounds = [array<i64: 1, 16>, array<i64>]} {
  // Functions that are bounded by themselves; tanh has its error at both ends.
  // CHECK-LABEL: @bounded
  func.func @bounded(%x: tensor<4x8xf32>) {
    // CHECK: nn.sigmoid {{.*}}nn.value_range = "[0, 1] or NaN"
    %0 = nn.sigmoid %x : tensor<4x8xf32>
    // CHECK: nn.tanh {{.*}}nn.value_range = "[-1.00390625, 1.00390625] or NaN"
    %1 = nn.tanh %x : tensor<4x8xf32>
    // CHECK: nn.exp {{.*}}nn.value_range = "[0, inf] or NaN"
    %2 = nn.exp %x : tensor<4x8xf32>
    // CHECK: nn.softmax {{.*}}nn.value_range = "[0, 1] or NaN"
    %3 = nn.softmax %x axis 1 : tensor<4x8xf32>
    // CHECK: nn.relu {{.*}}nn.value_range = "[0, inf] or NaN"
    %4 = nn.relu %x : tensor<4x8xf32>
    // CHECK: nn.is_nan {{.*}}nn.value_range = "[0, 1]"
    %5 = nn.is_nan %x : tensor<4x8xf32> -> tensor<4x8xi1>
    // CHECK: nn.clamp {{.*}}nn.value_range = "[-1.5, 8] or NaN"
    %6 = nn.clamp %x {min = -1.5 : f64, max = 8.0 : f64} : tensor<4x8xf32>
    // 0.1 is no f32: the range ends at the number above it.
    // CHECK: nn.clamp {{.*}}nn.value_range = "[0, 0.1000000015] or NaN"
    %7 = nn.clamp %x {min = 0.0 : f64, max = 0.1 : f64} : tensor<4x8xf32>
    // CHECK: nn.hard_sigmoid {{.*}}nn.value_range = "[0, 1] or NaN"
    %8 = nn.hard_sigmoid %x {alpha = 0.2 : f64, beta = 0.5 : f64} : tensor<4x8xf32>
    return
  }

  // A promise, which NaN may break. What is exact stays so.
  // CHECK-LABEL: @promised
  func.func @promised(%p: tensor<4x8xf32> {nn.range = array<f64: -2.0, 3.0>}) {
    // CHECK: nn.add {{.*}}nn.value_range = "[-4, 6] or NaN"
    %0 = nn.add %p, %p : tensor<4x8xf32>
    // CHECK: nn.sub {{.*}}nn.value_range = "[-5, 5] or NaN"
    %1 = nn.sub %p, %p : tensor<4x8xf32>
    // CHECK: nn.mul {{.*}}nn.value_range = "[0, 9] or NaN"
    %2 = nn.mul %p, %p : tensor<4x8xf32>
    // CHECK: nn.mul {{.*}}nn.value_range = "[-12, 18] or NaN"
    %3 = nn.mul %p, %0 : tensor<4x8xf32>
    // CHECK: nn.abs {{.*}}nn.value_range = "[0, 3] or NaN"
    %4 = nn.abs %p : tensor<4x8xf32>
    // CHECK: nn.div {{.*}}nn.value_range = "[-inf, inf] or NaN"
    %5 = nn.div %2, %p : tensor<4x8xf32>
    // CHECK: nn.sqrt {{.*}}nn.value_range = "[0, 1.732050896] or NaN"
    %6 = nn.sqrt %p : tensor<4x8xf32>
    // CHECK: nn.log {{.*}}nn.value_range = "[-inf, 1.10{{[0-9]*}}] or NaN"
    %7 = nn.log %p : tensor<4x8xf32>
    // CHECK: nn.floor {{.*}}nn.value_range = "[-2, 3] or NaN"
    %8 = nn.floor %p : tensor<4x8xf32>
    // CHECK: nn.gelu {{.*}}nn.value_range = "[-2.0{{[0-9]*}}, 3.0{{[0-9]*}}] or NaN"
    %9 = nn.gelu %p : tensor<4x8xf32>
    // CHECK: nn.log_softmax {{.*}}nn.value_range = "[-7.1{{[0-9]*}}, 0.0039{{[0-9]*}}] or NaN"
    %10 = nn.log_softmax %p axis 1 : tensor<4x8xf32>
    return
  }

  // Constants are read, NaN and infinities included; infinity less infinity and zero times infinity are NaN.
  // CHECK-LABEL: @constants
  func.func @constants() {
    // CHECK: nn.value_range = "[-3, 2.5]"
    %0 = nn.constant dense<[1.0, -3.0, 2.5, 0.0]> : tensor<4xf32>
    // CHECK: nn.value_range = "[1, 2] or NaN"
    %1 = nn.constant dense<[1.0, 0x7FC00000, 2.0, 1.0]> : tensor<4xf32>
    // CHECK: nn.value_range = "[-inf, 2]"
    %2 = nn.constant dense<[1.0, 0xFF800000, 2.0, 1.0]> : tensor<4xf32>
    // CHECK: nn.sub {{.*}}nn.value_range = "[-inf, inf] or NaN"
    %3 = nn.sub %2, %2 : tensor<4xf32>
    // CHECK: nn.mul {{.*}}nn.value_range = "[-inf, inf] or NaN"
    %4 = nn.mul %0, %2 : tensor<4xf32>
    // CHECK: nn.neg {{.*}}nn.value_range = "[-2, inf]"
    %5 = nn.neg %2 : tensor<4xf32>
    // CHECK: nn.value_range = "[65504, 65504]"
    %6 = nn.splat 65504.0 : f16 -> tensor<4xf16>
    // Overflow of the type.
    // CHECK: nn.add {{.*}}nn.value_range = "[65504, inf]"
    %7 = nn.add %6, %6 : tensor<4xf16>
    // Rounding to the type is part of the range: 0.1 and 0.2 add up to no f16.
    // CHECK: nn.value_range = "[0.09997558594, 0.09997558594]"
    %8 = nn.splat 0.1 : f16 -> tensor<4xf16>
    // CHECK: nn.mul {{.*}}nn.value_range = "[0.009994506836, 0.01000213623]"
    %9 = nn.mul %8, %8 : tensor<4xf16>
    return
  }

  // What moves data holds what its operands hold.
  // CHECK-LABEL: @movement
  func.func @movement(%x: tensor<4x8xf32> {nn.range = array<f64: 1.0, 2.0>}, %i: tensor<3xi64>, %u: tensor<3x8xf32> {nn.range = array<f64: -1.0, 0.5>}) {
    %zero = nn.constant dense<0.0> : tensor<f32>
    // CHECK: nn.transpose {{.*}}nn.value_range = "[1, 2] or NaN"
    %0 = nn.transpose %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
    // CHECK: nn.reshape {{.*}}nn.value_range = "[1, 2] or NaN"
    %1 = nn.reshape %x : tensor<4x8xf32> -> tensor<32xf32>
    // CHECK: nn.broadcast_to {{.*}}nn.value_range = "[1, 2] or NaN"
    %2 = nn.broadcast_to %x : tensor<4x8xf32> -> tensor<2x4x8xf32>
    // CHECK: nn.slice {{.*}}nn.value_range = "[1, 2] or NaN"
    %3 = nn.slice %x starts affine_map<() -> (0, 2)> steps [1, 1] : tensor<4x8xf32> -> tensor<4x6xf32>
    // CHECK: nn.concat {{.*}}nn.value_range = "[-1, 2] or NaN"
    %4 = nn.concat %x, %u axis 0 : (tensor<4x8xf32>, tensor<3x8xf32>) -> tensor<7x8xf32>
    // CHECK: nn.pad {{.*}}nn.value_range = "[0, 2] or NaN"
    %5 = nn.pad %x, %zero low affine_map<() -> (0, 1)> high affine_map<() -> (0, 1)> interior [0, 0] mode constant : tensor<4x8xf32>, tensor<f32> -> tensor<4x10xf32>
    // CHECK: nn.gather {{.*}}nn.value_range = "[1, 2] or NaN"
    %6 = nn.gather %x, %i axis 0 : tensor<4x8xf32>, tensor<3xi64> -> tensor<3x8xf32>
    // CHECK: nn.iota {{.*}}nn.value_range = "[0, 7]"
    %7 = nn.iota axis 1 : tensor<4x8xi64>
    return
  }

  // Reductions and products; n is at most 16, m is not bounded.
  // CHECK-LABEL: @sums
  func.func @sums(%x: tensor<4x8xf32> {nn.range = array<f64: -1.0, 2.0>}, %n: tensor<2x?xf32, #nn.dims<()[s0] -> (2, s0)>> {nn.range = array<f64: 0.0, 1.0>},
                  %m: tensor<2x?xf32, #nn.dims<()[s0, s1] -> (2, s1)>> {nn.range = array<f64: 0.0, 1.0>}, %c: tensor<1x1x4x4xf32> {nn.range = array<f64: -1.0, 2.0>}) {
    // CHECK: nn.reduce sum {{.*}}nn.value_range = "[-8.0000{{[0-9]*}}, 16.0000{{[0-9]*}}] or NaN"
    %0 = nn.reduce sum %x [1] : tensor<4x8xf32> -> tensor<4x1xf32>
    // CHECK: nn.reduce mean {{.*}}nn.value_range = "[-1.0000{{[0-9]*}}, 2.0000{{[0-9]*}}] or NaN"
    %1 = nn.reduce mean %x [1] : tensor<4x8xf32> -> tensor<4x1xf32>
    // CHECK: nn.reduce max {{.*}}nn.value_range = "[-1, 2] or NaN"
    %2 = nn.reduce max %x [1] : tensor<4x8xf32> -> tensor<4x1xf32>
    // CHECK: nn.reduce sum {{.*}}nn.value_range = "[0, 16.0000{{[0-9]*}}] or NaN"
    %3 = nn.reduce sum %n [1] : tensor<2x?xf32, #nn.dims<()[s0] -> (2, s0)>> -> tensor<2x1xf32>
    // CHECK: nn.reduce sum {{.*}}nn.value_range = "[0, inf] or NaN"
    %4 = nn.reduce sum %m [1] : tensor<2x?xf32, #nn.dims<()[s0, s1] -> (2, s1)>> -> tensor<2x1xf32>
    // Columns of the weight: 1 and -3 give [-7, 5], 2 and 0 give [-2, 4].
    %w = nn.constant dense<[[1.0, 2.0], [-3.0, 0.0]]> : tensor<2x2xf32>
    %y = nn.slice %x starts affine_map<() -> (0, 0)> steps [1, 1] : tensor<4x8xf32> -> tensor<4x2xf32>
    // CHECK: nn.matmul {{.*}}nn.value_range = "[-7.00{{[0-9]*}}, 5.00{{[0-9]*}}] or NaN"
    %5 = nn.matmul %y, %w : tensor<4x2xf32>, tensor<2x2xf32> -> tensor<4x2xf32>
    // Padding may take the part of any input.
    %k = nn.constant dense<[[[[1.0, 1.0]]], [[[-1.0, 2.0]]]]> : tensor<2x1x1x2xf32>
    // CHECK: nn.conv {{.*}}nn.value_range = "[-4.00{{[0-9]*}}, 5.00{{[0-9]*}}] or NaN"
    %6 = nn.conv %c, %k strides [1, 1] dilations [1, 1] pads [0, 0, 0, 1] groups 1 layout channels_first : tensor<1x1x4x4xf32>, tensor<2x1x1x2xf32> -> tensor<1x2x4x4xf32>
    return
  }

  // What quantization leaves of a range: (q - 128) * 0.5.
  // CHECK-LABEL: @quantized
  func.func @quantized(%q: tensor<4xui8>, %s: tensor<4xi8>, %x: tensor<4xf32>) {
    %zero = nn.splat 128.0 : f32 -> tensor<4xf32>
    %scale = nn.splat 0.5 : f32 -> tensor<4xf32>
    // CHECK: nn.cast {{.*}}nn.value_range = "[0, 255]"
    %0 = nn.cast %q : tensor<4xui8> -> tensor<4xf32>
    // CHECK: nn.sub {{.*}}nn.value_range = "[-128, 127]"
    %1 = nn.sub %0, %zero : tensor<4xf32>
    // CHECK: nn.mul {{.*}}nn.value_range = "[-64, 63.5]"
    %2 = nn.mul %1, %scale : tensor<4xf32>
    // CHECK: nn.cast {{.*}}nn.value_range = "[-128, 127]"
    %3 = nn.cast %s : tensor<4xi8> -> tensor<4xi32>
    // Integers wrap: 8 bits do not hold the sum.
    // CHECK: nn.add {{.*}}nn.value_range = "[-128, 127]"
    %4 = nn.add %s, %s : tensor<4xi8>
    // CHECK: nn.add {{.*}}nn.value_range = "[-256, 254]"
    %5 = nn.add %3, %3 : tensor<4xi32>
    // CHECK: nn.cast {{.*}}nn.value_range = "[-2147483648, 2147483647]"
    %6 = nn.cast %x : tensor<4xf32> -> tensor<4xi32>
    return
  }

  // Normalized rows: at most sqrt(64) deviations, half as much again for rounding.
  // CHECK-LABEL: @normalized
  func.func @normalized(%x: tensor<4x64xf32>) {
    %scale = nn.splat 0.5 : f32 -> tensor<64xf32>
    %bias = nn.splat 1.0 : f32 -> tensor<64xf32>
    // CHECK: nn.layer_norm {{.*}}nn.value_range = "[-5.0000{{[0-9]*}}, 7.0000{{[0-9]*}}] or NaN"
    %0 = nn.layer_norm %x, %scale, %bias axis 1 epsilon 1.0e-5 : tensor<4x64xf32>, tensor<64xf32>, tensor<64xf32>
    // CHECK: nn.rms_norm {{.*}}nn.value_range = "[-6.0000{{[0-9]*}}, 6.0000{{[0-9]*}}] or NaN"
    %1 = nn.rms_norm %x, %scale axis 1 epsilon 1.0e-5 : tensor<4x64xf32>, tensor<64xf32>
    return
  }

  // Ranges go into a composite's body and come out of it.
  // CHECK-LABEL: @composite
  func.func @composite(%x: tensor<4x8xf32> {nn.range = array<f64: -2.0, 3.0>}) {
    // CHECK: nn.composite
    %r:2 = nn.composite "f" version 1(%x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
    ^bb0(%a: tensor<4x8xf32>):
      // CHECK: nn.relu {{.*}}nn.value_range = "[0, 3] or NaN"
      %b = nn.relu %a : tensor<4x8xf32>
      %c = nn.sigmoid %a : tensor<4x8xf32>
      nn.yield %b, %c : tensor<4x8xf32>, tensor<4x8xf32>
    }
    // CHECK: nn.neg {{.*}}nn.value_range = "[-3, {{-?}}0] or NaN"
    %0 = nn.neg %r#0 : tensor<4x8xf32>
    // CHECK: nn.neg {{.*}}nn.value_range = "[-0.9527507424, -0.1187941879] or NaN"
    %1 = nn.neg %r#1 : tensor<4x8xf32>
    return
  }
}

// What a function of the user's computes is not bounded by the body.
module attributes {kernel.target = #kernel.target<name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64", vector_bits = 128, registers = 16,
                   l1 = 32768, l2 = 524288, l3 = 4194304, features = [] with [<name = "f", version = 1, function = "f">]>} {
  // CHECK-LABEL: @external
  func.func @external(%x: tensor<4x8xf32>) {
    %r = nn.composite "f" version 1(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%a: tensor<4x8xf32>):
      // CHECK: nn.sigmoid {{.*}}nn.value_range = "[0, 1] or NaN"
      %c = nn.sigmoid %a : tensor<4x8xf32>
      nn.yield %c : tensor<4x8xf32>
    }
    // CHECK: nn.relu {{.*}}nn.value_range = "[0, inf] or NaN"
    %0 = nn.relu %r : tensor<4x8xf32>
    return
  }
}
