//===- SplitProducts.cpp - Products of which parts go different ways ----------===//
#include "passes/ranks/SplitProducts.h"
#include "dialects/nn/BlockQuantized.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/ranks/SliceConstant.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace kiln {

using namespace nn;

namespace {
/// Columns of a product, with all their rows.
struct Columns {
  int64_t first, count;
  SliceOp slice;
};
} // namespace

static std::optional<Columns> findColumns(Operation *user) {
  auto slice = dyn_cast<SliceOp>(user);
  if (!slice || llvm::any_of(slice.getSteps(), [](int64_t step) { return step != 1; }))
    return std::nullopt;
  DimExprs from = getDims(slice.getInput().getType()), to = getDims(slice.getType());
  AffineMap starts = slice.getStarts();
  for (size_t i = 0; i + 1 < from.size(); ++i)
    if (getConstantDim(starts.getResult(i)) != 0 || !provablyEqual(from[i], to[i]))
      return std::nullopt;
  auto first = getConstantDim(starts.getResults().back()), count = getConstantDim(to.back());
  return first && count ? std::optional(Columns{*first, *count, slice}) : std::nullopt;
}

/// The parts that are read, in their order; empty if the product is not only read in parts.
static SmallVector<Columns> listColumns(BlockQuantizedMatmulOp op) {
  SmallVector<Columns> parts;
  for (Operation *user : op->getUsers()) {
    std::optional<Columns> columns = findColumns(user);
    if (!columns)
      return {};
    parts.push_back(*columns);
  }
  llvm::sort(parts, [](const Columns &a, const Columns &b) { return a.first < b.first; });
  for (size_t i = 1; i < parts.size(); ++i)
    if (parts[i - 1].first + parts[i - 1].count > parts[i].first)
      return {};
  return parts;
}

static bool hasConstantWeights(BlockQuantizedMatmulOp op) {
  return llvm::all_of(ArrayRef<Value>{op.getWeight(), op.getScale(), op.getZeroPoint()},
                      [](Value value) { return !value || value.getDefiningOp<ConstantOp>(); });
}

void splitProducts(func::FuncOp function) {
  SmallVector<BlockQuantizedMatmulOp> products(function.front().getOps<BlockQuantizedMatmulOp>());
  for (BlockQuantizedMatmulOp op : products) {
    SmallVector<Columns> parts = listColumns(op);
    if (parts.size() < 2 || !hasConstantWeights(op))
      continue;
    OpBuilder builder(op);
    for (Columns &part : parts) {
      auto rows = [&](Value value) -> Value {
        return value ? ConstantOp::create(builder, value.getLoc(), sliceRows(value.getDefiningOp<ConstantOp>().getValue(), part.first, part.count)) : Value();
      };
      Value product = BlockQuantizedMatmulOp::create(builder, op.getLoc(), cast<RankedTensorType>(part.slice.getType()), op.getLhs(), rows(op.getWeight()),
                                                     rows(op.getScale()), rows(op.getZeroPoint()), op.getLhsScale(), op.getLhsSum(), op.getBits());
      part.slice.replaceAllUsesWith(product);
      part.slice.erase();
    }
    op.erase();
  }
}

} // namespace kiln
