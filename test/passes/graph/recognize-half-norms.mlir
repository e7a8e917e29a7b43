// Where the half type does not hold what the norm in f32 has, the casts stay.
// RUN: kiln-opt %s --nn-recognize-composites | FileCheck %s

// Parameters that were f16 or have the same numbers in it; the same for bf16.
// CHECK-LABEL: func @raised
// CHECK-DAG: %[[SCALE:.*]] = nn.constant dense<[5.000000e-01, 1.500000e+00]> : tensor<2xf16>
// CHECK: nn.layer_norm %arg0, %[[SCALE]], %arg1 axis 1 epsilon 1.000000e-05 : tensor<3x2xf16>, tensor<2xf16>, tensor<2xf16>
// CHECK: %[[ONE:.*]] = nn.splat 1.000000e+00 : bf16 -> tensor<2xbf16>
// CHECK: nn.rms_norm %arg2, %[[ONE]] axis 1 epsilon 1.000000e-05 : tensor<3x2xbf16>, tensor<2xbf16>
func.func @raised(%x: tensor<3x2xf16>, %b: tensor<2xf16>, %y: tensor<3x2xbf16>) -> (tensor<3x2xf16>, tensor<3x2xbf16>) {
  %scale = nn.constant dense<[0.5, 1.5]> : tensor<2xf32>
  %wide = nn.cast %x : tensor<3x2xf16> -> tensor<3x2xf32>
  %bias = nn.cast %b : tensor<2xf16> -> tensor<2xf32>
  %0 = nn.layer_norm %wide, %scale, %bias axis 1 epsilon 1.0e-5 : tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>
  %1 = nn.cast %0 : tensor<3x2xf32> -> tensor<3x2xf16>
  %one = nn.splat 1.0 : f32 -> tensor<2xf32>
  %wide2 = nn.cast %y : tensor<3x2xbf16> -> tensor<3x2xf32>
  %2 = nn.rms_norm %wide2, %one axis 1 epsilon 1.0e-5 : tensor<3x2xf32>, tensor<2xf32>
  %3 = nn.cast %2 : tensor<3x2xf32> -> tensor<3x2xbf16>
  return %1, %3 : tensor<3x2xf16>, tensor<3x2xbf16>
}

// A scale with more digits, a parameter that is f32, an input or a result that somebody reads in f32, another type in than out.
// CHECK-LABEL: func @kept
// CHECK-COUNT-5: nn.rms_norm %{{.*}} : tensor<3x2xf32>, tensor<2xf32>
// CHECK-NOT: nn.rms_norm
func.func @kept(%x: tensor<3x2xf16>, %y: tensor<3x2xbf16>, %z: tensor<3x2xf16>, %u: tensor<3x2xf16>, %v: tensor<3x2xf16>, %w: tensor<2xf32>)
    -> (tensor<3x2xf16>, tensor<3x2xf16>, tensor<3x2xf16>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf16>, tensor<3x2xf16>) {
  %digits = nn.constant dense<[0.1, 1.5]> : tensor<2xf32>
  %one = nn.splat 1.0 : f32 -> tensor<2xf32>
  %wide0 = nn.cast %x : tensor<3x2xf16> -> tensor<3x2xf32>
  %0 = nn.rms_norm %wide0, %digits axis 1 epsilon 1.0e-5 : tensor<3x2xf32>, tensor<2xf32>
  %1 = nn.cast %0 : tensor<3x2xf32> -> tensor<3x2xf16>
  %wide1 = nn.cast %z : tensor<3x2xf16> -> tensor<3x2xf32>
  %2 = nn.rms_norm %wide1, %w axis 1 epsilon 1.0e-5 : tensor<3x2xf32>, tensor<2xf32>
  %3 = nn.cast %2 : tensor<3x2xf32> -> tensor<3x2xf16>
  %wide2 = nn.cast %u : tensor<3x2xf16> -> tensor<3x2xf32>
  %4 = nn.rms_norm %wide2, %one axis 1 epsilon 1.0e-5 : tensor<3x2xf32>, tensor<2xf32>
  %5 = nn.cast %4 : tensor<3x2xf32> -> tensor<3x2xf16>
  %6 = nn.abs %wide2 : tensor<3x2xf32>
  %wide3 = nn.cast %v : tensor<3x2xf16> -> tensor<3x2xf32>
  %7 = nn.rms_norm %wide3, %one axis 1 epsilon 1.0e-5 : tensor<3x2xf32>, tensor<2xf32>
  %8 = nn.cast %7 : tensor<3x2xf32> -> tensor<3x2xf16>
  %other = nn.cast %y : tensor<3x2xbf16> -> tensor<3x2xf32>
  %9 = nn.rms_norm %other, %one axis 1 epsilon 1.0e-5 : tensor<3x2xf32>, tensor<2xf32>
  %10 = nn.cast %9 : tensor<3x2xf32> -> tensor<3x2xf16>
  return %1, %3, %5, %6, %7, %8, %10 : tensor<3x2xf16>, tensor<3x2xf16>, tensor<3x2xf16>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf16>, tensor<3x2xf16>
}
