//===- BorderTasks.h - Tasks that need nothing of other ranks ---------------===//
#ifndef KILN_PASSES_KERNEL_BORDERTASKS_H
#define KILN_PASSES_KERNEL_BORDERTASKS_H

#include "dialects/kernel/KernelOps.h"
#include "passes/kernel/TaskFootprint.h"

#include "mlir/IR/SymbolTable.h"

namespace kiln {

/// Tasks [first, end) of a launch; all of them if `end` is not given.
struct LaunchPiece {
  kernel::LaunchOp launch;
  int64_t first = 0, end = -1;
  /// Whether the tasks read nothing that comes from other ranks, while others of the launch do.
  bool isInner = false;
  /// Whether the launch has so few tasks that threads would wait for those of a piece: then, with more than one thread, this piece has all of them or none.
  enum class Threaded { Piece, All, None } threaded = Threaded::Piece;
  /// What the kernel's reason says of that.
  std::string reason = "";

  bool isWhole() const { return end < 0; }
  llvm::StringRef getKernel() const { return kernel::LaunchOp(launch).getKernel(); }
};

TaskFootprint findFootprint(LaunchPiece piece, mlir::func::FuncOp kernel);

/// What a launch reads of other ranks.
struct BorderWork {
  /// For each operand, the elements that come from there.
  llvm::SmallVector<ElementRanges> given;
  /// The bytes of the exchanges that bring them.
  int64_t exchangedBytes = 0;
  /// Whether they are rows of neighbours.
  bool areRows = false;
};

/// Elements and bytes of a buffer of static size; 0 for others.
/// @{
int64_t elementsOf(mlir::Value buffer);
int64_t bytesOf(mlir::Value buffer);
/// @}

/// What a launch of an exchange gets from others.
int64_t bytesExchanged(kernel::LaunchOp exchange, mlir::func::FuncOp kernel);

/// Seconds of an exchange that brings so many bytes, and of the tasks of a piece.
/// @{
double estimateExchange(int64_t bytes, kernel::LaunchOp launch);
double estimateWork(const LaunchPiece &piece);
/// @}

/// The launch in pieces, if some of its tasks can run beside the exchanges and that is estimated to pay; otherwise as a whole. The kernel's reason says which.
llvm::SmallVector<LaunchPiece, 3> cutLaunch(kernel::LaunchOp launch, mlir::func::FuncOp kernel, const BorderWork &work);

/// Adds to what the report says of a kernel.
void addReason(mlir::func::FuncOp kernel, const llvm::Twine &text);

/// The launch of a piece, and the constants that it needs, in this order; they are in no block yet.
llvm::SmallVector<mlir::Operation *, 8> makePiece(const LaunchPiece &piece, mlir::SymbolTable &symbols);

} // namespace kiln

#endif // KILN_PASSES_KERNEL_BORDERTASKS_H
