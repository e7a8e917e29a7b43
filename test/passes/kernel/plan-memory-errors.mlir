// RUN: kiln-opt %s --split-input-file --kernel-plan-memory --verify-diagnostics

// Static sizes whose bytes, or whose sum, 64 bits do not hold.
kernel.entry @run inputs [] outputs [] {
^bb0(%workspace: memref<?xi8>):
  // expected-error @below {{the model's buffers take more than 2^62 bytes; got one of 'memref<4611686018427387904xf32>'}}
  %a = memref.alloc() : memref<4611686018427387904xf32>
}

// -----

kernel.entry @run inputs [] outputs [] {
^bb0(%workspace: memref<?xi8>):
  %a = memref.alloc() : memref<4000000000000000000xi8>
  // expected-error @below {{the model's buffers take more than 2^62 bytes; got one of 'memref<4000000000000000000xi8>'}}
  %b = memref.alloc() : memref<4000000000000000000xi8>
}
