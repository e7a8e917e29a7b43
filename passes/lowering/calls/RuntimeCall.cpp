//===- RuntimeCall.cpp - Kernels that call the runtime -----------------------===//
//
//   kiln::string_equal(a, b, out, begin, end)          what treats each element by itself: tasks are ranges of elements
//   kiln::random_uniform(out, count, 7, 0.0, 1.0)      what runs as a whole: one task
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNCallOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Ranks.h"
#include "passes/lowering/builder/KernelBuilder.h"
#include "passes/target/choice/Kernels.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Elements of one task: strings differ in length, and a call should be worth it.
static constexpr int64_t chunkElements = 1024;

/// What the ranks exchange: "nn.all_gather among 2 ranks: 49152 elements of 4 bytes from each", and of several that were merged
/// "nn.all_gather among 2 ranks: 2 merged into one message, 64 elements of 4 bytes + 64 elements of 4 bytes from each".
static std::string describeCollective(Operation *op) {
  std::string text = ("nn." + getCollectiveKind(op) + " among " + Twine(getCollectiveRanks(op).size()) + " ranks: ").str();
  if (op->getNumOperands() > 1)
    text += std::to_string(op->getNumOperands()) + " merged into one message, ";
  for (auto [i, part] : llvm::enumerate(op->getOperands())) {
    std::string elements = formatDim(getNumElements(getDims(part.getType()), op->getContext()));
    text += (i ? " + " : "") + elements + " elements of " + std::to_string(elementBytes(getElementTypeOrSelf(part.getType()))) + " bytes";
  }
  return text + " from each";
}

KernelMatch matchRuntimeCall(GroupOp, Operation *anchor, kernel::TargetAttr) {
  if (isCollective(anchor))
    return accept(describeCollective(anchor));
  if (isa<Col2ImOp, FourierOp>(anchor))
    return refuse("the function is a template of the lanes, as col2im_planes and fourier_rows call it");
  bool isElementwise = cast<RuntimeFunction>(anchor).isElementwise();
  return accept(Twine("a function of the runtime's headers: ") + (isElementwise ? "one call a range of elements" : "one task, in order"));
}

/// One call with the buffers and the number of elements of each of the collectives.
static FailureOr<LaunchInfo> lowerMerged(KernelBuilder &k, MergedExchangeOp merged) {
  AffineExpr all = k.constant(0);
  k.taskLoop(k.constant(1), [&](ArrayRef<AffineExpr>) {
    SmallVector<Value> arguments = {k.statusCell(), k.callerContext()};
    for (auto [i, input] : llvm::enumerate(merged.getInputs())) {
      AffineExpr count = getNumElements(getDims(input.getType()), k.context());
      arguments.append({k.buffer(cast<BlockArgument>(input).getArgNumber()), k.resultBuffer(i), k.emit(count)});
      all = all + count;
    }
    kernel::RuntimeCallOp::create(k.builder(), k.loc(), k.builder().getStringAttr(merged.getFunction()), arguments, merged.getLiterals());
  });
  constexpr int64_t typicalWork = 64, typicalBytes = 32;
  return LaunchInfo{k.constant(1), simplifyDim(all * typicalWork), simplifyDim(all * typicalBytes)};
}

FailureOr<LaunchInfo> lowerRuntimeCall(KernelBuilder &k, Operation *anchor) {
  if (auto merged = dyn_cast<MergedExchangeOp>(anchor))
    return lowerMerged(k, merged);
  auto function = cast<RuntimeFunction>(anchor);
  SmallVector<Value> buffers;
  for (Value operand : anchor->getOperands())
    buffers.push_back(k.buffer(cast<BlockArgument>(operand).getArgNumber()));
  for (unsigned i = 0; i < anchor->getNumResults(); ++i)
    buffers.push_back(k.resultBuffer(i));
  if (function.reportsFaults())
    buffers.push_back(k.statusCell());
  if (function.callsHook())
    buffers.push_back(k.callerContext());
  Value sized = anchor->getNumOperands() ? anchor->getOperand(0) : anchor->getResult(0);
  AffineExpr count = getNumElements(getDims(sized.getType()), k.context());
  auto call = [&](ArrayRef<Value> numbers) {
    SmallVector<Value> arguments(buffers);
    arguments.append(numbers.begin(), numbers.end());
    kernel::RuntimeCallOp::create(k.builder(), k.loc(), k.builder().getStringAttr(function.getFunction()), arguments, function.getLiterals());
  };
  AffineExpr tasks = function.isElementwise() ? count.ceilDiv(chunkElements) : k.constant(1);
  k.taskLoop(tasks, [&](ArrayRef<AffineExpr> task) {
    if (!function.isElementwise())
      return call(k.emit(count));
    Value begin = k.emit(task[0] * chunkElements);
    call({begin, k.minimum(k.emit(task[0] * chunkElements + chunkElements), k.emit(count))});
  });
  constexpr int64_t typicalWork = 64, typicalBytes = 32;
  return LaunchInfo{simplifyDim(tasks), simplifyDim(count * typicalWork), simplifyDim(count * typicalBytes)};
}

} // namespace kiln
