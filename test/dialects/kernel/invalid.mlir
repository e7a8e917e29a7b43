// RUN: kiln-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{must have a name that C allows; got 'my-function'}}
kernel.external @"my-function" : () -> () writes []

// -----

// expected-error @below {{takes flat buffers and numbers; argument 1 is 'memref<2x2xf32>'}}
kernel.external @f : (index, memref<2x2xf32>) -> () writes []

// -----

// expected-error @below {{writes argument 0, which is not one of its buffers}}
kernel.external @f : (index) -> () writes [0]

// -----

// expected-error @below {{writes argument 1, which is not one of its buffers}}
kernel.external @f : (memref<?xf32>) -> () writes [1]

// -----

// expected-error @below {{must return nothing or a status (i32)}}
kernel.external @f : (index) -> f32 writes []

// -----

func.func private @k(%x: memref<?xf32>, %begin: index, %end: index) {
  // expected-error @below {{calls 'unknown', which is not a kernel.external}}
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
  // expected-error @below {{reports the missing status of 'f'}}
  kernel.call @f() reports %status to memref<1xi32>
  return
}

// -----

func.func private @k(%left: vector<4xi8>, %right: vector<8xi8>, %sums: vector<4xi32>) {
  // expected-error @below {{has 8 elements on the right, expected 4 for each of 4 sums}}
  %dot = kernel.step "dot_u8s8"(%left, %right, %sums) : vector<4xi8>, vector<8xi8>, vector<4xi32>
  return
}

// -----

func.func private @k(%x: f64, %zero: i32) {
  // expected-error @below {{makes integers of 8 or 16 bits from f32 and a zero point of i32; got 'f64', 'i32' and 'i8'}}
  %q = kernel.quantize %x, %zero : f64, i32 -> i8
  return
}

// -----

func.func private @k(%x: vector<8xf32>, %zero: i32) {
  // expected-error @below {{expects operands and a result of one shape}}
  %q = kernel.quantize %x, %zero : vector<8xf32>, i32 -> vector<8xi8>
  return
}

// -----

func.func private @k(%x: f32, %zero: i32) {
  // expected-error @below {{expects a positive normal number as divisor; got -2.000000e+00}}
  %q = kernel.quantize %x by -2.0, %zero : f32, i32 -> i8
  return
}

// -----

func.func private @k(%x: f32, %zero: i32) {
  // expected-error @below {{makes integers of 8 or 16 bits from f32 and a zero point of i32; got 'f32', 'i32' and 'i8'}}
  %s = kernel.quantized_steps %x, %zero as i8 : f32, i32
  return
}

// -----

func.func private @k(%x: i16) {
  // expected-error @below {{looks up bytes; got 'i16'}}
  %r = kernel.lookup %x in [1, 2] : i16
  return
}

// -----

func.func private @k(%x: i8) {
  // expected-error @below {{has a table of 2 bytes, expected 256}}
  %r = kernel.lookup %x in [1, 2] : i8
  return
}

// -----

func.func private @k(%x: vector<16xi8>) {
  // expected-error @below {{expects vectors in four parts; got part 4 of 16 bytes}}
  %r = kernel.quads %x, %x, %x, %x part 4 : vector<16xi8>
  return
}

// -----

