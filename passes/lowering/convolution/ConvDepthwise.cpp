//===- ConvDepthwise.cpp - Convolutions of each channel, or small group, by itself ===//
//
//   for each pair of lines of output pixels, for each block of pixels in both, for each vector of channels:
//     for each input line under the block: load its pixels once; every tap adds its product to the pixels it belongs to
//
// Two lines share the input lines between them: a 3 x 3 window reads each line twice instead of three times. Channels inside the pixels walk memory
// from end to end. Together the two made the shapes of MobileNet, EfficientNet and ConvNeXt 1.1 to 1.9 times as fast where the target asks for pairs.
//
// Where an image has few lines, the channels go in several tasks, too.
//
// Small groups of channels go in the same vectors: member m of each group is spread over the lanes of its group, for one m after the other. A tile of the
// product of one group would leave most lanes without work.
//
// The weight is stored as [kernel..., channel], also one that a run computes (OrderFilters.cpp), or as [kernel..., member, channel].
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/Tuning.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/lowering/builder/IndexLoops.h"
#include "passes/lowering/builder/RowLoops.h"
#include "passes/lowering/builder/StatementOrder.h"
#include "passes/lowering/builder/WaitingSums.h"
#include "passes/lowering/convolution/ConvTiled.h"
#include "passes/target/choice/Kernels.h"
#include "passes/target/choice/RegisterBudget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Taps of one line of the window that are written out, for the size of the code; longer lines run in a loop.
static constexpr int64_t maxUnrolledTaps = 8;
/// Taps of a window, for each channel of a group, that are written out for two lines of pixels at once, for the size of the code.
static constexpr int64_t maxPairedTaps = 49;

/// Whether some input line lies under two neighbouring lines of the result, and their window is small enough to be written out for both.
static bool canPairLines(ConvOp conv) {
  unsigned spatial = conv.getStrides().size();
  if (spatial < 2)
    return false;
  ArrayRef<int64_t> shape = conv.getWeight().getType().getShape(), window = shape.drop_front(2);
  int64_t stride = conv.getStrides()[spatial - 2], dilation = conv.getDilations()[spatial - 2], taps = window[spatial - 2];
  return taps * window[spatial - 1] * shape[1] <= maxPairedTaps && stride % dilation == 0 && stride < taps * dilation;
}

/// Whether a weight stays in the first-level cache beside the pixels of single lines, all channels of which pass between two uses of it.
static bool isInnerWeight(ConvOp conv, kernel::TargetAttr target) {
  RankedTensorType weight = conv.getWeight().getType();
  return weight.getNumElements() * elementBytes(weight.getElementType()) <= target.tuned(kernel::Tuned::InnerWeightBytes);
}

/// Whether every vector has whole groups of as many input as output channels, most of them several. Vectors at the end have four lanes at least.
static bool hasSmallGroups(ConvOp conv, kernel::TargetAttr target) {
  ArrayRef<int64_t> shape = conv.getWeight().getType().getShape();
  int64_t members = shape[1], groups = conv.getGroups(), lanes = lanesOf(target, conv.getType().getElementType());
  bool areEven = llvm::isPowerOf2_64(members) && members * groups == shape[0] && shape[0] % std::max<int64_t>(members, 4) == 0;
  return areEven && members < lanes && lanes >= 4 && isa<BlockArgument>(conv.getWeight());
}

KernelMatch matchConvDepthwise(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto conv = cast<ConvOp>(anchor);
  std::string why = areOrderedFilters(conv.getWeight()) ? findOrderedFault(conv) : findTilingFault(group, conv);
  if (!why.empty())
    return refuse(why);
  ArrayRef<int64_t> shape = conv.getWeight().getType().getShape();
  int64_t groups = conv.getGroups();
  bool isDepthwise = shape[1] == 1 && shape[0] == groups;
  if (!isDepthwise && (groups == 1 || !hasSmallGroups(conv, target)))
    return refuse("each group has " + Twine(shape[1]) + " input and " + Twine(shape[0] / groups) +
                  " output channels, expected one of each, or several such groups in a vector");
  PlanNumbers numbers;
  numbers.lines = canPairLines(conv) ? target.tuned(kernel::Tuned::DepthwiseLines) : 1;
  // Of both lines they are half of the registers; the inputs under them and a weight have the others.
  numbers.pixels = getQuarterOfRegisters(target);
  numbers.inside = isInnerWeight(conv, target);
  return accept(isDepthwise ? "depthwise: vectors along the channels, pixels that share inputs side by side"
                            : "small groups: vectors along the channels of several groups, each member of a group spread over its lanes",
                std::move(numbers));
}

