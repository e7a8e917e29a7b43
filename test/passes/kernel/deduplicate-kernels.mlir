// RUN: kiln-opt %s --kernel-deduplicate-kernels | FileCheck %s

// CHECK: func.func private @a(
// CHECK-SAME: kernel.nodes = ["First(Exp)", "Second(Exp)"]
// CHECK-NOT: @b(
// CHECK: func.func private @c(
// CHECK: kernel.launch @a
// CHECK: kernel.launch @a
// CHECK: kernel.launch @c
func.func private @a(%x: memref<?xf32>, %begin: index, %end: index) attributes {kernel.nodes = ["First(Exp)"]} {
  %v = memref.load %x[%begin] : memref<?xf32>
  %e = math.exp %v : f32
  memref.store %e, %x[%begin] : memref<?xf32>
  return
}
func.func private @b(%x: memref<?xf32>, %begin: index, %end: index) attributes {kernel.nodes = ["Second(Exp)"]} {
  %v = memref.load %x[%begin] : memref<?xf32>
  %e = math.exp %v : f32
  memref.store %e, %x[%begin] : memref<?xf32>
  return
}
func.func private @c(%x: memref<?xf32>, %begin: index, %end: index) attributes {kernel.nodes = ["Third(Log)"]} {
  %v = memref.load %x[%begin] : memref<?xf32>
  %e = math.log %v : f32
  memref.store %e, %x[%begin] : memref<?xf32>
  return
}
kernel.entry @run inputs [] outputs [] {
^bb0(%x: memref<?xf32>):
  %n = arith.constant 1 : index
  kernel.launch @a(%x) tasks(%n) : memref<?xf32>
  kernel.launch @b(%x) tasks(%n) : memref<?xf32>
  kernel.launch @c(%x) tasks(%n) : memref<?xf32>
}
