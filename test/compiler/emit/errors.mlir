// What the emitter says to modules that no kernel stage would leave.
// RUN: kiln-translate --kernel-to-cpp --split-input-file --verify-diagnostics %s

// expected-error @below {{expected exactly one kernel.entry}}
module {}

// -----

// expected-error @below {{expected the module attribute kernel.workspace_bytes or the function @workspace_size}}
module {
  kernel.entry @run inputs [] outputs [] {
  ^bb0(%workspace: memref<?xi8>):
  }
}

// -----

// expected-error @below {{expected kernel.workspace_bytes in a module without symbols}}
module {
  func.func @workspace_size() -> index {
    %c0 = arith.constant 0 : index
    return %c0 : index
  }
  kernel.entry @run inputs [] outputs [] {
  ^bb0(%workspace: memref<?xi8>):
  }
}

// -----

module attributes {kernel.workspace_bytes = 0 : i64} {
  // expected-error @below {{expected one block argument for each input, output and symbol and the workspace}}
  kernel.entry @run inputs [{name = "x", type = tensor<4xf32>}] outputs [] {
  ^bb0(%workspace: memref<?xi8>):
  }
}

// -----

module attributes {kernel.workspace_bytes = 0 : i64} {
  // expected-error @below {{'x' has an element type that C has no name for: 'i4'}}
  kernel.entry @run inputs [{name = "x", type = tensor<4xi4>}] outputs [] {
  ^bb0(%x: memref<4xi4>, %workspace: memref<?xi8>):
  }
}

// -----

module attributes {kernel.workspace_bytes = 0 : i64} {
  // expected-error @below {{internal error: expected a kernel of one block whose last arguments are its range of tasks}}
  func.func private @k(%x: memref<4xf32> {kernel.name = "x"}) attributes {kernel.nodes = ["n(N)"]} {
    return
  }
  kernel.entry @run inputs [{name = "x", type = tensor<4xf32>}] outputs [] {
  ^bb0(%x: memref<4xf32>, %workspace: memref<?xi8>):
  }
}

// -----

module attributes {kernel.workspace_bytes = 0 : i64} {
  func.func private @k(%x: memref<4xf32> {kernel.name = "x"}, %begin: index, %end: index) attributes {kernel.nodes = ["n(N)"]} {
    %c0 = arith.constant 0 : index
    %v = memref.load %x[%c0] : memref<4xf32>
    // expected-error @below {{internal error: the C++ printer has no rule for this operation on these types}}
    %c = math.atan2 %v, %v : f32
    memref.store %c, %x[%c0] : memref<4xf32>
    return
  }
  kernel.entry @run inputs [{name = "x", type = tensor<4xf32>}] outputs [] {
  ^bb0(%x: memref<4xf32>, %workspace: memref<?xi8>):
  }
}
