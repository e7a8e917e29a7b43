// RUN: kiln-opt %s --kernel-split-entry="most-launches=3 part-launches=2" | FileCheck %s
// RUN: kiln-opt %s --kernel-split-entry="most-launches=4" | FileCheck %s --check-prefix=WHOLE

// Each region computes the addresses that it uses. The cell that a kernel reports faults in stays outside: it is cleared once.
// CHECK: kernel.entry
// CHECK: %[[CELL:.*]] = memref.view
// CHECK: scf.execute_region no_inline {
// CHECK: %[[A:.*]] = memref.view
// CHECK: kernel.launch @k(%{{.*}}, %[[A]])
// CHECK: kernel.launch @checks(%[[A]], %{{.*}}, %[[CELL]])
// CHECK-NOT: kernel.launch
// CHECK: scf.yield
// CHECK: scf.execute_region no_inline {
// CHECK: %[[B:.*]] = memref.view
// CHECK: kernel.launch @k(%[[B]], %{{.*}})
// CHECK: kernel.launch
// CHECK: scf.yield
// CHECK-NOT: memref.view
// WHOLE-NOT: scf.execute_region
func.func private @k(%in: memref<?xf32>, %out: memref<?xf32>, %begin: index, %end: index)
func.func private @checks(%in: memref<?xf32>, %out: memref<?xf32>, %status: memref<1xi32> {kernel.status}, %begin: index, %end: index)
kernel.entry @run inputs [ {name = "x", type = tensor<256xf32>} ] outputs [ {name = "y", type = tensor<256xf32>} ] {
^bb0(%x: memref<?xf32>, %y: memref<?xf32>, %workspace: memref<?xi8>):
  %n = arith.constant 1 : index
  %offset = arith.constant 1024 : index
  %far = arith.constant 4096 : index
  %zero = arith.constant 0 : index
  %cell = memref.view %workspace[%far][] : memref<?xi8> to memref<1xi32>
  %a = memref.view %workspace[%zero][%far] : memref<?xi8> to memref<?xf32>
  kernel.launch @k(%x, %a) tasks(%n) : memref<?xf32>, memref<?xf32>
  %b = memref.view %workspace[%offset][%far] : memref<?xi8> to memref<?xf32>
  kernel.launch @checks(%a, %b, %cell) tasks(%n) : memref<?xf32>, memref<?xf32>, memref<1xi32>
  kernel.launch @k(%b, %a) tasks(%n) : memref<?xf32>, memref<?xf32>
  kernel.launch @k(%a, %y) tasks(%n) : memref<?xf32>, memref<?xf32>
}
