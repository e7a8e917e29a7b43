//===- BoundedWeights.cpp - Products of bytes whose sums of two fit 16 bits ===//
#include "passes/target/choice/BoundedWeights.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNStructureOps.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// The step for any weights, and its form for safe ones.
static constexpr StringLiteral anyWeights = "dot_u8s8_pairs", safeWeights = "dot_u8s8_bounded";
/// The same for weights without a sign, of which those of seven bits are safe.
static constexpr StringLiteral anyUnsigned = "dot_s8u8_pairs", safeUnsigned = "dot_s8u8_bounded";
static constexpr int64_t safeBits = 7;

PairCount countSafePairs(ElementsAttr weights, unsigned dimension) {
  ConstantData data(weights);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(weights.getType()).getShape();
  int64_t length = shape[dimension], inner = 1, outer = 1;
  for (auto [i, size] : llvm::enumerate(shape))
    (i < dimension ? outer : i > dimension ? inner : length) *= i == dimension ? 1 : size;
  // 128 * 255 is below 2^15, 129 * 255 is not.
  constexpr int most = 128;
  ArrayRef<int8_t> bytes = data.as<int8_t>();
  PairCount count{0, outer * (length / 2) * inner};
  for (int64_t line = 0; line < outer; ++line)
    for (int64_t k = 0; k + 1 < length; k += 2) {
      ArrayRef<int8_t> first = bytes.slice((line * length + k) * inner, inner), second = bytes.slice((line * length + k + 1) * inner, inner);
      for (auto [w, v] : llvm::zip_equal(first, second))
        count.safe += std::max<int>(w, 0) + std::max<int>(v, 0) <= most && std::min<int>(w, 0) + std::min<int>(v, 0) >= -most;
    }
  return count;
}

/// The constant behind a group's input.
static ElementsAttr findWeights(Value weights) {
  auto argument = dyn_cast<BlockArgument>(weights);
  auto group = argument ? dyn_cast<GroupOp>(argument.getOwner()->getParentOp()) : GroupOp();
  return group && group.isConstantInput(argument.getArgNumber()) ? getConstant(group.getInputs()[argument.getArgNumber()]) : ElementsAttr();
}

kernel::StepAttr getBoundedForm(kernel::StepAttr step) {
  StringRef function = step.getFunction(), form = function == anyWeights ? safeWeights : function == anyUnsigned ? safeUnsigned : StringLiteral("");
  if (form.empty())
    return {};
  return kernel::StepAttr::get(step.getContext(), step.getLhs(), step.getRhs(), step.getSum(), step.getShape(), form);
}

kernel::StepAttr chooseBoundedStep(kernel::StepAttr step, int64_t bits) {
  kernel::StepAttr bounded = bits <= safeBits ? getBoundedForm(step) : kernel::StepAttr();
  return bounded ? bounded : step;
}

std::string findBoundsFault(StringRef function, int64_t bits) {
  if (function != safeUnsigned || bits <= safeBits)
    return "";
  return (safeUnsigned + " is for weights of seven bits at most, these have " + Twine(bits)).str();
}

/// Whether all pairs of constant weights are safe.
static bool areSafe(Value weights, unsigned dimension) {
  ElementsAttr constant = findWeights(weights);
  if (constant && constant.getElementType().isUnsignedInteger(8))
    return llvm::all_of(ConstantData(constant).as<uint8_t>(), [](uint8_t weight) { return weight >> safeBits == 0; });
  PairCount count = constant ? countSafePairs(constant, dimension) : PairCount{0, 1};
  return count.safe == count.all;
}

kernel::StepAttr chooseBoundedStep(kernel::StepAttr step, Value weights, unsigned dimension) {
  kernel::StepAttr bounded = step ? getBoundedForm(step) : kernel::StepAttr();
  return bounded && areSafe(weights, dimension) ? bounded : step;
}

std::string findBoundsFault(kernel::PlanAttr plan, Value weights, unsigned dimension) {
  bool isSafeForm = plan.getStep() == safeWeights || plan.getStep() == safeUnsigned;
  if (!isSafeForm || areSafe(weights, dimension))
    return "";
  return (plan.getStep() + " is for weights any two of which fit 16 bits with every activation").str();
}

std::string describeBounds(kernel::StepAttr step, Value weights, unsigned dimension) {
  if (step.getFunction() == safeWeights || step.getFunction() == safeUnsigned)
    return ", as any two of them fit 16 bits";
  ElementsAttr constant = step.getFunction() == anyWeights ? findWeights(weights) : ElementsAttr();
  if (!constant)
    return "";
  // Never 100 %, which would be another step.
  PairCount count = countSafePairs(constant, dimension);
  double share = std::min(99.9, 100.0 * static_cast<double>(count.safe) / static_cast<double>(count.all));
  return llvm::formatv(", as {0:F1} % of the pairs of weights give sums of two that fit 16 bits, not all", share).str();
}

} // namespace kiln
