// RUN: kiln-opt %s --kernel-round-products | FileCheck %s

// Both sums on the way to an integer add rounded products, one of them twice; what only becomes a real number stays as it is.
// CHECK-LABEL: func @sums
// CHECK: %[[P:.*]] = arith.mulf %arg0, %arg1
// CHECK: %[[R:.*]] = kernel.rounded %[[P]] : vector<16xf32>
// CHECK: %[[S:.*]] = arith.addf %[[R]], %arg2
// CHECK: %[[M:.*]] = arith.maximumf %[[S]], %arg1
// CHECK: %[[D:.*]] = arith.subf %[[M]], %[[R]]
// CHECK: kernel.quantize %[[D]]
// CHECK: %[[Q:.*]] = arith.mulf %arg0, %arg2
// CHECK-NEXT: arith.addf %[[Q]], %arg1
func.func @sums(%a: vector<16xf32>, %b: vector<16xf32>, %c: vector<16xf32>, %zero: vector<16xi32>) -> (vector<16xi8>, vector<16xf32>) {
  %p = arith.mulf %a, %b : vector<16xf32>
  %s = arith.addf %p, %c : vector<16xf32>
  %m = arith.maximumf %s, %b : vector<16xf32>
  %d = arith.subf %m, %p : vector<16xf32>
  %q = kernel.quantize %d, %zero : vector<16xf32>, vector<16xi32> -> vector<16xi8>
  %x = arith.mulf %a, %c : vector<16xf32>
  %y = arith.addf %x, %b : vector<16xf32>
  return %q, %y : vector<16xi8>, vector<16xf32>
}

// A sum in a loop.
// CHECK-LABEL: func @loop
// CHECK: %[[P:.*]] = arith.mulf
// CHECK: %[[R:.*]] = kernel.rounded %[[P]] : f32
// CHECK: arith.addf %{{.*}}, %[[R]]
func.func @loop(%x: memref<?xf32>, %scale: f32, %from: index, %to: index, %step: index, %zero: i32) -> i8 {
  %none = arith.constant 0.0 : f32
  %sum = scf.for %i = %from to %to step %step iter_args(%part = %none) -> f32 {
    %a = memref.load %x[%i] : memref<?xf32>
    %p = arith.mulf %a, %scale : f32
    %s = arith.addf %part, %p : f32
    scf.yield %s : f32
  }
  %q = kernel.quantize %sum, %zero : f32, i32 -> i8
  return %q : i8
}
