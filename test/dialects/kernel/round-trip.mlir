// External functions, the caller's context, a target that lists libraries, steps and measured numbers, and a weight whose last panel is narrower.
// RUN: kiln-opt %s | kiln-opt | FileCheck %s

// CHECK: kernel.target = #kernel.target<{{.*}}, features = [], libraries = ["onednn", "onednn:conv"] steps[<lhs = ui8, rhs = i8, sum = i32, shape = [1, 4, 4], function = "dot_u8s8">, <lhs = f32, rhs = f32, sum = f32, shape = [1, 4, 1]>] tuned <tall_rows = 28, threads = 4> with[<name = "d.F", version = 1, function = "f">]>
module attributes {kernel.target = #kernel.target<name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64", vector_bits = 128, registers = 16,
                   l1 = 32768, l2 = 524288, l3 = 4194304, features = [], libraries = ["onednn", "onednn:conv"]
                   steps [<lhs = ui8, rhs = i8, sum = i32, shape = [1, 4, 4], function = "dot_u8s8">, <lhs = f32, rhs = f32, sum = f32, shape = [1, 4, 1]>]
                   tuned <threads = 4, row_vectors = 3, tall_rows = 28> with [<name = "d.F", version = 1, function = "f">]>} {
  // CHECK: kernel.external @scale : (memref<?xf32>, memref<?xf32>, memref<2xi64>) -> i32 writes [1] header "kiln/onednn.h" library "onednn"
  kernel.external @scale : (memref<?xf32>, memref<?xf32>, memref<2xi64>) -> i32 writes [1] header "kiln/onednn.h" library "onednn"
  // CHECK: kernel.weight @w : memref<24xi32> = dense<1> : tensor<4x5xi32> packed <shape = [2, 4, 4], map = (d0, d1, d2) -> (d1, d0 * 4 + d2), tail = [0, 2]>
  kernel.weight @w : memref<24xi32> = dense<1> : tensor<4x5xi32> packed <shape = [2, 4, 4], map = (d0, d1, d2) -> (d1, d0 * 4 + d2), tail = [0, 2]>
  // CHECK: kernel.external @note : (index, f32) -> () writes []
  kernel.external @note : (index, f32) -> () writes []
  func.func private @k(%x: memref<?xf32>, %y: memref<?xf32>, %status: memref<1xi32>, %n: index, %begin: index, %end: index) {
    // CHECK: %[[SHAPE:.*]] = kernel.numbers %{{.*}}, %{{.*}} : memref<2xi64>
    %shape = kernel.numbers %n, %n : memref<2xi64>
    // CHECK: kernel.call @scale(%{{.*}}, %{{.*}}, %[[SHAPE]]) reports %{{.*}} : memref<?xf32>, memref<?xf32>, memref<2xi64> to memref<1xi32>
    kernel.call @scale(%x, %y, %shape) reports %status : memref<?xf32>, memref<?xf32>, memref<2xi64> to memref<1xi32>
    %half = arith.constant 0.5 : f32
    %left = arith.constant dense<1> : vector<4xi8>
    %right = arith.constant dense<2> : vector<16xi8>
    %sums = arith.constant dense<3> : vector<4xi32>
    // CHECK: kernel.step "dot_u8s8"(%{{.*}}, %{{.*}}, %{{.*}}) : vector<4xi8>, vector<16xi8>, vector<4xi32>
    %dot = kernel.step "dot_u8s8"(%left, %right, %sums) : vector<4xi8>, vector<16xi8>, vector<4xi32>
    // CHECK: kernel.call @note(%{{.*}}, %{{.*}}) : index, f32
    kernel.call @note(%n, %half) : index, f32
    return
  }
  kernel.entry @run inputs [] outputs [] {
  ^bb0(%workspace: memref<?xi8>):
    // CHECK: kernel.threads
    %threads = kernel.threads
    // CHECK: kernel.state : memref<64xi8>
    %state = kernel.state : memref<64xi8>
    // CHECK: kernel.context : memref<1xi8>
    %context = kernel.context : memref<1xi8>
    // CHECK: kernel.launch @hook(%{{.*}}) tasks(%{{.*}}) ends_on_fault : memref<1xi8>
    kernel.launch @hook(%context) tasks(%threads) ends_on_fault : memref<1xi8>
  }
}
