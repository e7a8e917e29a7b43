//===- KernelSignature.h - The arguments of one kernel ---------------------===//
//
// A kernel's arguments are: one buffer for each group input, one buffer for each group result, what it takes besides (`Extra`), one index for each of the
// module's symbols, and the first and the last of its tasks. The entry reads here what it must pass.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_LOWERING_BUILDER_KERNELSIGNATURE_H
#define KILN_PASSES_LOWERING_BUILDER_KERNELSIGNATURE_H

#include "dialects/nn/NN.h"
#include "dialects/nn/NNStructureOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

class KernelSignature {
public:
  /// `kernel` has the buffers, the symbols and the range of tasks, and a status cell before the symbols if the anchor checks values.
  KernelSignature(nn::GroupOp group, mlir::func::FuncOp kernel);

  mlir::Value buffer(unsigned argument) const { return kernel.getArguments()[argument]; }
  mlir::Value resultBuffer(unsigned result) const { return kernel.getArguments()[inputs + result]; }
  llvm::ArrayRef<mlir::Value> symbolValues() const { return symbols; }
  /// The tasks of this call: [first, end).
  mlir::Value firstTaskValue() const { return kernel.getArguments().drop_back().back(); }
  mlir::Value endTaskValue() const { return kernel.getArguments().back(); }

  /// Whether group input `argument` is a constant, so that it can be packed.
  bool isConstant(unsigned argument) const { return groupOp.isConstantInput(argument); }
  /// Stores that constant in another order; from now on the buffer has `pack`'s shape.
  void packConstant(unsigned argument, kernel::PackAttr pack);
  llvm::ArrayRef<kernel::PackAttr> packs() const { return argumentPacks; }

  /// What the kernel takes besides inputs, results and symbols, in the order of its arguments.
  enum class Extra { Scratch, Status, State, Threads, Context };
  llvm::ArrayRef<Extra> extras() const { return extraArguments; }

  /// Memory of the kernel's own: `elements` for each task that may run at the same time as others, in the workspace. A kernel has at most one scratch
  /// buffer. A call for tasks [begin, end) uses the part of task `begin`, so that one thread works in one part, which stays in its cache.
  mlir::Value scratch(mlir::Type elementType, mlir::AffineExpr elements);
  mlir::Value scratch(mlir::Type elementType, int64_t elements);
  /// The elements for each task; null if the kernel has no scratch buffer.
  mlir::AffineExpr scratchElements() const { return scratchSize; }
  /// The number of tasks of a kernel whose launch is `byThreads`, and those of this call.
  mlir::Value threads();
  /// `bytes` of memory that lives as long as the model does.
  mlir::Value state(int64_t bytes);
  int64_t stateBytes() const { return stateSize; }
  /// The caller's kiln_context, which may be NULL; a fault that the kernel reports then ends the run at once.
  mlir::Value callerContext();
  /// Where faults of the data are written; null if nothing reports any.
  mlir::Value statusCell() const { return status; }
  /// The same for a kernel that reports faults although its anchor does not check values.
  mlir::Value makeStatusCell();

private:
  mlir::Value addArgument(Extra kind, mlir::Type type, llvm::StringRef name);

  mutable nn::GroupOp groupOp;
  mutable mlir::func::FuncOp kernel;
  unsigned inputs;
  llvm::SmallVector<mlir::Value> symbols;
  mlir::Value status;
  mlir::AffineExpr scratchSize;
  int64_t stateSize = 0;
  llvm::SmallVector<Extra> extraArguments;
  llvm::SmallVector<kernel::PackAttr> argumentPacks;
};

} // namespace kiln

#endif // KILN_PASSES_LOWERING_BUILDER_KERNELSIGNATURE_H