func.func private @k(%left: vector<4xi8>, %right: vector<16xi8>, %sums: vector<4xi32>) {
  // expected-error @below {{expects an identifier as function; got 'a::b'}}
  %dot = kernel.step "a::b"(%left, %right, %sums) : vector<4xi8>, vector<16xi8>, vector<4xi32>
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

// -----

// Text that C++ text would have as it stands.
// expected-error @below {{must have a name that C allows; got '__asm__'}}
kernel.external @__asm__ : () -> () writes []

// -----

// expected-error @below {{must have a name that C allows; got 'asm'}}
kernel.external @asm : () -> () writes []

// -----

// expected-error @below {{must have a name that C allows; got 'UINT8_MAX'}}
kernel.external @UINT8_MAX : () -> () writes []

// -----

// expected-error @below {{is of a library that Kiln does not know: 'x)'}}
kernel.external @f : () -> () writes [] library "x)"

// -----

// expected-error @below {{may only have the header of its library; got '/etc/passwd'}}
kernel.external @f : () -> () writes [] header "/etc/passwd" library "onednn"

// -----

// expected-error @below {{may only have the header of its library; got 'kiln/onednn.h'}}
kernel.external @f : () -> () writes [] header "kiln/onednn.h"

// -----

// expected-error @below {{takes flat buffers and numbers; argument 0 is 'memref<?xf80>'}}
kernel.external @f : (memref<?xf80>) -> () writes []

// -----

func.func private @k(%status: memref<1xi32>, %begin: index, %end: index) {
  // expected-error @below {{expects the name of a failure in kiln_status; got 'KILN_STATUS_OK'}}
  kernel.fail %status, "KILN_STATUS_OK" : memref<1xi32>
  return
}

// -----

func.func private @k(%status: memref<1xi32>, %begin: index, %end: index) {
  // expected-error @below {{expects the name of a failure in kiln_status; got 'KILN_STATUS_UNKNOWN'}}
  kernel.fail %status, "KILN_STATUS_UNKNOWN" : memref<1xi32>
  return
}

// -----

kernel.entry @run inputs [] outputs [] {
^bb0(%workspace: memref<?xi8>):
  %no = arith.constant false
  // expected-error @below {{expects the name of a failure in kiln_status; got '0; } __asm__(""); {'}}
  kernel.check %no, "0; } __asm__(\22\22); {", "never"
}

// -----

func.func private @k(%begin: index, %end: index) {
  // expected-error @below {{calls 'system', which is not a function of the runtime}}
  kernel.runtime_call "system"(%begin) ["true"] : index
  return
}

// -----

func.func private @k(%out: memref<?xf32>, %begin: index, %end: index) {
  // expected-error @below {{expects numbers, strings and lists of strings or 32-bit integers as literals; got [1]}}
  kernel.runtime_call "kiln::random_uniform"(%out) [[1]] : memref<?xf32>
  return
}

// -----

func.func private @k(%out: memref<?xf32>, %begin: index, %end: index) {
  // expected-error @below {{expects numbers, strings and lists of strings or 32-bit integers as literals; got 1 : i128}}
  kernel.runtime_call "kiln::random_uniform"(%out) [1 : i128] : memref<?xf32>
  return
}

// -----

// expected-error @below {{expects a name and a ranked tensor type for each input and output}}
kernel.entry @run inputs [{name = "x"}] outputs [] {
^bb0(%workspace: memref<?xi8>):
}

// -----

// expected-error @below {{expects a name and a ranked tensor type for each input and output}}
kernel.entry @run inputs [] outputs ["y"] {
^bb0(%workspace: memref<?xi8>):
}

// -----

// expected-error @below {{expects pairs of an input and an output in kernel.in_place; got [0, -1]}}
kernel.entry @run inputs [{name = "x", type = tensor<4xf32>}] outputs [] attributes {kernel.in_place = array<i64: 0, -1>} {
^bb0(%workspace: memref<?xi8>):
}

// -----

// expected-error @below {{expects a string or a list of strings in kernel.nodes}}
func.func private @k(%begin: index, %end: index) attributes {kernel.nodes = [1]} {
  return
}

// -----

// expected-error @below {{expects #kernel.target in kernel.target}}
module attributes {kernel.target = "native"} {}

// -----

// expected-error @below {{'triple' must be letters, digits, '.', '_', '+' and '-'; got 'a;b'}}
module attributes {kernel.target = #kernel.target<name = "t", triple = "a;b", cpu = "", vector_bits = 128, registers = 16, l1 = 32768, l2 = 524288, l3 = 4194304, features = []>} {}

// -----

// expected-error @below {{'cpu' must be letters, digits, '.', '_', '+' and '-'; got '\22)\0Aexecute_process(COMMAND'}}
module attributes {kernel.target = #kernel.target<name = "t", triple = "", cpu = "\22)\0Aexecute_process(COMMAND", vector_bits = 128, registers = 16, l1 = 32768, l2 = 524288, l3 = 4194304, features = []>} {}

// -----

// expected-error @below {{'features' must be letters, digits, '.', '_', '+' and '-'; got '$(shell touch pwned)'}}
module attributes {kernel.target = #kernel.target<name = "t", triple = "", cpu = "", vector_bits = 128, registers = 16, l1 = 32768, l2 = 524288, l3 = 4194304, features = ["$(shell touch pwned)"]>} {}

// -----

// expected-error @below {{'features' must be a list of strings}}
module attributes {kernel.target = #kernel.target<name = "t", triple = "", cpu = "", vector_bits = 128, registers = 16, l1 = 32768, l2 = 524288, l3 = 4194304, features = [1]>} {}

// -----

// expected-error @below {{'features' has an empty name}}
module attributes {kernel.target = #kernel.target<name = "t", triple = "", cpu = "", vector_bits = 128, registers = 16, l1 = 32768, l2 = 524288, l3 = 4194304, features = [""]>} {}

// -----

// expected-error @below {{'name' must be letters, digits, '-', '_' and '.'}}
module attributes {kernel.target = #kernel.target<name = "*/", triple = "", cpu = "", vector_bits = 128, registers = 16, l1 = 32768, l2 = 524288, l3 = 4194304, features = []>} {}

// -----

// expected-error @below {{'vector_bits' must be a power of two from 32 to 2048}}
module attributes {kernel.target = #kernel.target<name = "t", triple = "", cpu = "", vector_bits = 0, registers = 16, l1 = 32768, l2 = 524288, l3 = 4194304, features = []>} {}

// -----

// expected-error @below {{'l1', 'l2' and 'l3' must be positive}}
module attributes {kernel.target = #kernel.target<name = "t", triple = "", cpu = "", vector_bits = 128, registers = 16, l1 = 0, l2 = 524288, l3 = 4194304, features = []>} {}

// -----

// expected-error @below {{unknown library 'other', expected one of: onednn}}
module attributes {kernel.target = #kernel.target<name = "t", triple = "", cpu = "", vector_bits = 128, registers = 16, l1 = 32768, l2 = 524288, l3 = 4194304, features = [], libraries = ["other"]>} {}

// -----

// expected-error @below {{failed to parse Kernel_TargetAttr parameter 'composites'}}
// expected-error @below {{the composite 'd.F' must have a 'function' whose name C allows}}
module attributes {kernel.target = #kernel.target<name = "t", triple = "", cpu = "", vector_bits = 128, registers = 16, l1 = 32768, l2 = 524288, l3 = 4194304, features = [] with [<name = "d.F", version = 1, function = "f(); int g">]>} {}

// -----

// expected-error @below {{a composite must have a unique 'name', and a 'version' that is not negative}}
module attributes {kernel.target = #kernel.target<name = "t", triple = "", cpu = "", vector_bits = 128, registers = 16, l1 = 32768, l2 = 524288, l3 = 4194304, features = [] with [<name = "d.F", version = 1, function = "f">, <name = "d.F", version = 2, function = "g">]>} {}

// -----

// expected-error @below {{expected the name of a kernel}}
module attributes {test.plan = #kernel.plan<kernel = "">} {}

// -----

// expected-error @below {{expected rows, vectors and lanes of a tile, from 1 to 64, the lanes a power of two; got [1, 2]}}
module attributes {test.plan = #kernel.plan<kernel = "k", tile = [1, 2]>} {}

// -----

// expected-error @below {{expected rows, vectors and lanes of a tile, from 1 to 64, the lanes a power of two; got [1, 2, 12]}}
module attributes {test.plan = #kernel.plan<kernel = "k", tile = [1, 2, 12]>} {}

// -----

// expected-error @below {{expected rows, vectors and lanes of a tile, from 1 to 64, the lanes a power of two; got [65, 1, 4]}}
module attributes {test.plan = #kernel.plan<kernel = "k", tile = [1, 2, 4], projection = [65, 1, 4]>} {}

// -----

// expected-error @below {{expected no number of a plan to be negative}}
module attributes {test.plan = #kernel.plan<kernel = "k", chunk = -1>} {}

// -----

// expected-error @below {{expected a 'block' of whole tiles, got 8}}
module attributes {test.plan = #kernel.plan<kernel = "k", tile = [3, 2, 4], block = 8>} {}

// -----

// expected-error @below {{expected 'winograd' to be 2 or 4, got 3}}
module attributes {test.plan = #kernel.plan<kernel = "k", winograd = 3>} {}

// -----

// expected-error @below {{expected a tile that was measured}}
module attributes {test.plan = #kernel.plan<kernel = "k", measured = true>} {}

// -----

// expected-error @below {{expects a list of #kernel.refusal in kernel.refusals}}
func.func private @refusals() attributes {kernel.refusals = ["gemm_dots"]}

// -----

// expected-error @below {{failed to parse Kernel_TargetAttr parameter 'steps'}}
// expected-error @below {{the 'rhs' of a step must be f16, bf16, f32, f64 or an integer of 8 to 64 bits; got i4}}
module attributes {kernel.target = #kernel.target<name = "t", triple = "", cpu = "", vector_bits = 128, registers = 16, l1 = 32768, l2 = 524288, l3 = 4194304, features = [] steps [<lhs = ui8, rhs = i4, sum = i32, shape = [1, 4, 4], function = "dot">]>} {}

// -----

// expected-error @below {{failed to parse Kernel_TargetAttr parameter 'steps'}}
// expected-error @below {{the 'sum' of a step must be f16, bf16, f32, f64 or an integer of 8 to 64 bits; got index}}
module attributes {kernel.target = #kernel.target<name = "t", triple = "", cpu = "", vector_bits = 128, registers = 16, l1 = 32768, l2 = 524288, l3 = 4194304, features = [] steps [<lhs = ui8, rhs = i8, sum = index, shape = [1, 4, 4], function = "dot">]>} {}

// -----

// expected-error @below {{failed to parse Kernel_TargetAttr parameter 'steps'}}
// expected-error @below {{a step must have floating-point numbers or integers on all sides; got u8, i8 and f32}}
module attributes {kernel.target = #kernel.target<name = "t", triple = "", cpu = "", vector_bits = 128, registers = 16, l1 = 32768, l2 = 524288, l3 = 4194304, features = [] steps [<lhs = ui8, rhs = i8, sum = f32, shape = [1, 4, 4], function = "dot">]>} {}

// -----

// expected-error @below {{failed to parse Kernel_TargetAttr parameter 'steps'}}
// expected-error @below {{the 'shape' of a step must be [rows, lanes, depth], powers of two up to 1024}}
module attributes {kernel.target = #kernel.target<name = "t", triple = "", cpu = "", vector_bits = 128, registers = 16, l1 = 32768, l2 = 524288, l3 = 4194304, features = [] steps [<lhs = ui8, rhs = i8, sum = i32, shape = [1, 4], function = "dot">]>} {}

// -----

// expected-error @below {{failed to parse Kernel_TargetAttr parameter 'steps'}}
// expected-error @below {{the 'shape' of a step must be [rows, lanes, depth], powers of two up to 1024}}
module attributes {kernel.target = #kernel.target<name = "t", triple = "", cpu = "", vector_bits = 128, registers = 16, l1 = 32768, l2 = 524288, l3 = 4194304, features = [] steps [<lhs = ui8, rhs = i8, sum = i32, shape = [1, 3, 4], function = "dot">]>} {}

// -----

// expected-error @below {{failed to parse Kernel_TargetAttr parameter 'steps'}}
// expected-error @below {{a step without a 'function' must have elements of one type, one row and depth 1}}
module attributes {kernel.target = #kernel.target<name = "t", triple = "", cpu = "", vector_bits = 128, registers = 16, l1 = 32768, l2 = 524288, l3 = 4194304, features = [] steps [<lhs = ui8, rhs = i8, sum = i32, shape = [1, 4, 4]>]>} {}

// -----

// expected-error @below {{failed to parse Kernel_TargetAttr parameter 'steps'}}
// expected-error @below {{a step without a 'function' must have elements of one type, one row and depth 1}}
module attributes {kernel.target = #kernel.target<name = "t", triple = "", cpu = "", vector_bits = 128, registers = 16, l1 = 32768, l2 = 524288, l3 = 4194304, features = [] steps [<lhs = f32, rhs = f32, sum = f32, shape = [4, 4, 1]>]>} {}

// -----

// expected-error @below {{failed to parse Kernel_TargetAttr parameter 'steps'}}
// expected-error @below {{the 'function' of a step must be an identifier; got 'f(); g'}}
module attributes {kernel.target = #kernel.target<name = "t", triple = "", cpu = "", vector_bits = 128, registers = 16, l1 = 32768, l2 = 524288, l3 = 4194304, features = [] steps [<lhs = ui8, rhs = i8, sum = i32, shape = [1, 4, 4], function = "f(); g">]>} {}

// -----

// expected-error @below {{the step of u8, i8 and i32 has sums of 256 bits, a vector has 128}}
module attributes {kernel.target = #kernel.target<name = "t", triple = "", cpu = "", vector_bits = 128, registers = 16, l1 = 32768, l2 = 524288, l3 = 4194304, features = [] steps [<lhs = ui8, rhs = i8, sum = i32, shape = [1, 8, 4], function = "dot">]>} {}

// -----

// expected-error @below {{the step of u8, i8 and i32 is listed twice with one shape}}
module attributes {kernel.target = #kernel.target<name = "t", triple = "", cpu = "", vector_bits = 128, registers = 16, l1 = 32768, l2 = 524288, l3 = 4194304, features = [] steps [<lhs = ui8, rhs = i8, sum = i32, shape = [1, 4, 4], function = "dot">, <lhs = ui8, rhs = i8, sum = i32, shape = [1, 4, 4], function = "dot">]>} {}

// -----

// What computes several rows at a time has registers of its own, so this is valid.
module attributes {kernel.target = #kernel.target<name = "t", triple = "", cpu = "", vector_bits = 128, registers = 16, l1 = 32768, l2 = 524288, l3 = 4194304, features = [] steps [<lhs = ui8, rhs = i8, sum = i32, shape = [16, 16, 64], function = "dot">]>} {}

// -----

// expected-error @below {{unknown number 'speed' of a tuning}}
module attributes {test.tuning = #kernel.tuning<speed = 1>} {}

// -----

// expected-error @below {{'tall_rows' must be between 0 and 64; got 65}}
module attributes {test.tuning = #kernel.tuning<tall_rows = 65>} {}

// -----

// expected-error @below {{'streams' must be a power of two; got 6}}
module attributes {test.tuning = #kernel.tuning<streams = 6>} {}

// -----

// expected-error @below {{expected 'streams' to be a power of two, got 3}}
module attributes {test.plan = #kernel.plan<kernel = "k", streams = 3>} {}

// -----

// expected-error @below {{expected 'lines' to be 1 or 2, and 'pixels' at most 64, got 3 and 4}}
module attributes {test.plan = #kernel.plan<kernel = "k", lines = 3, pixels = 4>} {}

// -----

// expected-error @below {{expected 'lines' to be 1 or 2, and 'pixels' at most 64, got 1 and 65}}
module attributes {test.plan = #kernel.plan<kernel = "k", lines = 1, pixels = 65>} {}

// -----

// expected-error @below {{expected a 'strip' of whole tiles, got 40}}
module attributes {test.plan = #kernel.plan<kernel = "k", tile = [6, 2, 8], strip = 40>} {}

// -----

// expected-error @below {{expected two numbers 'ahead' and three numbers 'coming', none of them negative}}
module attributes {test.plan = #kernel.plan<kernel = "k", ahead = [512]>} {}

// -----

// expected-error @below {{expected two numbers 'ahead' and three numbers 'coming', none of them negative}}
module attributes {test.plan = #kernel.plan<kernel = "k", coming = [4, -1, 8]>} {}

// -----

// expected-error @below {{expected 'coming' to end in at least one step for each line}}
module attributes {test.plan = #kernel.plan<kernel = "k", coming = [4, 24, 0]>} {}

// -----

// expected-error @below {{expected no number of a plan to be negative}}
module attributes {test.plan = #kernel.plan<kernel = "k", blocks = -1>} {}

// -----

// expected-error @below {{expected two numbers 'border' for each dimension, none of them negative; got [4]}}
module attributes {test.plan = #kernel.plan<kernel = "k", border = [4]>} {}

// -----

// expected-error @below {{expected two numbers 'border' for each dimension, none of them negative; got [-4, 4]}}
module attributes {test.plan = #kernel.plan<kernel = "k", border = [-4, 4]>} {}

// -----

// expected-error @below {{expected two positive numbers 'squares', got [4]}}
module attributes {test.plan = #kernel.plan<kernel = "k", squares = [4]>} {}

// -----

// expected-error @below {{expected two positive numbers 'squares', got [4, 0]}}
module attributes {test.plan = #kernel.plan<kernel = "k", squares = [4, 0]>} {}

// -----

// expected-error @below {{expected no number of a plan to be negative}}
module attributes {test.plan = #kernel.plan<kernel = "k", dots = -1>} {}
