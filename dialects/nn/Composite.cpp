//===- Composite.cpp - Composites that a user declares ----------------------===//
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Verify.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

LogicalResult CompositeOp::verify() {
  if (getName().empty())
    return emitOpError("expected a name");
  if (getVersion() > INT32_MAX)
    return emitOpError() << "expected a version that is not negative, got " << static_cast<int64_t>(getVersion());
  if (failed(verifyBody(*this)))
    return failure();
  // A symbol that is computed in the body would be known outside, too.
  for (Operation &op : getBody().front())
    if (isa<DataSized, GroupOp>(op))
      return emitOpError() << "has " << op.getName() << " in its body";
  return success();
}

FailureOr<SmallVector<Value>> CompositeOp::decompose(OpBuilder &builder) {
  IRMapping map;
  map.map(getBody().getArguments(), getInputs());
  for (Operation &op : getBody().front().without_terminator())
    builder.clone(op, map);
  return llvm::map_to_vector(getTerminator()->getOperands(), [&](Value yielded) { return map.lookup(yielded); });
}

//===- What a target has for it --------------------------------------------===//

bool CompositeOp::hasFusedKernel(kernel::TargetAttr target) {
  return target && target.findComposite(getName()) && whyNotExternal(target).empty();
}

std::string CompositeOp::whyNotExternal(kernel::TargetAttr target) {
  kernel::CompositeAttr composite = target.findComposite(getName());
  std::string start = "the target " + target.getName().str() + " has " + composite.getFunction().str();
  if (composite.getVersion() != static_cast<int64_t>(getVersion()))
    return start + " for version " + std::to_string(composite.getVersion()) + ", the model has version " + std::to_string(getVersion());
  for (StringAttr name : composite.getParameters()) {
    Attribute value = getParameters() ? getParameters()->get(name) : Attribute();
    if (!isa_and_nonnull<IntegerAttr, FloatAttr>(value))
      return start + ", but the call gives it no number '" + name.getValue().str() + "'";
  }
  return "";
}

//===- Control flow ----------------------------------------------------------===//

OperandRange CompositeOp::getEntrySuccessorOperands(RegionSuccessor) { return getInputs(); }

void CompositeOp::getSuccessorRegions(RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &regions) {
  if (point.isParent())
    regions.emplace_back(&getBody(), getBody().getArguments());
  else
    regions.emplace_back(getOperation(), getResults());
}

void CompositeOp::getRegionInvocationBounds(ArrayRef<Attribute>, SmallVectorImpl<InvocationBounds> &bounds) { bounds.emplace_back(1, 1); }

//===- Canonical form --------------------------------------------------------===//

/// Constants outside are constants inside, and what the body gives back as it got it, or knows, needs no call.
LogicalResult CompositeOp::canonicalize(CompositeOp op, PatternRewriter &rewriter) {
  bool changed = false;
  Block &block = op.getBody().front();
  rewriter.setInsertionPointToStart(&block);
  for (auto [argument, input] : llvm::zip_equal(block.getArguments(), op.getInputs())) {
    Operation *source = input.getDefiningOp();
    if (argument.use_empty() || !isa_and_nonnull<ConstantOp, SplatOp, DimValuesOp>(source))
      continue;
    rewriter.replaceAllUsesWith(argument, rewriter.clone(*source)->getResult(0));
    changed = true;
  }
  rewriter.setInsertionPoint(op);
  for (auto [result, yielded] : llvm::zip_equal(op.getResults(), op.getTerminator()->getOperands())) {
    Operation *source = yielded.getDefiningOp();
    bool isKnown = isa_and_nonnull<ConstantOp, SplatOp, DimValuesOp>(source);
    if (result.use_empty() || (source && !isKnown))
      continue;
    Value known = source ? rewriter.clone(*source)->getResult(0) : op.getInputs()[cast<BlockArgument>(yielded).getArgNumber()];
    rewriter.replaceAllUsesWith(result, known);
    changed = true;
  }
  return success(changed);
}
