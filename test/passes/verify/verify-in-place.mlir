// RUN: not kiln-opt %s --kernel-verify-in-place --split-input-file 2>&1 | FileCheck %s

// The pair that was asked for is one that the kernels allow.
// CHECK-NOT: error
module attributes {nn.asked_in_place = array<i64: 0, 0>} {
  kernel.entry @run inputs [ {name = "x", type = tensor<8xf32>} ] outputs [ {name = "y", type = tensor<8xf32>} ] attributes {kernel.in_place = array<i64: 0, 0>} {
  ^bb0(%x: memref<8xf32>, %y: memref<8xf32>, %workspace: memref<?xi8>):
    %n = arith.constant 1 : index
    kernel.launch @k(%x, %y) tasks(%n) : memref<8xf32>, memref<8xf32>
  }
}

// -----

// CHECK: error: --in-place=y=x: its kernel k does not read every element before it writes there
module attributes {nn.asked_in_place = array<i64: 0, 0>} {
  kernel.entry @run inputs [ {name = "x", type = tensor<8xf32>} ] outputs [ {name = "y", type = tensor<8xf32>} ] {
  ^bb0(%x: memref<8xf32>, %y: memref<8xf32>, %workspace: memref<?xi8>):
    %n = arith.constant 1 : index
    kernel.launch @k(%x, %y) tasks(%n) : memref<8xf32>, memref<8xf32>
  }
}

// -----

// CHECK: error: --in-place=y=x: its kernel reads the input after the output has been written
// CHECK: error: --in-place=z=w: the output is computed from other values than the input
module attributes {nn.asked_in_place = array<i64: 0, 0, 1, 1>} {
  kernel.entry @run inputs [ {name = "x", type = tensor<8xf32>}, {name = "w", type = tensor<8xf32>} ]
                    outputs [ {name = "y", type = tensor<8xf32>}, {name = "z", type = tensor<8xf32>} ] {
  ^bb0(%x: memref<8xf32>, %w: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>, %workspace: memref<?xi8>):
    %n = arith.constant 1 : index
    kernel.launch @k(%x, %y) tasks(%n) : memref<8xf32>, memref<8xf32>
    kernel.launch @k(%x, %z) tasks(%n) : memref<8xf32>, memref<8xf32>
    kernel.launch @j(%w) tasks(%n) : memref<8xf32>
  }
}

// -----

// CHECK: error: --in-place=y=x: no kernel writes 'y' at run time
module attributes {nn.asked_in_place = array<i64: 0, 0>} {
  kernel.entry @run inputs [ {name = "x", type = tensor<8xf32>} ] outputs [ {name = "y", type = tensor<8xf32>} ] {
  ^bb0(%x: memref<8xf32>, %y: memref<8xf32>, %workspace: memref<?xi8>):
  }
}

// -----

// CHECK: error: 'kernel.entry' op does not have the input 2 and the output 0 that nn.asked_in_place names
module attributes {nn.asked_in_place = array<i64: 2, 0>} {
  kernel.entry @run inputs [ {name = "x", type = tensor<8xf32>} ] outputs [ {name = "y", type = tensor<8xf32>} ] {
  ^bb0(%x: memref<8xf32>, %y: memref<8xf32>, %workspace: memref<?xi8>):
  }
}
