//===- FoldConstants.cpp - Operations on constants, computed now -----------===//
//
//   %a = nn.constant dense<[1.0, 4.0]> : tensor<2xf32>
//   %r = nn.sqrt %a : tensor<2xf32>
//
// becomes
//
//   %r = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
//
// unless that makes the library larger: large broadcasts stay, and so do large transposes that a matmul or convolution packs anyway.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Dims.h"
#include "passes/Passes.h"
#include "passes/graph/EvaluateMovement.h"
#include "passes/graph/EvaluateScalar.h"

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

/// Whether folding makes neither the library larger nor the compile slow.
static bool isWorthFolding(Operation *op, int64_t budget) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (isa<BroadcastToOp>(op) && isa<FloatType>(type.getElementType()) && type.getNumElements() > 16)
    return false;
  int64_t before = 0, after = sizeOf(type);
  for (Type operand : op->getOperandTypes())
    before += sizeOf(operand);
  if (after > smallBytes && (after > before || before > budget))
    return false;
  bool packs = llvm::all_of(op->getUsers(), [](Operation *user) { return isa<MatmulOp, ConvOp, ConvTransposeOp>(user); });
  return !(isa<TransposeOp>(op) && after > 64 * smallBytes && packs);
}

static double combine(ReduceKind kind, double x, double y) {
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return x + y;
  case ReduceKind::Prod:
    return x * y;
  case ReduceKind::Max:
    return std::isnan(x) || std::isnan(y) ? NAN : std::max(x, y);
  case ReduceKind::Min:
    return std::isnan(x) || std::isnan(y) ? NAN : std::min(x, y);
  }
  llvm_unreachable("unknown kind");
}

/// Reductions of floating-point constants, accumulated in double.
static FailureOr<std::vector<char>> evaluateReduce(ReduceOp op, const ConstantData &input) {
  Type element = op.getType().getElementType();
  if (!isa<FloatType>(element) || input.numElements() == 0)
    return failure();
  RankedTensorType from = op.getInput().getType();
  SmallVector<int64_t> strides(from.getRank(), 0);
  int64_t stride = 1, count = op.getType().getNumElements();
  for (int64_t i = from.getRank() - 1; i >= 0; --i) {
    strides[i] = llvm::is_contained(op.getAxes(), i) ? 0 : stride;
    stride *= op.getType().getDimSize(i);
  }
  std::vector<double> sums(count, 0.0);
  std::vector<bool> seen(count, false);
  forEachOffset(from.getShape(), strides, [&](int64_t i, int64_t target) {
    double x = input.asDouble(i);
    sums[target] = seen[target] ? combine(op.getKind(), sums[target], x) : x;
    seen[target] = true;
  });
  double divisor = op.getKind() == ReduceKind::Mean ? static_cast<double>(input.numElements()) / count : 1.0;
  std::vector<char> out(count * elementBytes(element));
  for (int64_t i = 0; i < count; ++i)
    storeNumber(&out[i * elementBytes(element)], element, sums[i] / divisor);
  return out;
}

static FailureOr<std::vector<char>> evaluate(Operation *op, ArrayRef<ConstantData> operands) {
  if (auto scalar = dyn_cast<ScalarBody>(op))
    return evaluateScalarBody(scalar, operands);
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return evaluateReduce(reduce, operands[0]);
  return evaluateMovement(op, operands);
}

static void foldOperation(Operation *op, int64_t budget) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 || op->getNumRegions() != 0 || op->use_empty() || !isPure(op))
    return;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape())
    return;
  SmallVector<ElementsAttr> constants = llvm::map_to_vector(op->getOperands(), getConstant);
  if (llvm::is_contained(constants, nullptr) || !isWorthFolding(op, budget))
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
    FailureOr<std::vector<char>> bytes = evaluate(op, operands);
    if (failed(bytes))
      return;
    folded = makeConstant(type, std::move(*bytes));
  }
  op->replaceAllUsesWith(ConstantOp::create(builder, op->getLoc(), folded));
}

namespace {
struct FoldConstantsPass : kiln::impl::FoldConstantsBase<FoldConstantsPass> {
  using FoldConstantsBase::FoldConstantsBase;

  void runOnOperation() override {
    getOperation().walk([&](Operation *op) { foldOperation(op, budget); });
    getOperation().walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op))
        op->erase();
    });
  }
};
} // namespace
