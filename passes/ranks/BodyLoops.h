//===- BodyLoops.h - How an operation can be cut that equals simpler ones ---===//
#ifndef KILN_PASSES_RANKS_BODYLOOPS_H
#define KILN_PASSES_RANKS_BODYLOOPS_H

#include "dialects/nn/NN.h"
#include "dialects/nn/NNStructureOps.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace kiln {

/// The dimensions that a body computes by themselves: those of arguments, of values inside and of results that are cut together. What no operation of the body
/// needs whole can be cut, and the body of a part is a part of the body.
class BodyLoops {
public:
  BodyLoops(mlir::ValueRange arguments, llvm::iterator_range<mlir::Block::iterator> body, mlir::ValueRange results);

  unsigned countLoops() const { return loops.size(); }
  /// The loop that cuts a dimension of a value; -1: none.
  int findLoop(mlir::Value value, unsigned dim) const;

private:
  using Dim = std::pair<mlir::Value, unsigned>;
  unsigned number(mlir::Value value, unsigned dim);
  void addWhole(mlir::Value value, unsigned dim) { whole.push_back(number(value, dim)); }
  void addOperation(mlir::Operation *op);
  void addReshape(mlir::Operation *op);
  void addLoops(mlir::Operation *op);

  llvm::DenseMap<Dim, unsigned> numbers;
  llvm::EquivalenceClasses<unsigned> classes;
  std::vector<unsigned> whole;
  /// The loop of each class that can be cut, by its leader.
  llvm::DenseMap<unsigned, int> loops;
};

/// Returns the rank of a value of ranked tensor type.
unsigned rankOf(mlir::Value value);

/// Lets constants enter the body of a composite by its arguments again, as they do in the function that a target has for it.
void joinConstants(nn::CompositeOp composite);

/// Cuts the body of a composite, whose loops are cut into `parts`, 1 for those that are not.
void cutBody(nn::CompositeOp composite, llvm::ArrayRef<int64_t> parts);

} // namespace kiln

#endif // KILN_PASSES_RANKS_BODYLOOPS_H
