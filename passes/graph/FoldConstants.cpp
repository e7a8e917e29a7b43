//===- FoldConstants.cpp - Operations on constants, computed now -----------===//
//
//   %a = nn.constant dense<[1.0, 4.0]> : tensor<2xf32>
//   %r = nn.sqrt %a : tensor<2xf32>
//
// becomes
//
//   %r = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
//
// unless that makes the library larger: large broadcasts stay, and so do large transposes that a matmul or convolution packs anyway. Weights of a
// contraction grow, though: narrow ones that are dequantised would otherwise be computed again in every run, and no kernel could pack them.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNQuantizedOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/Passes.h"
#include "passes/graph/EvaluateOperation.h"
#include "passes/graph/EvaluateScalar.h"
#include "passes/graph/Terms.h"

#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <cmath>

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace kiln {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "passes/Passes.h.inc"
} // namespace kiln

/// Results up to this size may be larger than their operands.
static constexpr int64_t smallBytes = 1024;

static int64_t sizeOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * elementBytes(tensor.getElementType());
}

namespace {
/// The operations that compute weights of contractions from nothing but constants.
class WeightOperations {
public:
  explicit WeightOperations(Operation *root) {
    SmallVector<Operation *> inOrder;
    llvm::DenseSet<Operation *> known;
    root->walk([&](Operation *op) {
      // What is still to be dequantised is not computed yet, nor are its scales and zero points spread.
      bool computes = isa<ScalarBody, IndexMap, ReshapeOp>(op) && !isa<DequantizeOp>(op) && op->getNumResults() == 1;
      auto isKnown = [&](Value operand) { return known.contains(operand.getDefiningOp()); };
      if (isa<ConstantOp, SplatOp>(op) || (computes && op->getNumOperands() != 0 && llvm::all_of(op->getOperands(), isKnown)))
        known.insert(op), inOrder.push_back(op);
    });
    for (Operation *op : llvm::reverse(inOrder))
      if (llvm::all_of(op->getUses(), [&](OpOperand &use) { return isWeight(use); }))
        weights.insert(op);
  }
  bool contains(Operation *op) const { return weights.contains(op); }

private:
  bool isWeight(OpOperand &use) const {
    Operation *user = use.getOwner();
    return isa<MatmulOp, ConvOp, ConvTransposeOp>(user) ? use.getOperandNumber() == 1 : weights.contains(user);
  }
  llvm::DenseSet<Operation *> weights;
};
} // namespace

/// Whether folding makes neither the library larger, but for weights, nor the compile slow.
static bool isWorthFolding(Operation *op, int64_t budget, const WeightOperations &weights) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (isa<BroadcastToOp>(op) && isa<FloatType>(type.getElementType()) && type.getNumElements() > 16 && !weights.contains(op))
    return false;
  int64_t before = 0, after = sizeOf(type);
  for (Type operand : op->getOperandTypes())
    before += sizeOf(operand);
  if (after > smallBytes && (before > budget || (after > before && (after > budget || !weights.contains(op)))))
    return false;
  bool packs = llvm::all_of(op->getUsers(), [](Operation *user) { return isa<MatmulOp>(user); });
  return !(isa<TransposeOp>(op) && after > 64 * smallBytes && packs);
}

/// An element-wise operation on numbers that are the same everywhere is computed once, and is such a number. Weights stay constants, which kernels pack.
static bool foldUniform(Operation *op, RankedTensorType type, const WeightOperations &weights) {
  auto isUniform = [](Value operand) { return bool(operand.getDefiningOp<SplatOp>()); };
  if (!isa<ScalarBody>(op) || type.getNumElements() == 1 || weights.contains(op) || !llvm::all_of(op->getOperands(), isUniform))
    return false;
  OpBuilder builder(op);
  auto toOne = [](Type type) { return RankedTensorType::get({}, getElementTypeOrSelf(type)); };
  Operation *one = builder.clone(*op);
  SmallVector<ConstantData> operands;
  for (OpOperand &operand : one->getOpOperands()) {
    auto splat = operand.get().getDefiningOp<SplatOp>();
    operand.set(SplatOp::create(builder, op->getLoc(), toOne(splat.getType()), splat.getValue()));
    operands.emplace_back(getConstant(operand.get()));
  }
  one->getResult(0).setType(toOne(type));
  FailureOr<std::vector<char>> bytes = evaluateScalarBody(cast<ScalarBody>(one), operands);
  one->erase();
  if (failed(bytes))
    return false;
  auto number = cast<DenseElementsAttr>(makeConstant(toOne(type), std::move(*bytes))).getSplatValue<Attribute>();
  op->replaceAllUsesWith(SplatOp::create(builder, op->getLoc(), type, cast<TypedAttr>(number)));
  return true;
}

static void foldOperation(Operation *op, int64_t budget, const WeightOperations &weights) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 || op->getNumRegions() != 0 || op->use_empty() || !isPure(op))
    return;
  // A product may take the integers: RecognizeQuantized decides.
  if (isa<DequantizeOp>(op))
    return;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape() || foldUniform(op, type, weights))
    return;
  SmallVector<ElementsAttr> constants = llvm::map_to_vector(op->getOperands(), getConstant);
  if (llvm::is_contained(constants, nullptr) || !isWorthFolding(op, budget, weights))
    return;
  OpBuilder builder(op);
  ElementsAttr folded;
  auto resource = dyn_cast<DenseResourceElementsAttr>(constants[0]);
  if (isa<ReshapeOp>(op) && resource) {
    // The same bytes under another shape.
    folded = DenseResourceElementsAttr::get(type, resource.getRawHandle());
  } else {
    SmallVector<ConstantData> operands;
    for (ElementsAttr constant : constants)
      operands.emplace_back(constant);
    FailureOr<std::vector<char>> bytes = evaluateOperation(op, operands);
    if (failed(bytes))
      return;
    folded = makeConstant(type, std::move(*bytes));
  }
  op->replaceAllUsesWith(ConstantOp::create(builder, op->getLoc(), folded));
}

