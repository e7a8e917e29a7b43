//===- Alternatives.h - Both sides of a condition that only a run knows -----===//
//
// An If whose condition only a run knows becomes both branches, and nn.choose joins their results. No nn.choose can join values of different ranks: they
// stay a pair, and each node that reads it is imported twice, once for each value, until the ranks of its results agree again:
//
//   y = If(c) {Squeeze(x)} {x}           %a = squeeze(%x)         %b = %x
//   z = MatMul(y, w)               =>    %m = matmul(%a, %w)      %n = matmul(%b, %w)
//   r = ReduceSum(z)                     %s = sum(%m)             %t = sum(%n)             %r = choose %c ? %s : %t
//
// A run checks the demands of a side on sizes if it takes that side. A side that cannot be, because its sizes contradict each other, is left out, and a run
// whose condition takes it ends with KILN_STATUS_DIMENSION_MISMATCH.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_IMPORT_ALTERNATIVES_H
#define KILN_COMPILER_IMPORT_ALTERNATIVES_H

#include "compiler/import/Node.h"

namespace kiln::import {

/// Two values, one of which a run has, and no tensor type holds both.
struct Alternatives {
  /// An i1 of rank 0.
  Value condition;
  Value then, otherwise;
};

Value makeAlternatives(mlir::OpBuilder &builder, mlir::Location loc, const Alternatives &alternatives);
std::optional<Alternatives> getAlternatives(Value value);

/// The conditions whose sides are being imported, the outermost first.
class TakenSides {
public:
  void enter(Value condition, bool holds) { sides.push_back({condition, holds}); }
  void leave() { sides.pop_back(); }
  /// Whether a truth value holds on these sides; nullopt if they do not tell.
  std::optional<bool> find(Value condition) const;
  /// The value that `value` is on these sides: alternatives only where they do not tell.
  Value resolve(Value value) const;

private:
  llvm::SmallVector<std::pair<Value, bool>> sides;
};

/// Imports what depends on a condition once for each of its sides, and makes the joined values the node's results. `import` returns the values of one
/// side. `isTail`: a node that reads alternatives, and not a branch of an If. Integers that the compiler knows and that differ then stay apart, since shapes
/// and further conditions follow from them, and a side that cannot be is no reason for a warning, because many users are written for one of the ranks.
mlir::LogicalResult importSides(Node &node, Value condition, bool isTail,
                                llvm::function_ref<mlir::FailureOr<llvm::SmallVector<Value>>(bool holds)> import);

/// Of alternatives the values that have this rank, as a tensor: a run that would have another rank ends with KILN_STATUS_DIMENSION_MISMATCH. Other values as
/// they are, and alternatives of which none has the rank.
Value settleRank(Node &node, Value value, int64_t rank);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_ALTERNATIVES_H
