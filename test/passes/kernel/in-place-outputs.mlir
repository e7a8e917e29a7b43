// RUN: kiln-opt %s --kernel-plan-memory | FileCheck %s

// The first launch may write %y over %x, which nobody reads afterwards. %z could take the buffer of %w, but is written before %w is read for
// the last time; %v is read again by a launch under a condition.
// CHECK: kernel.entry @run
// CHECK-SAME: attributes {kernel.in_place = array<i64: 0, 0>}
kernel.entry @run inputs [ {name = "x", type = tensor<8xf32>}, {name = "w", type = tensor<8xf32>}, {name = "v", type = tensor<8xf32>} ]
                  outputs [ {name = "y", type = tensor<8xf32>}, {name = "z", type = tensor<8xf32>}, {name = "u", type = tensor<8xf32>} ] {
^bb0(%x: memref<8xf32>, %w: memref<8xf32>, %v: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>, %u: memref<8xf32>, %workspace: memref<?xi8>):
  %n = arith.constant 1 : index
  %true = arith.constant true
  %from = memref.cast %x : memref<8xf32> to memref<?xf32>
  %to = memref.cast %y : memref<8xf32> to memref<?xf32>
  kernel.launch @k(%from, %to) tasks(%n) {kernel.overwrites = array<i64: 0, 1>} : memref<?xf32>, memref<?xf32>
  kernel.launch @k2(%y, %z) tasks(%n) : memref<8xf32>, memref<8xf32>
  kernel.launch @k(%w, %z) tasks(%n) {kernel.overwrites = array<i64: 0, 1>} : memref<8xf32>, memref<8xf32>
  kernel.launch @k(%v, %u) tasks(%n) {kernel.overwrites = array<i64: 0, 1>} : memref<8xf32>, memref<8xf32>
  scf.if %true {
    kernel.launch @k2(%v, %y) tasks(%n) : memref<8xf32>, memref<8xf32>
  }
}
