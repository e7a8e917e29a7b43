//===- LibraryMapping.cpp - Which operations go to a library ---------------===//
#include "passes/target/choice/LibraryMapping.h"
#include "dialects/kernel/Tuning.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/OperationAttributeNames.h"
#include "passes/target/groups/Views.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace kiln::nn;
using kiln::kernel::Tuned;

namespace kiln {

/// Whether all elements are of the type that the functions of kiln/onednn.h take.
static bool hasLibraryElements(Operation *op) {
  auto check = [](Type type) { return getElementTypeOrSelf(type).isF32(); };
  return llvm::all_of(op->getOperandTypes(), check) && llvm::all_of(op->getResultTypes(), check);
}

static bool isLastAxis(Operation *op) {
  auto rows = dyn_cast<AlongAxis>(op);
  return rows && static_cast<int64_t>(rows.getAxis()) + 1 == cast<RankedTensorType>(op->getResult(0).getType()).getRank();
}

//===- oneDNN ---------------------------------------------------------------===//

/// Why oneDNN cannot have the operation; empty when it can.
static std::string findOneDnnFault(Operation *op) {
  if (!hasLibraryElements(op))
    return "its functions are for f32";
  if (auto conv = dyn_cast<ConvOp>(op)) {
    if (!isConstant(conv.getWeight()))
      return "the weight is computed";
    return llvm::any_of(conv.getPads(), [](int64_t pad) { return pad < 0; }) ? "the padding is negative" : "";
  }
  if (isa<SoftmaxOp, LogSoftmaxOp>(op) && !isLastAxis(op))
    return "the axis is not the last";
  return "";
}

bool usesLibraryWinograd(Operation *op) {
  auto conv = dyn_cast<ConvOp>(op);
  auto isAll = [](ArrayRef<int64_t> values, int64_t value) { return llvm::all_of(values, [&](int64_t v) { return v == value; }); };
  auto accuracy = op->getParentOfType<ModuleOp>()->getAttrOfType<StringAttr>(accuracyAttrName);
  kernel::TargetAttr target = kernel::getTarget(op);
  if (!conv || !target || conv.getStrides().size() != 2 || conv.getGroups() != 1 || (accuracy && accuracy == "strict"))
    return false;
  ArrayRef<int64_t> weight = conv.getWeight().getType().getShape();
  if (!isAll(conv.getStrides(), 1) || !isAll(conv.getDilations(), 1) || !isAll(weight.drop_front(2), 3))
    return false;
  if (std::min(weight[0], weight[1]) < target.tuned(Tuned::LibraryWinogradChannels))
    return false;
  auto elements = getConstantDim(getNumElements(getDims(conv.getType()), op->getContext()));
  return elements && *elements > 0 && *elements <= target.tuned(Tuned::LibraryWinogradPixels) * weight[0];
}

/// Where oneDNN 2.6 is measured to be faster (docs/Libraries.md).
static bool isFasterInOneDnn(Operation *op, kernel::TargetAttr target) {
  return usesLibraryWinograd(op) && cast<ConvOp>(op).getWeight().getType().getDimSize(1) >= target.tuned(Tuned::LibraryChannels);
}

std::optional<LibraryAnswer> askLibraries(Operation *op, kernel::TargetAttr target) {
  constexpr llvm::StringLiteral oneDnn = "onednn";
  if (!op || !target || !target.getLibraries() || !isa<MatmulOp, ConvOp, SoftmaxOp, LogSoftmaxOp, LayerNormOp>(op))
    return std::nullopt;
  std::string kind = op->getName().stripDialect().str();
  bool asked = target.hasLibrary((oneDnn + ":all").str()) || target.hasLibrary((oneDnn + ":" + kind).str());
  if (!asked && !target.hasLibrary(oneDnn))
    return std::nullopt;
  std::string fault = findOneDnnFault(op);
  if (!fault.empty())
    return LibraryAnswer{oneDnn, false, asked, fault};
  if (!asked && !isFasterInOneDnn(op, target))
    return LibraryAnswer{oneDnn, false, asked, "it is not measured to be faster at this"};
  return LibraryAnswer{oneDnn, true, asked, asked ? "asked for" : "measured to be faster at this"};
}

bool goesToLibrary(Operation *op) {
  std::optional<LibraryAnswer> answer = askLibraries(op, kernel::getTarget(op));
  return answer && answer->takes;
}

unsigned getBiasDim(Operation *anchor) {
  unsigned rank = cast<RankedTensorType>(anchor->getResult(0).getType()).getRank();
  auto conv = dyn_cast<ConvOp>(anchor);
  return conv && conv.getLayout() == Layout::ChannelsFirst ? 1 : rank - 1;
}

/// Whether a value is a vector along one dimension, repeated along the others.
static bool isVectorAlong(Value value, unsigned dim) {
  auto view = value.getDefiningOp<BroadcastToOp>();
  AffineMap map = view ? cast<IndexMap>(view.getOperation()).getIndexMap() : AffineMap();
  if (!map)
    return false;
  bool found = false;
  for (AffineExpr expr : map.getResults()) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    bool isDim = expr == getAffineDimExpr(dim, map.getContext());
    if (!isDim && !(constant && constant.getValue() == 0))
      return false;
    found |= isDim;
  }
  return found;
}

bool goesAlong(Operation *anchor, Operation *last, Operation *next) {
  if (!isa<MatmulOp, ConvOp>(anchor) || !hasLibraryElements(next))
    return false;
  if (isa<ReluOp>(next))
    return last == anchor || isa<AddOp>(last);
  if (!isa<AddOp>(next) || last != anchor)
    return false;
  Value value = last->getResult(0), other = next->getOperand(next->getOperand(0) == value ? 1 : 0);
  return other != value && isVectorAlong(other, getBiasDim(anchor));
}

} // namespace kiln
