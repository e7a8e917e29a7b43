// RUN: not kiln-opt %s --kernel-verify-kernel --split-input-file 2>&1 | FileCheck %s

// CHECK: error: 'memref.alloc' op allocates after memory planning
// CHECK: error: expected one kernel.entry after the kernel stage
func.func private @k(%n: index) {
  %a = memref.alloc() : memref<4xf32>
  return
}

// -----

func.func private @k(%x: memref<4xf32>) {
  return
}
kernel.entry @run inputs [{name = "x", type = tensor<4xf32>}] outputs [] {
^bb0(%x: memref<4xf32>, %workspace: memref<?xi8>):
  %c1 = arith.constant 1 : index
  // CHECK: error: 'kernel.launch' op launches 'k', which is not a kernel: its last arguments must be its range of tasks
  kernel.launch @k(%x) tasks(%c1) : memref<4xf32>
}