std::string findDepthwiseFault(GroupOp, Operation *anchor, kernel::PlanAttr plan) {
  bool fits = plan.getLines() == 1 || canPairLines(cast<ConvOp>(anchor));
  return fits ? "" : "neighbouring lines share no input lines, or their windows are too large for 'lines' of 2";
}

/// How many runs of whole vectors the channels are split in, each a task of its own: an image of few lines has too few of them for threads to share. A
/// run has a whole line of the cache, which two threads would otherwise write in turns.
static int64_t countRuns(const KernelBuilder &k, AffineExpr lines, AffineExpr channels, Type element, AffineExpr flops) {
  constexpr int64_t cacheLineBytes = 64;
  kernel::TargetAttr target = k.target();
  std::optional<int64_t> count = getConstantDim(lines), width = getConstantDim(channels), work = getConstantDim(flops);
  if (!count || !width || !work || *work < target.tuned(kernel::Tuned::ParallelWork) * target.getVectorBits())
    return 1;
  int64_t across = lanesOf(target, element), enough = target.tuned(kernel::Tuned::Shares), found = 1;
  for (int64_t runs = 2; *count * found < enough && *width / runs * elementBytes(element) >= cacheLineBytes; ++runs)
    if (*width % (runs * across) == 0)
      found = runs;
  return found;
}

namespace {
struct Depthwise {
  KernelBuilder &k;
  mutable ConvOp op;
  Value input, weight;
  Type element;
  DimExprs inputDims, outputDims;
  ArrayRef<int64_t> window;
  unsigned spatial;
  bool unrolled;
  /// Channels of a group.
  int64_t members;
  /// Where computed filters lie.
  std::optional<TracedView> ordered;
  /// Runs that the channels are split in, and the first channel of the task's one.
  int64_t runs = 1;
  AffineExpr firstChannel = {};

