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

// -----

// %a waits in no buffer while @wide and @narrow run: it is computed again in front of @join.
func.func private @scale(%in: memref<1024xf32>, %out: memref<1024xf32> {kernel.written}, %begin: index, %end: index) {
  return
}
func.func private @first(%in: memref<1024xf32>, %out: memref<512xf32> {kernel.written}, %begin: index, %end: index) {
  return
}
func.func private @wide(%in: memref<512xf32>, %out: memref<4096xf32> {kernel.written}, %begin: index, %end: index) {
  return
}
func.func private @narrow(%in: memref<4096xf32>, %out: memref<16xf32> {kernel.written}, %begin: index, %end: index) {
  return
}
func.func private @join(%a: memref<1024xf32>, %b: memref<16xf32>, %out: memref<16xf32> {kernel.written}, %begin: index, %end: index) {
  return
}
// CHECK-LABEL: kernel.entry @cheap
// CHECK: kernel.launch @scale(%[[X:.*]], %[[A:.*]]) tasks
// CHECK-NEXT: kernel.launch @first(%[[A]],
// CHECK-NEXT: kernel.launch @wide
// CHECK-NEXT: kernel.launch @narrow
// CHECK-NEXT: kernel.launch @scale(%[[X]], %[[AGAIN:.*]]) tasks(%{{.*}}) {{.*}}kernel.reason = "computed again: the workspace takes 18432 bytes instead of 22528, a run 2 % more work"
// CHECK-NEXT: kernel.launch @join(%[[AGAIN]],
kernel.entry @cheap inputs [{name = "x", type = tensor<1024xf32>}] outputs [{name = "y", type = tensor<16xf32>}] {
^bb0(%x: memref<1024xf32>, %y: memref<16xf32>, %workspace: memref<?xi8>):
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<1024xf32>
  %b = memref.alloc() : memref<512xf32>
  %c = memref.alloc() : memref<4096xf32>
  %d = memref.alloc() : memref<16xf32>
  kernel.launch @scale(%x, %a) tasks(%c1) {flops = 100 : i64, bytes = 100 : i64} : memref<1024xf32>, memref<1024xf32>
  kernel.launch @first(%a, %b) tasks(%c1) {flops = 3000 : i64, bytes = 0 : i64} : memref<1024xf32>, memref<512xf32>
  kernel.launch @wide(%b, %c) tasks(%c1) {flops = 3000 : i64, bytes = 0 : i64} : memref<512xf32>, memref<4096xf32>
  kernel.launch @narrow(%c, %d) tasks(%c1) {flops = 3000 : i64, bytes = 0 : i64} : memref<4096xf32>, memref<16xf32>
  kernel.launch @join(%a, %d, %y) tasks(%c1) {flops = 800 : i64, bytes = 0 : i64} : memref<1024xf32>, memref<16xf32>, memref<16xf32>
}
// What takes a larger share of the run than it saves of the workspace is kept, and says so.
// CHECK-LABEL: kernel.entry @costly
// CHECK: kernel.launch @scale({{.*}}kernel.reason = "kept: to compute it again saves 4096 bytes at the peak and takes 20 % more work"
// CHECK-NEXT: kernel.launch @first
// CHECK-NEXT: kernel.launch @wide
// CHECK-NEXT: kernel.launch @narrow
// CHECK-NEXT: kernel.launch @join
kernel.entry @costly inputs [{name = "x", type = tensor<1024xf32>}] outputs [{name = "y", type = tensor<16xf32>}] {
^bb0(%x: memref<1024xf32>, %y: memref<16xf32>, %workspace: memref<?xi8>):
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<1024xf32>
  %b = memref.alloc() : memref<512xf32>
  %c = memref.alloc() : memref<4096xf32>
  %d = memref.alloc() : memref<16xf32>
  kernel.launch @scale(%x, %a) tasks(%c1) {flops = 2000 : i64, bytes = 0 : i64} : memref<1024xf32>, memref<1024xf32>
  kernel.launch @first(%a, %b) tasks(%c1) {flops = 3000 : i64, bytes = 0 : i64} : memref<1024xf32>, memref<512xf32>
  kernel.launch @wide(%b, %c) tasks(%c1) {flops = 2000 : i64, bytes = 0 : i64} : memref<512xf32>, memref<4096xf32>
  kernel.launch @narrow(%c, %d) tasks(%c1) {flops = 2000 : i64, bytes = 0 : i64} : memref<4096xf32>, memref<16xf32>
  kernel.launch @join(%a, %d, %y) tasks(%c1) {flops = 1000 : i64, bytes = 0 : i64} : memref<1024xf32>, memref<16xf32>, memref<16xf32>
}
