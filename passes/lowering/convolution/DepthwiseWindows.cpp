//===- DepthwiseWindows.cpp - Windows of three by three bytes for few registers ---===//
//
//   for each line of output pixels:
//     columns = the three lines of input bytes below it, those of a column side by side, so that an instruction multiplies several by the weights
//     for each channel (with vectors: for each four):
//       taps = its weights in the same order
//       for each pixel: the sum over its window, then what follows it
//
// Each column is woven once for the three windows that have it. For targets whose step multiplies rows side by side; functions of kiln/depthwise.h. The weight
// is stored as [channel, kernel row, kernel column], with vectors as [channel, kernel column, kernel row] with a fourth row and column of zeros.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/lowering/builder/MovedBytes.h"
#include "passes/lowering/builder/RowLoops.h"
#include "passes/lowering/convolution/ConvTiled.h"
#include "passes/lowering/convolution/DepthwiseRows.h"
#include "passes/target/choice/Kernels.h"
#include "passes/target/groups/Places.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Rows and columns of a window, the channels that are woven together, and the part of the first-level cache that their columns may have.
static constexpr int64_t windowSize = 3, together = 4, partOfCache = 2;

static bool hasVectors(kernel::StepAttr step) { return step.getLanes() > 1; }

/// The columns of input pixels below a line of the result; none where only run time knows.
static std::optional<int64_t> countColumns(ConvOp conv) {
  std::optional<int64_t> pixels = getConstantDim(getDims(conv.getType())[2]);
  return pixels ? std::optional((*pixels - 1) * conv.getStrides()[1] + windowSize) : std::nullopt;
}

/// The words of one channel's columns without vectors: two for each, and two more for the end.
static int64_t countWordsOfChannel(int64_t columns) { return 2 * columns + 2; }

/// Vectors weave whole lines. They read a column behind the last one, which they multiply by zeros.
static int64_t countWords(ConvOp conv, kernel::StepAttr step, int64_t columns) {
  return hasVectors(step) ? (columns + 1) * conv.getWeight().getType().getShape()[0] : together * countWordsOfChannel(columns);
}

/// Whether a line of input pixels has no gaps.
static bool hasDenseLines(ConvOp conv) {
  IndexExprs at;
  for (unsigned i = 0; i < 4; ++i)
    at.push_back(getAffineDimExpr(i, conv.getContext()));
  AffineExpr offset = getElementOffset(cast<BlockArgument>(conv.getInput()), at);
  return linearCoefficient(offset, 2) == getAffineConstantExpr(conv.getWeight().getType().getShape()[0], conv.getContext());
}

KernelMatch matchDepthwiseWindows(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto conv = cast<ConvOp>(anchor);
  kernel::StepAttr step = findRowStep(conv, target);
  if (!step)
    return refuse("the target has no step of rows side by side for these types");
  if (std::string why = findRowsFault(group, conv, step, hasVectors(step) ? 2 * together : together); !why.empty())
    return refuse(why);
  ArrayRef<int64_t> shape = conv.getWeight().getType().getShape();
  if (shape[2] != windowSize || shape[3] != windowSize || llvm::any_of(conv.getDilations(), [](int64_t dilation) { return dilation != 1; }))
    return refuse("its window is not three by three neighbouring pixels");
  std::optional<int64_t> columns = countColumns(conv);
  if (!columns)
    return refuse("only run time knows how long a line is");
  int64_t bytes = countWords(conv, step, *columns) * static_cast<int64_t>(sizeof(int32_t)), most = target.getL1() / partOfCache;
  if (bytes > most)
    return refuse("the columns of a line take " + Twine(bytes) + " bytes, expected at most " + Twine(most));
  if (hasVectors(step) && !hasDenseLines(conv))
    return refuse("there are gaps between the input's pixels");
  PlanNumbers numbers;
  numbers.step = step.getFunction().str();
  return accept("depthwise convolution of bytes: the rows of a window side by side, woven once for each line", std::move(numbers));
}

namespace {
struct DepthwiseWindows {
  KernelBuilder &k;
  ConvOp op;
  kernel::StepAttr step;
  BlockArgument input;
  unsigned weight;
  int64_t channels, columns;
  Value words;
  ChannelSums results;

