//===- ChooseWinograd.cpp - 3x3 convolutions with fewer multiplications ----===//
//
//   %r = nn.conv %x, %w ... layout channels_last : tensor<1x30x30x64xf32>, tensor<64x64x3x3xf32> -> tensor<1x28x28x64xf32>
//
// becomes, where that is faster,
//
//   %u = nn.winograd_filter %w tile 4 : tensor<64x64x3x3xf32> -> tensor<36x2x65x32xf32>
//   %r = nn.winograd_conv %x, %w transformed %u tile 4
//
// A dilated convolution becomes that of its phases first, if their Winograd form is faster (DilatedPhases.h).
//
// Few tiles with large filters do without the first: the kernel transforms what it needs. Either kernel computes some tiles with the filters as they are.
//
//===----------------------------------------------------------------------===//
#include "passes/target/choice/ChooseWinograd.h"
#include "dialects/kernel/ModuleAttributeNames.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/Rounding.h"
#include "dialects/nn/Scalar.h"
#include "passes/Passes.h"
#include "passes/target/choice/ByteTile.h"
#include "passes/target/choice/CostModel.h"
#include "passes/target/choice/DilatedPhases.h"
#include "passes/target/choice/KernelTable.h"
#include "passes/target/choice/WinogradPlan.h"
#include "passes/target/choice/LibraryMapping.h"
#include "passes/target/choice/ZeroBorder.h"
#include "passes/target/groups/Views.h"

#include <cmath>

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_CHOOSEWINOGRAD
#include "passes/Passes.h.inc"

using namespace nn;

namespace {
/// A form of a convolution: the kernel that computes it, and the tile of Winograd's.
struct ConvForm {
  llvm::StringLiteral kernel;
  /// 0: the direct form.
  int64_t tile;

  bool byColumns() const { return kernel == "winograd_columns"; }
};
} // namespace

static constexpr ConvForm forms[] = {
    {"conv_tiled", 0}, {"winograd_tiles", 2}, {"winograd_tiles", 4}, {"winograd_columns", 2}, {"winograd_columns", 4}};

/// Whether only run time knows how many lines or pixels the result has.
static bool hasOpenSides(Type result) {
  DimExprs dims = getDims(result);
  return !getConstantDim(dims[1]) || !getConstantDim(dims[2]);
}

/// Whether only run time knows how many tiles there are.
static bool hasOpenTiles(Type result) { return hasOpenSides(result) || !getConstantDim(getDims(result)[0]); }

static bool areAll(ArrayRef<int64_t> values, int64_t value) { return llvm::all_of(values, [&](int64_t v) { return v == value; }); }

/// Whether Winograd's form applies, but for pads and dilations.
static bool hasWinogradWindow(ConvOp conv) {
  RankedTensorType type = conv.getType(), weight = conv.getWeight().getType();
  if (conv.getLayout() != Layout::ChannelsLast || type.getRank() != 4 || conv.getGroups() != 1 || !areAll(conv.getStrides(), 1) ||
      !areAll(weight.getShape().drop_front(2), 3))
    return false;
  if (!computesInF32(type) || !computesInF32(conv.getInput().getType()) || !isWeightElement(weight.getElementType()))
    return false;
  // Factors that were rounded for a step.
  if (conv.getInput().getType().getElementType() != type.getElementType() && isHalf(conv.getInput().getType().getElementType()))
    return false;
  return !llvm::is_contained(type.getShape(), 0) && !llvm::is_contained(conv.getInput().getType().getShape(), 0);
}

/// nullopt when Winograd's form does not apply. What only run time knows is estimated.
static std::optional<ConvExtents> getWinogradExtents(ConvOp conv, bool mayPad = false) {
  if (!hasWinogradWindow(conv) || !(mayPad || areAll(conv.getPads(), 0)) || !areAll(conv.getDilations(), 1))
    return std::nullopt;
  return getExtents(conv.getInput().getType(), conv.getType());
}

/// Whether the weights are numbers whose products with those of an even tile (WinogradGuard.cpp), which are below 2^64, do not overflow in the transforms.
static bool areModerate(ElementsAttr weight) {
  ConstantData data(weight);
  double largest = 0;
  bool areNumbers = true;
  // Text may leave out the bytes of large constants.
  bool areThere = static_cast<int64_t>(data.bytes().size()) == data.numElements() * elementBytes(data.elementType());
  data.forEachDouble(0, areThere ? data.numElements() : 0, [&](double number) {
    areNumbers &= !std::isnan(number);
    largest = std::max(largest, std::fabs(number));
  });
  return areNumbers && largest <= 0x1p32;
}

