//===- Signature.h - The inputs and outputs of which ranks have parts -------===//
#ifndef KILN_PASSES_RANKS_SIGNATURE_H
#define KILN_PASSES_RANKS_SIGNATURE_H

#include "passes/ranks/Layouts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace kiln {

/// How arguments and results are cut.
struct SignatureCuts {
  llvm::SmallVector<Cut> arguments, results;
};

/// Those of a function with the annotations of ChooseShardings.
SignatureCuts listSignatureCuts(mlir::func::FuncOp function, const Grid &grid);

/// Gives @main of `part`, which is that of a rank, the inputs and outputs of the annotated module `whole`: takes the rank's parts of its inputs, and puts those
/// of its outputs together.
void restoreSignature(mlir::ModuleOp part, mlir::ModuleOp whole, int64_t rank);

} // namespace kiln

#endif // KILN_PASSES_RANKS_SIGNATURE_H