  DepthwiseWindows(KernelBuilder &k, ConvOp op)
      : k(k), op(op), step(findRowStep(op, k.target())), input(cast<BlockArgument>(op.getInput())),
        weight(cast<BlockArgument>(op.getWeight()).getArgNumber()), channels(op.getWeight().getType().getShape()[0]), columns(*countColumns(op)),
        results(k, op) {}
  void pack();
  void weave(ArrayRef<AffineExpr> line, AffineExpr channel);
  void pixels(ArrayRef<AffineExpr> line, AffineExpr channel, AffineExpr firstWord);
  void line(ArrayRef<AffineExpr> line);
};
} // namespace

void DepthwiseWindows::pack() {
  auto dim = [&](unsigned i) { return getAffineDimExpr(i, k.context()); };
  int64_t size = hasVectors(step) ? windowSize + 1 : windowSize;
  AffineExpr row = dim(hasVectors(step) ? 2 : 1), column = dim(hasVectors(step) ? 1 : 2);
  k.packConstant(weight, kernel::PackAttr::get(k.context(), {channels, size, size}, AffineMap::get(3, 0, {dim(0), k.constant(0), row, column}, k.context())));
}

/// The columns below a line: of a few channels, or with vectors of all.
void DepthwiseWindows::weave(ArrayRef<AffineExpr> line, AffineExpr channel) {
  IndexExprs source(line);
  source.back() = source.back() * op.getStrides().front();
  source.append({k.constant(0), channel});
  callDepthwise(k, step, "_columns",
                {words, k.buffer(input.getArgNumber()), k.emit(k.elementOffset(input, source)), k.emitConstant(columns), k.emit(k.elementStride(input, 1)),
                 k.emit(k.elementStride(input, 2))});
}

/// All pixels of a channel, or with vectors of a few, whose first column is at `firstWord`.
void DepthwiseWindows::pixels(ArrayRef<AffineExpr> line, AffineExpr channel, AffineExpr firstWord) {
  int64_t sumsTogether = hasVectors(step) ? together : 1, wordsOfTaps = hasVectors(step) ? together * (windowSize + 1) : windowSize + 2;
  int64_t wordsOfColumn = hasVectors(step) ? channels : 2, wordsOfWeight = hasVectors(step) ? (windowSize + 1) * (windowSize + 1) : windowSize * windowSize;
  Value taps = k.array("taps", step.getSum(), wordsOfTaps), sums = k.array("sums", step.getSum(), sumsTogether);
  callDepthwise(k, step, "_taps", {taps, k.buffer(weight), k.emit(channel * wordsOfWeight)});
  results.begin(line, channel, sumsTogether, static_cast<unsigned>(sumsTogether));
  k.loop(k.constant(0), getDims(op.getType())[2], 1, "x", [&](AffineExpr x) {
    SmallVector<Value> operands{sums, words, k.emit(firstWord + x * (op.getStrides()[1] * wordsOfColumn)), taps};
    if (hasVectors(step))
      operands.push_back(k.emitConstant(wordsOfColumn));
    callDepthwise(k, step, "_window", operands);
    IndexExprs at(line);
    at.push_back(x);
    results.store(sums, at);
  });
}

void DepthwiseWindows::line(ArrayRef<AffineExpr> line) {
  words = k.array("words", step.getSum(), countWords(op, step, columns));
  if (hasVectors(step))
    weave(line, k.constant(0));
  k.loop(k.constant(0), k.constant(channels), together, "channels", [&](AffineExpr first) {
    if (hasVectors(step))
      return pixels(line, first, first);
    weave(line, first);
    k.loop(first, first + together, 1, "channel",
           [&](AffineExpr channel) { pixels(line, channel, (channel - first) * countWordsOfChannel(columns)); });
  });
}

FailureOr<LaunchInfo> lowerDepthwiseWindows(KernelBuilder &k, Operation *anchor) {
  DepthwiseWindows conv(k, cast<ConvOp>(anchor));
  conv.pack();
  return launchLines(k, conv.op, windowSize * windowSize, [&](ArrayRef<AffineExpr> task) { conv.line(task); });
}

} // namespace kiln
