// --emit=cpp makes a folder that builds by itself, with weights as an assembler includes them, and computes what the library does. One model
// under two names links into one program, and so does a shared library.
// RUN: rm -rf %t && mkdir %t && kiln %s -o %t/out --emit=lib,cpp,so --name=first -q && kiln %s -o %t/out --emit=lib --name=second --target=generic -q
// RUN: %cmake -S %t/out/src -B %t/build -DCMAKE_CXX_COMPILER=%gxx -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" && %cmake --build %t/build
// RUN: %gcc -std=c11 -Wall -Wextra -pedantic -Werror -I%t/out %S/Inputs/two-names.c %t/build/libfirst.a %t/out/libsecond.a -o %t/built && %t/built
// RUN: %gcc -std=c11 -I%t/out %S/Inputs/two-names.c %t/out/libfirst.a %t/out/libsecond.a -o %t/packaged && %t/packaged
// RUN: %gcc -std=c11 -I%t/out %S/Inputs/two-names.c %t/out/libfirst.so %t/out/libsecond.a -o %t/shared -Wl,-rpath,%t/out && %t/shared
// Of the runtime it has what the model needs: no header of another kind of kernel, nothing for oneDNN, pictures and ranks.
// RUN: bash -c 'cd %t/out/src/runtime && find . -type f | sort' | FileCheck %s --check-prefix=RUNTIME --implicit-check-not=onednn --implicit-check-not=image --implicit-check-not=strings --implicit-check-not=ranks --implicit-check-not=mpi --implicit-check-not=tiles --implicit-check-not=trees
// RUNTIME: ./CMakeLists.txt
// RUNTIME: ./include/kiln/abi.h
// RUNTIME: ./include/kiln/runtime.h
// RUNTIME: ./include/kiln/vector.h
// RUNTIME: ./src/Pool.cpp
// Nothing of Kiln is needed: another place, an empty environment, another compiler.
// RUN: mv %t/out/src %t/elsewhere && env -i PATH=/usr/bin:/bin %cmake -G Ninja -S %t/elsewhere -B %t/clang -DCMAKE_CXX_COMPILER=%clangxx -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" > %t/log
// RUN: env -i PATH=/usr/bin:/bin %cmake --build %t/clang >> %t/log && %gcc -std=c11 -I%t/out %S/Inputs/two-names.c %t/clang/libfirst.a %t/out/libsecond.a -o %t/moved && %t/moved
// No allocation, no C++ library: nothing is undefined but what every C library has.
// RUN: nm -u %t/out/libfirst.a | FileCheck %s --check-prefix=UNDEFINED --allow-empty
// UNDEFINED-NOT: {{malloc|_Zn|__cxa|free}}
module attributes {nn.model = "scale", kernel.workspace_bytes = 0 : i64} {
  kernel.weight @w : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> packed <shape = [4], map = (i) -> (3 - i)>
  func.func private @scale(%x: memref<4xf32>, %w: memref<4xf32>, %y: memref<4xf32> {kernel.written}, %begin: index, %end: index) attributes {kernel.nodes = ["Mul_0(Mul)"]} {
    %c0 = arith.constant 0 : index
    %v = vector.load %x[%c0] : memref<4xf32>, vector<4xf32>
    %s = vector.load %w[%c0] : memref<4xf32>, vector<4xf32>
    %p = arith.mulf %v, %s : vector<4xf32>
    vector.store %p, %y[%c0] : memref<4xf32>, vector<4xf32>
    return
  }
  kernel.entry @run inputs [{name = "x", type = tensor<4xf32>}] outputs [{name = "y", type = tensor<4xf32>}] {
  ^bb0(%x: memref<4xf32>, %y: memref<4xf32>, %workspace: memref<?xi8>):
    %c1 = arith.constant 1 : index
    %w = kernel.get_weight @w : memref<4xf32>
    kernel.launch @scale(%x, %w, %y) tasks(%c1) : memref<4xf32>, memref<4xf32>, memref<4xf32>
  }
}
