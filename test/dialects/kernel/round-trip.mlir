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
    // CHECK: kernel.quads %[[BYTES:.*]], %[[BYTES]], %[[BYTES]], %[[BYTES]] part 3 : vector<16xi8>
    %own = kernel.quads %right, %right, %right, %right part 3 : vector<16xi8>
    // CHECK: kernel.step "dot_u8s8"(%{{.*}}, %{{.*}}, %{{.*}}) : vector<16xi8>, vector<16xi8>, vector<4xi32>
    %dots = kernel.step "dot_u8s8"(%own, %right, %sums) : vector<16xi8>, vector<16xi8>, vector<4xi32>
    // CHECK: kernel.quantize %{{.*}}, %{{.*}} {is_unsigned} : f32, i32 -> i8
    // CHECK: kernel.quantize %{{.*}} by 2.500000e-01, %{{.*}} : f32, i32 -> i16
    // CHECK: kernel.quantized_steps %{{.*}} by 2.500000e-01, %{{.*}} as ui8 : f32, i32
    %zero = arith.constant 7 : i32
    %byte = kernel.quantize %half, %zero {is_unsigned} : f32, i32 -> i8
    %word = kernel.quantize %half by 0.25, %zero : f32, i32 -> i16
    %steps = kernel.quantized_steps %half by 0.25, %zero as ui8 : f32, i32
    // CHECK: kernel.after %{{.*}}, %{{.*}} : f32, vector<4xf32>
    %vector = arith.constant dense<0.5> : vector<4xf32>
    %later = kernel.after %half, %vector : f32, vector<4xf32>
    // CHECK: kernel.lookup %{{.*}} in [-1, -2, {{.*}}, 1, 0] : i8
    %found = kernel.lookup %byte in [-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12, -13, -14, -15, -16, -17, -18, -19, -20, -21, -22, -23, -24, -25, -26, -27, -28, -29, -30, -31, -32, -33, -34, -35, -36, -37, -38, -39, -40, -41, -42, -43, -44, -45, -46, -47, -48, -49, -50, -51, -52, -53, -54, -55, -56, -57, -58, -59, -60, -61, -62, -63, -64, -65, -66, -67, -68, -69, -70, -71, -72, -73, -74, -75, -76, -77, -78, -79, -80, -81, -82, -83, -84, -85, -86, -87, -88, -89, -90, -91, -92, -93, -94, -95, -96, -97, -98, -99, -100, -101, -102, -103, -104, -105, -106, -107, -108, -109, -110, -111, -112, -113, -114, -115, -116, -117, -118, -119, -120, -121, -122, -123, -124, -125, -126, -127, -128, 127, 126, 125, 124, 123, 122, 121, 120, 119, 118, 117, 116, 115, 114, 113, 112, 111, 110, 109, 108, 107, 106, 105, 104, 103, 102, 101, 100, 99, 98, 97, 96, 95, 94, 93, 92, 91, 90, 89, 88, 87, 86, 85, 84, 83, 82, 81, 80, 79, 78, 77, 76, 75, 74, 73, 72, 71, 70, 69, 68, 67, 66, 65, 64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0] : i8
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
