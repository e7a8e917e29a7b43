//===- DepthwiseBytes.cpp - Convolutions of each channel of bytes by itself ---===//
//
//   for each line of output pixels, for each block of channels, for each block of pixels:
//     for each column of input pixels under the block: load its rows; weave four of them, so that a lane of 32 bits has four taps of one channel;
//       every pixel whose window has the column adds the dot products of these lanes
//
// A window of three rows has a fourth one of zeros, and one of five rows has two sets of four. Windows of three dimensions are planes of such windows, and
// those of one dimension have a single row. The weight is stored as
// [kernel column, plane, set of four kernel rows, channel, kernel row % 4]. Half of the time is what follows the sums, so the idle quarter of the dot products
// costs little.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/lowering/builder/IndexLoops.h"
#include "passes/lowering/builder/MovedBytes.h"
#include "passes/lowering/builder/RowLoops.h"
#include "passes/lowering/builder/StatementOrder.h"
#include "passes/lowering/builder/WaitingSums.h"
#include "passes/lowering/convolution/ConvTiled.h"
#include "passes/target/choice/ByteTile.h"
#include "passes/target/choice/Kernels.h"
#include "passes/target/choice/RegisterBudget.h"
#include "passes/target/groups/Places.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// The parts in which the woven bytes of a vector leave, and the fewest bytes that are woven.
static constexpr unsigned parts = 4, fewestBytes = 16;

/// A pixel has four vectors of sums. Beside them are as many weights; or those of all columns of the window, which compilers keep where instructions take
/// no operands from memory, and what is woven, or taken apart for products of pairs.
static int64_t choosePixels(kernel::TargetAttr target, kernel::StepAttr step, int64_t columns) {
  int64_t most = std::max(1u, getQuarterOfRegisters(target) / 2);
  if (!loadsOperands(target))
    return most;
  int64_t others = step.getFunction().ends_with("_pairs") ? 4 * parts : 2 * parts;
  return std::min(most, countPixelsBeside(target, parts, columns * parts + others));
}

KernelMatch matchDepthwiseBytes(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto conv = cast<ConvOp>(anchor);
  ArrayRef<int64_t> shape = conv.getWeight().getType().getShape();
  if (shape[1] != 1 || shape[0] != static_cast<int64_t>(conv.getGroups()))
    return refuse("each group has " + Twine(shape[1]) + " input and " + Twine(shape[0] / conv.getGroups()) + " output channels, expected one of each");
  Type input = conv.getInput().getType().getElementType(), weight = conv.getWeight().getType().getElementType(), sum = conv.getType().getElementType();
  kernel::StepAttr step = findStep(target, input, weight, sum);
  if (!step || step.getDepth() != parts)
    return refuse(describeMissingStep(input, weight, sum));
  if (std::string why = findTilingFault(group, conv, step); !why.empty())
    return refuse(why);
  IndexExprs at;
  for (unsigned i = 0; i < shape.size(); ++i)
    at.push_back(getAffineDimExpr(i, conv.getContext()));
  if (linearCoefficient(getElementOffset(cast<BlockArgument>(conv.getInput()), at), shape.size() - 1) != getAffineConstantExpr(1, conv.getContext()))
    return refuse("the input's channels do not lie side by side");
  PlanNumbers numbers;
  numbers.pixels = choosePixels(target, step, shape.back());
  numbers.step = step.getFunction().str();
  return accept("depthwise convolution of bytes: four taps of a channel for each 32-bit sum by " + step.getFunction(), std::move(numbers));
}

std::string findDepthwiseBytesFault(GroupOp group, Operation *anchor, kernel::PlanAttr plan) {
  auto conv = cast<ConvOp>(anchor);
  return findStepFaultOf(kernel::getTarget(group), plan, conv.getInput().getType().getElementType(), conv.getWeight().getType().getElementType(),
                         conv.getType().getElementType(), parts);
}

namespace {
/// Channels that go together: `bytes` of them are computed, of which `valid` exist.
struct ChannelBlock {
  AffineExpr first;
  unsigned bytes, valid;

  unsigned dim() const { return cast<AffineDimExpr>(first).getPosition(); }
};

struct DepthwiseBytes {
  KernelBuilder &k;
  mutable ConvOp op;
  Value input, weight;
  kernel::StepAttr step;
  DimExprs output;
  int64_t planes, rows, columns, channels, stored;

  int64_t sets() const { return llvm::divideCeilSigned(rows, parts); }
  Type byte() const { return IntegerType::get(k.context(), 8); }
  Value zeros(unsigned bytes) const {
    auto type = VectorType::get(bytes, byte());
    return arith::ConstantOp::create(k.builder(), k.loc(), DenseElementsAttr::get(type, k.builder().getI8IntegerAttr(0)));
  }
  Value pick(Value a, Value b, ArrayRef<int64_t> lanes) const { return vector::ShuffleOp::create(k.builder(), k.loc(), a, b, lanes); }

