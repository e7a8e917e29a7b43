// RUN: not kiln-opt %s --kernel-verify-kernel 2>&1 | FileCheck %s

// CHECK: error: 'memref.alloc' op allocates after memory planning
// CHECK: error: 'kernel.launch' op expected kernel.work to have two expressions of the symbols that are its last operands
// CHECK: error: 'kernel.launch' op expected kernel.work to have two expressions of the symbols that are its last operands
// CHECK-NOT: kernel.work
// CHECK: error: expected one kernel.entry after the kernel stage
func.func private @k(%n: index) {
  %a = memref.alloc() : memref<4xf32>
  return
}
func.func private @one(%x: memref<?xf32>, %n: index, %begin: index, %end: index) {
  return
}
func.func private @work(%x: memref<?xf32>, %n: index) {
  kernel.launch @one(%x, %n) tasks(%n) {kernel.work = affine_map<()[s0, s1] -> (s0, s1)>} : memref<?xf32>, index
  kernel.launch @one(%x, %n) tasks(%n) {kernel.work = affine_map<()[s0] -> (s0)>} : memref<?xf32>, index
  kernel.launch @one(%x, %n) tasks(%n) {kernel.work = affine_map<()[s0] -> (s0, s0 * 4)>} : memref<?xf32>, index
  return
}
