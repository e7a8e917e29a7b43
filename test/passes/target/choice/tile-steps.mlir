// RUN: kiln-opt %s --kiln-set-target=name=sapphirerapids --nn-form-groups --nn-choose-kernels | FileCheck %s
// RUN: kiln-opt %s --kiln-set-target=name=sapphirerapids --nn-form-groups --nn-choose-kernels > %t.mlir
// Plans that were edited, and why they do not fit: another depth than the part of a sum that weights are packed for, more rows than two tiles.
// RUN: sed 's/depth = 48/depth = 16/' %t.mlir > %t.depth.mlir && not kiln-opt %t.depth.mlir --nn-verify-target 2>&1 | FileCheck %s --check-prefix=DEPTH
// DEPTH: kernel 'gemm_tile_steps' cannot follow it: expected depth 48 and a tile of up to 32 rows and 2 vectors of 16
// RUN: sed 's/tile = .32, 2, 16./tile = [48, 2, 16]/' %t.mlir > %t.rows.mlir && not kiln-opt %t.rows.mlir --nn-verify-target 2>&1 | FileCheck %s --check-prefix=DEPTH
// Lower tiles do.
// RUN: sed 's/tile = .32, 2, 16./tile = [20, 2, 16]/' %t.mlir > %t.low.mlir && kiln-opt %t.low.mlir --nn-verify-target | FileCheck %s --check-prefix=LOW
// LOW: tile = [20, 2, 16]

// Half of the rows of a sum fill a step; the steps of one row take three rows, and what is no multiple of four is packed at run time.
// CHECK-LABEL: func @main
// CHECK: #kernel.plan<kernel = "gemm_tile_steps", tile = [32, 2, 16], chunk = 524288, {{.*}}depth = 48, step = "tile_u8s8">
// CHECK: #kernel.plan<kernel = "gemm_bytes"
// CHECK: #kernel.plan<kernel = "gemm_packed_bytes"
func.func @main(%a: tensor<40x96xui8>, %b: tensor<3x96xui8>, %c: tensor<40x97xui8>) -> (tensor<40x64xi32>, tensor<3x64xi32>, tensor<40x64xi32>) {
  %w = nn.constant dense<3> : tensor<96x64xi8>
  %v = nn.constant dense<3> : tensor<97x64xi8>
  %x = nn.matmul %a, %w : tensor<40x96xui8>, tensor<96x64xi8> -> tensor<40x64xi32>
  %y = nn.matmul %b, %w : tensor<3x96xui8>, tensor<96x64xi8> -> tensor<3x64xi32>
  %z = nn.matmul %c, %v : tensor<40x97xui8>, tensor<97x64xi8> -> tensor<40x64xi32>
  return %x, %y, %z : tensor<40x64xi32>, tensor<3x64xi32>, tensor<40x64xi32>
}
