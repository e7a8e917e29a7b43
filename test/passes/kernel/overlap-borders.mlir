// Tasks of a kernel that need no row of another rank run beside the exchange of rows; which ones, follows from what the kernel reads.
// RUN: kiln-opt %s --kernel-overlap-exchanges | FileCheck %s
// Every task needs one.
// RUN: sed 's/arith.constant 62 : index/arith.constant 1 : index/' %s | kiln-opt --kernel-overlap-exchanges | FileCheck %s --check-prefix=EDGE
// EDGE: func.func private @conv({{.*}}kernel.reason = "rows; waits for rows of other ranks: every task reads some of it"
// EDGE: kernel.launch @copy(
// EDGE-NEXT: kernel.launch @conv(
// So it may where a loop carries the image: it may be any buffer there.
// RUN: sed 's/scf.for %i = %c0 to %c64 step %c16 {/%carried = scf.for %i = %c0 to %c64 step %c16 iter_args(%held = %image) -> (memref<4224xf32>) {/;s/vector.load %image/vector.load %held/;s/^ *vector.store .*/&\n        scf.yield %held : memref<4224xf32>/' %s | kiln-opt --kernel-overlap-exchanges | FileCheck %s --check-prefix=EDGE
// Threads would find too little in the pieces of few tasks: with more than one, the first piece has all of them, and the other one none.
// RUN: sed '/launch @conv/s/tasks(%c64)/tasks(%c33)/;s/^  %c66 = .*/&\n  %c33 = arith.constant 33 : index/' %s | kiln-opt --kernel-overlap-exchanges | FileCheck %s --check-prefix=FEW
// FEW: %[[THREADS:.*]] = kernel.threads
// FEW: %[[MANY:.*]] = arith.cmpi sgt, %[[THREADS]], %{{.*}} : index
// FEW: %[[NONE:.*]] = arith.constant 0 : index
// FEW: %[[INNER:.*]] = arith.select %[[MANY]], %[[NONE]], %{{.*}} : index
// FEW: kernel.launch @conv_from({{.*}}) tasks(%[[INNER]])
// FEW: kernel.launch @shift_wait(
// FEW: %[[ALL:.*]] = arith.constant 33 : index
// FEW: %[[FIRST:.*]] = arith.select %{{.*}}, %[[ALL]], %{{.*}} : index
// FEW: kernel.launch @conv({{.*}}) tasks(%[[FIRST]])
// One task is not cut.
// RUN: sed '/launch @conv/s/tasks(%c64)/tasks(%c1)/' %s | kiln-opt --kernel-overlap-exchanges | FileCheck %s --check-prefix=ONE
// ONE: kernel.reason = "rows; waits for rows of other ranks: it is one task"
// Nor is what takes no longer than a launch more.
// RUN: sed '/launch @conv/s/flops = 6400000/flops = 150000/' %s | kiln-opt --kernel-overlap-exchanges | FileCheck %s --check-prefix=SMALL
// SMALL: kernel.reason = "rows; waits for rows of other ranks: of 10.1 us, its other tasks would cover 3.0 us, and 3 launches take 4.0 us more"
// Nor one whose result may be written over what it reads.
// RUN: sed '/launch @conv/s/flops =/kernel.overwrites = array<i64: 0, 1>, flops =/' %s | kiln-opt --kernel-overlap-exchanges | FileCheck %s --check-prefix=OVER
// OVER: kernel.reason = "rows; waits for rows of other ranks: its result may overwrite what it reads"

// An image of 66 rows of 64: 64 of this rank, between one of each neighbour.
func.func private @shift(%in: memref<64xf32>, %out: memref<64xf32> {kernel.written}, %status: memref<1xi32> {kernel.status}, %caller: memref<?xi8>, %begin: index,
                         %end: index) {
  %c64 = arith.constant 64 : index
  kernel.runtime_call "kiln::rank_shift"(%in, %out, %status, %caller, %c64) [1, 3, 1] : memref<64xf32>, memref<64xf32>, memref<1xi32>, memref<?xi8>, index
  return
}

// Rows 0 and 65. The border of the image is written by another kernel, which needs nothing of them.
func.func private @copy(%above: memref<64xf32>, %below: memref<64xf32>, %image: memref<4224xf32> {kernel.written}, %begin: index, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c4160 = arith.constant 4160 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %a = memref.load %above[%i] : memref<64xf32>
    memref.store %a, %image[%i] : memref<4224xf32>
    %b = memref.load %below[%i] : memref<64xf32>
    %at = arith.addi %i, %c4160 : index
    memref.store %b, %image[%at] : memref<4224xf32>
  }
  return
}

