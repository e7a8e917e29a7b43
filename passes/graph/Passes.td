//===- Passes.td - Simplifications that hold on any target, in pipeline order ===//
#ifndef KILN_PASSES_GRAPH
#define KILN_PASSES_GRAPH

include "mlir/Pass/PassBase.td"

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
}

def RecognizeQuantized : Pass<"nn-recognize-quantized", "mlir::ModuleOp"> {
  let summary = "Makes products between dequantised numbers products of integers.";
  let description = [{
    A product of dequantised bytes and dequantised constant weights becomes nn.quantized_matmul or nn.quantized_conv with a factor behind it, which
    goes into the requantisation that follows. Bytes that are only moved between a dequantisation and a quantisation with the same parameters stay
    bytes. Constants that are still dequantised, and quantisations of what a product of real numbers gives, become their parts, which fold.
    Without `products` only that is done.
  }];
  let options = [Option<"products", "products", "bool", /*default=*/"true", "make products of integers">,
                 Option<"budget", "budget", "int64_t", /*default=*/"64 << 20", "operations whose operands have more bytes than this are not folded">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect"];
}

def FoldScales : Pass<"nn-fold-scales", "mlir::ModuleOp"> {
  let summary = "Folds constant factors per channel (batch normalization) into the weights of convolutions and matrix products.";
}

def RecognizeComposites : Pass<"nn-recognize-composites", "mlir::ModuleOp"> {
  let summary = "Replaces the chains of operations that exporters write for softmax, layer norm, gelu and others by one operation.";
}

#endif // KILN_PASSES_GRAPH
