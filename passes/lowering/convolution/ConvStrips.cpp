//===- ConvStrips.cpp - Convolutions that run line by line together --------===//
//
//   for each band of lines of the result:
//     for each line:
//       ring[line % kernel] = expand(input line), its epilogue        only the lines that the window has not seen yet
//       line = depthwise(ring), its epilogue
//       result line = project(line), its epilogue                     left out when there is no projection
//
// The expanded tensor, six times as large as the input in MobileNetV2, is never stored: the lines under the window stay in the second-level
// cache. A thread that goes on with the next band keeps the ring; one that begins there computes the lines above it again.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/Tuning.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/lowering/contraction/ContractionTile.h"
#include "passes/target/choice/CostModel.h"
#include "passes/target/choice/Kernels.h"
#include "passes/target/choice/RegisterBudget.h"
#include "passes/lowering/builder/IndexLoops.h"
#include "passes/lowering/builder/RowLoops.h"
#include "passes/lowering/builder/StatementOrder.h"
#include "passes/lowering/builder/WaitingSums.h"
#include "passes/target/groups/StripChains.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Lines have pixels enough for any tile.
static TileShape chooseLineTile(ConvOp conv, kernel::TargetAttr target) {
  ArrayRef<int64_t> shape = conv.getWeight().getType().getShape();
  return chooseTile(target, conv.getType().getElementType(), std::nullopt, shape[0], shape[1]);
}

KernelMatch matchConvStrips(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  SmallVector<ConvOp> convolutions(group.getBody().front().getOps<ConvOp>());
  std::optional<StripChain> chain = findStripChain(convolutions.front(), target);
  bool isChain = chain && chain->depthwise == convolutions[1] && (convolutions.size() == 2 || isStripProjection(convolutions[2]));
  if (!isChain || convolutions.size() > 3)
    return refuse("expected a pointwise and a depthwise convolution, and perhaps another pointwise one, too large for the cache");
  PlanNumbers numbers{toNumbers(chooseLineTile(convolutions.front(), target)), {}};
  numbers.streams = chooseStreams(target);
  numbers.pixels = getQuarterOfRegisters(target);
  numbers.bands = std::min(target.tuned(kernel::Tuned::Shares), *getConstantDim(getDim(convolutions[1].getType(), 1)));
  if (convolutions.size() > 2)
    numbers.projection = toNumbers(chooseLineTile(convolutions.back(), target));
  return accept("line by line: what lies between the convolutions is larger than the cache and is never stored", std::move(numbers));
}

std::string findStripsFault(GroupOp group, Operation *, kernel::PlanAttr plan) {
  auto convolutions = group.getBody().front().getOps<ConvOp>();
  bool projects = std::distance(convolutions.begin(), convolutions.end()) > 2;
  if (projects != static_cast<bool>(plan.getProjection()))
    return projects ? "the third convolution needs a 'projection'" : "there is no third convolution for 'projection'";
  int64_t lines = *getConstantDim(getDim((*std::next(convolutions.begin())).getType(), 1));
  return plan.getBands() <= lines ? "" : "an image of " + std::to_string(lines) + " lines has no " + std::to_string(plan.getBands()) + " bands";
}

//===- Lowering ------------------------------------------------------------===//

namespace {
/// A line of pixels times a matrix.
struct LineProduct {
  Value lhs;
  unsigned weight;
  int64_t depth, columns;
  TileShape tile;
  /// Offset of a pixel in the left buffer.
  std::function<AffineExpr(AffineExpr x)> at;
};
using StoreLine = function_ref<void(AffineExpr x, AffineExpr column, Value value, Lanes lanes)>;

class StripsEmitter {
public:
  StripsEmitter(KernelBuilder &k, ConvOp expand);
  LaunchInfo run();

private:
  int64_t size(const DimExprs &dims, unsigned dim) const { return *getConstantDim(dims[dim]); }
  LineProduct packed(ConvOp conv, Value lhs, DenseI64ArrayAttr tile);
  void multiplyLine(const LineProduct &product, int64_t pixels, StoreLine store);
  void emitBand(AffineExpr image, AffineExpr band, Value isFirst);
  void expandLine(AffineExpr image, AffineExpr line);
  void fillLine(AffineExpr slot, int64_t from, int64_t to);
  void depthwiseLine(AffineExpr image, AffineExpr y);
  SmallVector<Value> depthwisePixels(ArrayRef<AffineExpr> slots, AffineExpr x, unsigned count, AffineExpr channel, Lanes lanes);
  void storeDepthwise(AffineExpr image, AffineExpr y, AffineExpr x, AffineExpr channel, Value sum, Lanes lanes);
  void projectLine(AffineExpr image, AffineExpr y);
  Value compare(arith::CmpIPredicate predicate, AffineExpr x, AffineExpr y) {
    return arith::CmpIOp::create(k.builder(), k.loc(), predicate, k.emit(x), k.emit(y));
  }
  AffineExpr ringAt(AffineExpr slot, AffineExpr x, AffineExpr channel) const { return ring + (slot * paddedWidth + x) * channels + channel; }

