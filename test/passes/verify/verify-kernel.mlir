// RUN: not kiln-opt %s --kernel-verify-kernel 2>&1 | FileCheck %s

// CHECK: error: 'memref.alloc' op allocates after memory planning
// CHECK: error: expected one kernel.entry after the kernel stage
func.func private @k(%n: index) {
  %a = memref.alloc() : memref<4xf32>
  return
}