/// Whether the weights are constant, and the kernel is not a library's.
static bool isOwn(ConvOp conv) { return conv.getWeight().getDefiningOp<ConstantOp>() && !goesToLibrary(conv); }

static bool hasModerateWeight(ConvOp conv) { return areModerate(conv.getWeight().getDefiningOp<ConstantOp>().getValue()); }

using TiledPlan = std::pair<int64_t, WinogradPlan>;

/// The plan that is faster than the direct form, with its tile, 2 or 4; nullopt when that is the fastest. `byColumns`: of that kind only.
static std::optional<TiledPlan> choosePlan(kernel::TargetAttr target, const ConvExtents &extents, std::optional<bool> byColumns = std::nullopt) {
  std::optional<TiledPlan> best;
  double cost = estimateDirect(target, extents);
  for (int64_t tile : {2, 4})
    if (WinogradPlan plan = planWinograd(target, extents, tile, byColumns); plan.cost < cost) {
      best = {tile, plan};
      cost = plan.cost;
    }
  return best;
}

/// The same where only run time knows the sides: in blocks of tiles, whose number may be any, and only if it would pay for small images, too.
static std::optional<TiledPlan> chooseOpenPlan(kernel::TargetAttr target, ConvOp conv, const ConvExtents &extents) {
  ConvExtents small = getExtents(conv.getInput().getType(), conv.getType(), smallSide);
  std::optional<TiledPlan> plan = choosePlan(target, extents, /*byColumns=*/false);
  bool pays = plan && planWinograd(target, small, plan->first, /*byColumns=*/false).cost < estimateDirect(target, small);
  return pays ? plan : std::nullopt;
}

bool isWinogradFaster(ConvOp conv, kernel::TargetAttr target, Type factor) {
  std::optional<ConvExtents> extents = getWinogradExtents(conv, /*mayPad=*/true);
  std::optional<TiledPlan> plan = extents ? choosePlan(target, *extents) : std::nullopt;
  if (!plan)
    return false;
  extents->stored = factor;
  return plan->second.cost < estimateDirect(target, *extents);
}

static std::string printShape(Type type) {
  std::string text;
  for (AffineExpr dim : getDims(type))
    text += (text.empty() ? "" : ", ") + formatDim(dim);
  return "[" + text + "]";
}

/// Returns the convolution of the phases of a dilated one, if Winograd's form of that is faster than the direct form, which passes over taps in the border.
static ConvOp splitWhereFaster(ConvOp conv, kernel::TargetAttr target) {
  if (!hasWinogradWindow(conv) || !areAll(conv.getPads(), 0) || areAll(conv.getDilations(), 1) || hasOpenSides(conv.getType()))
    return {};
  DilatedPhases phases(conv);
  std::optional<TiledPlan> plan = choosePlan(target, getExtents(phases.input, phases.result));
  ConvExtents whole = getExtents(conv.getInput().getType(), conv.getType());
  TileShape tile = chooseTile(target, whole.element, whole.images * whole.height * whole.width, whole.out, whole.in);
  double direct = estimateDirect(target, whole) * getSeenShare(conv, tile);
  return plan && plan->second.cost < direct && hasModerateWeight(conv) ? phases.split(conv) : ConvOp();
}

std::string describeForms(Type input, Type result) { return "conv 3x3 f32" + printShape(input) + " -> f32" + printShape(result); }

