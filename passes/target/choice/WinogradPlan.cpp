//===- WinogradPlan.cpp - What Winograd's convolution costs ----------------===//
//
// Products:   places * tiles * in * out / lanes          multiply-adds, as many as tiles in whole register tiles
// Transforms: (tiles * (in * input + out * inverse) + in * out * filter) / lanes   with the operations below
// Filters:    bytes / rate                               of the level of memory that they come from, once for each block of tiles
//
// The second kind counts fully, the third where it is more than the products that hide it.
//
//===----------------------------------------------------------------------===//
#include "passes/target/choice/WinogradPlan.h"
#include "dialects/kernel/Tuning.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/Scalar.h"
#include "passes/target/choice/ByteTile.h"
#include "passes/target/choice/CostModel.h"
#include "passes/target/choice/DotTile.h"
#include "passes/target/choice/RegisterBudget.h"
#include "passes/target/choice/StepTile.h"

namespace kiln {

using kernel::Tuned;

static constexpr llvm::StringLiteral columnsKernel = "winograd_columns", tilesKernel = "winograd_tiles";

/// A dimension with this number in place of all symbols; at least 1.
static int64_t estimate(mlir::AffineExpr dim, int64_t symbol) {
  mlir::SmallVector<mlir::AffineExpr> values(nn::countSymbols(dim), mlir::getAffineConstantExpr(symbol, dim.getContext()));
  return std::max<int64_t>(1, nn::getConstantDim(nn::simplifyDim(dim.replaceSymbols(values))).value_or(1));
}

ConvExtents getExtents(mlir::Type input, mlir::Type output, int64_t side) {
  nn::DimExprs in = nn::getDims(input), out = nn::getDims(output);
  auto constant = [](mlir::AffineExpr dim) { return nn::getConstantDim(dim).value_or(1); };
  return {constant(out[0]), estimate(out[1], side), estimate(out[2], side),
          constant(in[3]),  constant(out[3]),       nn::computeType(mlir::getElementTypeOrSelf(output)),
          mlir::getElementTypeOrSelf(input)};
}

ConvExtents getExtents(nn::WinogradConvOp conv) { return getExtents(conv.getInput().getType(), conv.getType()); }

static PlanNumbers toNumbers(kernel::TargetAttr target, const WinogradPlan &plan, int64_t tile) {
  PlanNumbers numbers{toNumbers(plan.shape), {}};
  numbers.streams = chooseStreams(target);
  numbers.block = plan.blockTiles;
  numbers.stride = plan.inputStride;
  numbers.depth = plan.depth;
  numbers.winograd = tile;
  numbers.bands = target.tuned(Tuned::Shares);
  // The other order computes its right side on the way.
  if (!plan.byColumns)
    numbers.ahead = choosePrefetches(target);
  return numbers;
}

kernel::PlanAttr makePlan(kernel::TargetAttr target, const WinogradPlan &plan, int64_t tile) {
  const KernelRow *row = findKernelRow(plan.byColumns ? columnsKernel : tilesKernel);
  return row->makePlan(target.getContext(), toNumbers(target, plan, tile));
}

KernelMatch matchPlanned(nn::WinogradConvOp conv, kernel::TargetAttr target, bool byColumns, const llvm::Twine &reason) {
  if (std::optional<kernel::PlanAttr> plan = conv.getPlan()) {
    if ((plan->getKernel() == columnsKernel) != byColumns)
      return refuse("the convolution's plan is for " + plan->getKernel());
    return accept(reason, readNumbers(*plan));
  }
  // One that --nn-choose-winograd has not made.
  ConvExtents extents = getExtents(conv);
  WinogradPlan plan = planWinograd(target, extents, conv.getTile(), byColumns);
  if (plan.byColumns != byColumns)
    return refuse("there are too many tiles for one block, or the " + llvm::Twine(extents.in) + " input channels are no multiple of " +
                  llvm::Twine(winogradChain));
  return accept(reason, toNumbers(target, plan, conv.getTile()));
}

WinogradPlan readPlan(nn::GroupOp group, nn::WinogradConvOp conv) {
  kernel::PlanAttr numbers = *group.getPlan();
  return {getTile(group), numbers.getBlock(), numbers.getStride(), !conv.getTransformed(), numbers.getDepth()};
}

int64_t getPanelColumns(nn::WinogradConvOp conv) {
  return conv.getTransformed() ? llvm::cast<mlir::RankedTensorType>(conv.getTransformed().getType()).getDimSize(3) : 0;
}

std::string findWinogradFault(nn::GroupOp, mlir::Operation *anchor, kernel::PlanAttr plan) {
  auto conv = llvm::cast<nn::WinogradConvOp>(anchor);
  int64_t in = getExtents(conv).in, lanes = plan.getTile()[2];
  int64_t channels = llvm::divideCeilSigned(in, lanes) * lanes;
  if (plan.getWinograd() != static_cast<int64_t>(conv.getTile()))
    return "the convolution has tiles of " + std::to_string(conv.getTile()) + ", 'winograd' is " + std::to_string(plan.getWinograd());
  if (plan.getStride() < channels)
    return "a tile has " + std::to_string(channels) + " channels in vectors, 'stride' is " + std::to_string(plan.getStride());
  if (!conv.getTransformed() && (plan.getDepth() % winogradChain != 0 || in % plan.getDepth() != 0))
    return "'depth' is " + std::to_string(plan.getDepth()) + ", expected a multiple of " + std::to_string(winogradChain) + " that divides the " +
           std::to_string(in) + " input channels";
  if (int64_t columns = getPanelColumns(conv); columns % lanes != 0)
    return "the filters are in panels of " + std::to_string(columns) + " columns, a vector has " + std::to_string(lanes);
  return "";
}

/// Bytes that arrive in the time of one vector multiply-add: from the second level, the third, memory.
static double getRate(kernel::TargetAttr target, int64_t bytes) {
  if (bytes <= target.getL2() / 2)
    return target.tuned(Tuned::L2Rate);
  return target.tuned(bytes <= target.getL3() / 4 ? Tuned::L3Rate : Tuned::MemoryRate);
}

namespace {
/// Operations and memory accesses for one vector of channels; those of filters, which are bound by stores, are measured: to the second-level cache,
/// and on the way to products that take them from the first one.
struct TransformCosts {
  double input, inverse, filter, filterOnTheWay;
};
} // namespace

static TransformCosts getTransformCosts(kernel::TargetAttr target, int64_t tile) {
  auto measured = [&](Tuned number) { return static_cast<double>(target.tuned(number)); };
  if (tile == 4)
    return {12 * 14 + 72, 10 * 12 + 52, measured(Tuned::Filter4), measured(Tuned::NearFilter4)};
  return {8 * 4 + 32, 6 * 4 + 20, measured(Tuned::Filter2), measured(Tuned::NearFilter2)};
}

/// The time of two things at once: the longer one, and the part of the shorter one that it does not hide.
static double overlap(kernel::TargetAttr target, double a, double b) {
  return std::max(a, b) + static_cast<double>(target.tuned(Tuned::Exposed)) / 100 * std::min(a, b);
}

/// The transformed input: rows a multiple of 2 KiB apart would share the sets of the first-level cache.
static int64_t padChannels(int64_t channels, int64_t lanes) {
  int64_t stride = llvm::divideCeilSigned(channels, lanes) * lanes;
  return stride % 512 == 0 ? stride + lanes : stride;
}

static double costOf(kernel::TargetAttr target, const ConvExtents &conv, int64_t tile, const WinogradPlan &plan) {
  int64_t tiles = conv.images * llvm::divideCeilSigned(conv.height, tile) * llvm::divideCeilSigned(conv.width, tile), lanes = plan.shape.lanes;
  int64_t places = (tile + 2) * (tile + 2), blocks = llvm::divideCeilSigned(tiles, plan.blockTiles), width = plan.shape.columns();
  int64_t columns = llvm::divideCeilSigned(conv.out, lanes) * lanes;
  int64_t lastTiles = llvm::divideCeilSigned(tiles - (blocks - 1) * plan.blockTiles, plan.shape.rows) * plan.shape.rows;
  double computed = static_cast<double>((blocks - 1) * plan.blockTiles + lastTiles);
  TransformCosts costs = getTransformCosts(target, tile);
  double products = computed * places * conv.in * columns / lanes;
  // Short register tiles wait for the right side.
  products *= 1 + 1.0 / plan.shape.rows;
  double filter = plan.byColumns ? costs.filterOnTheWay : costs.filter;
  double transforms = (computed * (costs.input * conv.in + costs.inverse * conv.out) + filter * conv.in * columns) / lanes;
  int64_t plainBytes = 9 * conv.in * columns * 4, filterBytes = places * conv.in * columns * 4;
  int64_t threads = target.tuned(Tuned::Threads), scratch = places * plan.blockTiles * (plan.inputStride + (plan.byColumns ? width : columns)) * 4;
  double filters;
  int64_t shares;
  if (plan.byColumns) {
    filters = static_cast<double>(plainBytes) / getRate(target, plainBytes);
    shares = llvm::divideCeilSigned(conv.out, width);
  } else {
    filters = static_cast<double>(blocks + 1) * filterBytes / getRate(target, filterBytes);
    shares = blocks;
  }
  double cost = overlap(target, products, filters) + transforms;
  if (scratch > target.getL2())
    cost *= 1 + 0.2 * scratch / target.getL2();
  // Threads share blocks or panels; those without one wait.
  double imbalance = static_cast<double>(llvm::divideCeilSigned(shares, threads) * threads) / shares;
  return cost * (0.75 + 0.25 * imbalance);
}

static std::optional<WinogradPlan> planColumns(kernel::TargetAttr target, const ConvExtents &conv, int64_t tile) {
  int64_t tiles = conv.images * llvm::divideCeilSigned(conv.height, tile) * llvm::divideCeilSigned(conv.width, tile);
  if (tiles > target.tuned(Tuned::WinogradBlock) || conv.in % winogradChain)
    return std::nullopt;
  TileShape shape = chooseTile(target, conv.element, std::nullopt, conv.out, conv.in);
  int64_t parts = llvm::divideCeilSigned(tiles, shape.rows);
  shape.rows = static_cast<unsigned>(llvm::divideCeilSigned(tiles, parts));
  int64_t depth = winogradChain;
  for (int64_t wider = depth; wider <= conv.in; wider += winogradChain)
    if (conv.in % wider == 0 && 9 * wider * shape.columns() * 4 <= target.getL2() / 8)
      depth = wider;
  WinogradPlan plan{shape, parts * shape.rows, padChannels(conv.in, shape.lanes), true, depth, 0};
  plan.cost = costOf(target, conv, tile, plan);
  return plan;
}

static WinogradPlan planTiles(kernel::TargetAttr target, const ConvExtents &conv, int64_t tile) {
  TileShape shape = chooseTile(target, conv.element, std::nullopt, conv.out, conv.in);
  int64_t highest = shape.rows;
  std::optional<WinogradPlan> best;
  for (int64_t rows = std::max<int64_t>(1, highest / 2); rows <= highest; ++rows)
    for (int64_t blockTiles = rows; blockTiles <= std::max(target.tuned(Tuned::WinogradBlock), rows); blockTiles += rows) {
      shape.rows = static_cast<unsigned>(rows);
      WinogradPlan plan{shape, blockTiles, padChannels(conv.in, shape.lanes), false, 0, 0};
      plan.cost = costOf(target, conv, tile, plan);
      if (!best || plan.cost < best->cost)
        best = plan;
    }
  return *best;
}

WinogradPlan planWinograd(kernel::TargetAttr target, const ConvExtents &conv, int64_t tile, std::optional<bool> byColumns) {
  std::optional<WinogradPlan> columns;
  if (byColumns.value_or(true))
    columns = planColumns(target, conv, tile);
  if (columns && byColumns)
    return *columns;
  WinogradPlan tiles = planTiles(target, conv, tile);
  return columns && columns->cost < tiles.cost ? *columns : tiles;
}

double estimateDirect(kernel::TargetAttr target, const ConvExtents &conv) {
  int64_t lanes = nn::lanesOf(target, conv.element), out = llvm::divideCeilSigned(conv.out, lanes) * lanes;
  // A step of several products takes as long as a plain one: else the target would not list it.
  mlir::Type stored = conv.stored ? conv.stored : conv.element;
  int64_t pixels = conv.images * conv.height * conv.width;
  kernel::StepAttr step = findStep(target, stored, stored, conv.element, {pixels, conv.in, conv.in, conv.out});
  int64_t together = step && conv.in % step.getDepth() == 0 ? step.getDepth() : 1;
  // The units of steps of several rows multiply that many times as many elements as those of vectors.
  kernel::StepAttr tiles = findTileStep(target, stored, stored, conv.element);
  if (tiles && findTileFault(tiles, pixels, chooseTileDepth(tiles, conv.in, conv.in)).empty())
    together = tiles.getRows();
  double products = static_cast<double>(pixels) * 9 * conv.in * out / (lanes * together);
  // Few output channels have a kernel of their own.
  if (int64_t along = chooseDotLanes(target, conv.element, 3 * conv.in); along >= 4 && together == 1)
    products = std::min(products, static_cast<double>(pixels) * estimateDots(conv.out, 9 * conv.in, along));
  int64_t weightBytes = 9 * conv.in * out * 4;
  double weights = weightBytes / getRate(target, weightBytes);
  double time = products * (static_cast<double>(target.tuned(Tuned::DirectProducts)) / 100), exposed = static_cast<double>(target.tuned(Tuned::Exposed)) / 100;
  return std::max(time, weights) + exposed * std::min(products, weights);
}

} // namespace kiln
