// RUN: kiln-opt %s --kernel-overlap-exchanges | FileCheck %s
// The second halves of different exchanges are the same kernel.
// RUN: sed '0,/kernel.launch @gather/s//kernel.launch @scatter/' %s | kiln-opt --kernel-overlap-exchanges --kernel-deduplicate-kernels | FileCheck %s --check-prefix=TWO
// TWO-COUNT-1: "kiln::rank_wait"
// TWO-NOT: "kiln::rank_wait"
// TWO: kernel.launch @[[WAIT:[a-z_]*_wait]](
// TWO: kernel.launch @[[WAIT]](

// What needs no other rank runs while the gather is underway, and both gathers are underway at the same time. Each half has what the exchange reads and writes.
func.func private @gather(%in: memref<4xf32>, %out: memref<8xf32> {kernel.written}, %status: memref<1xi32> {kernel.status}, %caller: memref<?xi8>, %begin: index,
                          %end: index) attributes {kernel.nodes = ["a"], kernel.reason = "two ranks"} {
  %c4 = arith.constant 4 : index
  kernel.runtime_call "kiln::rank_all_gather"(%in, %out, %status, %caller, %c4) [array<i32: 0, 1>, 0] : memref<4xf32>, memref<8xf32>, memref<1xi32>, memref<?xi8>, index
  return
}
func.func private @scatter(%in: memref<4xf32>, %out: memref<8xf32> {kernel.written}, %status: memref<1xi32> {kernel.status}, %caller: memref<?xi8>, %begin: index,
                           %end: index) attributes {kernel.nodes = ["d"], kernel.reason = "two ranks"} {
  %c4 = arith.constant 4 : index
  kernel.runtime_call "kiln::rank_all_to_all"(%in, %out, %status, %caller, %c4) [array<i32: 0, 1>, 0] : memref<4xf32>, memref<8xf32>, memref<1xi32>, memref<?xi8>, index
  return
}
func.func private @near(%in: memref<4xf32>, %out: memref<4xf32> {kernel.written}, %begin: index, %end: index) attributes {kernel.nodes = ["b"]} {
  return
}
func.func private @far(%in: memref<8xf32>, %out: memref<8xf32> {kernel.written}, %begin: index, %end: index) attributes {kernel.nodes = ["c"]} {
  return
}

// CHECK-NOT: func.func private @gather(
// CHECK: func.func private @gather_wait{{.*}} "two ranks; completes it"
// CHECK: kernel.runtime_call "kiln::rank_wait"
// CHECK: func.func private @gather_start{{.*}} "two ranks; starts it"
// CHECK: kernel.runtime_call "kiln::rank_start_all_gather"

// CHECK-LABEL: kernel.entry @run
// CHECK: kernel.launch @near(%[[X:[a-z0-9_]*]], %[[A:[a-z0-9_]*]]) tasks
// A status cell is cleared in place of its allocation, which other buffers may have had before.
// CHECK-NEXT: memref.alloc() {kernel.status}
// CHECK-NEXT: kernel.launch @gather_start(%[[A]], %[[ALL:[a-z0-9_]*]], %
// CHECK-NEXT: kernel.launch @gather_start(%[[X]], %[[OTHER:[a-z0-9_]*]], %
// CHECK-NEXT: kernel.launch @near(%[[A]], %
// CHECK-NEXT: kernel.launch @gather_wait(%[[A]], %[[ALL]], %
// CHECK-NEXT: kernel.launch @far(%[[ALL]], %
// CHECK-NEXT: kernel.launch @gather_wait(%[[X]], %[[OTHER]], %
kernel.entry @run inputs [{name = "x", type = tensor<4xf32>}] outputs [{name = "y", type = tensor<8xf32>}, {name = "z", type = tensor<4xf32>}, {name = "w", type = tensor<8xf32>}] {
^bb0(%x: memref<4xf32>, %y: memref<8xf32>, %z: memref<4xf32>, %w: memref<8xf32>, %caller: memref<?xi8>):
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  kernel.launch @near(%x, %a) tasks(%c1) : memref<4xf32>, memref<4xf32>
  %status = memref.alloc() {kernel.status} : memref<1xi32>
  %all = memref.alloc() : memref<8xf32>
  kernel.launch @gather(%a, %all, %status, %caller) tasks(%c1) ends_on_fault : memref<4xf32>, memref<8xf32>, memref<1xi32>, memref<?xi8>
  kernel.launch @far(%all, %y) tasks(%c1) : memref<8xf32>, memref<8xf32>
  kernel.launch @near(%a, %z) tasks(%c1) : memref<4xf32>, memref<4xf32>
  kernel.launch @gather(%x, %w, %status, %caller) tasks(%c1) ends_on_fault : memref<4xf32>, memref<8xf32>, memref<1xi32>, memref<?xi8>
}
