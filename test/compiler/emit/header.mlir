// The generated header is plain C11 and C++17, whatever the model and its inputs are called; a program calls the model through it in both ways.
// RUN: rm -rf %t && mkdir %t && kiln-translate --kernel-to-cpp %s > %t/all && split-file %t/all %t/src
// RUN: %gcc -std=c11 -Wall -Wextra -pedantic -Werror -I%t/src -c %S/Inputs/header.c -o %t/gcc.o
// RUN: %clang -std=c11 -Wall -Wextra -pedantic -Werror -I%t/src -c %S/Inputs/header.c -o %t/clang.o
// RUN: cat %S/Inputs/header.cpp > %t/main.cpp
// RUN: %gxx -std=c++17 -Wall -Wextra -pedantic -Werror -Wno-psabi -I%t/src -I%runtime_include %t/main.cpp %t/src/model_run.cpp %t/src/model_kernels_0.cpp %t/gcc.o -o %t/gcc
// RUN: %t/gcc
// RUN: %clangxx -std=c++17 -Wall -Wextra -pedantic -Werror -I%t/src -I%runtime_include %t/main.cpp %t/src/model_run.cpp %t/src/model_kernels_0.cpp %t/clang.o -o %t/clang
// RUN: %t/clang
// Other names that could meet those in the emitted text.
// RUN: sed 's/"model"/"input0"/' %s | kiln-translate --kernel-to-cpp > %t/all2 && split-file %t/all2 %t/src2
// RUN: %gxx -std=c++17 -Wall -Wextra -Werror -Wno-psabi -I%t/src2 -I%runtime_include -c %t/src2/input0_run.cpp -o %t/two.o
// RUN: sed 's/"model"/"class"/' %s | kiln-translate --kernel-to-cpp | FileCheck %s --check-prefix=KEYWORD
// KEYWORD: kiln_status class__run(
// RUN: sed 's/"model"/"2 B|!2 B"/' %s | kiln-translate --kernel-to-cpp | FileCheck %s --check-prefix=TEXT
// TEXT: kiln_status x2_B_2_B_run(
module attributes {nn.model = "model", nn.symbols = ["batch", "batch "], nn.symbol_bounds = [array<i64: 1, 8>], kernel.workspace_bytes = 0 : i64} {
  func.func private @sum(%a: memref<?xf32> {kernel.name = "a"}, %b: memref<?xi64> {kernel.name = "b"}, %out: memref<?xf32> {kernel.name = "out", kernel.written},
                         %begin: index, %end: index) attributes {kernel.nodes = ["a\\\0A*/ # \22(Add)"]} {
    %c1 = arith.constant 1 : index
    scf.for %i = %begin to %end step %c1 {
      %x = memref.load %a[%i] : memref<?xf32>
      %y = memref.load %b[%i] : memref<?xi64>
      %f = arith.sitofp %y : i64 to f32
      %s = arith.addf %x, %f : f32
      memref.store %s, %out[%i] : memref<?xf32>
    }
    return
  }
  kernel.entry @run inputs [{name = "run", type = tensor<?x2xf32, #nn.dims<()[s0] -> (s0, 2)>>}, {name = "int*/", type = tensor<?xi64, #nn.dims<()[s0, s1] -> (s0 + s1)>>}]
      outputs [{name = "run\\", type = tensor<?x2xf32, #nn.dims<()[s0] -> (s0, 2)>>}] {
  ^bb0(%a: memref<?xf32>, %b: memref<?xi64>, %out: memref<?xf32>, %workspace: memref<?xi8>, %batch: index, %other: index):
    %c2 = arith.constant 2 : index
    %n = arith.muli %batch, %c2 : index
    %sum = arith.addi %batch, %other : index
    %ok = arith.cmpi eq, %sum, %n : index
    kernel.check %ok, "KILN_STATUS_DIMENSION_MISMATCH", "both are one"
    kernel.launch @sum(%a, %b, %out) tasks(%n) : memref<?xf32>, memref<?xi64>, memref<?xf32>
  }
}
