//===- NearMisses.cpp - Composites that a graph nearly contains ------------===//
//
//   %e = nn.exp %x
//   %r = %e / nn.reduce sum %e [0, 1]                                      (shortened)
//
// is no softmax. It comes as near to the body of nn.softmax as its operations match, and the attempt that matched most of them says what is in the way.
// Of all bodies and all operations that may end one, the nearest is told.
//
//===----------------------------------------------------------------------===//
#include "passes/graph/NearMisses.h"
#include "dialects/nn/NodeNames.h"
#include "passes/graph/CompositeBodies.h"
#include "passes/graph/Terms.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

/// A composite ends at most this many operations behind a part of it.
static constexpr size_t mostRoots = 64;
/// With fewer operations that match, or less than a third of the body, two formulas only begin alike.
static constexpr size_t leastMatched = 2;

/// The node's operations, and what is computed from them.
static llvm::SetVector<Operation *> findRoots(ModuleOp module, StringRef node) {
  llvm::SetVector<Operation *> roots;
  module.walk([&](Operation *op) {
    if (op->getNumResults() > 0 && isOfNode(op->getLoc(), node))
      roots.insert(op);
  });
  for (size_t i = 0; i < roots.size() && roots.size() < mostRoots; ++i)
    roots.insert(roots[i]->user_begin(), roots[i]->user_end());
  return roots;
}

namespace {
struct NearMiss {
  Operation *root = nullptr;
  const CompositeBody *body = nullptr;
  Mismatch mismatch;
  size_t operations = 1;

  /// The part of the body that matches; of equal ones, the larger body.
  std::pair<double, size_t> nearness() const { return {double(mismatch.matched.size()) / double(operations), operations}; }
};
} // namespace

/// Whether the node is among the operations that match, the `missing` ones that were expected from the value on that does not, or between these two.
static bool concerns(const Mismatch &mismatch, size_t missing, StringRef node) {
  llvm::SetVector<Operation *> ops(mismatch.matched.begin(), mismatch.matched.end());
  size_t matched = ops.size();
  if (Operation *at = skipBroadcast(mismatch.at).getDefiningOp())
    ops.insert(at);
  for (size_t i = matched; i < ops.size() && ops.size() < matched + missing; ++i)
    for (Value operand : ops[i]->getOperands())
      if (Operation *op = skipBroadcast(operand).getDefiningOp())
        ops.insert(op);
  auto isIts = [&](Operation *op) { return isOfNode(op->getLoc(), node); };
  auto isBetween = [&](Value operand) {
    Operation *op = skipBroadcast(operand).getDefiningOp();
    auto isThere = [&](Value source) { return ops.contains(skipBroadcast(source).getDefiningOp()); };
    return op && isIts(op) && llvm::any_of(op->getOperands(), isThere);
  };
  return llvm::any_of(ops, [&](Operation *op) { return isIts(op) || llvm::any_of(op->getOperands(), isBetween); });
}

std::string kiln::describeNearMiss(ModuleOp module, StringRef node) {
  llvm::SetVector<Operation *> roots = findRoots(module, node);
  if (roots.empty())
    return "";
  NearMiss nearest;
  std::vector<CompositeBody> bodies = buildCompositeBodies(module.getContext());
  for (const CompositeBody &body : bodies)
    for (Operation *root : roots) {
      std::optional<Mismatch> mismatch = body.explain(root);
      if (!mismatch || mismatch->what.empty() || mismatch->matched.size() < leastMatched)
        continue;
      size_t matched = mismatch->matched.size(), operations = mismatch->isWhole ? matched : body.countOperations();
      NearMiss miss{root, &body, std::move(*mismatch), operations};
      if (3 * matched >= operations && miss.nearness() > nearest.nearness() && concerns(miss.mismatch, operations - matched, node))
        nearest = std::move(miss);
    }
  if (!nearest.root)
    return "";
  return llvm::join(listNodes(nearest.root->getLoc()), " ") + ": no " + nearest.body->whole->getName().getStringRef().str() + ", of whose " +
         std::to_string(nearest.operations) + " operations " + std::to_string(nearest.mismatch.matched.size()) + " are there: " + nearest.mismatch.what;
}