/// Whether a value is one of two numbers of which none is -0, which is all that 0 could change by being added.
static bool isChoiceOfNumbers(Value value) {
  auto select = value.getDefiningOp<SelectOp>();
  auto isNumber = [](Value side) {
    std::optional<double> number = getUniformNumber(side);
    return number && (*number != 0 || !std::signbit(*number));
  };
  return select && isNumber(select.getX()) && isNumber(select.getY());
}

/// (product + a) + b with constants of i32 along the columns: product + (a + b). Sums of quantised products have a zero point's addend and a bias.
static bool joinAddends(AddOp add) {
  auto inner = add.getX().getDefiningOp<AddOp>();
  if (!inner || !inner->hasOneUse() || !add.getType().getElementType().isInteger(32) || !isa_and_nonnull<ConvOp, MatmulOp>(inner.getX().getDefiningOp()))
    return false;
  auto first = inner.getY().getDefiningOp<BroadcastToOp>(), second = add.getY().getDefiningOp<BroadcastToOp>();
  if (!first || !second || first.getInput().getType() != second.getInput().getType() || !getConstant(first.getInput()) || !getConstant(second.getInput()))
    return false;
  OpBuilder builder(add);
  auto type = cast<RankedTensorType>(first.getInput().getType());
  ConstantData a(getConstant(first.getInput())), b(getConstant(second.getInput()));
  auto sums = llvm::map_to_vector(llvm::seq<int64_t>(0, type.getNumElements()), [&](int64_t i) {
    return static_cast<int32_t>(static_cast<uint32_t>(a.asInt(i)) + static_cast<uint32_t>(b.asInt(i)));
  });
  Value constant = ConstantOp::create(builder, add.getLoc(), makeConstantOf<int32_t>(type, sums));
  Value addend = BroadcastToOp::create(builder, add.getLoc(), add.getType(), constant);
  add.getXMutable().assign(inner.getX());
  add.getYMutable().assign(addend);
  return true;
}

/// Selects whose condition is constant, zero added to the values of a mask, and x - x for integers (for floats it may be NaN).
static bool foldToOperand(Operation *op) {
  if (auto add = dyn_cast<AddOp>(op))
    for (unsigned side : {0, 1})
      if (isChoiceOfNumbers(add->getOperand(side)) && getUniformNumber(add->getOperand(1 - side)) == 0.0) {
        op->replaceAllUsesWith(ValueRange{add->getOperand(side)});
        return true;
      }
  if (auto select = dyn_cast<SelectOp>(op))
    if (std::optional<double> condition = getUniformNumber(select.getCondition())) {
      op->replaceAllUsesWith(ValueRange{*condition != 0 ? select.getX() : select.getY()});
      return true;
    }
  if (auto sub = dyn_cast<SubOp>(op); sub && sub.getX() == sub.getY() && sub.getType().getElementType().isSignlessInteger()) {
    OpBuilder builder(op);
    op->replaceAllUsesWith(SplatOp::create(builder, op->getLoc(), sub.getType(), builder.getIntegerAttr(sub.getType().getElementType(), 0)));
    return true;
  }
  return false;
}

/// Positions along an axis, if they take little memory.
static void foldIota(IotaOp op) {
  RankedTensorType type = op.getType();
  if (!type.hasStaticShape() || sizeOf(type) > smallBytes || !type.getElementType().isInteger(64))
    return;
  int64_t inner = 1, extent = type.getDimSize(op.getAxis());
  for (int64_t i = op.getAxis() + 1; i < type.getRank(); ++i)
    inner *= type.getDimSize(i);
  auto places = llvm::map_to_vector(llvm::seq<int64_t>(0, type.getNumElements()), [&](int64_t i) { return i / inner % extent; });
  OpBuilder builder(op);
  op->replaceAllUsesWith(ConstantOp::create(builder, op.getLoc(), makeConstantOf<int64_t>(type, places)));
}

/// A batch normalization with constant parameters is a factor and an addend for each channel: its parts, folded as far as possible.
static void foldBatchNorm(BatchNormOp op, int64_t budget, const WeightOperations &weights) {
  if (!llvm::all_of(op->getOperands().drop_front(), getConstant))
    return;
  OpBuilder builder(op);
  Operation *before = op->getPrevNode();
  FailureOr<SmallVector<Value>> parts = op.decompose(builder);
  if (failed(parts))
    return;
  op->replaceAllUsesWith(*parts);
  Block *block = op->getBlock();
  for (Operation &part : llvm::make_range(before ? std::next(before->getIterator()) : block->begin(), op->getIterator()))
    foldOperation(&part, budget, weights);
  op->erase();
}

namespace {
struct FoldConstantsPass : kiln::impl::FoldConstantsBase<FoldConstantsPass> {
  using FoldConstantsBase::FoldConstantsBase;

  void runOnOperation() override {
    WeightOperations weights(getOperation());
    getOperation().walk([&](Operation *op) {
      if (auto norm = dyn_cast<BatchNormOp>(op))
        foldBatchNorm(norm, budget, weights);
      else if (auto iota = dyn_cast<IotaOp>(op))
        foldIota(iota);
      else if (auto add = dyn_cast<AddOp>(op); add && joinAddends(add))
        return;
      else if (!foldToOperand(op))
        foldOperation(op, budget, weights);
    });
    getOperation().walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op))
        op->erase();
    });
  }
};
} // namespace
