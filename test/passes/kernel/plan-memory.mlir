// RUN: kiln-opt %s --split-input-file --kernel-plan-memory | FileCheck %s

// %a and %c never live together: they share the first place. %b lives with both.
// CHECK: module attributes {kernel.workspace_bytes = 2048 : i64, kernel.workspace_lower_bound = 2048 : i64}
// CHECK: memref.view %{{.*}}[%c0][]
// CHECK: memref.view %{{.*}}[%c1024][]
// CHECK: memref.view %{{.*}}[%c0_{{.*}}][]
// CHECK-NOT: memref.alloc
kernel.entry @run inputs [ {name = "x", type = tensor<256xf32>} ] outputs [ {name = "y", type = tensor<256xf32>} ] {
^bb0(%x: memref<256xf32>, %y: memref<256xf32>, %workspace: memref<?xi8>):
  %n = arith.constant 1 : index
  %a = memref.alloc() : memref<256xf32>
  kernel.launch @k(%x, %a) tasks(%n) : memref<256xf32>, memref<256xf32>
  %b = memref.alloc() : memref<256xf32>
  kernel.launch @k(%a, %b) tasks(%n) : memref<256xf32>, memref<256xf32>
  %c = memref.alloc() : memref<256xf32>
  kernel.launch @k(%b, %c) tasks(%n) : memref<256xf32>, memref<256xf32>
  kernel.launch @k(%c, %y) tasks(%n) : memref<256xf32>, memref<256xf32>
}

// -----

// Symbolic sizes: slots whose sizes are sums of the symbols; the caller learns the total from @workspace_size.
// CHECK: func.func private @workspace_size(%[[S:.*]]: index) -> index
// CHECK: arith.muli %[[S]]
// CHECK: return
// CHECK: kernel.entry
// CHECK-NOT: memref.alloc
// CHECK: memref.view
kernel.entry @run inputs [ {name = "x", type = tensor<?xf32>} ] outputs [ {name = "y", type = tensor<?xf32>} ] {
^bb0(%x: memref<?xf32>, %y: memref<?xf32>, %workspace: memref<?xi8>, %s0: index):
  %a = memref.alloc(%s0) : memref<?xf32>
  kernel.launch @k(%x, %a) tasks(%s0) : memref<?xf32>, memref<?xf32>
  kernel.launch @k(%a, %y) tasks(%s0) : memref<?xf32>, memref<?xf32>
}
