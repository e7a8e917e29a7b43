// Every operation that a kernel may hold, as C++ that computes the right numbers: built by both compilers without a warning, and run under
// the sanitizers.
// RUN: rm -rf %t && mkdir %t && kiln-translate --kernel-to-cpp %s > %t/all && split-file %t/all %t/src
// RUN: cat %S/Inputs/operations.cpp %t/src/ops_run.cpp %t/src/ops_kernels_0.cpp > %t/one.cpp
// RUN: %gxx -std=c++17 -O2 -fno-unroll-loops -ffp-contract=fast -Wall -Wextra -Werror -I%t/src -I%runtime_include %t/one.cpp -o %t/gcc && %t/gcc
// RUN: %clangxx -std=c++17 -O2 -fno-unroll-loops -ffp-contract=fast -Wall -Wextra -Werror -I%t/src -I%runtime_include %t/one.cpp -o %t/clang && %t/clang
// RUN: %gxx -std=c++17 -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -Wall -Wextra -Werror -I%t/src -I%runtime_include %t/one.cpp -o %t/san && %t/san
module attributes {nn.model = "ops", kernel.workspace_bytes = 0 : i64} {
  // out: integers that wrap, divide by zero, shift too far.
  func.func private @integers(%a: memref<?xi32> {kernel.name = "a"}, %b: memref<?xi32> {kernel.name = "b"}, %out: memref<?xi32> {kernel.name = "out", kernel.written},
                              %begin: index, %end: index) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %big = arith.constant -2147483648 : i32
    scf.for %i = %begin to %end step %c1 {
      %x = memref.load %a[%i] : memref<?xi32>
      %y = memref.load %b[%i] : memref<?xi32>
      %add = arith.addi %x, %y : i32
      %sub = arith.subi %x, %y : i32
      %mul = arith.muli %x, %y : i32
      %div = arith.divsi %x, %y : i32
      %divu = arith.divui %x, %y : i32
      %rem = arith.remsi %x, %y : i32
      %remu = arith.remui %x, %y : i32
      %floor = arith.floordivsi %x, %y : i32
      %ceil = arith.ceildivsi %x, %y : i32
      %and = arith.andi %x, %y : i32
      %or = arith.ori %x, %y : i32
      %xor = arith.xori %x, %y : i32
      %shl = arith.shli %x, %y : i32
      %shru = arith.shrui %x, %y : i32
      %shrs = arith.shrsi %x, %y : i32
      %min = arith.minsi %x, %y : i32
      %maxu = arith.maxui %x, %y : i32
      %abs = math.absi %x : i32
      %pow = math.ipowi %x, %y : i32
      %ult = arith.cmpi ult, %x, %y : i32
      %slt = arith.cmpi slt, %x, %y : i32
      %both = arith.xori %ult, %slt : i1
      %flag = arith.extui %both : i1 to i32
      %narrow = arith.trunci %x : i32 to i8
      %wide = arith.extsi %narrow : i8 to i32
      %zero = arith.extui %narrow : i8 to i32
      %isBig = arith.cmpi eq, %x, %big : i32
      %chosen = arith.select %isBig, %y, %x : i32
      %at = arith.muli %i, %c32 : index loc("at")
      memref.store %add, %out[%at] : memref<?xi32>
      %at1 = arith.addi %at, %c1 : index
      %v = vector.from_elements %sub, %mul, %div, %divu : vector<4xi32>
      vector.store %v, %out[%at1] : memref<?xi32>, vector<4xi32>
      %c5 = arith.constant 5 : index
      %at5 = arith.addi %at, %c5 : index
      %v2 = vector.from_elements %rem, %remu, %floor, %ceil, %and, %or, %xor, %shl : vector<8xi32>
      vector.store %v2, %out[%at5] : memref<?xi32>, vector<8xi32>
      %c13 = arith.constant 13 : index
      %at13 = arith.addi %at, %c13 : index
      %v3 = vector.from_elements %shru, %shrs, %min, %maxu, %abs, %pow, %flag, %wide : vector<8xi32>
      vector.store %v3, %out[%at13] : memref<?xi32>, vector<8xi32>
      %c21 = arith.constant 21 : index
      %at21 = arith.addi %at, %c21 : index
      %v4 = vector.from_elements %zero, %chosen : vector<2xi32>
      vector.store %v4, %out[%at21] : memref<?xi32>, vector<2xi32>
    }
    return
  }
  // The same on vectors.
  func.func private @integer_vectors(%a: memref<?xi32> {kernel.name = "a"}, %b: memref<?xi32> {kernel.name = "b"}, %out: memref<?xi32> {kernel.name = "out", kernel.written},
                                     %begin: index, %end: index) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c12 = arith.constant 12 : index
    %c16 = arith.constant 16 : index
    %c20 = arith.constant 20 : index
    %c24 = arith.constant 24 : index
    %x = vector.load %a[%c0] : memref<?xi32>, vector<4xi32>
    %y = vector.load %b[%c0] : memref<?xi32>, vector<4xi32>
    %add = arith.addi %x, %y : vector<4xi32>
    vector.store %add, %out[%c0] : memref<?xi32>, vector<4xi32>
    %div = arith.divsi %x, %y : vector<4xi32>
    vector.store %div, %out[%c4] : memref<?xi32>, vector<4xi32>
    %shl = arith.shli %x, %y : vector<4xi32>
    vector.store %shl, %out[%c8] : memref<?xi32>, vector<4xi32>
    %less = arith.cmpi ult, %x, %y : vector<4xi32>
    %all = arith.constant dense<true> : vector<4xi1>
    %not = arith.xori %less, %all : vector<4xi1>
    %ones = arith.extui %not : vector<4xi1> to vector<4xi32>
    vector.store %ones, %out[%c12] : memref<?xi32>, vector<4xi32>
    %chosen = arith.select %less, %x, %y : vector<4xi1>, vector<4xi32>
    vector.store %chosen, %out[%c16] : memref<?xi32>, vector<4xi32>
    %sum = vector.reduction <add>, %x : vector<4xi32> into i32
    memref.store %sum, %out[%c20] : memref<?xi32>
    %any = vector.reduction <or>, %less : vector<4xi1> into i1
    %anyInt = arith.extui %any : i1 to i32
    %c21 = arith.constant 21 : index
    memref.store %anyInt, %out[%c21] : memref<?xi32>
    %swapped = vector.shuffle %x, %y [3, 4, 1, 6] : vector<4xi32>, vector<4xi32>
    vector.store %swapped, %out[%c24] : memref<?xi32>, vector<4xi32>
    return
  }
  // Exact literals and comparisons with NaN.
  func.func private @literals(%in: memref<?xf32> {kernel.name = "in"}, %out: memref<?xf32> {kernel.name = "out", kernel.written}, %begin: index, %end: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %nan = arith.constant 0x7FC12345 : f32
    %inf = arith.constant 0xFF800000 : f32
    %tiny = arith.constant 1.0e-45 : f32
    %tenth = arith.constant 0.1 : f32
    %largest = arith.constant 0x7F7FFFFF : f32
    memref.store %nan, %out[%c0] : memref<?xf32>
    memref.store %inf, %out[%c1] : memref<?xf32>
    memref.store %tiny, %out[%c2] : memref<?xf32>
    memref.store %tenth, %out[%c3] : memref<?xf32>
    memref.store %largest, %out[%c4] : memref<?xf32>
    %x = memref.load %in[%c0] : memref<?xf32>
    %y = memref.load %in[%c1] : memref<?xf32>
    %max = arith.maximumf %x, %y : f32
    memref.store %max, %out[%c5] : memref<?xf32>
    %uno = arith.cmpf uno, %x, %y : f32
    %one = arith.cmpf one, %x, %y : f32
    %ult = arith.cmpf ult, %x, %y : f32
    %a = arith.extui %uno : i1 to i8
    %b = arith.extui %one : i1 to i8
    %c = arith.extui %ult : i1 to i8
    %two = arith.constant 2 : i8
    %four = arith.constant 4 : i8
    %b2 = arith.muli %b, %two : i8
    %c4_ = arith.muli %c, %four : i8
    %ab = arith.addi %a, %b2 : i8
    %abc = arith.addi %ab, %c4_ : i8
    %f = arith.sitofp %abc : i8 to f32
    memref.store %f, %out[%c6] : memref<?xf32>
    %int = arith.fptosi %x : f32 to i32
    %back = arith.sitofp %int : i32 to f32
    memref.store %back, %out[%c7] : memref<?xf32>
    return
  }
  // Loops that carry values: a swap, a nested sum, a while, and a choice.
  func.func private @loops(%in: memref<?xf32> {kernel.name = "in"}, %out: memref<?xf32> {kernel.name = "out", kernel.written}, %n: index {kernel.name = "n"}, %begin: index, %end: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %s:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %zero, %q = %one) -> (f32, f32) {
      %next = arith.addf %p, %q : f32
      scf.yield %q, %next : f32, f32
    }
    memref.store %s#0, %out[%c0] : memref<?xf32>
    memref.store %s#1, %out[%c1] : memref<?xf32>
    %total = scf.for %i = %c0 to %n step %c1 iter_args(%outer = %zero) -> f32 {
      %inner = scf.for %j = %c0 to %n step %c2 iter_args(%sum = %outer) -> f32 {
        %x = memref.load %in[%j] : memref<?xf32>
        %y = arith.addf %sum, %x : f32
        scf.yield %y : f32
      } {kernel.unroll = 4 : i64}
      scf.yield %inner : f32
    }
    memref.store %total, %out[%c2] : memref<?xf32>
    %w:2 = scf.while (%k = %c0, %x = %one) : (index, f32) -> (f32, index) {
      %more = arith.cmpi slt, %k, %n : index
      scf.condition(%more) %x, %k : f32, index
    } do {
    ^bb0(%x: f32, %k: index):
      %k2 = arith.addi %k, %c1 : index
      %x2 = arith.addf %x, %x : f32
      scf.yield %k2, %x2 : index, f32
    }
    memref.store %w#0, %out[%c3] : memref<?xf32>
    %is = arith.cmpi sgt, %n, %c3 : index
    %r = scf.if %is -> f32 {
      %scratch = memref.alloca() {alignment = 64 : i64} : memref<4xf32>
      memref.store %one, %scratch[%c2] : memref<4xf32>
      %l = memref.load %scratch[%c2] : memref<4xf32>
      memref.store %zero, %scratch[%c2] : memref<4xf32>
      %l2 = arith.addf %l, %one : f32
      scf.yield %l2 : f32
    } else {
      scf.yield %zero : f32
    }
    memref.store %r, %out[%c4] : memref<?xf32>
    return
  }
  // Storage types and conversions.
  func.func private @halves(%in: memref<?xf16> {kernel.name = "in"}, %out: memref<?xbf16> {kernel.name = "out", kernel.written}, %wide: memref<?xf64> {kernel.name = "wide", kernel.written}, %begin: index, %end: index) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %v = vector.load %in[%c0] : memref<?xf16>, vector<4xf16>
    %f = arith.extf %v : vector<4xf16> to vector<4xf32>
    %t = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : vector<4xf32>
    %g = vector.fma %f, %t, %t : vector<4xf32>
    %b = arith.truncf %g : vector<4xf32> to vector<4xbf16>
    vector.store %b, %out[%c0] : memref<?xbf16>, vector<4xbf16>
    %d = arith.extf %g : vector<4xf32> to vector<4xf64>
    vector.store %d, %wide[%c0] : memref<?xf64>, vector<4xf64>
    %x = vector.extract %d[3] : f64 from vector<4xf64>
    %h = arith.truncf %x : f64 to f16
    %back = arith.extf %h : f16 to f64
    memref.store %back, %wide[%c4] : memref<?xf64>
    %half = arith.constant 0.5 : bf16
    memref.store %half, %out[%c4] : memref<?xbf16>
    return
  }
  // Mathematical functions, lanes, strided loads, faults.
  func.func private @lanes(%in: memref<?xf32> {kernel.name = "in"}, %out: memref<?xf32> {kernel.name = "out", kernel.written}, %status: memref<1xi32> {kernel.name = "status", kernel.status, kernel.written}, %begin: index, %end: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c12 = arith.constant 12 : index
    %c13 = arith.constant 13 : index
    %v = kernel.strided_load %in[%c1] stride 2 : memref<?xf32> -> vector<8xf32>
    %x = vector.extract %v[2] : f32 from vector<8xf32>
    %b = vector.broadcast %x : f32 to vector<8xf32>
    %i = vector.insert %x, %v[0] : f32 into vector<8xf32>
    %s = arith.subf %b, %i : vector<8xf32>
    %n = arith.negf %s : vector<8xf32>
    %e = math.exp %n : vector<8xf32>
    %r = math.roundeven %e : vector<8xf32>
    vector.store %r, %out[%c0] : memref<?xf32>, vector<8xf32>
    %low = vector.extract_strided_slice %v {offsets = [4], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
    vector.store %low, %out[%c8] : memref<?xf32>, vector<4xf32>
    // The source is nobody else's: a load, a slice, a sum.
    %c14 = arith.constant 14 : index
    %c16 = arith.constant 16 : index
    %wide = vector.load %in[%c0] : memref<?xf32>, vector<8xf32>
    %half = vector.extract_strided_slice %wide {offsets = [4], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
    %pair = vector.extract_strided_slice %half {offsets = [1], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>
    vector.store %pair, %out[%c14] : memref<?xf32>, vector<2xf32>
    %twice = arith.addf %n, %v : vector<8xf32>
    %quarter = vector.extract_strided_slice %twice {offsets = [6], sizes = [2], strides = [1]} : vector<8xf32> to vector<2xf32>
    vector.store %quarter, %out[%c16] : memref<?xf32>, vector<2xf32>
    %start = arith.constant 100.0 : f32
    %sum = vector.reduction <add>, %v, %start : vector<8xf32> into f32
    memref.store %sum, %out[%c12] : memref<?xf32>
    %max = vector.reduction <maximumf>, %v : vector<8xf32> into f32
    memref.store %max, %out[%c13] : memref<?xf32>
    memref.prefetch %in[%c8], read, locality<3>, data : memref<?xf32>
    %bad = arith.cmpf ogt, %max, %start : f32
    scf.if %bad {
      kernel.fail %status, "KILN_STATUS_INDEX_OUT_OF_BOUNDS" : memref<1xi32>
    }
    return
  }
  kernel.entry @run inputs [] outputs [] {
  ^bb0(%workspace: memref<?xi8>):
  }
}
