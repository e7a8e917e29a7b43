//===- EntryBuilder.h - The entry that launches the kernels ----------------===//
#ifndef KILN_PASSES_LOWERING_ENTRY_ENTRYBUILDER_H
#define KILN_PASSES_LOWERING_ENTRY_ENTRYBUILDER_H

#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/lowering/entry/Guards.h"
#include "passes/lowering/builder/KernelBuilder.h"
#include "passes/target/choice/KernelTable.h"
#include "passes/lowering/entry/SizeChecks.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

namespace kiln {

/// How elements lie in memory: bool as a byte, unsigned integers as signless ones.
mlir::Type memoryType(mlir::Type elementType);

/// Builds kernel.entry beside @main: every tensor becomes a buffer, every group a launch, every constant a weight.
class EntryBuilder {
public:
  explicit EntryBuilder(mlir::func::FuncOp main);

  /// Launches the kernel that `builder` wrote for its group, when `guard` holds.
  void launch(const KernelBuilder &builder, mlir::func::FuncOp kernel, const LaunchInfo &info, const Guard &guard);
  /// What is launched until endLoop runs in each step.
  void beginLoop(nn::LoopOp loop, const Guard &guard);
  void endLoop(nn::LoopOp loop);
  /// Notes which values of a block lie in the buffers of others.
  void findHolders(mlir::Block &block);
  /// Fails when a buffer had no largest size.
  mlir::LogicalResult finish();

private:
  mlir::Value bufferOf(mlir::Value tensor);
  mlir::Value weight(mlir::Value tensor, kernel::PackAttr pack);
  mlir::Value emit(mlir::AffineExpr expr);
  mlir::Value emitIsZero(mlir::AffineExpr expr);
  mlir::Value allocate(mlir::Location loc, mlir::Type elementType, mlir::AffineExpr most);
  mlir::Value symbol(unsigned position);
  void learnSymbol(const SymbolCount &count, bool always);
  void checkRaised(const SymbolCount &count, mlir::Value cell);
  void addChecks();
  mlir::Value getStatus(mlir::Location loc);
  mlir::Value countTasks(const KernelBuilder &builder, const LaunchInfo &info);
  mlir::Value makeExtra(const KernelBuilder &builder, KernelBuilder::Extra extra, mlir::Type type, const LaunchInfo &info);
  mlir::Block *enter(const Guard &guard);
  mlir::Block *enterPath(const Path &path);
  mlir::OpBuilder atEnd(mlir::Block *block);
  void leave(mlir::Operation *op);
  mlir::Block *makeSteps(nn::LoopOp loop, mlir::OpBuilder &at);
  mlir::Value test(mlir::OpBuilder &at, const Literal &literal);
  mlir::Value testAll(mlir::OpBuilder &at, llvm::ArrayRef<Literal> path);

  mlir::func::FuncOp main;
  mlir::OpBuilder module;
  mlir::OpBuilder b;
  kernel::EntryOp entry;
  nn::ComputedDims dims;
  nn::DimFacts facts;
  SizeChecks sizes;
  bool isComplete = true;
  /// Null for a symbol that is not computed yet.
  llvm::SmallVector<mlir::Value> symbols;
  /// The counts of symbols that are computed under a condition: the value is loaded where it is needed.
  llvm::DenseMap<unsigned, mlir::Value> counts;
  /// The symbols that the types of the model's inputs and results mention.
  llvm::SmallVector<unsigned> reported;
  /// What must be zero and waits for a symbol.
  llvm::SmallVector<mlir::AffineExpr> unchecked;
  /// The conditions around the last launch, from the outside, and the branches that it stands in.
  struct OpenIf {
    Literal literal;
    mlir::scf::IfOp op;
    mlir::Block *block;
  };
  llvm::SmallVector<OpenIf> open;
  /// A loop around the next launch, and the branches that it stands in itself.
  struct OpenLoop {
    mlir::Operation *op;
    mlir::Block *steps;
    llvm::SmallVector<OpenIf> open;
  };
  llvm::SmallVector<OpenLoop> loops;
  /// The cell that all kernels that check values share; null until one needs it.
  mlir::Value status;
  /// The value whose buffer a value lies in, for values that are not dense in one of their own.
  llvm::DenseMap<mlir::Value, mlir::Value> holders;
  /// Buffers of tensors, reshapes seen through.
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  llvm::MapVector<std::pair<mlir::Attribute, mlir::Attribute>, mlir::StringAttr> weights;
};

} // namespace kiln

#endif // KILN_PASSES_LOWERING_ENTRY_ENTRYBUILDER_H
