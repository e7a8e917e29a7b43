//===- RuntimeCall.cpp - Kernels that call the runtime -----------------------===//
//
//   kiln::string_equal(a, b, out, begin, end)          what treats each element by itself: tasks are ranges of elements
//   kiln::random_uniform(out, count, 7, 0.0, 1.0)      what runs as a whole: one task
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/Ranks.h"
#include "passes/lowering/builder/KernelBuilder.h"
#include "passes/target/choice/Kernels.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Elements of one task: strings differ in length, and a call should be worth it.
static constexpr int64_t chunkElements = 1024;

/// What the ranks exchange: "nn.all_gather among 2 ranks: 49152 bytes from each".
static std::string describeCollective(Operation *op) {
  Value part = op->getOperand(0);
  std::string elements = formatDim(getNumElements(getDims(part.getType()), op->getContext()));
  std::string bytes = std::to_string(elementBytes(getElementTypeOrSelf(part.getType())));
  size_t ranks = getCollectiveRanks(op).size();
  return (op->getName().getStringRef() + " among " + Twine(ranks) + " ranks: " + elements + " elements of " + bytes + " bytes from each").str();
}

KernelMatch matchRuntimeCall(GroupOp, Operation *anchor, kernel::TargetAttr) {
  if (isCollective(anchor))
    return accept(describeCollective(anchor));
  bool isElementwise = cast<RuntimeFunction>(anchor).isElementwise();
  return accept(Twine("a function of the runtime's headers: ") + (isElementwise ? "one call a range of elements" : "one task, in order"));
}

FailureOr<LaunchInfo> lowerRuntimeCall(KernelBuilder &k, Operation *anchor) {
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
