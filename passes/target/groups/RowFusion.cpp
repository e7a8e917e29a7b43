//===- RowFusion.cpp - Which operations share rows while they are in the cache ===//
#include "passes/target/groups/RowFusion.h"
#include "dialects/kernel/Tuning.h"
#include "dialects/nn/BlockQuantized.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/target/choice/ByteTile.h"
#include "passes/target/choice/CostModel.h"
#include "passes/target/choice/KernelTable.h"

using namespace mlir;

namespace kiln {

using namespace nn;

static bool isReal(Value value) { return computesInF32(value.getType()); }

/// The multiplications that a result of this product takes; nullopt when no kernel would compute it in tiles with packed constant weights.
static std::optional<int64_t> countDepth(Operation *product) {
  if (!isReal(product->getResult(0)) || !isReal(product->getOperand(0)) || !product->getOperand(1).getDefiningOp<ConstantOp>())
    return std::nullopt;
  auto weight = cast<RankedTensorType>(product->getOperand(1).getType());
  if (!isWeightElement(weight.getElementType()) || weight.getNumElements() == 0)
    return std::nullopt;
  if (auto conv = dyn_cast<ConvOp>(product)) {
    bool isPadded = llvm::any_of(conv.getPads(), [](int64_t pad) { return pad != 0; });
    if (conv.getLayout() != Layout::ChannelsLast || conv.getGroups() != 1 || isPadded)
      return std::nullopt;
    return weight.getNumElements() / weight.getShape()[0];
  }
  // The product reads its left side through views that are linear.
  Operation *left = product->getOperand(0).getDefiningOp();
  return weight.getRank() == 2 && !isa_and_nonnull<IndexMap>(left) ? std::optional(weight.getShape()[0]) : std::nullopt;
}

/// Whether the value, and all that views and element-wise operations compute it from, has the elements that tiles are made of.
static bool isRealThroughout(Value value) { return llvm::all_of(collectSources(value), isReal); }

/// The only user of a product, behind element-wise operations.
static Operation *followChain(Operation *op) {
  while (true) {
    llvm::SmallPtrSet<Operation *, 2> users(op->user_begin(), op->user_end());
    if (users.size() != 1)
      return nullptr;
    Operation *user = *users.begin();
    if (!isa<ScalarBody>(user))
      return user;
    if (!isReal(user->getResult(0)) || !llvm::all_of(user->getOperands(), isRealThroughout))
      return nullptr;
    op = user;
  }
}

Operation *findSoftmaxOfProduct(Operation *product, kernel::TargetAttr target) {
  if (!isa<MatmulOp, ConvOp>(product) || !target || lanesOf(target, getElementTypeOrSelf(product->getResult(0))) < 4)
    return nullptr;
  Operation *softmax = followChain(product);
  if (!isa_and_nonnull<SoftmaxOp, LogSoftmaxOp>(softmax) || !isReal(softmax->getResult(0)))
    return nullptr;
  DimExprs dims = getDims(softmax->getResult(0).getType());
  std::optional<int64_t> depth = countDepth(product), columns = getConstantDim(dims.back());
  if (cast<AlongAxis>(softmax).getAxis() + 1 != dims.size() || !depth || !columns)
    return nullptr;
  // A task has whole rows: they must stay in the first-level cache from the first tile to the last, the weights in the second-level one while the
  // rows go by, and there must be rows enough for the threads.
  auto rows = getConstantDim(getNumElements(ArrayRef(dims).drop_back(), product->getContext()));
  // A product of nothing has no tiles.
  if (rows == 0 || *columns == 0 || *depth == 0)
    return nullptr;
  TileShape tile = chooseTile(target, getElementTypeOrSelf(product->getResult(0)), rows, columns, std::nullopt);
  int64_t weightBytes = elementBytes(getElementTypeOrSelf(product->getOperand(1)));
  int64_t rowBytes = *columns * elementBytes(computeType(getElementTypeOrSelf(product->getResult(0))));
  if (*columns * *depth * weightBytes > target.getL2() / 2 || rowBytes * tile.rows > target.getL1())
    return nullptr;
  bool shared = !rows || *rows > tile.rows, small = rows && *rows * *columns * *depth <= target.tuned(kernel::Tuned::SharedProduct);
  return shared || small ? softmax : nullptr;
}

/// Elements of a row, whose array lies on the stack.
static constexpr int64_t longestRow = 16384;

Operation *findScanOfSoftmax(Operation *softmax, kernel::TargetAttr) {
  auto op = dyn_cast<SoftmaxOp>(softmax);
  Operation *scan = op && op->hasOneUse() ? *op->user_begin() : nullptr;
  if (!isa_and_nonnull<ArgReduceOp, TopKOp>(scan))
    return nullptr;
  // Halves would round where they are stored, so the scan would see other numbers.
  Type element = getElementTypeOrSelf(op.getType());
  if (computeType(element) != element)
    return nullptr;
  DimExprs dims = getDims(op.getType());
  uint64_t last = dims.size() - 1;
  auto length = getConstantDim(dims.back());
  bool sameAxis = op.getAxis() == last && cast<AlongAxis>(scan).getAxis() == last;
  return sameAxis && length && *length > 0 && *length <= longestRow ? scan : nullptr;
}

Operation *findProductOfGather(Operation *op, kernel::TargetAttr target) {
  auto gather = dyn_cast<GatherOp>(op);
  if (!gather || gather.getAxis() != 0 || !gather.getResult().hasOneUse() || !isReal(gather.getInput()) || gather.getInput().getType().getRank() != 2)
    return nullptr;
  auto product = dyn_cast<MatmulOp>(*gather->user_begin());
  auto table = gather.getInput().getType(), rows = gather.getType();
  bool isKnown = table.hasStaticShape() && table.getNumElements() > 0 && rows.hasStaticShape();
  if (!product || product.getLhs() != gather.getResult() || !isKnown || product.getRhs().getType().getRank() != 2 || rows.getRank() < 2)
    return nullptr;
  auto weight = product.getRhs().getDefiningOp<ConstantOp>();
  int64_t count = rows.getNumElements() / table.getShape()[1];
  if (!weight || !isReal(product.getRhs()) || !isReal(product.getResult()) || product.getType().getNumElements() == 0)
    return nullptr;
  TileShape tile = chooseTile(target, product.getType().getElementType(), count, product.getType().getShape().back(), table.getShape()[1]);
  // More blocks of rows read the rows so often that a copy in one piece is as good.
  return count <= target.tuned(kernel::Tuned::GatheredBlocks) * tile.rows ? product.getOperation() : nullptr;
}

Operation *findPickedProduct(GatherOp gather) {
  Operation *op = gather;
  // Where the picked dimension is.
  int64_t axis = gather.getAxis();
  while (true) {
    if (!op->hasOneUse())
      return nullptr;
    OpOperand &use = *op->use_begin();
    Operation *user = use.getOwner();
    if (isa<BlockQuantizedMatmulOp>(user))
      return use.getOperandNumber() == 1 && op == gather && axis == 0 ? user : nullptr;
    if (isa<MatmulOp>(user))
      return use.getOperandNumber() == 1 && axis == 1 ? user : nullptr;
    if (auto transpose = dyn_cast<TransposeOp>(user))
      axis = llvm::find(transpose.getPermutation(), axis) - transpose.getPermutation().begin();
    else if (!isa<ScalarBody>(user) || !isReal(user->getResult(0)))
      return nullptr;
    op = user;
  }
}

/// With more rows than this, a copy of the columns and a product in tiles of registers are faster than one in vectors along the sum.
static constexpr int64_t shortlistRows = 16;

Operation *findProductOfColumns(Operation *op, kernel::TargetAttr target) {
  auto gather = dyn_cast<GatherOp>(op);
  if (!gather || !target || !gather.getInput().getDefiningOp<ConstantOp>() || gather.getIndices().getType().getRank() != 1)
    return nullptr;
  Operation *picked = findPickedProduct(gather);
  if (auto blocks = dyn_cast_or_null<BlockQuantizedMatmulOp>(picked))
    return blocks.getLhsScale() ? nullptr : picked;
  auto product = dyn_cast_or_null<MatmulOp>(picked);
  if (!product || product.getRhs().getType().getRank() != 2 || gather.getInput().getType().getRank() != 2)
    return nullptr;
  DimExprs dims = getDims(product.getType());
  auto rows = getConstantDim(simplifyDim(getNumElements(ArrayRef(dims).drop_back(), op->getContext())));
  bool isDeep = getConstantDim(getDims(product.getLhs().getType()).back()).value_or(0) > 0;
  return isDeep && isReal(product.getLhs()) && isReal(product.getResult()) && rows.value_or(1) <= shortlistRows ? picked : nullptr;
}

bool areExtremes(Operation *first, Operation *second) {
  auto one = dyn_cast_or_null<ReduceOp>(first), other = dyn_cast_or_null<ReduceOp>(second);
  if (!one || !other || one.getInput() != other.getInput() || one.getAxes() != other.getAxes() || !isReal(one.getInput()))
    return false;
  auto is = [](ReduceOp op, ReduceKind kind) { return op.getKind() == kind; };
  return (is(one, ReduceKind::Max) && is(other, ReduceKind::Min)) || (is(one, ReduceKind::Min) && is(other, ReduceKind::Max));
}

} // namespace kiln
