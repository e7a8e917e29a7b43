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

// Symbolic sizes: offsets are sums and maxima of sizes; the caller learns the total from @workspace_size.
// The sum is checked before it is computed, unless the most that they take is known and small.
// CHECK: func.func private @workspace_size(%[[S:.*]]: index) -> index
// CHECK: %[[BYTES:.*]] = arith.sitofp
// CHECK: %[[TOTAL:.*]] = arith.mulf %[[BYTES]]
// CHECK: %[[FITS:.*]] = arith.cmpf ole
// CHECK: %[[SIZE:.*]] = scf.if %[[FITS]]
// CHECK: arith.muli %[[S]]
// CHECK: } else {
// CHECK: %[[NONE:.*]] = arith.constant -1 : index
// CHECK: scf.yield %[[NONE]]
// CHECK: return %[[SIZE]]
// CHECK: kernel.entry
// CHECK: kernel.check {{.*}}, "KILN_STATUS_SIZE_OVERFLOW", "the workspace fits"
// CHECK: arith.muli
// CHECK-NOT: memref.alloc
// CHECK: memref.view
kernel.entry @run inputs [ {name = "x", type = tensor<?xf32>} ] outputs [ {name = "y", type = tensor<?xf32>} ] {
^bb0(%x: memref<?xf32>, %y: memref<?xf32>, %workspace: memref<?xi8>, %s0: index):
  %a = memref.alloc(%s0) : memref<?xf32>
  kernel.launch @k(%x, %a) tasks(%s0) : memref<?xf32>, memref<?xf32>
  kernel.launch @k(%a, %y) tasks(%s0) : memref<?xf32>, memref<?xf32>
}

// -----

// CHECK: func.func private @workspace_size(%[[S:.*]]: index) -> index
// CHECK-NOT: scf.if
// CHECK: arith.muli %[[S]]
// CHECK: kernel.entry
// CHECK-NOT: kernel.check
kernel.entry @run inputs [ {name = "x", type = tensor<?xf32>} ] outputs [ {name = "y", type = tensor<?xf32>} ] {
^bb0(%x: memref<?xf32>, %y: memref<?xf32>, %workspace: memref<?xi8>, %s0: index):
  %a = memref.alloc(%s0) {kernel.most_bytes = 4096} : memref<?xf32>
  kernel.launch @k(%x, %a) tasks(%s0) : memref<?xf32>, memref<?xf32>
  kernel.launch @k(%a, %y) tasks(%s0) : memref<?xf32>, memref<?xf32>
}

// -----

// What is computed from the dimensions stands behind the checks of sizes, which the caller's question makes, too.
// CHECK: func.func private @workspace_size(%[[S:.*]]: index) -> index
// CHECK: %[[FITS:.*]] = arith.cmpi
// CHECK: scf.if %[[FITS]]
// CHECK: arith.constant 256 : index
// CHECK: kernel.entry
// CHECK: kernel.check {{.*}}, "KILN_STATUS_SIZE_OVERFLOW", "a tensor fits"
// CHECK: kernel.check {{.*}}, "KILN_STATUS_DIMENSION_MISMATCH"
kernel.entry @run inputs [ {name = "x", type = tensor<?xf32>} ] outputs [ {name = "y", type = tensor<?xf32>} ] {
^bb0(%x: memref<?xf32>, %y: memref<?xf32>, %workspace: memref<?xi8>, %s0: index):
  %most = arith.constant 100 : index
  %fits = arith.cmpi sle, %s0, %most : index
  kernel.check %fits, "KILN_STATUS_SIZE_OVERFLOW", "a tensor fits"
  %even = arith.muli %s0, %s0 : index
  %is = arith.cmpi eq, %even, %most : index
  kernel.check %is, "KILN_STATUS_DIMENSION_MISMATCH", "the square is 100"
  %a = memref.alloc() : memref<64xf32>
  kernel.launch @k(%x, %a) tasks(%s0) : memref<?xf32>, memref<64xf32>
  kernel.launch @k(%a, %y) tasks(%s0) : memref<64xf32>, memref<?xf32>
}

// -----

// %a and %c never live together and lie below %b, whose place depends on which of them is larger; the 256 bytes of %d, which lives alone, have the first place.
// CHECK: func.func private @workspace_size
// CHECK: kernel.entry
// CHECK: %[[START:.*]] = arith.constant 0 : index
// CHECK: %[[B:.*]] = arith.maxsi %{{.*}}, %{{.*}} : index
// CHECK: %[[END:.*]] = arith.addi %[[B]], %{{.*}} : index
// CHECK: memref.view %{{.*}}[%[[START]]][%{{.*}}] : memref<?xi8> to memref<?xf32>
// CHECK: memref.view %{{.*}}[%[[B]]][%{{.*}}] : memref<?xi8> to memref<?xf32>
// CHECK: memref.view %{{.*}}[%[[START]]][%{{.*}}] : memref<?xi8> to memref<?xf32>
// CHECK: memref.view %{{.*}}[%[[START]]][] : memref<?xi8> to memref<64xf32>
kernel.entry @run inputs [ {name = "x", type = tensor<?xf32>} ] outputs [ {name = "y", type = tensor<?xf32>} ] {
^bb0(%x: memref<?xf32>, %y: memref<?xf32>, %workspace: memref<?xi8>, %s0: index, %s1: index):
  %c100 = arith.constant 100 : index
  %wide = arith.addi %s0, %c100 : index
  %a = memref.alloc(%wide) {kernel.most_bytes = 4096} : memref<?xf32>
  kernel.launch @k(%x, %a) tasks(%s0) : memref<?xf32>, memref<?xf32>
  %b = memref.alloc(%s1) {kernel.most_bytes = 4096} : memref<?xf32>
  kernel.launch @k(%a, %b) tasks(%s0) : memref<?xf32>, memref<?xf32>
  %c = memref.alloc(%s0) {kernel.most_bytes = 4096} : memref<?xf32>
  kernel.launch @k(%b, %c) tasks(%s0) : memref<?xf32>, memref<?xf32>
  kernel.launch @k(%c, %y) tasks(%s0) : memref<?xf32>, memref<?xf32>
  %d = memref.alloc() : memref<64xf32>
  kernel.launch @k(%x, %d) tasks(%s0) : memref<?xf32>, memref<64xf32>
  kernel.launch @k(%d, %y) tasks(%s0) : memref<64xf32>, memref<?xf32>
}
