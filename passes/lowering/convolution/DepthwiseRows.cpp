//===- DepthwiseRows.cpp - Depthwise convolutions where registers are few ---===//
//
//   for each line of output pixels, for each few channels:
//     words = their weights, widened once for the line
//     for each pixel: the sums over its window, then what follows them
//
// Sums of neighbouring channels are in general registers, or in two vectors of words that instructions lengthen: functions of kiln/depthwise.h, for targets
// whose step multiplies rows side by side. The weight is stored as [channel / N, kernel row, kernel column, channel % N].
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/convolution/DepthwiseRows.h"
#include "dialects/kernel/KernelOps.h"
#include "passes/lowering/builder/MovedBytes.h"
#include "passes/lowering/builder/RowLoops.h"
#include "passes/lowering/convolution/ConvTiled.h"
#include "passes/target/choice/ByteTile.h"
#include "passes/target/choice/Kernels.h"
#include "passes/target/groups/Places.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

kernel::StepAttr findRowStep(ConvOp conv, kernel::TargetAttr target) {
  Type input = conv.getInput().getType().getElementType(), weight = conv.getWeight().getType().getElementType(), sum = conv.getType().getElementType();
  for (kernel::StepAttr step : target.getSteps())
    if (isRowStep(step) && step.takes(input, weight, computeType(sum)) && step.getLanes() <= lanesOf(target, step.getSum()))
      return step;
  return {};
}

std::string findRowsFault(GroupOp group, ConvOp conv, kernel::StepAttr step, int64_t together) {
  ArrayRef<int64_t> shape = conv.getWeight().getType().getShape();
  if (shape[1] != 1 || shape[0] != static_cast<int64_t>(conv.getGroups()) || shape.size() != 4)
    return "it is no depthwise convolution in two dimensions";
  if (shape[0] % together != 0)
    return ("there are " + Twine(shape[0]) + " channels, expected a multiple of " + Twine(together)).str();
  if (std::string why = findTilingFault(group, conv, step); !why.empty())
    return why;
  IndexExprs at;
  for (unsigned i = 0; i < shape.size(); ++i)
    at.push_back(getAffineDimExpr(i, conv.getContext()));
  AffineExpr offset = getElementOffset(cast<BlockArgument>(conv.getInput()), at);
  bool isDense = linearCoefficient(offset, shape.size() - 1) == getAffineConstantExpr(1, conv.getContext());
  return isDense ? "" : "the input's channels do not lie side by side";
}

void callDepthwise(KernelBuilder &k, kernel::StepAttr step, StringRef suffix, ArrayRef<Value> operands) {
  OpBuilder &b = k.builder();
  StringRef types = step.getFunction().drop_front(StringRef("rows_").size());
  kernel::RuntimeCallOp::create(b, k.loc(), b.getStringAttr("kiln::depthwise_" + types + suffix), operands, b.getArrayAttr({}));
}

/// The channels that go together.
static int64_t countChannelsTogether(kernel::StepAttr step) { return step.getLanes() > 1 ? 2 * step.getLanes() : step.getDepth(); }

KernelMatch matchDepthwiseRows(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto conv = cast<ConvOp>(anchor);
  kernel::StepAttr step = findRowStep(conv, target);
  if (!step)
    return refuse("the target has no step of rows side by side for these types");
  if (std::string why = findRowsFault(group, conv, step, countChannelsTogether(step)); !why.empty())
    return refuse(why);
  PlanNumbers numbers;
  numbers.step = step.getFunction().str();
  return accept("depthwise convolution of bytes, the sums of " + Twine(countChannelsTogether(step)) + " channels at a time by words", std::move(numbers));
}

std::string findDepthwiseRowsFault(GroupOp group, Operation *anchor, kernel::PlanAttr plan) {
  kernel::StepAttr step = findRowStep(cast<ConvOp>(anchor), kernel::getTarget(group));
  return plan.getStep() == step.getFunction() ? "" : "its step is '" + plan.getStep().str() + "', expected '" + step.getFunction().str() + "'";
}

//===- Sums of channels ----------------------------------------------------===//

ChannelSums::ChannelSums(KernelBuilder &k, ConvOp op) : k(k), op(op) {
  IndexExprs at;
  for (unsigned i = 0; i < 4; ++i)
    at.push_back(k.placeholder());
  shared = findSharedValues(k, op.getResult(), at, ArrayRef(at).drop_back(), /*withConstants=*/true);
}

void ChannelSums::begin(ArrayRef<AffineExpr> line, AffineExpr first, int64_t channels, unsigned perVector) {
  channel = first;
  count = channels;
  lanes = perVector;
  known.clear();
  IndexExprs place(line);
  place.append({k.constant(0), channel});
  for (int64_t i = 0; i < count; i += lanes) {
    place.back() = channel + i;
    known.push_back(llvm::map_to_vector(
        shared, [&](Value value) { return k.value(value, place, Lanes{cast<AffineDimExpr>(channel).getPosition(), lanes}); }));
  }
}

