//===- KernelBuilder.h - Writes the loops of one kernel --------------------===//
//
// A kernel's lowering works with three objects, each of which can be used alone: the kernel's arguments (KernelSignature), loops and index arithmetic
// (KernelLoops), and the group's values at an index (GroupValues). The builder is all three, so that a lowering has one object to pass on.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_LOWERING_BUILDER_KERNELBUILDER_H
#define KILN_PASSES_LOWERING_BUILDER_KERNELBUILDER_H

#include "dialects/nn/NNStructureOps.h"
#include "passes/lowering/builder/GroupValues.h"
#include "passes/lowering/builder/KernelLoops.h"
#include "passes/lowering/builder/KernelSignature.h"
#include "passes/lowering/builder/LaunchInfo.h"

namespace kiln {

class KernelBuilder : public KernelSignature, public KernelLoops, public GroupValues {
public:
  /// Starts the body of `kernel`.
  KernelBuilder(nn::GroupOp group, mlir::func::FuncOp kernel);
  KernelBuilder(const KernelBuilder &) = delete;

  /// Records that an input value is at fault when `condition` holds; the run goes on and returns `code` (a KILN_STATUS_ name). Only for anchors
  /// with `checksValues`.
  void failIf(mlir::Value condition, llvm::StringRef code);
  /// Calls a C function that returns a status. `writes` lists the operands that it writes to. A function with a
  /// header or library of Kiln's own is declared in the module once.
  void callExternal(llvm::StringRef name, mlir::ValueRange operands, llvm::ArrayRef<int64_t> writes, llvm::StringRef header, llvm::StringRef library);
  /// The first task of this call.
  mlir::AffineExpr firstTask() { return index(firstTaskValue()); }
  /// The element of the scratch buffer where this call's part begins.
  mlir::AffineExpr scratchStart() { return firstTask() * scratchElements(); }
};

} // namespace kiln

#endif // KILN_PASSES_LOWERING_BUILDER_KERNELBUILDER_H
