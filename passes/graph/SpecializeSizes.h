//===- SpecializeSizes.h - A version of a model for listed sizes -----------===//
#ifndef KILN_PASSES_GRAPH_SPECIALIZESIZES_H
#define KILN_PASSES_GRAPH_SPECIALIZESIZES_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace kiln {

/// The sizes of a version in words: seq=128 batch=1. There is one size for each symbol of the module; -1 stands for any size.
std::string describeSizes(mlir::ModuleOp module, llvm::ArrayRef<int64_t> sizes);

} // namespace kiln

#endif // KILN_PASSES_GRAPH_SPECIALIZESIZES_H