  KernelBuilder &k;
  ConvOp expand, depthwise, project;
  /// What is stored of the expansion and of the depthwise convolution: the ends of their epilogues.
  Value expanded, filtered;
  Type element;
  DimExprs input, middle;
  int64_t height, width, channels, top = 0, left = 0, paddedWidth, kernelHeight, kernelWidth, lines, pixels, bands;
  unsigned lanes;
  Value scratch;
  AffineExpr ring, line;
  LineProduct expansion, projection;
};
} // namespace

StripsEmitter::StripsEmitter(KernelBuilder &k, ConvOp first)
    : k(k), expand(first), element(first.getType().getElementType()), input(getDims(first.getInput().getType())), lanes(lanesOf(k.target(), element)) {
  for (auto conv : k.group().getBody().front().getOps<ConvOp>())
    if (conv != expand)
      (depthwise ? project : depthwise) = conv;
  expanded = depthwise.getInput();
  DimExprs padded = getDims(expanded.getType());
  if (auto pad = expanded.getDefiningOp<PadOp>()) {
    expanded = pad.getInput();
    top = *getConstantDim(pad.getLow().getResult(1));
    left = *getConstantDim(pad.getLow().getResult(2));
  }
  filtered = project ? project.getInput() : Value();
  middle = getDims(depthwise.getType());
  height = size(input, 1);
  width = size(input, 2);
  channels = size(middle, 3);
  paddedWidth = size(padded, 2);
  kernelHeight = depthwise.getWeight().getType().getDimSize(2);
  kernelWidth = depthwise.getWeight().getType().getDimSize(3);
  lines = size(middle, 1);
  pixels = size(middle, 2);
  bands = k.group().getPlan()->getBands();
  scratch = k.scratch(element, kernelHeight * paddedWidth * channels + (project ? pixels * channels : 0));
  ring = k.index(k.emit(k.scratchStart()));
  line = k.index(k.emit(ring + kernelHeight * paddedWidth * channels));
}

/// [out, in, 1, 1] -> [panel, in, column].
LineProduct StripsEmitter::packed(ConvOp conv, Value lhs, DenseI64ArrayAttr tile) {
  ArrayRef<int64_t> shape = conv.getWeight().getType().getShape();
  unsigned argument = cast<BlockArgument>(conv.getWeight()).getArgNumber();
  int64_t columns = shape[0];
  PackedColumns packed(columns, toTile(tile));
  AffineExpr d[3];
  for (unsigned i = 0; i < 3; ++i)
    d[i] = getAffineDimExpr(i, k.context());
  auto map = AffineMap::get(3, 0, {d[0] * packed.width + d[2], d[1], k.constant(0), k.constant(0)}, k.context());
  k.packConstant(argument, packed.pack({packed.panels, shape[1], packed.width}, map, 0));
  return {lhs, argument, shape[1], columns, toTile(tile), nullptr};
}

void StripsEmitter::multiplyLine(const LineProduct &product, int64_t count, StoreLine store) {
  TileShape shape = product.tile;
  int64_t panel = shape.columns(), whole = product.columns / panel * panel, rest = product.columns - whole;
  auto emitPanel = [&](AffineExpr x, unsigned rows, AffineExpr column, unsigned valid) {
    AffineExpr base = product.at(x);
    SmallVector<AffineExpr> offsets;
    for (int64_t row = 0; row < rows; ++row)
      offsets.push_back(simplifyDim(product.at(x + row) - base));
    Panel columns{llvm::divideCeil(valid, shape.lanes), shape.lanes, valid};
    SmallVector<ReductionLoop> reduction{{k.constant(product.depth), k.constant(1), k.constant(columns.vectors * shape.lanes)}};
    TileEmitter emitter{k, product.lhs, k.buffer(product.weight), element, reduction, k.constant(1)};
    emitter.emit(base, offsets, column * product.depth, columns, [&](unsigned row, unsigned offset, Value value, unsigned lanes) {
      store(x + static_cast<int64_t>(row), column + static_cast<int64_t>(offset), value, Lanes{cast<AffineDimExpr>(column).getPosition(), lanes});
    });
  };
  forEvenPieces(k, count, shape.rows, [&](AffineExpr x, unsigned rows) {
    if (whole > 0)
      k.loop(k.constant(0), k.constant(whole), panel, "column",
             [&](AffineExpr column) { emitPanel(x, rows, column, static_cast<unsigned>(panel)); });
    if (rest > 0)
      emitPanel(x, rows, k.index(k.emitConstant(whole)), static_cast<unsigned>(rest));
  });
}

