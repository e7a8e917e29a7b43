//===- Passes.td - Simplifications that hold on any target, in pipeline order ===//
#ifndef KILN_PASSES_GRAPH
#define KILN_PASSES_GRAPH

include "mlir/Pass/PassBase.td"

//===- Before the stages: what the options of a compile ask for -------------===//

def ObserveValues : Pass<"nn-observe-values", "mlir::ModuleOp"> {
  let summary = "Keeps the values inside a model as outputs that the caller names, out of all those that import has exposed.";
  let description = [{
    The first `outputs` results of @main are the model's own and stay. `nn.name` of a result is the value's name. Operations that compute only values
    that nobody asked for are erased.
  }];
  let options = [Option<"outputs", "outputs", "unsigned", "0", "the number of results that are the model's own outputs">,
                 ListOption<"values", "values", "std::string", "names of values to keep">,
                 Option<"everything", "everything", "bool", "false", "keep all values">,
                 Option<"cut", "cut", "bool", "false", "have the uses of a kept value read a new argument, so that each part computes from given values">,
                 Option<"fault", "fault", "std::string", "\"\"", "the name of a value to add 1 to, as a wrong kernel might; an error if it cannot be done">];
}

def PrepareInPlace : Pass<"nn-prepare-in-place", "mlir::ModuleOp"> {
  let summary = "Records which outputs must be the buffers of inputs, and gives caches that grow their whole buffer.";
  let description = [{
    A pair is OUTPUT=INPUT, or OUTPUT=INPUT:ROWS for a cache that grows by a concatenation; a `*` stands for the same text on both sides. The module
    attribute `nn.asked_in_place` gets the positions of each pair.
  }];
  let options = [ListOption<"pairs", "pairs", "std::string", "OUTPUT=INPUT or OUTPUT=INPUT:ROWS">];
}

def SetIoLayouts : Pass<"nn-set-io-layouts", "mlir::ModuleOp"> {
  let summary = "Gives inputs and outputs the layout that the caller has.";
  let description = [{
    The argument or result gets the permuted type and `nn.layout`, and a transpose stands behind or before it. A layout without TENSOR is for every input and
    output of its rank. A tensor of another rank, and a name that the model does not have, are errors.
  }];
  let options = [ListOption<"layouts", "layouts", "std::string", "TENSOR=LAYOUT or LAYOUT, which is nwc, nhwc or ndhwc">,
                 Option<"outputs", "outputs", "unsigned", "~0u", "the number of results that are the model's own outputs">];
}

def SpecializeSizes : Pass<"nn-specialize-sizes", "mlir::ModuleOp"> {
  let summary = "Puts numbers in the place of symbolic dimensions, for a version of the model that runs only with these sizes.";
  let description = [{
    The symbols and the signature stay. `nn.special_sizes` records the sizes, and `nn.symbol_bounds` has the entry refuse others. Constraints
    that always hold then are dropped; one that never holds is an error.
  }];
  let options = [ListOption<"sizes", "sizes", "int64_t", "one size for each symbol; -1 leaves it symbolic">];
}

//===- The stage ------------------------------------------------------------===//

def FoldConstants : Pass<"nn-fold-constants", "mlir::ModuleOp"> {
  let summary = "Computes operations on constants, except where that would make the library larger.";
  let description = [{
    Element-wise operations are computed by interpreting their scalar body, data movement by its index map.
  }];
  let options = [Option<"budget", "budget", "int64_t", /*default=*/"64 << 20", "operations whose operands have more bytes than this are not folded">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect"];
}

def FoldShapes : Pass<"nn-fold-shapes", "mlir::ModuleOp"> {
  let summary = "Evaluates slices, gathers, concatenations and integer arithmetic of nn.dim_values symbolically.";
}

def SimplifyDataMovement : Pass<"nn-simplify-data-movement", "mlir::ModuleOp"> {
  let summary = "Merges slices, concatenations, pads, gathers and broadcasts with each other and with their users.";
  let description = [{
    Lines of a convolution's window that see padding alone are dropped from constant weights, as under the large dilations of an atrous pyramid.
  }];
}

def RecognizeQuantized : Pass<"nn-recognize-quantized", "mlir::ModuleOp"> {
  let summary = "Makes products between dequantised numbers products of integers.";
  let description = [{
    A product of dequantised bytes and dequantised constant weights becomes nn.quantized_matmul or nn.quantized_conv with a factor behind it, which
    goes into the requantisation that follows. Constants that are still dequantised, and quantisations of what a product of real numbers gives, become
    their parts, which fold. Without `products` only that is done.
  }];
  let options = [Option<"products", "products", "bool", /*default=*/"true", "make products of integers">,
                 Option<"budget", "budget", "int64_t", /*default=*/"64 << 20", "operations whose operands have more bytes than this are not folded">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect"];
}

def TabulateBytes : Pass<"nn-tabulate-bytes", "mlir::ModuleOp"> {
  let summary = "Makes tables of chains of element-wise operations between bytes.";
  let description = [{
    An nn.quantize whose value one tensor of bytes determines, by any element-wise operations, becomes nn.lookup. Its table of 256 bytes has what the
    formulas of these operations give. Elements that are only moved before an nn.quantize (by nn.concat, nn.max_pool, nn.resize, ...) are moved as bytes.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect"];
}

def FoldScales : Pass<"nn-fold-scales", "mlir::ModuleOp"> {
  let summary = "Folds constant factors per channel (batch normalization) into the weights of convolutions and matrix products.";
}

def RecognizeComposites : Pass<"nn-recognize-composites", "mlir::ModuleOp"> {
  let summary = "Replaces the chains of operations that exporters write for softmax, layer norm, gelu and others by one operation.";
}

def StoreWeights : Pass<"nn-store-weights", "mlir::ModuleOp"> {
  let summary = "Makes constant f32 weights of products, convolutions and gathers smaller; what computes with them stays f32.";
  let description = [{
    `f16` and `bf16` round to halves, which kernels widen as they load them. `int8` gives each column of a product, each output channel of a convolution and
    each row of a table a scale, which multiplies the result. `int4` makes products nn.block_quantized_matmul with a scale for each block of 32 weights, and
    the rest int8. A weight that a type cannot hold, or that a transposed convolution reads, stays f32. `nn.rounding` of each constant says what became of
    it and how large the error is, that of the module has the total.
  }];
  let options = [Option<"type", "type", "std::string", "\"\"", "f16, bf16, int8 or int4">,
                 Option<"widen", "widen", "bool", "false",
                        "make weights of f32 of those that are stored before they are multiplied, for the reference of a comparison">];
}

#endif // KILN_PASSES_GRAPH