  Value loadBytes(AffineExpr offset, const ChannelBlock &block) const;
  Value loadPixel(ArrayRef<AffineExpr> line, AffineExpr x, int64_t plane, int64_t row, const ChannelBlock &block) const;
  Value loadWeight(int64_t column, int64_t set, unsigned part, const ChannelBlock &block) const;
  void addColumn(ArrayRef<AffineExpr> line, AffineExpr x, int64_t place, int64_t set, const ChannelBlock &block, MutableArrayRef<Value> sums) const;
  void storePart(Value sum, IndexExprs at, unsigned part, const ChannelBlock &block) const;
  void pixels(ArrayRef<AffineExpr> line, AffineExpr x, unsigned count, const ChannelBlock &block) const;
  void forPixels(function_ref<void(AffineExpr x, unsigned count)> body) const;
  void line(ArrayRef<AffineExpr> line) const;
};
} // namespace

/// The bytes of channels that exist, and zeros: nothing is read behind the last channel.
Value DepthwiseBytes::loadBytes(AffineExpr offset, const ChannelBlock &block) const {
  if (block.valid == block.bytes)
    return k.loadBuffer(input, byte(), offset, Lanes{block.dim(), block.bytes});
  Value all = zeros(block.bytes);
  unsigned done = 0;
  for (unsigned piece = block.bytes / 2; piece > 0; piece /= 2) {
    if (block.valid - done < piece)
      continue;
    Value bytes = k.loadBuffer(input, byte(), offset + done, Lanes{block.dim(), piece});
    if (piece == 1)
      bytes = vector::BroadcastOp::create(k.builder(), k.loc(), VectorType::get(2, byte()), bytes);
    SmallVector<int64_t> widened(block.bytes, 0), merged;
    for (unsigned i = 0; i < block.bytes; ++i) {
      widened[i] = i >= done && i < done + piece ? i - done : 0;
      merged.push_back(i >= done && i < done + piece ? block.bytes + i : i);
    }
    all = pick(all, pick(bytes, bytes, widened), merged);
    done += piece;
  }
  return all;
}

Value DepthwiseBytes::loadPixel(ArrayRef<AffineExpr> line, AffineExpr x, int64_t plane, int64_t row, const ChannelBlock &block) const {
  if (row >= rows)
    return zeros(block.bytes);
  IndexExprs at(line);
  SmallVector<int64_t, 2> window{plane, row};
  for (size_t i = 1; i < line.size(); ++i)
    at[i] = line[i] * op.getStrides()[i - 1] + window[window.size() - line.size() + i] * op.getDilations()[i - 1];
  at.append({x, block.first});
  return loadBytes(k.elementOffset(cast<BlockArgument>(op.getInput()), at), block);
}

Value DepthwiseBytes::loadWeight(int64_t column, int64_t set, unsigned part, const ChannelBlock &block) const {
  // The weights of a channel are four bytes.
  AffineExpr at = k.constant((column * planes * sets() + set) * stored * parts + part * block.bytes) + block.first * static_cast<int64_t>(parts);
  AffineExpr lane = k.index(k.emitConstant(0));
  return k.loadBuffer(weight, byte(), k.index(k.emit(at)) + lane, Lanes{cast<AffineDimExpr>(lane).getPosition(), block.bytes});
}

/// What the pixels' windows have of one column of input pixels, `place` columns behind the first one.
void DepthwiseBytes::addColumn(ArrayRef<AffineExpr> line, AffineExpr x, int64_t place, int64_t set, const ChannelBlock &block,
                               MutableArrayRef<Value> sums) const {
  int64_t stride = op.getStrides().back(), dilation = op.getDilations().back();
  SmallVector<std::pair<size_t, int64_t>> taps;
  for (size_t pixel = 0; pixel < sums.size() / parts; ++pixel)
    if (int64_t apart = place - static_cast<int64_t>(pixel) * stride; apart >= 0 && apart % dilation == 0 && apart / dilation < columns)
      taps.emplace_back(pixel, apart / dilation);
  if (taps.empty())
    return;
  SmallVector<Value> pixels;
  for (int64_t row = 0; row < parts; ++row)
    pixels.push_back(loadPixel(line, x * stride + place, set / sets(), set % sets() * parts + row, block));
  for (unsigned part = 0; part < parts; ++part) {
    Value quads = kernel::QuadsOp::create(k.builder(), k.loc(), pixels[0].getType(), pixels[0], pixels[1], pixels[2], pixels[3], part);
    for (auto [pixel, column] : taps) {
      Value &sum = sums[pixel * parts + part];
      sum = writeHere(k, kernel::StepOp::create(k.builder(), k.loc(), sum.getType(), step.getFunction(), quads, loadWeight(column, set, part, block), sum));
    }
  }
}

