// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v4 -kiln-target -kiln-kernel | FileCheck %s
// RUN: kiln-opt %s --kiln-set-target=name=sapphirerapids -kiln-target -kiln-kernel | FileCheck %s --check-prefix=VNNI

// The four bytes of a column that a step multiplies lie side by side. 10 products a sum are filled up to 12 on both sides.
// CHECK: kernel.weight @[[W:.*]] : memref<768xi8> = {{.*}} packed <shape = [2, 3, 32, 4], map = (d0, d1, d2, d3) -> (d1 * 4 + d3, d0 * 32 + d2)>
// CHECK: kernel.weight @{{.*}} : memref<2304xi8> = {{.*}} packed <shape = [1, 3, 3, 4, 16, 4], map = (d0, d1, d2, d3, d4, d5) -> (d0 * 16 + d4, d3 * 4 + d5, d1, d2)>
// CHECK-LABEL: func.func private @gemm_bytes
// CHECK-SAME: kernel.algorithm = "gemm_bytes 12x32"
// CHECK: %[[A:.*]] = vector.load %{{.*}} : memref<?xi8>, vector<4xi8>
// CHECK: kernel.step "dot_u8s8_bounded"(%[[A]], %{{.*}}, %{{.*}}) : vector<4xi8>, vector<64xi8>, vector<16xi32>
// VNNI-LABEL: func.func private @gemm_bytes
// VNNI-SAME: kernel.algorithm = "gemm_bytes 14x32"
// VNNI: kernel.step "dot_u8s8"(%{{.*}}, %{{.*}}, %{{.*}}) : vector<4xi8>, vector<64xi8>, vector<16xi32>

// Signed bytes count from -128 while they are copied into the border.
// CHECK-LABEL: func.func private @pad_squares_2
// CHECK: arith.xori
// CHECK-LABEL: func.func private @conv_bytes
// CHECK: kernel.step "dot_u8s8_bounded"
module attributes {nn.model = "m"} {
  func.func @main(%a: tensor<29x10xui8> {nn.name = "a"}, %x: tensor<1x16x7x7xi8> {nn.name = "x"})
      -> (tensor<29x33xi32> {nn.name = "y"}, tensor<1x12x7x7xi32> {nn.name = "z"}) {
    %w = nn.constant dense<3> : tensor<10x33xi8>
    %za = nn.splat 9 : ui8 -> tensor<29x10xui8>
    %zw = nn.splat 1 : i8 -> tensor<10x33xi8>
    %y = nn.quantized_matmul %a, %w zero_points %za, %zw : tensor<29x10xui8>, tensor<10x33xi8> -> tensor<29x33xi32>
    %f = nn.constant dense<5> : tensor<12x16x3x3xi8>
    %zx = nn.splat -5 : i8 -> tensor<1x16x7x7xi8>
    %zf = nn.splat 0 : i8 -> tensor<12x16x3x3xi8>
    %z = nn.quantized_conv %x, %f zero_points %zx, %zf strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1] groups 1 layout channels_first
      : tensor<1x16x7x7xi8>, tensor<12x16x3x3xi8> -> tensor<1x12x7x7xi32>
    return %y, %z : tensor<29x33xi32>, tensor<1x12x7x7xi32>
  }
}
