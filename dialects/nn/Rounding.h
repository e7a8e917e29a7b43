//===- Rounding.h - Numbers that are rounded because the user asks for it ---===//
#ifndef KILN_DIALECTS_NN_ROUNDING_H
#define KILN_DIALECTS_NN_ROUNDING_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace kiln::nn {

/// Adds a line to the module's list of what is rounded on request.
void addRoundingLine(mlir::ModuleOp module, const llvm::Twine &line);

/// That list, in order.
std::vector<std::string> listRounding(mlir::ModuleOp module);

/// What `nn.rounding` says of an operation; empty: nothing.
llvm::StringRef getRounding(mlir::Operation *op);
void setRounding(mlir::Operation *op, const llvm::Twine &text);

/// Says that both factors of a product are rounded to a type ("bf16"), with the bound of each in words.
void setRoundedFactors(mlir::Operation *op, llvm::StringRef type, llvm::StringRef bound);

/// That type; empty: they are not rounded.
llvm::StringRef getRoundedFactors(mlir::Operation *op);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_ROUNDING_H