void ChannelSums::store(Value sums, ArrayRef<AffineExpr> pixel) {
  AffineExpr lane = k.index(k.emitConstant(0));
  Type element = cast<MemRefType>(sums.getType()).getElementType();
  IndexExprs result(pixel);
  result.push_back(channel);
  for (int64_t i = 0; i < count; i += lanes) {
    result.back() = channel + i;
    Value sum = k.loadBuffer(sums, element, lane + i, Lanes{cast<AffineDimExpr>(lane).getPosition(), lanes});
    for (auto [value, loaded] : llvm::zip_equal(shared, known[static_cast<size_t>(i / lanes)]))
      k.setValue(value, loaded);
    k.storeLanes(op.getResult(), sum, result, Lanes{cast<AffineDimExpr>(channel).getPosition(), lanes});
    for (Value value : shared)
      k.setValue(value, {});
  }
}

//===- Tap by tap ----------------------------------------------------------===//

namespace {
struct DepthwiseRows {
  KernelBuilder &k;
  ConvOp op;
  kernel::StepAttr step;
  unsigned weight;
  int64_t height, width;
  ChannelSums results;

  DepthwiseRows(KernelBuilder &k, ConvOp op)
      : k(k), op(op), step(findRowStep(op, k.target())), weight(cast<BlockArgument>(op.getWeight()).getArgNumber()), results(k, op) {
    ArrayRef<int64_t> shape = op.getWeight().getType().getShape();
    height = shape[2];
    width = shape[3];
  }
  void pack();
  void line(ArrayRef<AffineExpr> line);
  void pixel(ArrayRef<AffineExpr> at, AffineExpr channel, Value words);
};
} // namespace

void DepthwiseRows::pack() {
  auto dim = [&](unsigned i) { return getAffineDimExpr(i, k.context()); };
  int64_t channels = op.getWeight().getType().getShape()[0], together = countChannelsTogether(step);
  AffineMap map = AffineMap::get(4, 0, {dim(0) * together + dim(3), k.constant(0), dim(1), dim(2)}, k.context());
  k.packConstant(weight, kernel::PackAttr::get(k.context(), {channels / together, height, width, together}, map));
}

/// The channels from `channel` on of a pixel of the result. `words`: their weights, or null where they are read as they are.
void DepthwiseRows::pixel(ArrayRef<AffineExpr> at, AffineExpr channel, Value words) {
  auto input = cast<BlockArgument>(op.getInput());
  int64_t together = countChannelsTogether(step);
  IndexExprs source(at);
  for (unsigned i = 0; i < 2; ++i)
    source[i + 1] = source[i + 1] * op.getStrides()[i];
  source.push_back(channel);
  auto stride = [&](unsigned dim) { return k.emit(simplifyDim(k.elementStride(input, dim + 1) * op.getDilations()[dim])); };
  Value sums = k.array("sums", step.getSum(), together), in = k.buffer(input.getArgNumber());
  SmallVector<Value> operands{sums};
  if (words)
    operands.push_back(words);
  else
    operands.append({k.buffer(weight), k.emit(channel * (height * width))});
  operands.append({in, k.emit(k.elementOffset(input, source)), k.emitConstant(height), k.emitConstant(width), stride(0), stride(1)});
  callDepthwise(k, step, "", operands);
  results.store(sums, at);
}

void DepthwiseRows::line(ArrayRef<AffineExpr> line) {
  DimExprs output = getDims(op.getType());
  int64_t together = countChannelsTogether(step), taps = height * width;
  k.loop(k.constant(0), output.back(), together, "channel", [&](AffineExpr channel) {
    Value words;
    if (step.getLanes() == 1) {
      words = k.array("words", step.getSum(), taps * together / 2);
      callDepthwise(k, step, "_widen", {words, k.buffer(weight), k.emit(channel * taps), k.emitConstant(taps)});
    }
    results.begin(line, channel, together, static_cast<unsigned>(step.getLanes()));
    k.loop(k.constant(0), output[2], 1, "x", [&](AffineExpr x) {
      IndexExprs at(line);
      at.push_back(x);
      pixel(at, channel, words);
    });
  });
}

LaunchInfo launchLines(KernelBuilder &k, ConvOp op, int64_t taps, llvm::function_ref<void(ArrayRef<AffineExpr>)> line) {
  DimExprs output = getDims(op.getType());
  IndexExprs lines(ArrayRef(output).drop_back(2));
  k.taskLoop(lines, line);
  return LaunchInfo{countTasks(k, lines), simplifyDim(getNumElements(output, k.context()) * (2 * taps)), countMovedBytes(k)};
}

FailureOr<LaunchInfo> lowerDepthwiseRows(KernelBuilder &k, Operation *anchor) {
  DepthwiseRows conv(k, cast<ConvOp>(anchor));
  conv.pack();
  return launchLines(k, conv.op, conv.height * conv.width, [&](ArrayRef<AffineExpr> task) { conv.line(task); });
}

} // namespace kiln
