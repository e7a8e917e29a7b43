// RUN: kiln-opt %s --kernel-drop-unused-arguments | FileCheck %s

// The body uses %s1, the work of one launch %s2. What gave the others is dead.
// CHECK-LABEL: func.func private @k(
// CHECK-SAME: %{{.*}}: memref<?xf32>, %[[S:.*]]: index {kernel.name = "s1"}, %{{.*}}: index {kernel.name = "s2"}, %{{.*}}: index, %{{.*}}: index)
// CHECK: memref.load %{{.*}}[%[[S]]]
func.func private @k(%x: memref<?xf32>, %s0: index {kernel.name = "s0"}, %s1: index {kernel.name = "s1"}, %s2: index {kernel.name = "s2"}, %begin: index,
                     %end: index) {
  %v = memref.load %x[%s1] : memref<?xf32>
  memref.store %v, %x[%begin] : memref<?xf32>
  return
}
// CHECK-LABEL: func.func private @all(
// CHECK-SAME: index, %{{.*}}: index, %{{.*}}: index)
func.func private @all(%x: memref<?xf32>, %n: index, %begin: index, %end: index) {
  %v = memref.load %x[%n] : memref<?xf32>
  memref.store %v, %x[%begin] : memref<?xf32>
  return
}
// CHECK: kernel.entry
// CHECK-NEXT: ^bb0(%[[X:[^:]*]]: {{.*}}, %[[A:[^:]*]]: index, %[[B:[^:]*]]: index)
kernel.entry @run inputs [] outputs [] {
^bb0(%x: memref<?xf32>, %a: index, %b: index):
  // CHECK-NEXT: %[[SUM:.*]] = arith.addi
  // CHECK-NEXT: kernel.launch @k(%[[X]], %[[B]], %[[SUM]]) tasks(%[[A]]) {kernel.work = #[[WORK:.*]]}
  // CHECK-NEXT: kernel.launch @k(%[[X]], %[[A]], %[[B]]) tasks(%[[A]])
  // CHECK-NEXT: kernel.launch @all(%[[X]], %[[B]]) tasks(%[[A]])
  %dead = arith.muli %a, %b : index
  %deader = arith.muli %dead, %dead : index
  %sum = arith.addi %a, %b : index
  kernel.launch @k(%x, %deader, %b, %sum) tasks(%a) {kernel.work = affine_map<()[s0, s1, s2] -> (s2 * 2, s2)>} : memref<?xf32>, index, index, index
  kernel.launch @k(%x, %dead, %a, %b) tasks(%a) : memref<?xf32>, index, index, index
  kernel.launch @all(%x, %b) tasks(%a) : memref<?xf32>, index
}
