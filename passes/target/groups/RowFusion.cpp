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

static std::string nameOf(Operation *op) { return op->getName().getStringRef().str(); }

/// Why no kernel would compute this product in tiles with packed constant weights; empty: one would.
static std::string findTileFault(Operation *product) {
  auto weight = cast<RankedTensorType>(product->getOperand(1).getType());
  if (!isReal(product->getResult(0)) || !isReal(product->getOperand(0)) || !isWeightElement(weight.getElementType()))
    return "the product is of a type that no tiles compute";
  if (!product->getOperand(1).getDefiningOp<ConstantOp>())
    return "the product's weights are computed, expected constant ones";
  if (auto conv = dyn_cast<ConvOp>(product)) {
    if (conv.getLayout() != Layout::ChannelsLast)
      return "the convolution's channels come first, expected them last";
    if (conv.getGroups() != 1)
      return "the convolution has " + std::to_string(conv.getGroups()) + " groups, expected one";
    return llvm::all_of(conv.getPads(), [](int64_t pad) { return pad == 0; }) ? "" : "the convolution is padded";
  }
  if (weight.getRank() != 2)
    return "the product's weights have " + std::to_string(weight.getRank()) + " dimensions, expected two";
  // The product reads its left side through views that are linear.
  Operation *left = product->getOperand(0).getDefiningOp();
  return isa_and_nonnull<IndexMap>(left) ? "the product's left side is a view (" + nameOf(left) + ")" : "";
}

/// The multiplications that a result of such a product takes.
static int64_t countDepth(Operation *product) {
  auto weight = cast<RankedTensorType>(product->getOperand(1).getType());
  if (weight.getNumElements() == 0)
    return 0;
  return isa<ConvOp>(product) ? weight.getNumElements() / weight.getShape()[0] : weight.getShape()[0];
}

/// Whether the value, and all that views and element-wise operations compute it from, has the elements that tiles are made of.
static bool isRealThroughout(Value value) { return llvm::all_of(collectSources(value), isReal); }

/// Follows a product through element-wise operations while each has one user, and returns the last of them. `why` says what ends the way if that is no softmax.
static Operation *followChain(Operation *op, std::string &why) {
  while (true) {
    llvm::SmallPtrSet<Operation *, 2> users(op->user_begin(), op->user_end());
    Operation *user = users.size() == 1 ? *users.begin() : nullptr;
    if (!user)
      why = nameOf(op) + " is read by " + std::to_string(users.size()) + " operations, expected one";
    else if (user->hasTrait<OpTrait::IsTerminator>())
      why = "the product is a result, expected a softmax behind it";
    else if (isa<ScalarBody>(user) && (!isReal(user->getResult(0)) || !llvm::all_of(user->getOperands(), isRealThroughout)))
      why = nameOf(user) + " behind the product is not of f32, f16 or bf16";
    else if (!isa<ScalarBody, SoftmaxOp, LogSoftmaxOp>(user))
      why = nameOf(user) + " follows the product, expected a softmax";
    if (!user || !isa<ScalarBody>(user) || !why.empty())
      return op;
    op = user;
  }
}

/// Why two kernels are faster than one for these rows, or why there is no such kernel; empty: one is.
static std::string findRowFault(Operation *product, Operation *softmax, kernel::TargetAttr target) {
  DimExprs dims = getDims(softmax->getResult(0).getType());
  if (uint64_t axis = cast<AlongAxis>(softmax).getAxis(); axis + 1 != dims.size())
    return "the softmax runs along dimension " + std::to_string(axis) + ", expected the last one, " + std::to_string(dims.size() - 1);
  if (std::string fault = findTileFault(product); !fault.empty())
    return fault;
  std::optional<int64_t> columns = getConstantDim(dims.back());
  // A task has whole rows: they must stay in the first-level cache from the first tile to the last, the weights in the second-level one while the
  // rows go by, and there must be rows enough for the threads.
  auto rows = getConstantDim(getNumElements(ArrayRef(dims).drop_back(), product->getContext()));
  int64_t depth = countDepth(product);
  if (rows == 0 || columns.value_or(0) == 0 || depth == 0)
    return "a product of nothing has no tiles";
  Type element = getElementTypeOrSelf(product->getResult(0));
  TileShape tile = chooseTile(target, element, rows, columns, std::nullopt);
  int64_t weightBytes = *columns * depth * elementBytes(getElementTypeOrSelf(product->getOperand(1)));
  int64_t rowBytes = *columns * elementBytes(computeType(element)) * tile.rows;
  if (weightBytes > target.getL2() / 2)
    return "its weights have " + std::to_string(weightBytes) + " bytes, more than half of the second-level cache of " + std::to_string(target.getL2());
  if (rowBytes > target.getL1())
    return "the rows of a tile have " + std::to_string(rowBytes) + " bytes, the first-level cache has " + std::to_string(target.getL1());
  bool shared = !rows || *rows > tile.rows, small = rows && *rows * *columns * depth <= target.tuned(kernel::Tuned::SharedProduct);
  return shared || small ? "" : "all " + std::to_string(*rows) + " rows are in one tile, whose columns threads share";
}

namespace {
struct ProductRows {
  /// The softmaxes behind a product, with element-wise operations between them.
  SmallVector<Operation *, 1> softmaxes;
  /// Why one kernel does not compute the product and the only softmax; empty: one does.
  std::string why;
};
} // namespace

static ProductRows examineProduct(Operation *product, kernel::TargetAttr target) {
  ProductRows rows;
  for (Operation *user : followChain(product, rows.why)->getUsers())
    if (isa<SoftmaxOp, LogSoftmaxOp>(user))
      rows.softmaxes.push_back(user);
  if (!rows.why.empty())
    return rows;
  if (unsigned lanes = lanesOf(target, getElementTypeOrSelf(product->getResult(0))); lanes < 4)
    rows.why = "a vector of the target has " + std::to_string(lanes) + " lanes, expected four";
  else
    rows.why = findRowFault(product, rows.softmaxes.front(), target);
  return rows;
}

Operation *findSoftmaxOfProduct(Operation *product, kernel::TargetAttr target) {
  if (!isa<MatmulOp, ConvOp>(product) || !target)
    return nullptr;
  ProductRows rows = examineProduct(product, target);
  return rows.why.empty() ? rows.softmaxes.front() : nullptr;
}

llvm::DenseMap<Operation *, std::string> listSoftmaxRefusals(Block &block, kernel::TargetAttr target) {
  llvm::DenseMap<Operation *, std::string> refusals;
  for (Operation &op : block) {
    if (!isa<MatmulOp, ConvOp>(op) || !target)
      continue;
    ProductRows rows = examineProduct(&op, target);
    if (rows.why.empty())
      rows.why = "one of the two is computed with something else, or by a library";
    for (Operation *softmax : rows.softmaxes)
      refusals[softmax] = rows.why;
    refusals[&op] = std::move(rows.why);
  }
  return refusals;
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