/// Zeros in pixels [from, to) of a line of the ring.
void StripsEmitter::fillLine(AffineExpr slot, int64_t from, int64_t to) {
  if (from == to)
    return;
  AffineExpr first = k.index(k.emit(ringAt(slot, k.constant(from), k.constant(0))));
  k.vectorLoop(k.constant((to - from) * channels), lanes, "i", [&](AffineExpr i, Lanes across) {
    k.storeBuffer(scratch, element, first + i, k.number(element, 0, across.count), across);
  });
}

/// Line `number` of the padded expansion.
void StripsEmitter::expandLine(AffineExpr image, AffineExpr number) {
  AffineExpr slot = k.index(k.emit(number % kernelHeight)), source = k.index(k.emit(number - top));
  Value inside = arith::AndIOp::create(k.builder(), k.loc(), compare(arith::CmpIPredicate::sge, source, k.constant(0)),
                                       compare(arith::CmpIPredicate::slt, source, k.constant(height)));
  auto emitInside = [&] {
    expansion.at = [&, image, source](AffineExpr x) {
      return k.elementOffset(cast<BlockArgument>(expand.getInput()), {image, source, x, k.constant(0)});
    };
    multiplyLine(expansion, width, [&](AffineExpr x, AffineExpr column, Value value, Lanes across) {
      k.setValue(expand.getResult(), value);
      Value result = k.value(expanded, {image, source, x, column}, across);
      k.storeBuffer(scratch, element, ringAt(slot, x + left, column), result, across);
    });
  };
  k.branch(inside, emitInside);
  Value one = arith::ConstantOp::create(k.builder(), k.loc(), k.builder().getBoolAttr(true));
  k.branch(arith::XOrIOp::create(k.builder(), k.loc(), inside, one), [&] { fillLine(slot, left, left + width); });
}

SmallVector<Value> StripsEmitter::depthwisePixels(ArrayRef<AffineExpr> slots, AffineExpr x, unsigned count, AffineExpr channel, Lanes across) {
  SmallVector<Value> sums(count, k.number(element, 0, across.count));
  unsigned weight = cast<BlockArgument>(depthwise.getWeight()).getArgNumber();
  int64_t stride = depthwise.getStrides()[1];
  for (int64_t row = 0; row < kernelHeight; ++row) {
    llvm::DenseMap<int64_t, Value> seen;
    for (int64_t tap = 0; tap < kernelWidth; ++tap) {
      Value factor = k.loadBuffer(k.buffer(weight), element, channel + (row * kernelWidth + tap) * channels, across);
      for (auto [pixel, sum] : llvm::enumerate(sums)) {
        int64_t at = static_cast<int64_t>(pixel) * stride + tap;
        Value &value = seen[at];
        if (!value)
          value = k.loadBuffer(scratch, element, ringAt(slots[row], x * stride + at, channel), across);
        sum = across.count > 1 ? writeHere(k, vector::FMAOp::create(k.builder(), k.loc(), value, factor, sum))
                               : Value(arith::AddFOp::create(k.builder(), k.loc(), arith::MulFOp::create(k.builder(), k.loc(), value, factor), sum));
      }
    }
  }
  return sums;
}

void StripsEmitter::storeDepthwise(AffineExpr image, AffineExpr y, AffineExpr x, AffineExpr channel, Value sum, Lanes across) {
  if (!project)
    return k.storeLanes(depthwise.getResult(), sum, {image, y, x, channel}, across);
  k.setValue(depthwise.getResult(), sum);
  Value result = k.value(filtered, {image, y, x, channel}, across);
  k.storeBuffer(scratch, element, line + x * channels + channel, result, across);
}

