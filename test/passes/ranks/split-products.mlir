// A product of four-bit weights whose columns are three tensors, as queries, keys and values are: three products, each cut by its own columns, and one with
// whole blocks of its sum. So one exchange is enough.
// RUN: kiln-opt %s --nn-choose-shardings=grid=2 | kiln-opt --nn-partition-ranks=rank=1 --canonicalize | FileCheck %s
// CHECK-NOT: nn.slice
// CHECK: nn.block_quantized_matmul %[[X:.*]], %{{.*}} scales %{{.*}} zero_points %{{.*}} : tensor<128x16xui8> bits 4 : tensor<64x512xf32>, tensor<128x16x16xui8>, tensor<128x16xf32> -> tensor<64x128xf32>
// CHECK: nn.block_quantized_matmul %[[X]], %{{.*}} scales %{{.*}} zero_points %{{.*}} : tensor<128x16xui8> bits 4 : tensor<64x512xf32>, tensor<128x16x16xui8>, tensor<128x16xf32> -> tensor<64x128xf32>
// CHECK: nn.block_quantized_matmul %[[X]], %{{.*}} scales %{{.*}} zero_points %{{.*}} : tensor<128x16xui8> bits 4 : tensor<64x512xf32>, tensor<128x16x16xui8>, tensor<128x16xf32> -> tensor<64x128xf32>
// CHECK: nn.block_quantized_matmul %{{.*}}, %{{.*}} scales %{{.*}} zero_points %{{.*}} : tensor<128x4xui8> bits 4 : tensor<64x128xf32>, tensor<128x4x16xui8>, tensor<128x4xf32> -> tensor<64x128xf32>
// CHECK: nn.all_reduce %{{.*}} sum ranks [0, 1] index 1 number 0 : tensor<64x128xf32>
// CHECK-NOT: nn.all_

func.func @main(%x: tensor<64x512xf32> {nn.name = "x"}) -> (tensor<64x128xf32> {nn.name = "y"}) {
  %0 = nn.constant dense<7> : tensor<768x16x16xui8>
  %1 = nn.constant dense<1.0> : tensor<768x16xf32>
  %z = nn.constant dense<3> : tensor<768x16xui8>
  %2 = nn.block_quantized_matmul %x, %0 scales %1 zero_points %z : tensor<768x16xui8> bits 4 : tensor<64x512xf32>, tensor<768x16x16xui8>, tensor<768x16xf32> -> tensor<64x768xf32>
  %3 = nn.slice %2 starts affine_map<() -> (0, 0)> steps [1, 1] : tensor<64x768xf32> -> tensor<64x256xf32>
  %4 = nn.slice %2 starts affine_map<() -> (0, 256)> steps [1, 1] : tensor<64x768xf32> -> tensor<64x256xf32>
  %5 = nn.slice %2 starts affine_map<() -> (0, 512)> steps [1, 1] : tensor<64x768xf32> -> tensor<64x256xf32>
  %6 = nn.mul %3, %4 : tensor<64x256xf32>
  %7 = nn.add %6, %5 : tensor<64x256xf32>
  %8 = nn.constant dense<5> : tensor<128x8x16xui8>
  %9 = nn.constant dense<2.0> : tensor<128x8xf32>
  %zs = nn.constant dense<9> : tensor<128x8xui8>
  %10 = nn.block_quantized_matmul %7, %8 scales %9 zero_points %zs : tensor<128x8xui8> bits 4 : tensor<64x256xf32>, tensor<128x8x16xui8>, tensor<128x8xf32> -> tensor<64x128xf32>
  return %10 : tensor<64x128xf32>
}
