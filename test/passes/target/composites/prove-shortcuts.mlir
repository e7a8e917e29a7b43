// RUN: kiln-opt %s --nn-prove-shortcuts | FileCheck %s
// RUN: kiln-opt %s --nn-prove-shortcuts --nn-decompose-composites=decompose=all | FileCheck %s --check-prefix=PARTS

module attributes {nn.symbols = ["n"], nn.symbol_bounds = [array<i64: 1, 4096>]} {
  // CHECK-LABEL: @proven
  // PARTS-LABEL: @proven
  func.func @proven(%x: tensor<4x1000xf32>, %q: tensor<4x1000xui8>, %r: tensor<4x1000xf32> {nn.range = array<f64: 90.0, 110.0>},
                    %n: tensor<4x?xf32, #nn.dims<()[s0] -> (4, s0)>>, %h: tensor<4x64xf16>, %b: tensor<4x64xbf16>, %d: tensor<4x64xf64>) {
    // CHECK: nn.softmax {{.*}} {proof = "no maximum: x in [-80, 80] and N <= 1000 give x >= -80 and x + ln N <= 86.91, within -+87.32: exp, sum and 1 / sum are normal f32", shift = 0.000000e+00 : f64}
    // PARTS: nn.clamp
    // PARTS-NOT: nn.reduce max
    // PARTS-NOT: nn.sub
    // PARTS: nn.exp
    %clip = nn.clamp %x {min = -80.0 : f64, max = 80.0 : f64} : tensor<4x1000xf32>
    %0 = nn.softmax %clip axis 1 : tensor<4x1000xf32>
    // CHECK: nn.softmax {{.*}}no maximum: x in [-1.00391, 1.00391]{{.*}}shift = 0.0
    %tanh = nn.tanh %x : tensor<4x1000xf32>
    %1 = nn.softmax %tanh axis 1 : tensor<4x1000xf32>
    // What DequantizeLinear is.
    %zero = nn.splat 128.0 : f32 -> tensor<4x1000xf32>
    %scale = nn.splat 0.25 : f32 -> tensor<4x1000xf32>
    %cast = nn.cast %q : tensor<4x1000xui8> -> tensor<4x1000xf32>
    %centered = nn.sub %cast, %zero : tensor<4x1000xf32>
    %dequantized = nn.mul %centered, %scale : tensor<4x1000xf32>
    // CHECK: nn.softmax {{.*}}no maximum: x in [-32, 31.75]{{.*}}shift = 0.0
    %2 = nn.softmax %dequantized axis 1 : tensor<4x1000xf32>
    // All differences from 100 are exact.
    // CHECK: nn.softmax {{.*}}x - 100 >= -10 and x - 100 + ln N <= 16.91{{.*}}shift = 1.000000e+02
    // PARTS: nn.splat 1.000000e+02
    // PARTS-NEXT: nn.sub
    %3 = nn.softmax %r axis 1 : tensor<4x1000xf32>
    // The bound of a dynamic row.
    %sigmoid = nn.sigmoid %n : tensor<4x?xf32, #nn.dims<()[s0] -> (4, s0)>>
    // CHECK: nn.softmax {{.*}}N <= 4096{{.*}}shift = 0.0
    %4 = nn.softmax %sigmoid axis 1 : tensor<4x?xf32, #nn.dims<()[s0] -> (4, s0)>>
    // Half precision stores the exponentials, so its normal numbers count.
    // CHECK: nn.softmax {{.*}}within -+9.688: {{.*}} f16{{.*}}shift = 0.0
    %small = nn.clamp %h {min = -9.5 : f64, max = 5.5 : f64} : tensor<4x64xf16>
    %5 = nn.softmax %small axis 1 : tensor<4x64xf16>
    // CHECK: nn.softmax {{.*}}within -+87.32: {{.*}} bf16{{.*}}shift = 0.0
    %clip_b = nn.clamp %b {min = -80.0 : f64, max = 80.0 : f64} : tensor<4x64xbf16>
    %6 = nn.softmax %clip_b axis 1 : tensor<4x64xbf16>
    // CHECK: nn.softmax {{.*}}within -+708.4: {{.*}} f64{{.*}}shift = 0.0
    %clip_d = nn.clamp %d {min = -700.0 : f64, max = 700.0 : f64} : tensor<4x64xf64>
    %7 = nn.softmax %clip_d axis 1 : tensor<4x64xf64>
    return
  }

