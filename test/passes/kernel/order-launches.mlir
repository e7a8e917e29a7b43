// RUN: kiln-opt %s --split-input-file --kernel-order-launches | FileCheck %s

// Each large buffer is used up before the next one is made.
func.func private @widen(%in: memref<4xf32>, %out: memref<1024xf32> {kernel.written}, %begin: index, %end: index) {
  return
}
func.func private @narrow(%in: memref<1024xf32>, %out: memref<4xf32> {kernel.written}, %begin: index, %end: index) {
  return
}
func.func private @join(%a: memref<4xf32>, %b: memref<4xf32>, %out: memref<4xf32> {kernel.written}, %begin: index, %end: index) {
  return
}
// CHECK-LABEL: kernel.entry @run
// CHECK: kernel.launch @widen(%{{.*}}, %[[A:.*]]) tasks
// CHECK-NEXT: kernel.launch @narrow(%[[A]], %[[C:.*]]) tasks
// CHECK-NEXT: kernel.launch @widen(%{{.*}}, %[[B:.*]]) tasks
// CHECK-NEXT: kernel.launch @narrow(%[[B]], %[[D:.*]]) tasks
// CHECK-NEXT: kernel.launch @join(%[[C]], %[[D]]
kernel.entry @run inputs [{name = "x", type = tensor<4xf32>}] outputs [{name = "y", type = tensor<4xf32>}] {
^bb0(%x: memref<4xf32>, %y: memref<4xf32>, %workspace: memref<?xi8>):
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<1024xf32>
  kernel.launch @widen(%x, %a) tasks(%c1) : memref<4xf32>, memref<1024xf32>
  %b = memref.alloc() : memref<1024xf32>
  kernel.launch @widen(%x, %b) tasks(%c1) : memref<4xf32>, memref<1024xf32>
  %c = memref.alloc() : memref<4xf32>
  kernel.launch @narrow(%a, %c) tasks(%c1) : memref<1024xf32>, memref<4xf32>
  %d = memref.alloc() : memref<4xf32>
  kernel.launch @narrow(%b, %d) tasks(%c1) : memref<1024xf32>, memref<4xf32>
  kernel.launch @join(%c, %d, %y) tasks(%c1) : memref<4xf32>, memref<4xf32>, memref<4xf32>
}

// -----

// A launch stays in front of one that overwrites what it reads: %b is made before @narrow writes %x.
func.func private @widen(%in: memref<4xf32>, %out: memref<1024xf32> {kernel.written}, %begin: index, %end: index) {
  return
}
func.func private @narrow(%in: memref<1024xf32>, %out: memref<4xf32> {kernel.written}, %begin: index, %end: index) {
  return
}
// CHECK-LABEL: kernel.entry @run
// CHECK: kernel.launch @widen(%[[X:.*]], %[[B:.*]]) tasks
// CHECK-NEXT: kernel.launch @narrow(%[[B]], %[[Y:.*]]) tasks
// CHECK-NEXT: kernel.launch @widen(%[[X]], %[[A:.*]]) tasks
// CHECK-NEXT: kernel.launch @narrow(%[[A]], %[[X]]) tasks
kernel.entry @run inputs [{name = "x", type = tensor<4xf32>}] outputs [{name = "y", type = tensor<4xf32>}] {
^bb0(%x: memref<4xf32>, %y: memref<4xf32>, %workspace: memref<?xi8>):
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<1024xf32>
  %b = memref.alloc() : memref<1024xf32>
  kernel.launch @widen(%x, %a) tasks(%c1) : memref<4xf32>, memref<1024xf32>
  kernel.launch @widen(%x, %b) tasks(%c1) : memref<4xf32>, memref<1024xf32>
  kernel.launch @narrow(%a, %x) tasks(%c1) : memref<1024xf32>, memref<4xf32>
  kernel.launch @narrow(%b, %y) tasks(%c1) : memref<1024xf32>, memref<4xf32>
}
