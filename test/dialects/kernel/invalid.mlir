// RUN: kiln-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{must have a name that C allows; got 'my-function'}}
kernel.external @"my-function" : () -> () writes []

// -----

// expected-error @below {{takes flat buffers and numbers; argument 1 is 'memref<2x2xf32>'}}
kernel.external @f : (index, memref<2x2xf32>) -> () writes []

// -----

// expected-error @below {{writes argument 0, which is no buffer of it}}
kernel.external @f : (index) -> () writes [0]

// -----

// expected-error @below {{writes argument 1, which is no buffer of it}}
kernel.external @f : (memref<?xf32>) -> () writes [1]

// -----

// expected-error @below {{must return nothing or a status (i32)}}
kernel.external @f : (index) -> f32 writes []

// -----

func.func private @k(%x: memref<?xf32>, %begin: index, %end: index) {
  // expected-error @below {{calls 'unknown', which is no kernel.external}}
  kernel.call @unknown(%x) : memref<?xf32>
  return
}

// -----

kernel.external @f : (index) -> () writes []
func.func private @k(%x: memref<?xf32>, %begin: index, %end: index) {
  // expected-error @below {{passes operands that do not fit 'f', which is '(index) -> ()'}}
  kernel.call @f(%x) : memref<?xf32>
  return
}

// -----

kernel.external @f : () -> i32 writes []
func.func private @k(%begin: index, %end: index) {
  // expected-error @below {{must report the status of 'f'}}
  kernel.call @f()
  return
}

// -----

kernel.external @f : () -> () writes []
func.func private @k(%status: memref<1xi32>, %begin: index, %end: index) {
  // expected-error @below {{reports a status, but there is none of 'f'}}
  kernel.call @f() reports %status to memref<1xi32>
  return
}

// -----

func.func private @k(%n: index, %end: index) {
  // expected-error @below {{has 2 values for a buffer of 3}}
  %shape = kernel.numbers %n, %n : memref<3xi64>
  return
}

// -----

kernel.entry @run inputs [] outputs [] {
^bb0(%workspace: memref<?xi8>):
  // expected-error @below {{must have a static size}}
  %state = kernel.state : memref<?xi8>
}

// -----

// expected-error @below {{expected a tail [dimension, extent] with a dimension before the innermost one and at most its extent; got [1, 2]}}
kernel.weight @w : memref<6xi32> = dense<1> : tensor<3x2xi32> packed <shape = [2, 4], map = (d0, d1) -> (d1, d0), tail = [1, 2]>

// -----

// expected-error @below {{expected a tail [dimension, extent] with a dimension before the innermost one and at most its extent; got [0, 5]}}
kernel.weight @w : memref<6xi32> = dense<1> : tensor<3x2xi32> packed <shape = [2, 4], map = (d0, d1) -> (d1, d0), tail = [0, 5]>