  // CHECK-LABEL: @refused
  // CHECK-NOT: shift =
  func.func @refused(%x: tensor<4x1000xf32>, %r: tensor<4x1000xf32> {nn.range = array<f64: 0.0, 100.0>}, %h: tensor<4x64xf16>, %keep: tensor<4x1000xi1>,
                     %zero_one: tensor<4x1000xf32> {nn.range = array<f64: 0.0, 1.0>}, %unbounded: tensor<4x1000xf32> {nn.range = array<f64: 0.0, 0x7FF0000000000000>}) {
    // Nothing known; above; below; a promise of [0, 100]; of no end.
    %0 = nn.softmax %x axis 1 : tensor<4x1000xf32>
    %above = nn.clamp %x {min = -80.0 : f64, max = 81.0 : f64} : tensor<4x1000xf32>
    %1 = nn.softmax %above axis 1 : tensor<4x1000xf32>
    %below = nn.clamp %x {min = -87.5 : f64, max = 0.0 : f64} : tensor<4x1000xf32>
    %2 = nn.softmax %below axis 1 : tensor<4x1000xf32>
    %3 = nn.softmax %r axis 1 : tensor<4x1000xf32>
    %4 = nn.softmax %unbounded axis 1 : tensor<4x1000xf32>
    // ONNX test_softmax_large_number.
    %large = nn.constant dense<[[0.0, 1.0, 2.0, 3.0], [10000.0, 10001.0, 10002.0, 10003.0]]> : tensor<2x4xf32>
    %5 = nn.softmax %large axis 1 : tensor<2x4xf32>
    // Masks that add or choose -inf, and one of -10000.
    %mask = nn.splat 0xFF800000 : f32 -> tensor<4x1000xf32>
    %6 = nn.select %keep, %zero_one, %mask : tensor<4x1000xi1>, tensor<4x1000xf32>
    %7 = nn.softmax %6 axis 1 : tensor<4x1000xf32>
    %zeros = nn.splat 0.0 : f32 -> tensor<4x1000xf32>
    %bias = nn.select %keep, %zeros, %mask : tensor<4x1000xi1>, tensor<4x1000xf32>
    %8 = nn.add %zero_one, %bias : tensor<4x1000xf32>
    %9 = nn.softmax %8 axis 1 : tensor<4x1000xf32>
    %ten_thousand = nn.splat -10000.0 : f32 -> tensor<4x1000xf32>
    %10 = nn.select %keep, %zero_one, %ten_thousand : tensor<4x1000xi1>, tensor<4x1000xf32>
    %11 = nn.softmax %10 axis 1 : tensor<4x1000xf32>
    // A cheaper exp may give 0 below 2^-125, so that a row of the smallest would have no sum.
    %least = nn.clamp %x {min = -87.0 : f64, max = 60.0 : f64} : tensor<4x1000xf32>
    %14 = nn.softmax %least axis 1 {accuracy = #kernel.accuracy<ulp4>} : tensor<4x1000xf32>
    // The exponential of 10 is no normal f16 reciprocal.
    %clip = nn.clamp %h {min = -9.5 : f64, max = 6.0 : f64} : tensor<4x64xf16>
    %12 = nn.softmax %clip axis 1 : tensor<4x64xf16>
    // The logarithm of the sum would lose digits of the largest result.
    %13 = nn.log_softmax %zero_one axis 1 : tensor<4x1000xf32>
    return
  }

  // CHECK-LABEL: @identities
  func.func @identities(%x: tensor<4xf32>, %p: tensor<4xf32> {nn.range = array<f64: -2.0, 2.0>}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    // CHECK: %[[S:.*]] = nn.sigmoid
    // CHECK-NEXT: %[[C:.*]] = nn.clamp %arg0 {max = 6.0
    // CHECK: %[[N:.*]] = nn.constant
    // CHECK-NEXT: %[[M:.*]] = nn.maximum %arg1, %[[N]]
    // CHECK-NEXT: %[[K:.*]] = nn.clamp %arg1 {max = 1.0
    // CHECK-NEXT: return %[[S]], %[[C]], %arg1, %[[M]], %[[K]]
    %sigmoid = nn.sigmoid %x : tensor<4xf32>
    %relu = nn.relu %sigmoid : tensor<4xf32>
    %clip = nn.clamp %relu {min = 0.0 : f64, max = 6.0 : f64} : tensor<4xf32>
    %relu6 = nn.clamp %x {min = 0.0 : f64, max = 6.0 : f64} : tensor<4xf32>
    %again = nn.relu %relu6 : tensor<4xf32>
    %low = nn.splat -2.0 : f32 -> tensor<4xf32>
    %max = nn.maximum %p, %low : tensor<4xf32>
    // A NaN of the other operand would be lost.
    %nan = nn.constant dense<[-3.0, 0x7FC00000, -3.0, -3.0]> : tensor<4xf32>
    %with_nan = nn.maximum %p, %nan : tensor<4xf32>
    %real = nn.clamp %p {min = -2.0 : f64, max = 1.0 : f64} : tensor<4xf32>
    return %clip, %again, %max, %with_nan, %real : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}