SmallVector<kernel::PlanAttr> listForms(GroupOp group, kernel::TargetAttr target) {
  Operation *anchor = getAnchor(group);
  const KernelRow *row = findKernelRow(group.getKernel());
  if (!row || !row->library.empty() || group.getForm() != GroupForm::Plain)
    return {};
  if (auto conv = dyn_cast_or_null<ConvOp>(anchor); conv && (!isConstant(conv.getWeight()) || !getWinogradExtents(conv)))
    return {};
  if (!isa_and_nonnull<ConvOp, WinogradConvOp>(anchor))
    return {};
  int64_t own = group.getPlan()->getWinograd();
  SmallVector<kernel::PlanAttr> choices;
  ConvExtents extents = getExtents(anchor->getOperand(0).getType(), anchor->getResult(0).getType());
  for (const ConvForm &form : forms) {
    // Many tiles are no one block, and as many as only run time knows.
    if (form.byColumns() && hasOpenTiles(anchor->getResult(0).getType()))
      continue;
    if (form.tile != 0 && planWinograd(target, extents, form.tile, form.byColumns()).byColumns != form.byColumns())
      continue;
    PlanNumbers numbers;
    numbers.winograd = form.tile;
    bool isOwn = form.tile == own && (own == 0 || form.kernel == row->name);
    choices.insert(isOwn ? choices.begin() : choices.end(), findKernelRow(form.kernel)->makePlan(group.getContext(), numbers));
  }
  return choices;
}

/// The form that a profile has measured; null when it has none.
static const ConvForm *findMeasured(ConvOp conv, DictionaryAttr profile) {
  auto plan = profile ? profile.getAs<kernel::PlanAttr>(describeForms(conv.getInput().getType(), conv.getType())) : kernel::PlanAttr();
  const ConvForm *found = llvm::find_if(forms, [&](const ConvForm &form) {
    return plan && form.tile == plan.getWinograd() && form.kernel == plan.getKernel();
  });
  return found == std::end(forms) ? nullptr : found;
}

static void makeWinograd(ConvOp conv, kernel::TargetAttr target, const ConvExtents &extents, const WinogradPlan &plan, int64_t tile) {
  OpBuilder builder(conv);
  Value transformed;
  if (!plan.byColumns) {
    int64_t width = plan.shape.columns(), panels = llvm::divideCeilSigned(extents.out, width);
    auto type = RankedTensorType::get({(tile + 2) * (tile + 2), panels, extents.in + 1, width}, extents.element);
    transformed = WinogradFilterOp::create(builder, conv.getLoc(), type, conv.getWeight(), tile);
  }
  auto result = WinogradConvOp::create(builder, conv.getLoc(), conv.getType(), conv.getInput(), conv.getWeight(), transformed, tile,
                                       makePlan(target, plan, tile));
  if (StringRef rounding = getRounding(conv); !rounding.empty())
    setRounding(result, rounding);
  conv.replaceAllUsesWith(result.getOperation());
  conv.erase();
}

namespace {
struct ChooseWinograd : impl::ChooseWinogradBase<ChooseWinograd> {
  using ChooseWinogradBase::ChooseWinogradBase;
  void runOnOperation() override {
    kernel::TargetAttr target = kernel::getTarget(getOperation());
    if (!target)
      return;
    SmallVector<ConvOp> convolutions;
    getOperation().walk([&](ConvOp conv) { convolutions.push_back(conv); });
    auto profile = getOperation()->getAttrOfType<DictionaryAttr>(kernel::profileAttrName);
    for (ConvOp conv : convolutions) {
      if (ConvOp split = isOwn(conv) ? splitWhereFaster(conv, target) : ConvOp())
        conv = split;
      auto extents = isOwn(conv) ? getWinogradExtents(conv) : std::nullopt;
      const ConvForm *measured = extents && !tile ? findMeasured(conv, profile) : nullptr;
      if (measured)
        recordProfileUse(getOperation(), describeForms(conv.getInput().getType(), conv.getType()), /*fits=*/true);
      if (!extents || !hasModerateWeight(conv))
        continue;
      int64_t size = tile ? tile : measured ? measured->tile : 0;
      std::optional<std::pair<int64_t, WinogradPlan>> plan;
      if (size)
        plan = {size, planWinograd(target, *extents, size, measured ? std::optional(measured->byColumns()) : std::nullopt)};
      else if (!measured)
        plan = hasOpenSides(conv.getType()) ? chooseOpenPlan(target, conv, *extents) : choosePlan(target, *extents);
      if (!plan)
        continue;
      // Few tiles of one image may be many of a larger batch.
      if (plan->second.byColumns && hasOpenTiles(conv.getType()))
        plan->second = planWinograd(target, *extents, plan->first, /*byColumns=*/false);
      makeWinograd(conv, target, *extents, plan->second, plan->first);
    }
  }
};
} // namespace

} // namespace kiln
