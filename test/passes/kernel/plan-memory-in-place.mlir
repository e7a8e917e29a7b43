// RUN: kiln-opt %s --kernel-plan-memory | FileCheck %s

// The second launch may write over %a, which dies there: both have one place. %b is read again after the third launch, so %c has its own.
// CHECK: module attributes {kernel.workspace_bytes = 2048 : i64, kernel.workspace_lower_bound = 2048 : i64}
// CHECK: memref.view %{{.*}}[%c0][]
// CHECK: memref.view %{{.*}}[%c0_{{.*}}][]
// CHECK: memref.view %{{.*}}[%c1024][]
kernel.entry @run inputs [ {name = "x", type = tensor<256xf32>} ] outputs [ {name = "y", type = tensor<256xf32>} ] {
^bb0(%x: memref<256xf32>, %y: memref<256xf32>, %workspace: memref<?xi8>):
  %n = arith.constant 1 : index
  %a = memref.alloc() : memref<256xf32>
  kernel.launch @k(%x, %a) tasks(%n) {kernel.overwrites = array<i64: 0, 1>} : memref<256xf32>, memref<256xf32>
  %b = memref.alloc() : memref<256xf32>
  kernel.launch @k(%a, %b) tasks(%n) {kernel.overwrites = array<i64: 0, 1>} : memref<256xf32>, memref<256xf32>
  %c = memref.alloc() : memref<256xf32>
  kernel.launch @k(%b, %c) tasks(%n) {kernel.overwrites = array<i64: 0, 1>} : memref<256xf32>, memref<256xf32>
  kernel.launch @k2(%b, %c, %y) tasks(%n) : memref<256xf32>, memref<256xf32>, memref<256xf32>
}