void StripsEmitter::depthwiseLine(AffineExpr image, AffineExpr y) {
  IndexExprs slots;
  for (int64_t row = 0; row < kernelHeight; ++row)
    slots.push_back(k.index(k.emit((y * depthwise.getStrides()[0] + row) % kernelHeight)));
  forEvenPieces(k, pixels, k.group().getPlan()->getPixels(), [&](AffineExpr x, unsigned count) {
    k.vectorLoop(k.constant(channels), lanes, "channel", [&](AffineExpr channel, Lanes across) {
      storeSums(k, element, depthwisePixels(slots, x, count, channel, across), across.count, /*together=*/2, hasLongFunction(k.group()),
                [&](AffineExpr pair, ArrayRef<Value> sums) {
                  for (auto [i, sum] : llvm::enumerate(sums))
                    storeDepthwise(image, y, x + pair * 2 + static_cast<int64_t>(i), channel, sum, across);
                });
    });
  });
}

void StripsEmitter::projectLine(AffineExpr image, AffineExpr y) {
  projection.at = [&](AffineExpr x) { return line + x * channels; };
  multiplyLine(projection, pixels, [&](AffineExpr x, AffineExpr column, Value value, Lanes across) {
    k.storeLanes(project.getResult(), value, {image, y, x, column}, across);
  });
}

/// isFirst: whether the ring holds nothing of the band above.
void StripsEmitter::emitBand(AffineExpr image, AffineExpr band, Value isFirst) {
  int64_t stride = depthwise.getStrides()[0];
  AffineExpr first = k.index(k.emit((band * lines).floorDiv(bands))), end = k.index(k.emit((band * lines + lines).floorDiv(bands)));
  for (int64_t slot = 0; slot < kernelHeight; ++slot) {
    fillLine(k.constant(slot), 0, left);
    fillLine(k.constant(slot), left + width, paddedWidth);
  }
  k.loop(first, end, 1, "y", [&](AffineExpr y) {
    // The lines above the window's new ones are in the ring, but for the first window of a band.
    AffineExpr known = k.constant(kernelHeight - stride);
    if (kernelHeight > stride) {
      Value hasNone = arith::AndIOp::create(k.builder(), k.loc(), compare(arith::CmpIPredicate::eq, y, first), isFirst);
      known = k.index(arith::SelectOp::create(k.builder(), k.loc(), hasNone, k.emitConstant(0), k.emit(known)));
    }
    k.loop(known, k.constant(kernelHeight), 1, "line", [&](AffineExpr i) { expandLine(image, k.index(k.emit(y * stride + i))); });
    depthwiseLine(image, y);
    if (project)
      projectLine(image, y);
  });
}

LaunchInfo StripsEmitter::run() {
  kernel::PlanAttr plan = *k.group().getPlan();
  expansion = packed(expand, k.buffer(cast<BlockArgument>(expand.getInput()).getArgNumber()), plan.getTile());
  if (project)
    projection = packed(project, scratch, plan.getProjection());
  AffineExpr d[3];
  for (unsigned i = 0; i < 3; ++i)
    d[i] = getAffineDimExpr(i, k.context());
  auto map = AffineMap::get(3, 0, {d[2], k.constant(0), d[0], d[1]}, k.context());
  k.packConstant(cast<BlockArgument>(depthwise.getWeight()).getArgNumber(),
                 kernel::PackAttr::get(k.context(), {kernelHeight, kernelWidth, channels}, map));
  IndexExprs extents{input[0], k.constant(bands)};
  AffineExpr begin = k.firstTask();
  k.taskLoop(extents, [&](ArrayRef<AffineExpr> task) {
    Value isFirst = arith::OrIOp::create(k.builder(), k.loc(), compare(arith::CmpIPredicate::eq, task[0] * bands + task[1], begin),
                                        compare(arith::CmpIPredicate::eq, task[1], k.constant(0)));
    emitBand(task[0], task[1], isFirst);
  });
  int64_t taps = kernelHeight * kernelWidth, out = project ? projection.columns : 0;
  AffineExpr flops = input[0] * (2 * channels * (height * width * expansion.depth + lines * pixels * (taps + out)));
  AffineExpr bytes = getNumElements(input, k.context()) + input[0] * (lines * pixels * (project ? out : channels));
  return LaunchInfo{countTasks(k, extents), simplifyDim(flops), simplifyDim(bytes * 4)};
}

FailureOr<LaunchInfo> lowerConvStrips(KernelBuilder &k, Operation *anchor) {
  return StripsEmitter(k, cast<ConvOp>(anchor)).run();
}

} // namespace kiln
