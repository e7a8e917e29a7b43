// RUN: kiln-opt %s --kernel-split-entry="most-launches=3 part-launches=1" | FileCheck %s

// A value that one region alone uses is computed in it, even one that is read from memory between two launches. What several use stays outside.
// CHECK: kernel.entry
// CHECK: %[[COUNT:.*]] = arith.index_cast
// CHECK: scf.execute_region no_inline {
// CHECK-NEXT: kernel.launch @k(%[[X:.*]], %[[Y:.*]]) tasks(%[[COUNT]])
// CHECK-NEXT: scf.yield
// CHECK: scf.execute_region no_inline {
// CHECK-NOT: kernel.launch
// CHECK: %[[BYTE:.*]] = memref.load
// CHECK: %[[IS:.*]] = arith.cmpi ne, %[[BYTE]]
// CHECK-NEXT: scf.if %[[IS]]
// CHECK-NEXT: kernel.launch @k(%[[Y]], %[[X]]) tasks(%[[COUNT]])
// CHECK: scf.yield
// CHECK: scf.execute_region no_inline {
// CHECK: kernel.launch @k(%[[X]], %[[Y]])
// CHECK: scf.execute_region no_inline {
// CHECK: kernel.launch @k(%[[Y]], %[[X]])
func.func private @k(%in: memref<?xi8>, %out: memref<?xi8>, %begin: index, %end: index)
kernel.entry @run inputs [ {name = "x", type = tensor<256xi8>} ] outputs [ {name = "y", type = tensor<256xi8>} ] {
^bb0(%x: memref<?xi8>, %y: memref<?xi8>, %workspace: memref<?xi8>):
  %zero = arith.constant 0 : index
  %no = arith.constant 0 : i8
  %first = memref.load %x[%zero] : memref<?xi8>
  %count = arith.index_cast %first : i8 to index
  kernel.launch @k(%x, %y) tasks(%count) : memref<?xi8>, memref<?xi8>
  %byte = memref.load %y[%zero] : memref<?xi8>
  %is = arith.cmpi ne, %byte, %no : i8
  scf.if %is {
    kernel.launch @k(%y, %x) tasks(%count) : memref<?xi8>, memref<?xi8>
  }
  kernel.launch @k(%x, %y) tasks(%count) : memref<?xi8>, memref<?xi8>
  kernel.launch @k(%y, %x) tasks(%count) : memref<?xi8>, memref<?xi8>
}
