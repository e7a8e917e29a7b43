// Kernels that call functions of the user's, with declarations of the emitter's: statuses, an array of numbers, memory that a
// function keeps from run to run, and the threads of the context. Built by both compilers without a warning, and run.
// RUN: rm -rf %t && mkdir %t && kiln-translate --kernel-to-cpp %s > %t/all && split-file %t/all %t/src
// RUN: FileCheck %s < %t/all
// RUN: cat %t/src/ext_run.cpp %t/src/ext_kernels_0.cpp > %t/one.cpp
// RUN: %gxx -std=c++17 -O2 -ffp-contract=fast -Wall -Wextra -Werror -I%t/src -I%runtime_include -x c++ %t/one.cpp %S/Inputs/external.cc -o %t/gcc && %t/gcc
// RUN: %clangxx -std=c++17 -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -Wall -Wextra -Werror -I%t/src -I%runtime_include -x c++ %t/one.cpp %S/Inputs/external.cc -o %t/clang && %t/clang

// CHECK-LABEL: //--- ext_kernels.h
// CHECK: extern "C" __attribute__((weak)) kiln_status scale(const float *, float *, const int64_t *, float) { return KILN_STATUS_MISSING_FUNCTION; }
// CHECK-NEXT: extern "C" void note(int64_t, float, int8_t *);

// CHECK-LABEL: //--- ext_run.cpp
// CHECK: const int64_t threads = kiln::count_threads(context);
// CHECK: alignas(KILN_ALIGNMENT) static int8_t state[8];

// CHECK-LABEL: //--- ext_kernels_0.cpp
// CHECK: const int64_t shape[2] = {rows, 2};
// CHECK-NEXT: kiln::report(status, ::scale(in, out, shape, 0.5f));
// CHECK-NEXT: note(threads, 2.0f, state);
module attributes {nn.model = "ext", nn.symbols = ["rows"], nn.symbol_bounds = [array<i64: 1, 64>], kernel.workspace_bytes = 64 : i64} {
  kernel.external @scale : (memref<?xf32>, memref<?xf32>, memref<2xi64>, f32) -> i32 writes [1]
  kernel.external @note : (index, f32, memref<?xi8>) -> () writes [2]
  func.func private @k(%in: memref<?xf32> {kernel.name = "in"}, %out: memref<?xf32> {kernel.name = "out", kernel.written},
                       %status: memref<1xi32> {kernel.name = "status", kernel.status, kernel.written},
                       %state: memref<?xi8> {kernel.name = "state", kernel.written}, %threads: index {kernel.name = "threads"},
                       %rows: index {kernel.name = "rows"}, %begin: index, %end: index) attributes {kernel.nodes = ["n(N)"]} {
    %c2 = arith.constant 2 : index
    %half = arith.constant 0.5 : f32
    %two = arith.constant 2.0 : f32
    %shape = kernel.numbers %rows, %c2 : memref<2xi64> loc("shape")
    kernel.call @scale(%in, %out, %shape, %half) reports %status : memref<?xf32>, memref<?xf32>, memref<2xi64>, f32 to memref<1xi32>
    kernel.call @note(%threads, %two, %state) : index, f32, memref<?xi8>
    return
  }
  kernel.entry @run inputs [{name = "x", type = tensor<?x2xf32, #nn.dims<()[s0] -> (s0, 2)>>}] outputs [{name = "y", type = tensor<?x2xf32, #nn.dims<()[s0] -> (s0, 2)>>}] {
  ^bb0(%x: memref<?xf32>, %y: memref<?xf32>, %workspace: memref<?xi8>, %rows: index):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %status = memref.view %workspace[%c0][] : memref<?xi8> to memref<1xi32>
    %threads = kernel.threads
    %state = kernel.state : memref<8xi8>
    %any = memref.cast %state : memref<8xi8> to memref<?xi8>
    kernel.launch @k(%x, %y, %status, %any, %threads, %rows) tasks(%c1) : memref<?xf32>, memref<?xf32>, memref<1xi32>, memref<?xi8>, index, index
  }
}