  /// Pixel x of the output line `line` (all dims before the last spatial one), seen through tap `taps`.
  AffineExpr inputAt(ArrayRef<AffineExpr> line, AffineExpr x, ArrayRef<AffineExpr> taps, AffineExpr channel) const {
    IndexExprs at(line);
    at.push_back(x * op.getStrides()[spatial - 1]);
    for (unsigned i = 0; i < spatial; ++i)
      at[i + 1] = (i + 1 < spatial ? at[i + 1] * op.getStrides()[i] : at[i + 1]) + taps[i] * op.getDilations()[i];
    at.push_back(channel);
    return k.elementOffset(cast<BlockArgument>(op.getInput()), at);
  }
  AffineExpr weightAt(ArrayRef<AffineExpr> taps, int64_t member, AffineExpr channel) const {
    if (ordered) {
      IndexExprs filter{channel, k.constant(0)};
      filter.append(taps.begin(), taps.end());
      return ordered->offset.replaceDims(filter);
    }
    IndexExprs dims, at(taps);
    for (int64_t size : window)
      dims.push_back(k.constant(size));
    dims.append({k.constant(members), outputDims.back()});
    at.append({k.constant(member), channel});
    return k.linearize(dims, at);
  }
  /// A vector of channels in whose lanes each group has its member.
  Value spread(Value channels, int64_t member) const {
    if (members == 1)
      return channels;
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < cast<VectorType>(channels.getType()).getNumElements(); ++lane)
      order.push_back(lane / members * members + member);
    return vector::ShuffleOp::create(k.builder(), k.loc(), channels, channels, order);
  }
  Value multiplyAdd(Value a, Value b, Value sum) const {
    if (isa<VectorType>(a.getType()))
      return writeHere(k, vector::FMAOp::create(k.builder(), k.loc(), a, b, sum));
    return arith::AddFOp::create(k.builder(), k.loc(), arith::MulFOp::create(k.builder(), k.loc(), a, b), sum);
  }
  /// Whether what follows the sums of two lines runs over them once they are stored: an exponential function or the like, written out for each sum,
  /// would drive the sums from the registers. Not where it reads another tensor, in whose place the result may lie, nor where storing would round.
  bool storesSums(unsigned lines) const {
    GroupOp group = k.group();
    if (lines != 2 || isHalf(element) || group.getNumResults() != 1 || group.getResult(0).getType() != op.getType())
      return false;
    Value image = group.getInputs()[cast<BlockArgument>(op.getInput()).getArgNumber()];
    auto known = [&](Value input) { return input == image || input.getDefiningOp<ConstantOp>(); };
    return llvm::all_of(group.getInputs(), known) && hasLongFunction(group);
  }
  /// One input line (or one pixel of it), seen through `taps`, which end where the unrolled dim begins. Adds the product of a member of each group in its
  /// pixels with the window's line of `factorTaps` to the sums.
  void addLine(ArrayRef<AffineExpr> out, AffineExpr x, IndexExprs taps, IndexExprs factorTaps, int64_t member, AffineExpr channel, Lanes lanes,
               llvm::DenseMap<int64_t, Value> &pixels, MutableArrayRef<Value> sums) const {
    int64_t stride = op.getStrides().back(), dilation = op.getDilations().back();
    bool whole = taps.size() + 1 == spatial;
    if (whole) {
      taps.push_back(k.constant(0));
      factorTaps.push_back(k.constant(0));
    }
    for (int64_t tap = 0; tap < (whole ? window.back() : 1); ++tap) {
      if (whole)
        taps.back() = factorTaps.back() = k.constant(tap);
      Value factor = k.loadBuffer(weight, element, weightAt(factorTaps, member, channel), lanes);
      for (auto [pixel, sum] : llvm::enumerate(sums)) {
        Value &value = pixels[static_cast<int64_t>(pixel) * stride + tap * dilation];
        if (!value)
          value = spread(k.loadBuffer(input, element, inputAt(out, x + pixel, taps, channel), lanes), member);
        sum = multiplyAdd(value, factor, sum);
      }
    }
  }
  /// All members of groups in each of so many input lines, in the order in which they are added.
  SmallVector<std::pair<int64_t, int64_t>> listLineMembers(int64_t lines) const {
    SmallVector<std::pair<int64_t, int64_t>> all;
    for (int64_t line = 0; line < lines; ++line)
      for (int64_t member = 0; member < members; ++member)
        all.push_back({line, member});
    return all;
  }
  /// The input lines under two lines of pixels, the first of which is `out`; the sums of the second line follow those of the first.
  SmallVector<Value> linePair(ArrayRef<AffineExpr> out, AffineExpr x, IndexExprs taps, AffineExpr channel, Lanes lanes, ValueRange carried) const {
    SmallVector<Value> sums(carried);
    int64_t stride = op.getStrides()[spatial - 2], dilation = op.getDilations()[spatial - 2], count = window[spatial - 2];
    taps.push_back(k.constant(0));
    IndexExprs factorTaps(taps);
    int64_t step = stride / dilation;
    for (auto [row, member] : listLineMembers(count + step)) {
      taps.back() = k.constant(row);
      llvm::DenseMap<int64_t, Value> pixels;
      MutableArrayRef<Value> rest(sums);
      for (int64_t tap : {row, row - step}) {
        MutableArrayRef<Value> line = rest.take_front(sums.size() / 2);
        rest = rest.drop_front(line.size());
        factorTaps.back() = k.constant(tap);
        if (tap >= 0 && tap < count)
          addLine(out, x, taps, factorTaps, member, channel, lanes, pixels, line);
      }
    }
    return sums;
  }
  SmallVector<Value> nest(ArrayRef<AffineExpr> out, AffineExpr x, unsigned lines, IndexExprs &taps, AffineExpr channel, Lanes lanes,
                          ValueRange carried) const {
    if (lines == 2 && taps.size() + 2 == spatial)
      return linePair(out, x, taps, channel, lanes, carried);
    if (taps.size() + unrolled == spatial) {
      SmallVector<Value> sums(carried);
      for (int64_t member = 0; member < members; ++member) {
        llvm::DenseMap<int64_t, Value> pixels;
        addLine(out, x, taps, taps, member, channel, lanes, pixels, sums);
      }
      return sums;
    }
    return k.loop(k.constant(0), k.constant(window[taps.size()]), 1, "k", carried, [&](AffineExpr i, ValueRange sums) {
      taps.push_back(i);
      SmallVector<Value> next = nest(out, x, lines, taps, channel, lanes, sums);
      taps.pop_back();
      return next;
    });
  }
  /// Output pixels [x, x + count) of `lines` lines from `out` on.
  void block(ArrayRef<AffineExpr> out, AffineExpr x, unsigned lines, unsigned count, AffineExpr channel, Lanes lanes) const {
    IndexExprs taps;
    SmallVector<Value> sums = nest(out, x, lines, taps, channel, lanes, SmallVector<Value>(lines * count, k.number(element, 0, lanes.count)));
    auto place = [&](unsigned line, AffineExpr pixel) {
      IndexExprs at(out);
      at.back() = at.back() + static_cast<int64_t>(line);
      at.append({x + pixel, channel});
      return at;
    };
    auto store = [&](auto put) {
      for (auto [i, sum] : llvm::enumerate(sums))
        put(sum, place(static_cast<unsigned>(i) / count, k.constant(static_cast<int64_t>(i % count))));
    };
    if (!storesSums(lines))
      return store([&](Value sum, const IndexExprs &at) { k.storeLanes(op.getResult(), sum, at, lanes); });
    store([&](Value sum, const IndexExprs &at) { k.store(0, sum, at, lanes); });
    k.loop(k.constant(0), k.constant(count), 1, "pixel", [&](AffineExpr pixel) {
      for (unsigned line = 0; line < lines; ++line) {
        IndexExprs at = place(line, pixel);
        k.storeLanes(op.getResult(), k.loadResult(0, at, lanes), at, lanes);
      }
    });
  }
  /// body(channel, lanes) for the task's vectors of channels.
  void forChannels(function_ref<void(AffineExpr, Lanes)> body) const {
    unsigned across = lanesOf(k.target(), element);
    if (runs == 1)
      return k.vectorLoop(outputDims.back(), across, "channel", body);
    k.loop(firstChannel, firstChannel + *getConstantDim(outputDims.back()) / runs, across, "channel",
           [&](AffineExpr channel) { body(channel, Lanes{cast<AffineDimExpr>(channel).getPosition(), across}); });
  }
  /// `lines` lines in blocks as even as can be.
  void blocks(ArrayRef<AffineExpr> out, unsigned lines) const {
    if (lines == 2 || k.group().getPlan()->getInside())
      return forPixels([&](AffineExpr x, unsigned count) {
        forChannels([&](AffineExpr channel, Lanes lanes) { block(out, x, lines, count, channel, lanes); });
      });
    forChannels([&](AffineExpr channel, Lanes lanes) { forPixels([&](AffineExpr x, unsigned count) { block(out, x, lines, count, channel, lanes); }); });
  }
  /// body(x, count) for blocks of a line.
  void forPixels(function_ref<void(AffineExpr x, unsigned count)> body) const {
    int64_t most = k.group().getPlan()->getPixels();
    AffineExpr width = outputDims[spatial];
    if (auto size = getConstantDim(width))
      return forEvenPieces(k, *size, most, body);
    auto run = [&](AffineExpr from, AffineExpr to, unsigned count) { k.loop(from, to, count, "x", [&](AffineExpr x) { body(x, count); }); };
    AffineExpr covered = width.floorDiv(most) * most;
    run(k.constant(0), covered, most);
    run(covered, width, 1);
  }
  /// The pair of lines with number out.back(); the last has one line where their number is odd.
  void linesOfPair(ArrayRef<AffineExpr> pair) const {
    IndexExprs out(pair);
    AffineExpr height = outputDims[spatial - 1];
    out.back() = k.index(k.emit(pair.back() * 2));
    if (simplifyDim(height % 2) == k.constant(0))
      return blocks(out, 2);
    auto branch = [&](arith::CmpIPredicate predicate, unsigned lines) {
      k.branch(arith::CmpIOp::create(k.builder(), k.loc(), predicate, k.emit(out.back() + 1), k.emit(height)), [&] { blocks(out, lines); });
    };
    branch(arith::CmpIPredicate::slt, 2);
    branch(arith::CmpIPredicate::sge, 1);
  }
};
} // namespace

