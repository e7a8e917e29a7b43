//===- NNCallOps.td - Calls that only import makes --------------------------===//
//
// Operations with a header of their own (dialects/nn/Calls.h): passes know them by interfaces alone, so few files depend on it.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_NN_CALL_OPS
#define KILN_NN_CALL_OPS

include "dialects/nn/NNBase.td"
include "dialects/nn/NNInterfaces.td"

def NN_Col2ImOp : NN_Op<"col2im", [Pure, DeclareOpInterfaceMethods<NN_RuntimeFunction>]> {
  let summary = "Overlapping blocks of an image, added up where they came from: ONNX Col2Im.";
  let description = [{
    The input is [N, C * elements of a block, blocks], the result [N, C, image...]. Blocks are `strides` apart, elements of a block `dilations`; `pads` has how
    much of the blocks lies before and after the image in each dimension.
    ```mlir
    %r = nn.col2im %x block [2, 2] strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] : tensor<1x4x9xf32> -> tensor<1x1x4x4xf32>
    ```
  }];
  let arguments = (ins NN_TensorOf<[F64, F32], "f32 or f64">:$input, DenseI64ArrayAttr:$block, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$pads);
  let results = (outs NN_TensorOf<[F64, F32], "f32 or f64">:$result);
  let assemblyFormat = [{
    $input `block` $block `strides` $strides `dilations` $dilations `pads` $pads attr-dict `:` type($input) `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// The number of blocks along a dimension of the image, which may be none.
    int64_t countBlocks(size_t dim);
  }];
  let hasVerifier = 1;
}

def NN_DistancesOp : NN_Op<"distances", [Pure]> {
  let summary = "Squares of the Euclidean distances of all rows of one matrix to all rows of another: com.microsoft CDist.";
  let description = [{
    [M, K] and [N, K] give [M, N]. Differences are squared, so that near rows have distances of full precision: a product of the matrices would not give them.
    ```mlir
    %r = nn.distances %a, %b : tensor<100x16xf32>, tensor<20x16xf32> -> tensor<100x20xf32>
    ```
  }];
  let arguments = (ins NN_TensorOf<[F64, F32], "f32 or f64">:$lhs, NN_TensorOf<[F64, F32], "f32 or f64">:$rhs);
  let results = (outs NN_TensorOf<[F64, F32], "f32 or f64">:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
}

def NN_FourierOp : NN_Op<"fourier", [Pure, DeclareOpInterfaceMethods<NN_RuntimeFunction>]> {
  let summary = "The discrete Fourier transform along the last but one dimension: ONNX DFT, and the frames of STFT.";
  let description = [{
    The last dimension is a number's real part, or its real and imaginary parts. A row is padded with zeros to `length` points, and a result keeps the
    first points of the transform. `inverse` is the inverse transform, divided by `length`. A result of real numbers is the transform of a spectrum
    whose second half mirrors the first one, so only points up to `length` / 2 are read. `table` holds roots of unity in the order that the
    stages need them, and the chirp with which lengths of large prime factors are convolved (dialects/nn/Fourier.h).
    ```mlir
    %r = nn.fourier %x, %table length 8 : tensor<2x8x1xf32>, tensor<16xf32> -> tensor<2x5x2xf32>
    ```
  }];
  let arguments = (ins NN_TensorOf<[F64, F32], "f32 or f64">:$input, NN_TensorOf<[F64, F32], "f32 or f64">:$table, I64Attr:$length, UnitAttr:$inverse);
  let results = (outs NN_TensorOf<[F64, F32], "f32 or f64">:$result);
  let assemblyFormat = [{
    $input `,` $table (`inverse` $inverse^)? `length` $length attr-dict `:` type($input) `,` type($table) `->` type($result)
  }];
  let hasVerifier = 1;
}

def NN_TreeEnsembleOp : NN_Op<"tree_ensemble", [Pure]> {
  let summary = "The joined leaves of decision trees for rows: ONNX TreeEnsemble, TreeEnsembleClassifier and TreeEnsembleRegressor.";
  let description = [{
    Each of the [rows, columns] of `input` goes down all trees. Result element [row, b, target] joins what the leaves of the trees of block b (`block` trees, or
    those that are left) give `target`: it adds them in the trees' order, or takes the `least` (infinity if there is none) or the `largest`. That blocks are
    results of their own makes them tasks for threads, and fixes the order of the sum.

    `nodes` has `words` words for each node (1: f32 compared in order, and up to 65536 nodes of a tree and columns; 2: any type, and the same
    comparison in all nodes; 3: any comparisons), `trees` four numbers for each tree, and `leaves` and `weights` what leaves give: one number for each
    target, or lists. With `levels`, trees are full, nodes are found by their place alone, and numbers of leaves may stand among them (`holds_leaves`).
    dialects/nn/TreeTables.h makes the tables. Trees read the first `width` columns. A NaN goes right (`missing` 0), left (1), or as the column of a
    node says (2).
    ```mlir
    %r = nn.tree_ensemble %x, %nodes, %trees, %leaves, %weights words 1 block 64 width 2 missing 0
      : tensor<5x2xf32>, tensor<3xi64>, tensor<4xi64>, tensor<1xi64>, tensor<4xf32> -> tensor<5x1x1xf32>
    ```
  }];
  let arguments = (ins NN_TensorOf<[F64, F32], "f32 or f64">:$input, NN_TensorOf<[I64], "i64">:$nodes,
                       NN_TensorOf<[I64], "i64">:$trees, NN_TensorOf<[I64], "i64">:$leaves, NN_TensorOf<[F64, F32], "f32 or f64">:$weights,
                       I64Attr:$words, I64Attr:$block, I64Attr:$width, I64Attr:$missing,
                       OptionalAttr<I64Attr>:$levels, UnitAttr:$holds_leaves, UnitAttr:$least, UnitAttr:$largest, UnitAttr:$strict,
                       UnitAttr:$listed);
  let results = (outs NN_TensorOf<[F64, F32], "f32 or f64">:$result);
  let assemblyFormat = [{
    $input `,` $nodes `,` $trees `,` $leaves `,` $weights `words` $words `block` $block `width` $width `missing` $missing (`levels` $levels^)?
    (`holds_leaves` $holds_leaves^)? (`least` $least^)? (`largest` $largest^)? (`strict` $strict^)? (`listed` $listed^)? attr-dict
    `:` type($input) `,` type($nodes) `,` type($trees) `,` type($leaves) `,` type($weights) `->` type($result)
  }];
  let hasVerifier = 1;
}

def NN_StringParseOp : NN_Op<"string_parse", [Pure, DeclareOpInterfaceMethods<NN_RuntimeFunction, ["isElementwise", "reportsFaults"]>]> {
  let summary = "Strings parsed as numbers: ONNX Cast from strings.";
  let description = [{
    Decimal numbers, also with an exponent, rounded to the nearest f64; INF and NaN in upper or lower case. An i64 or ui64 is the number truncated.
    Any other string is a fault of the data.
    ```mlir
    %r = nn.string_parse %x : tensor<2xi128> -> tensor<2xf64>
    ```
  }];
  let arguments = (ins NN_StringTensor:$input);
  let results = (outs NN_TensorOf<[F64, I64, UI64], "f64, i64 or ui64">:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def NN_StringPrintOp : NN_Op<"string_print", [NN_DataSized, DeclareOpInterfaceMethods<NN_RuntimeFunction, ["reportsFaults"]>]> {
  let summary = "Numbers printed as strings: ONNX Cast to strings.";
  let description = [{
    The result has the fewest digits that read back as the same number of the input's type, in at most 24 bytes. `bytes` is as in `nn.string_concat`.
    ```mlir
    %r, %bytes, %n = nn.string_print %x room 0 each 24 counts 0 : tensor<2xf32>
      -> tensor<2xi128>, tensor<?xui8, #nn.dims<()[s0] -> (s0)>>, tensor<1xi64>
    ```
  }];
  let arguments = (ins NN_TensorOf<[F64, F32, I64, UI64], "f32, f64, i64 or ui64">:$input, I64Attr:$room, DefaultValuedAttr<I64Attr, "0">:$each,
                       I64Attr:$counts);
  let results = (outs NN_StringTensor:$result, NN_TensorOf<[UI8], "bytes">:$bytes, NN_IndexTensor:$count);
  let assemblyFormat = [{
    $input `room` $room (`each` $each^)? `counts` $counts attr-dict `:` type($input) `->` type($result) `,` type($bytes) `,` type($count)
  }];
  let hasVerifier = 1;
}

def NN_StringHashOp : NN_Op<"string_hash", [Pure, DeclareOpInterfaceMethods<NN_RuntimeFunction, ["isElementwise"]>]> {
  let summary = "The hash of the bytes of strings: com.microsoft MurmurHash3.";
  let description = [{
    MurmurHash3_x86_32 with a seed.
    ```mlir
    %r = nn.string_hash %x seed 7 : tensor<2xi128> -> tensor<2xui32>
    ```
  }];
  let arguments = (ins NN_StringTensor:$input, I64Attr:$seed);
  let results = (outs NN_TensorOf<[UI32], "ui32">:$result);
  let assemblyFormat = "$input `seed` $seed attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def NN_CouplePairsOp : NN_Op<"couple_pairs", [Pure, DeclareOpInterfaceMethods<NN_RuntimeFunction>]> {
  let summary = "Probabilities of classes from those of pairs of classes: ONNX SVMClassifier with `prob_a` and `prob_b`.";
  let description = [{
    A row of `pairs` has, for each pair (i, j) of classes with i < j, in this order, the probability that a sample of either class is of class i. The result
    has probabilities of all classes that agree best with them: the second method of Wu, Lin and Weng (Probability estimates for multi-class
    classification by pairwise coupling, 2004), with at most 100 steps. `scratch` is memory for the steps.
    ```mlir
    %r, %scratch = nn.couple_pairs %x : tensor<5x3xf32> -> tensor<5x3xf32>, tensor<2x3xf32>
    ```
  }];
  let arguments = (ins NN_TensorOf<[F32], "f32">:$pairs);
  let results = (outs NN_TensorOf<[F32], "f32">:$result, NN_TensorOf<[F32], "f32">:$scratch);
  let assemblyFormat = "$pairs attr-dict `:` type($pairs) `->` type($result) `,` type($scratch)";
  let hasVerifier = 1;
}

def NN_StringOrderOp : NN_Op<"string_order", [Pure, DeclareOpInterfaceMethods<NN_RuntimeFunction>]> {
  let summary = "The rank of each string in the order of their bytes: numbers that compare as the strings do.";
  let description = [{
    `places` are the positions of the strings in that order.
    ```mlir
    %r, %places = nn.string_order %x : tensor<5xi128> -> tensor<5xi64>, tensor<5xi64>
    ```
  }];
  let arguments = (ins NN_StringTensor:$input);
  let results = (outs NN_TensorOf<[I64], "i64">:$result, NN_TensorOf<[I64], "i64">:$places);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result) `,` type($places)";
  let hasVerifier = 1;
}

def NN_ExternCallOp : NN_Op<"extern_call", [Pure]> {
  let summary = "A call of a C function that the program provides: an operator that a file of definitions declares as extern.";
  let description = [{
    The function gets the buffers of the operands and of the results, dense and in row-major order, and all their dimensions in this order. It returns a
    kiln_status, and what is not KILN_STATUS_OK ends the run. The library has a weak default that returns KILN_STATUS_MISSING_FUNCTION.
    ```mlir
    %r = nn.extern_call "acme_gru_cell"(%x, %h) : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Variadic<NN_Tensor>:$inputs, StrAttr:$function);
  let results = (outs Variadic<NN_Tensor>:$results);
  let assemblyFormat = "$function `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)";
  let hasVerifier = 1;
}

#endif // KILN_NN_CALL_OPS
