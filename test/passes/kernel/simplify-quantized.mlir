// RUN: kiln-opt %s --kernel-simplify-quantized | FileCheck %s

// CHECK-LABEL: func @division
// CHECK: kernel.quantize %arg0 by 2.000000e-02, %arg1 {is_unsigned} : vector<16xf32>, vector<16xi32> -> vector<16xi8>
func.func @division(%x: vector<16xf32>, %zero: vector<16xi32>) -> vector<16xi8> {
  %scale = arith.constant dense<0.02> : vector<16xf32>
  %y = arith.divf %x, %scale : vector<16xf32>
  %q = kernel.quantize %y, %zero {is_unsigned} : vector<16xf32>, vector<16xi32> -> vector<16xi8>
  return %q : vector<16xi8>
}

// A number that is computed, the same for all lanes.
// CHECK-LABEL: func @computed_scale
// CHECK: %[[Y:.*]] = kernel.quotient %arg0 by %arg1 : vector<16xf32>
// CHECK: kernel.quantize %[[Y]], %arg2 {is_unsigned}
func.func @computed_scale(%x: vector<16xf32>, %scale: f32, %zero: vector<16xi32>) -> vector<16xi8> {
  %s = vector.broadcast %scale : f32 to vector<16xf32>
  %y = arith.divf %x, %s : vector<16xf32>
  %q = kernel.quantize %y, %zero {is_unsigned} : vector<16xf32>, vector<16xi32> -> vector<16xi8>
  return %q : vector<16xi8>
}

// A scale whose inverse is not a normal number, one that is not constant, one for each element, and a negative one are divided by.
// CHECK-LABEL: func @divisions_that_stay
// CHECK-COUNT-4: arith.divf
// CHECK-NOT: by
// CHECK: return
func.func @divisions_that_stay(%x: vector<2xf32>, %s: vector<2xf32>, %zero: vector<2xi32>) -> (vector<2xi8>, vector<2xi8>, vector<2xi8>, vector<2xi8>) {
  %tiny = arith.constant dense<1.0e-40> : vector<2xf32>
  %each = arith.constant dense<[0.5, 0.3]> : vector<2xf32>
  %negative = arith.constant dense<-0.3> : vector<2xf32>
  %a = arith.divf %x, %tiny : vector<2xf32>
  %b = arith.divf %x, %s : vector<2xf32>
  %c = arith.divf %x, %each : vector<2xf32>
  %d = arith.divf %x, %negative : vector<2xf32>
  %qa = kernel.quantize %a, %zero : vector<2xf32>, vector<2xi32> -> vector<2xi8>
  %qb = kernel.quantize %b, %zero : vector<2xf32>, vector<2xi32> -> vector<2xi8>
  %qc = kernel.quantize %c, %zero : vector<2xf32>, vector<2xi32> -> vector<2xi8>
  %qd = kernel.quantize %d, %zero : vector<2xf32>, vector<2xi32> -> vector<2xi8>
  return %qa, %qb, %qc, %qd : vector<2xi8>, vector<2xi8>, vector<2xi8>, vector<2xi8>
}

// From real numbers to real numbers; the second of f32 and not of vectors, without a zero point.
// CHECK-LABEL: func @steps
// CHECK: %[[S:.*]] = kernel.quantized_steps %arg0 by 2.000000e-02, %{{.*}} as ui8 : vector<16xf32>, vector<16xi32>
// CHECK: %[[T:.*]] = kernel.quantized_steps %arg1, %{{.*}} as si16 : f32, i32
// CHECK: return %[[S]], %[[T]]
func.func @steps(%x: vector<16xf32>, %y: f32) -> (vector<16xf32>, f32) {
  %scale = arith.constant dense<0.02> : vector<16xf32>
  %zero = arith.constant dense<5> : vector<16xi32>
  %none = arith.constant 0 : i32
  %d = arith.divf %x, %scale : vector<16xf32>
  %q = kernel.quantize %d, %zero {is_unsigned} : vector<16xf32>, vector<16xi32> -> vector<16xi8>
  %w = arith.extui %q : vector<16xi8> to vector<16xi32>
  %i = arith.subi %w, %zero : vector<16xi32>
  %s = arith.sitofp %i : vector<16xi32> to vector<16xf32>
  %p = kernel.quantize %y, %none : f32, i32 -> i16
  %v = arith.extsi %p : i16 to i32
  %t = arith.sitofp %v : i32 to f32
  return %s, %t : vector<16xf32>, f32
}

// Integers that are stored, too, another zero point, and a wrong sign: nothing is left out.
// CHECK-LABEL: func @integers_that_stay
// CHECK-NOT: quantized_steps
// CHECK: return
func.func @integers_that_stay(%x: f32, %zero: i32, %other: i32) -> (f32, f32, f32, i8) {
  %q = kernel.quantize %x, %zero : f32, i32 -> i8
  %w = arith.extsi %q : i8 to i32
  %i = arith.subi %w, %zero : i32
  %s = arith.sitofp %i : i32 to f32
  %q1 = kernel.quantize %x, %zero : f32, i32 -> i8
  %w1 = arith.extsi %q1 : i8 to i32
  %i1 = arith.subi %w1, %other : i32
  %s1 = arith.sitofp %i1 : i32 to f32
  %q2 = kernel.quantize %x, %zero : f32, i32 -> i8
  %w2 = arith.extui %q2 : i8 to i32
  %i2 = arith.subi %w2, %zero : i32
  %s2 = arith.sitofp %i2 : i32 to f32
  return %s, %s1, %s2, %q : f32, f32, f32, i8
}
