// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v4 -kiln-target -kiln-kernel | FileCheck %s

// Bytes of 32 columns lie side by side, four of each: what a tile reads is one stream. Scales follow the same panels.
// CHECK-DAG: kernel.weight @{{.*}} : memref<2048xi8> = {{.*}} packed <shape = [2, 2, 4, 32, 4], map = (d0, d1, d2, d3, d4) -> (d0 * 32 + d3, d1, d2 * 4 + d4)>
// CHECK-DAG: kernel.weight @{{.*}} : memref<128xf32> = {{.*}} packed <shape = [2, 2, 32], map = (d0, d1, d2) -> (d0 * 32 + d2, d1)>
// CHECK-LABEL: func.func private @gemm_blocks
// CHECK-SAME: kernel.algorithm = "gemm_blocks 6x32"
// CHECK-NOT: memref.prefetch
// Numbers are bits of a mantissa below those of a power of two.
// CHECK: vector.bitcast %{{.*}} : vector<64xi8> to vector<16xi32>
// CHECK: arith.ori
// CHECK: vector.bitcast %{{.*}} : vector<16xi32> to vector<16xf32>
// CHECK: arith.subf
// CHECK: vector.fma

// More rows share a panel of f32 numbers: the tile of the first rows makes it, those of the others read it.
// CHECK-LABEL: func.func private @gemm_unpacked
// CHECK: memref.alloca() {{.*}} : memref<2048xf32>
// CHECK: memref.prefetch
// CHECK: arith.mulf
// CHECK: vector.store
// CHECK: vector.fma
// One row, which waits for its weights, asks for one line of those that lie a page further, as often as it reads a word of each column.
// CHECK-LABEL: func.func private @gemm_blocks
// CHECK-SAME: kernel.algorithm = "gemm_blocks 1x
// CHECK: arith.constant 4096
// CHECK: memref.prefetch %{{.*}}, read, locality<3>
// CHECK-NOT: memref.prefetch
// CHECK: scf.yield
module attributes {nn.model = "m"} {
  func.func @main(%a: tensor<6x64xf32> {nn.name = "a"}, %b: tensor<29x64xf32> {nn.name = "b"}, %c: tensor<1x64xf32> {nn.name = "c"}) -> (tensor<6x33xf32> {nn.name = "y"}, tensor<29x33xf32> {nn.name = "z"}, tensor<1x33xf32> {nn.name = "u"}) {
    %w = nn.constant dense<52> : tensor<33x2x16xui8>
    %s = nn.constant dense<0.5> : tensor<33x2xf32>
    %y = nn.block_quantized_matmul %a, %w scales %s bits 4 : tensor<6x64xf32>, tensor<33x2x16xui8>, tensor<33x2xf32> -> tensor<6x33xf32>
    %z = nn.block_quantized_matmul %b, %w scales %s bits 4 : tensor<29x64xf32>, tensor<33x2x16xui8>, tensor<33x2xf32> -> tensor<29x33xf32>
    %u = nn.block_quantized_matmul %c, %w scales %s bits 4 : tensor<1x64xf32>, tensor<33x2x16xui8>, tensor<33x2xf32> -> tensor<1x33xf32>
    return %y, %z, %u : tensor<6x33xf32>, tensor<29x33xf32>, tensor<1x33xf32>
  }
}
