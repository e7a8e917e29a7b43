//===- SplitProducts.h - Products of which parts go different ways -----------===//
#ifndef KILN_PASSES_RANKS_SPLITPRODUCTS_H
#define KILN_PASSES_RANKS_SPLITPRODUCTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

/// Makes several products of one with weights in blocks whose result is only read by slices of its columns, which do not overlap: those of queries, keys and
/// values, say. Each can then be cut by its own columns; a slice of a product that is cut would need the others' parts.
void splitProducts(mlir::func::FuncOp function);

} // namespace kiln

#endif // KILN_PASSES_RANKS_SPLITPRODUCTS_H