/// Stores the channels of a part that exist.
void DepthwiseBytes::storePart(Value sum, IndexExprs at, unsigned part, const ChannelBlock &block) const {
  unsigned lanes = block.bytes / parts, first = part * lanes, left = block.valid - std::min(block.valid, first), done = 0;
  auto store = [&](Value piece, unsigned offset, unsigned count) {
    at.back() = block.first + static_cast<int64_t>(first + offset);
    k.storeLanes(op.getResult(), piece, at, Lanes{block.dim(), count});
  };
  if (left >= lanes)
    return store(sum, 0, lanes);
  for (; done < left; ++done)
    store(vector::ExtractOp::create(k.builder(), k.loc(), sum, static_cast<int64_t>(done)), done, 1);
}

void DepthwiseBytes::pixels(ArrayRef<AffineExpr> line, AffineExpr x, unsigned count, const ChannelBlock &block) const {
  SmallVector<Value> sums(count * parts, k.number(k.builder().getI32Type(), 0, block.bytes / parts));
  int64_t reach = (count - 1) * op.getStrides().back() + (columns - 1) * op.getDilations().back();
  for (int64_t set = 0; set < planes * sets(); ++set)
    for (int64_t place = 0; place <= reach; ++place)
      addColumn(line, x, place, set, block, sums);
  storeSums(k, k.builder().getI32Type(), sums, block.bytes / parts, parts, /*waits=*/true, [&](AffineExpr pixel, ArrayRef<Value> ofPixel) {
    IndexExprs at(line);
    at.append({x + pixel, block.first});
    for (auto [part, sum] : llvm::enumerate(ofPixel))
      storePart(sum, at, static_cast<unsigned>(part), block);
  });
}

/// body(x, count) for blocks of a line, which are as even as can be.
void DepthwiseBytes::forPixels(function_ref<void(AffineExpr x, unsigned count)> body) const {
  int64_t most = k.group().getPlan()->getPixels();
  AffineExpr extent = output[output.size() - 2];
  if (auto size = getConstantDim(extent))
    return forEvenPieces(k, *size, most, body);
  auto run = [&](AffineExpr from, AffineExpr to, unsigned count) { k.loop(from, to, count, "x", [&](AffineExpr x) { body(x, count); }); };
  AffineExpr covered = extent.floorDiv(most) * most;
  run(k.constant(0), covered, most);
  run(covered, extent, 1);
}

void DepthwiseBytes::line(ArrayRef<AffineExpr> line) const {
  auto run = [&](const ChannelBlock &block) { forPixels([&](AffineExpr x, unsigned count) { pixels(line, x, count, block); }); };
  unsigned whole = std::max(fewestBytes, k.target().getVectorBits() / 8);
  int64_t done = channels / whole * whole;
  if (done > 0)
    k.loop(k.constant(0), k.constant(done), whole, "channel", [&](AffineExpr channel) { run({channel, whole, whole}); });
  for (unsigned bytes = whole / 2; bytes >= fewestBytes; bytes /= 2)
    if (channels - done >= bytes) {
      run({k.index(k.emitConstant(done)), bytes, bytes});
      done += bytes;
    }
  if (done < channels)
    run({k.index(k.emitConstant(done)), fewestBytes, static_cast<unsigned>(channels - done)});
}

FailureOr<LaunchInfo> lowerDepthwiseBytes(KernelBuilder &k, Operation *anchor) {
  auto op = cast<ConvOp>(anchor);
  ArrayRef<int64_t> shape = op.getWeight().getType().getShape();
  unsigned argument = cast<BlockArgument>(op.getWeight()).getArgNumber();
  DepthwiseBytes conv{k, op, k.buffer(cast<BlockArgument>(op.getInput()).getArgNumber()), k.buffer(argument), getStep(k.group()),
                      getDims(op.getType()), shape.size() == 5 ? shape[2] : 1, shape.size() == 3 ? 1 : shape[shape.size() - 2], shape.back(), shape[0],
                      static_cast<int64_t>(llvm::alignTo(shape[0], fewestBytes))};
  auto dim = [&](unsigned i) { return getAffineDimExpr(i, k.context()); };
  // [kernel column, plane, set, channel, kernel row % 4]; rows behind the last one of a plane are zeros. A window without rows has them in the dimension of
  // size one.
  AffineExpr row = dim(2) * static_cast<int64_t>(parts) + dim(4);
  IndexExprs source{dim(3), k.constant(0)};
  if (shape.size() == 3)
    source[1] = row;
  if (shape.size() == 5)
    source.push_back(dim(1));
  if (shape.size() >= 4)
    source.push_back(row);
  source.push_back(dim(0));
  k.packConstant(argument, kernel::PackAttr::get(k.context(), {conv.columns, conv.planes, conv.sets(), conv.stored, parts},
                                                 AffineMap::get(5, 0, source, k.context())));
  IndexExprs lines(ArrayRef(conv.output).drop_back(2));
  k.taskLoop(lines, [&](ArrayRef<AffineExpr> task) { conv.line(task); });
  AffineExpr elements = getNumElements(conv.output, k.context());
  return LaunchInfo{countTasks(k, lines), simplifyDim(elements * (2 * conv.planes * conv.rows * conv.columns)), countMovedBytes(k)};
}

} // namespace kiln