/// Constant filters, as the kernel reads them.
static void packChannels(KernelBuilder &k, unsigned argument, ArrayRef<int64_t> weight) {
  unsigned spatial = static_cast<unsigned>(weight.size()) - 2, channel = spatial + (weight[1] > 1);
  IndexExprs source{getAffineDimExpr(channel, k.context()), weight[1] > 1 ? getAffineDimExpr(spatial, k.context()) : k.constant(0)};
  SmallVector<int64_t> order(weight.drop_front(2));
  for (unsigned i = 0; i < spatial; ++i)
    source.push_back(getAffineDimExpr(i, k.context()));
  if (weight[1] > 1)
    order.push_back(weight[1]);
  order.push_back(weight[0]);
  k.packConstant(argument, kernel::PackAttr::get(k.context(), order, AffineMap::get(channel + 1, 0, source, k.context())));
}

FailureOr<LaunchInfo> lowerConvDepthwise(KernelBuilder &k, Operation *anchor) {
  auto op = cast<ConvOp>(anchor);
  bool pairs = k.group().getPlan()->getLines() == 2;
  ArrayRef<int64_t> weight = op.getWeight().getType().getShape();
  unsigned spatial = op.getStrides().size();
  std::optional<TracedView> ordered = areOrderedFilters(op.getWeight()) ? traceLinearView(op.getWeight()) : std::nullopt;
  unsigned argument = ordered ? ordered->argument : cast<BlockArgument>(op.getWeight()).getArgNumber();
  if (!ordered)
    packChannels(k, argument, weight);
  Depthwise conv{k, op, k.buffer(cast<BlockArgument>(op.getInput()).getArgNumber()), k.buffer(argument), op.getType().getElementType(),
                 getDims(op.getInput().getType()), getDims(op.getType()), weight.drop_front(2), spatial, weight.back() <= maxUnrolledTaps, weight[1], ordered};
  IndexExprs lines(ArrayRef(conv.outputDims).take_front(spatial));
  if (pairs)
    lines.back() = simplifyDim(lines.back().ceilDiv(2));
  AffineExpr elements = getNumElements(conv.outputDims, k.context()), flops = elements * (2 * conv.members);
  for (int64_t size : conv.window)
    flops = flops * size;
  conv.runs = countRuns(k, countTasks(k, lines), conv.outputDims.back(), conv.element, simplifyDim(flops));
  IndexExprs tasks(lines);
  tasks.push_back(k.constant(conv.runs));
  k.taskLoop(tasks, [&](ArrayRef<AffineExpr> task) {
    if (conv.runs > 1)
      conv.firstChannel = k.index(k.emit(task.back() * (*getConstantDim(conv.outputDims.back()) / conv.runs)));
    pairs ? conv.linesOfPair(task.drop_back()) : conv.blocks(task.drop_back(), 1);
  });
  AffineExpr bytes = (elements + getNumElements(conv.inputDims, k.context())) * 4;
  return LaunchInfo{countTasks(k, tasks), simplifyDim(flops), simplifyDim(bytes)};
}

} // namespace kiln
