//===- PackedInputs.h - Right sides that the caller has packed ---------------===//
//
// An argument of @main whose layout is "packed" has the elements of a matrix in panels
//   [column / width, row / depth, column % width, row % depth], filled up with zeros
// as constant right sides of products lie. The kernel of the product decides width and depth: they depend on the target, but on no size, so that any number of
// rows and any version of the model take the same bytes. The layout then says them: "packed 32x4".
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_TARGET_GROUPS_PACKEDINPUTS_H
#define KILN_PASSES_TARGET_GROUPS_PACKEDINPUTS_H

#include "dialects/nn/NN.h"
#include "dialects/nn/NNStructureOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

/// Whether a value is such an argument, whatever its panels.
bool isPacked(mlir::Value value);
/// The same for an input of a group.
bool isPackedInput(nn::GroupOp group, unsigned input);

/// Says the panels of a packed input. Fails if another kernel reads it in other ones.
llvm::LogicalResult setPanels(nn::GroupOp group, unsigned input, int64_t width, int64_t depth);

/// Reports an argument that is to be packed, but that no kernel reads so.
llvm::LogicalResult verifyPanels(mlir::func::FuncOp main);

} // namespace kiln

#endif // KILN_PASSES_TARGET_GROUPS_PACKEDINPUTS_H
