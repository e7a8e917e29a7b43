// Discardable attributes of the dialect: each has one place and one kind of value, and those that nobody knows are refused.
// RUN: kiln-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expects a dictionary of #kernel.plan in kernel.profile}}
module attributes {kernel.profile = {work = "gemm_tiled"}} {}

// -----

// expected-error @below {{expects a dictionary of bools in kernel.profile_use}}
module attributes {kernel.profile_use = {work = 1}} {}

// -----

// expected-error @below {{expects a list of dictionaries with the strings nodes, composite, form and reason in kernel.composites}}
module attributes {kernel.composites = [{composite = "nn.softmax", form = "fused"}]} {}

// -----

// expected-error @below {{expects a number that is not negative (i64) in kernel.workspace_bytes}}
module attributes {kernel.workspace_bytes = -1 : i64} {}

// -----

// expected-error @below {{expects a number that is not negative (i64) in kernel.workspace_lower_bound}}
module attributes {kernel.workspace_lower_bound = 4 : i32} {}

// -----

// expected-error @below {{'func.func' op has kernel.target, which belongs to builtin.module}}
func.func private @place() attributes {kernel.target = "native"}

// -----

// expected-error @below {{'builtin.module' op has the attribute kernel.secret, which its dialect does not define}}
module attributes {kernel.secret = 1} {}

// -----

// expected-error @below {{expects a string or a list of strings in kernel.algorithm}}
func.func private @algorithm() attributes {kernel.algorithm = 1}

// -----

// expected-error @below {{expects a string or a list of strings in kernel.reason}}
func.func private @reason() attributes {kernel.reason = ["a", 1]}

// -----

// expected-error @below {{expects a string or a list of strings in kernel.shapes}}
func.func private @shapes() attributes {kernel.shapes}

// -----

// expected-error @below {{expects a string in kernel.name}}
func.func private @name(%x: memref<4xf32> {kernel.name = 1}) { return }

// -----

// expected-error @below {{expects unit in kernel.written}}
func.func private @written(%x: memref<4xf32> {kernel.written = true}) { return }

// -----

// expected-error @below {{expects unit in kernel.status}}
func.func private @status(%x: memref<1xi32> {kernel.status = "s"}) { return }

// -----

// expected-error @below {{has the attribute kernel.secret, which its dialect does not define}}
func.func private @secret(%x: memref<4xf32> {kernel.secret}) { return }

// -----

// expected-error @below {{expects pairs of an input and an output in kernel.in_place}}
kernel.entry @in_place inputs [] outputs [] attributes {kernel.in_place = [0, 0]} {
^bb0(%workspace: memref<?xi8>):
}

// -----

func.func private @launches(%x: memref<?xf32>, %n: index) {
  // expected-error @below {{expects pairs of its operands in kernel.overwrites}}
  kernel.launch @k(%x, %x) tasks(%n) {kernel.overwrites = array<i64: 0, 2>} : memref<?xf32>, memref<?xf32>
  return
}

// -----

func.func private @odd(%x: memref<?xf32>, %n: index) {
  // expected-error @below {{expects pairs of its operands in kernel.overwrites}}
  kernel.launch @k(%x) tasks(%n) {kernel.overwrites = array<i64: 0>} : memref<?xf32>
  return
}

// -----

func.func private @nodes(%x: memref<?xf32>, %n: index) {
  // expected-error @below {{expects a string or a list of strings in kernel.nodes}}
  kernel.launch @k(%x) tasks(%n) {kernel.nodes = 3} : memref<?xf32>
  return
}

// -----

func.func private @work(%x: memref<?xf32>, %n: index) {
  kernel.launch @one(%x, %n) tasks(%n) {kernel.work = affine_map<()[s0] -> (s0, s0 * 4)>} : memref<?xf32>, index
  // expected-error @below {{expects two expressions of the symbols that are its last operands in kernel.work}}
  kernel.launch @one(%x, %n) tasks(%n) {kernel.work = affine_map<()[s0, s1] -> (s0, s1)>} : memref<?xf32>, index
  return
}

// -----

func.func private @one_expression(%x: memref<?xf32>, %n: index) {
  // expected-error @below {{expects two expressions of the symbols that are its last operands in kernel.work}}
  kernel.launch @one(%x, %n) tasks(%n) {kernel.work = affine_map<()[s0] -> (s0)>} : memref<?xf32>, index
  return
}

// -----

func.func private @accuracy(%x: f32) {
  // expected-error @below {{expects #kernel.accuracy in kernel.accuracy}}
  %0 = math.exp %x {kernel.accuracy = "ulp4"} : f32
  return
}

// -----

func.func private @normal(%x: f32) {
  // expected-error @below {{expects unit in kernel.normal}}
  %0 = math.exp %x {kernel.normal = true} : f32
  return
}

// -----

func.func private @cell() {
  // expected-error @below {{expects unit in kernel.status}}
  %0 = memref.alloc() {kernel.status = 1} : memref<1xi32>
  return
}

// -----

func.func private @most(%n: index) {
  // expected-error @below {{expects a number that is not negative (i64) in kernel.most_bytes}}
  %0 = memref.alloc(%n) {kernel.most_bytes = "all"} : memref<?xi32>
  return
}

// -----

func.func private @one_round(%begin: index, %end: index, %step: index) {
  // expected-error @below {{expects a number from 2 to 64 (i64) in kernel.unroll}}
  scf.for %i = %begin to %end step %step {
  } {kernel.unroll = 1 : i64}
  return
}

// -----

func.func private @too_many_rounds(%begin: index, %end: index, %step: index) {
  // expected-error @below {{expects a number from 2 to 64 (i64) in kernel.unroll}}
  scf.for %i = %begin to %end step %step {
  } {kernel.unroll = 65 : i64}
  return
}

// -----

func.func private @narrow_rounds(%begin: index, %end: index, %step: index) {
  // expected-error @below {{expects a number from 2 to 64 (i64) in kernel.unroll}}
  scf.for %i = %begin to %end step %step {
  } {kernel.unroll = 4 : i32}
  return
}