// CHECK-LABEL: func.func private @border
// The first and the last element of each row that is not the first or the last one.
func.func private @border(%image: memref<4224xf32> {kernel.written}, %begin: index, %end: index) {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %c65 = arith.constant 65 : index
  scf.for %row = %begin to %end step %c1 {
    %first = arith.muli %row, %c64 : index
    %isFirst = arith.cmpi slt, %row, %c1 : index
    %isLast = arith.cmpi sge, %row, %c65 : index
    %isOther = arith.ori %isFirst, %isLast : i1
    scf.if %isOther {
    } else {
      memref.store %zero, %image[%first] : memref<4224xf32>
      %last = arith.addi %first, %c63 : index
      memref.store %zero, %image[%last] : memref<4224xf32>
    }
  }
  return
}

// CHECK-LABEL: func.func private @conv(
// CHECK-SAME: kernel.reason = "rows; 62 of 64 tasks need nothing of other ranks and run beside the exchange, which is estimated to take 10.1 us"
// CHECK-LABEL: func.func private @conv_from(
// CHECK-SAME: %[[FIRST:[a-z0-9]*]]: index
// CHECK-SAME: %[[BEGIN:[a-z0-9]*]]: index
// CHECK-SAME: "rows; from one of its tasks on"
// CHECK: arith.addi %[[BEGIN]], %[[FIRST]]
// A row of the result for each task, of rows of the image around it; at most the last one, which is the 66th.
func.func private @conv(%image: memref<4224xf32>, %out: memref<4096xf32> {kernel.written}, %begin: index, %end: index) attributes {kernel.reason = "rows"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c65 = arith.constant 65 : index
  %rows = arith.constant 62 : index
  scf.for %row = %begin to %end step %c1 {
    scf.for %tap = %c0 to %c3 step %c1 {
      %rest = arith.remsi %row, %c64 : index
      %sum = arith.addi %rest, %tap : index
      %lowest = arith.subi %rows, %c1 : index
      %near = arith.cmpi sge, %lowest, %c1 : index
      %place = arith.select %near, %sum, %c0 : index
      %from = arith.minsi %place, %c65 : index
      %start = arith.muli %from, %c64 : index
      scf.for %i = %c0 to %c64 step %c16 {
        %at = arith.addi %start, %i : index
        %v = vector.load %image[%at] : memref<4224xf32>, vector<16xf32>
        %to = arith.muli %row, %c64 : index
        %target = arith.addi %to, %i : index
        vector.store %v, %out[%target] : memref<4096xf32>, vector<16xf32>
      }
    }
  }
  return
}

// CHECK-LABEL: kernel.entry @run
// CHECK: kernel.launch @shift_start(
// CHECK-NEXT: kernel.launch @shift_start(
// CHECK-NEXT: kernel.launch @border(
// CHECK: kernel.launch @conv_from(%[[IMAGE:[a-z0-9_]*]], %[[OUT:[a-z0-9_]*]], %{{.*}}) tasks(%{{.*}}) parallel {{.*}}flops = 6200000
// CHECK-NEXT: kernel.launch @shift_wait(
// CHECK-NEXT: kernel.launch @shift_wait(
// CHECK-NEXT: kernel.launch @copy({{.*}}, %[[IMAGE]])
// CHECK: kernel.launch @conv(%[[IMAGE]], %[[OUT]]) tasks(%{{.*}}) parallel {{.*}}flops = 100000
// CHECK: kernel.launch @conv_from(%[[IMAGE]], %[[OUT]], %{{.*}}) tasks(%{{.*}}) parallel {{.*}}flops = 100000
kernel.entry @run inputs [{name = "x", type = tensor<64xf32>}] outputs [{name = "y", type = tensor<4096xf32>}] {
^bb0(%x: memref<64xf32>, %y: memref<4096xf32>, %caller: memref<?xi8>):
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c66 = arith.constant 66 : index
  %status = memref.alloc() {kernel.status} : memref<1xi32>
  %image = memref.alloc() : memref<4224xf32>
  %above = memref.alloc() : memref<64xf32>
  %below = memref.alloc() : memref<64xf32>
  kernel.launch @shift(%x, %above, %status, %caller) tasks(%c1) ends_on_fault : memref<64xf32>, memref<64xf32>, memref<1xi32>, memref<?xi8>
  kernel.launch @shift(%x, %below, %status, %caller) tasks(%c1) ends_on_fault : memref<64xf32>, memref<64xf32>, memref<1xi32>, memref<?xi8>
  kernel.launch @copy(%above, %below, %image) tasks(%c1) {flops = 0 : i64, bytes = 1024 : i64} : memref<64xf32>, memref<64xf32>, memref<4224xf32>
  kernel.launch @border(%image) tasks(%c66) : memref<4224xf32>
  kernel.launch @conv(%image, %y) tasks(%c64) parallel {flops = 6400000 : i64, bytes = 4096 : i64} : memref<4224xf32>, memref<4096xf32>
}
