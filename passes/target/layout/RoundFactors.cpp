//===- RoundFactors.cpp - Products of fewer bits, on request ----------------===//
//
//   %r = nn.matmul %x, %w : tensor<128x768xf32>, tensor<768x768xf32> -> tensor<128x768xf32>                  (%w: a constant)
//
// becomes, where a step of the target multiplies bf16,
//
//   %y = nn.cast %x : tensor<128x768xf32> -> tensor<128x768xbf16>                                            (mostly part of %x's producer)
//   %r = nn.matmul %y, %w1 : tensor<128x768xbf16>, tensor<768x768xbf16> -> tensor<128x768xf32>
//
// and with two terms, where the step is fast enough for three products,
//
//   %hi = nn.cast %x,  %lo = nn.cast (%x - %hi),  %y = nn.concat %hi, %lo, %hi
//   %r = nn.matmul %y, %w1 : tensor<128x2304xbf16>, tensor<2304x768xbf16> -> tensor<128x768xf32>             (%w1: high, high and low terms)
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/Refusal.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNAttentionOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/NodeNames.h"
#include "dialects/nn/Rounding.h"
#include "dialects/nn/Scalar.h"
#include "passes/Passes.h"
#include "passes/graph/EvaluateMovement.h"
#include "passes/graph/WeightRounding.h"
#include "passes/target/choice/ByteTile.h"
#include "passes/target/choice/ChooseWinograd.h"
#include "passes/target/choice/LibraryMapping.h"
#include "passes/target/choice/StepTile.h"
#include "passes/target/groups/StripChains.h"
#include "passes/target/layout/ConvInput.h"
#include "passes/target/layout/RoundAttention.h"

#include "mlir/IR/Iterators.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include <map>

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace kiln {
#define GEN_PASS_DEF_ROUNDFACTORS
#include "passes/Passes.h.inc"
} // namespace kiln

namespace {

/// How the factors of a product are computed with.
struct Factors {
  StringRef name;
  /// Of each number; null: f32, as the model says.
  Type element;
  bool hasTwoTerms = false;
  /// What is lost of each factor, in words.
  StringRef bound = "";
};

/// A constant behind transposes.
struct ConstantSide {
  ConstantOp constant;
  /// Dimension i of the operand is this one of the constant.
  SmallVector<int64_t> dims;
};

class FactorRounding {
public:
  FactorRounding(ModuleOp module, bool strict) : module(module), strict(strict), target(kernel::getTarget(module)), attentions(target) {}
  LogicalResult parse(ArrayRef<std::string> words);
  LogicalResult run();

private:
  struct Count {
    Factors factors;
    int64_t asked = 0, done = 0;
    std::string firstFault;
  };
  std::optional<Factors> readType(StringRef name);
  const Factors *findRequest(Operation *op);
  std::string findFault(Operation *op, const Factors &factors) const;
  std::string findStepsFault(Operation *op, const Factors &factors) const;
  std::string findTilesFault(Operation *op, const Factors &factors) const;
  std::string findRowsFault(Operation *op, const Factors &factors, kernel::StepAttr step) const;
  int64_t countMissingChannels(Operation *op, const Factors &factors) const;
  static std::string describeFewColumns(Operation *op, kernel::StepAttr step);
  void roundFactors(Operation *op, const Factors &factors);
  void roundAttention(AttentionOp attention, const Factors &factors);
  Count &countAsked(const Factors &factors);
  void leaveExact(Operation *op, Count &count, StringRef fault);
  Value roundLeft(Operation *op, const Factors &factors);
  ElementsAttr roundWeight(Operation *op, const Factors &factors);
  void summarize();

  ModuleOp module;
  bool strict;
  kernel::TargetAttr target;
  std::optional<Factors> forAll;
  /// By what the user wrote, in order; the first that matches wins.
  SmallVector<std::pair<std::string, Factors>> named;
  llvm::StringSet<> used;
  llvm::MapVector<StringRef, Count> counts;
  /// Rounded operands by value, type and number of terms.
  std::map<std::tuple<const void *, Block *, const void *, bool>, Value> casts;
  AttentionRounding attentions;
};

} // namespace

std::optional<Factors> FactorRounding::readType(StringRef name) {
  Builder b(module.getContext());
  // Half an ulp of 8 and of 11 significant bits; two terms of 8 bits each have 16 bits, and a sign.
  return llvm::StringSwitch<std::optional<Factors>>(name)
      .Case("f32", Factors{"f32", Type()})
      .Case("bf16", Factors{"bf16", b.getBF16Type(), false, "each within 2^-8 of itself"})
      .Case("f16", Factors{"f16", b.getF16Type(), false, "each within 2^-11 of itself, or 2^-25 below 2^-14"})
      .Case("bf16x2", Factors{"bf16x2", b.getBF16Type(), true, "each within 2^-17 of itself, and each product within 2^-15"})
      .Default(std::nullopt);
}

LogicalResult FactorRounding::parse(ArrayRef<std::string> words) {
  for (StringRef word : words) {
    StringRef node = word.contains('=') ? word.rsplit('=').first : "", type = word.contains('=') ? word.rsplit('=').second : word;
    std::optional<Factors> factors = readType(type);
    if (!factors || (word.contains('=') && node.empty()))
      return kernel::emitRefusal(module) << "factors '" << word << "': expected TYPE or NODE=TYPE, where TYPE is bf16, f16, bf16x2 or f32";
    if (node.empty())
      forAll = factors;
    else
      named.emplace_back(node.str(), *factors);
  }
  return success();
}

/// What was asked for; null for nothing.
const Factors *FactorRounding::findRequest(Operation *op) {
  for (auto &[node, factors] : named)
    if (isOfNode(op->getLoc(), node)) {
      used.insert(node);
      return &factors;
    }
  return forAll ? &*forAll : nullptr;
}

static std::optional<ConstantSide> findConstant(Value value) {
  SmallVector<TransposeOp> transposes;
  while (auto transpose = value.getDefiningOp<TransposeOp>()) {
    transposes.push_back(transpose);
    value = transpose.getInput();
  }
  ConstantSide side{value.getDefiningOp<ConstantOp>(), llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(value.getType()).getRank()))};
  if (!side.constant)
    return std::nullopt;
  for (TransposeOp transpose : llvm::reverse(transposes))
    side.dims = llvm::map_to_vector(transpose.getPermutation(), [&](int64_t i) { return side.dims[i]; });
  return side;
}

/// The constant as the operation sees it.
static ElementsAttr readConstant(const ConstantSide &side) {
  ElementsAttr value = ConstantOp(side.constant).getValue();
  auto type = cast<RankedTensorType>(value.getType());
  if (llvm::equal(side.dims, llvm::seq<int64_t>(0, type.getRank())))
    return value;
  SmallVector<int64_t> strides(type.getRank(), 1), shape, steps;
  for (int64_t i = type.getRank() - 1; i-- > 0;)
    strides[i] = strides[i + 1] * type.getDimSize(i + 1);
  for (int64_t dim : side.dims) {
    shape.push_back(type.getDimSize(dim));
    steps.push_back(strides[dim]);
  }
  ConstantData data(value);
  int64_t bytes = elementBytes(type.getElementType());
  std::vector<char> moved(data.bytes().size());
  forEachOffset(shape, steps, [&](int64_t to, int64_t from) { std::memcpy(&moved[to * bytes], &data.bytes()[from * bytes], bytes); });
  return makeConstant(RankedTensorType::get(shape, type.getElementType()), std::move(moved));
}

/// The dimension of the left side that is summed over.
static int64_t sumDim(Operation *op) { return cast<RankedTensorType>(op->getOperand(0).getType()).getRank() - 1; }

static int64_t countTerms(const Factors &factors) { return factors.hasTwoTerms ? 3 : 1; }

/// The rows of a product, the pixels of a convolution; nullopt: known at run time only.
static std::optional<int64_t> countRows(Operation *op) {
  DimExprs extents = getDims(cast<RankedTensorType>(op->getResult(0).getType()));
  return getConstantDim(simplifyDim(getNumElements(ArrayRef(extents).drop_back(), op->getContext())));
}

/// Channels of zeros that make those of a convolution fill the rows of tiles, the three of a picture mostly. 0: none, or it is none of those that get them.
int64_t FactorRounding::countMissingChannels(Operation *op, const Factors &factors) const {
  auto conv = dyn_cast<ConvOp>(op);
  kernel::StepAttr tiles = findTileStep(target, factors.element, factors.element, Float32Type::get(op->getContext()));
  if (!conv || !tiles || factors.hasTwoTerms || conv.getGroups() != 1)
    return 0;
  int64_t channels = conv.getWeight().getType().getShape()[1];
  return channels == 0 ? 0 : llvm::alignTo(channels, countTogether(tiles)) - channels;
}

/// Why a step of several rows does not multiply such factors; empty: it does.
std::string FactorRounding::findTilesFault(Operation *op, const Factors &factors) const {
  kernel::StepAttr tiles = findTileStep(target, factors.element, factors.element, Float32Type::get(op->getContext()));
  if (!tiles)
    return "";
  auto conv = dyn_cast<ConvOp>(op);
  auto weight = cast<RankedTensorType>(op->getOperand(1).getType());
  int64_t unit = weight.getDimSize(conv ? 1 : 0) * countTerms(factors) + countMissingChannels(op, factors);
  // Weights of three terms are half as large again as f32 ones: with few rows, reading them takes longer than multiplying.
  if (std::optional<int64_t> rows = countRows(op); factors.hasTwoTerms && rows && *rows < tiles.getRows())
    return ("there are " + Twine(*rows) + " rows, fewer than the " + Twine(tiles.getRows()) + " of a step, and weights have three terms to read").str();
  int64_t length = conv ? countSideBySide(conv, unit) : unit;
  if (std::string why = kiln::findTileFault(tiles, countRows(op), chooseTileDepth(tiles, length, unit)); !why.empty())
    return why;
  return describeFewColumns(op, tiles);
}

/// Why a step of one row does not.
std::string FactorRounding::findRowsFault(Operation *op, const Factors &factors, kernel::StepAttr step) const {
  bool isConv = isa<ConvOp>(op);
  int64_t depth = step.getDepth(), terms = countTerms(factors), products = cast<RankedTensorType>(op->getOperand(1).getType()).getDimSize(isConv ? 1 : 0);
  if (factors.hasTwoTerms && depth <= terms)
    return ("it takes three products, and " + step.getFunction() + " computes " + Twine(depth) + " in the time of one of f32").str();
  if (products == 0 || products * terms % depth != 0)
    return ("there are " + Twine(products) + (isConv ? " input channels" : " products for each sum") + ", expected a multiple of " + Twine(depth)).str();
  return describeFewColumns(op, step);
}

std::string FactorRounding::describeFewColumns(Operation *op, kernel::StepAttr step) {
  auto conv = dyn_cast<ConvOp>(op);
  auto weight = cast<RankedTensorType>(op->getOperand(1).getType());
  int64_t columns = conv ? weight.getDimSize(0) / static_cast<int64_t>(conv.getGroups()) : weight.getDimSize(1);
  if (columns >= step.getLanes())
    return "";
  return ("there are " + Twine(columns) + (conv ? " output channels" : " columns") + ", fewer than the " + Twine(step.getLanes()) + " sums of a vector").str();
}

/// Why none of the target's steps does: one of several rows, or else one of one row.
std::string FactorRounding::findStepsFault(Operation *op, const Factors &factors) const {
  Type f32 = Float32Type::get(op->getContext());
  kernel::StepAttr tiles = findTileStep(target, factors.element, factors.element, f32), step = findStep(target, factors.element, factors.element, f32);
  std::string why = findTilesFault(op, factors);
  return step && (!tiles || !why.empty()) ? findRowsFault(op, factors, step) : why;
}

/// What keeps the factors f32; empty: nothing.
std::string FactorRounding::findFault(Operation *op, const Factors &factors) const {
  auto conv = dyn_cast<ConvOp>(op);
  auto weight = cast<RankedTensorType>(op->getOperand(1).getType());
  Type f32 = Float32Type::get(op->getContext());
  if (!target || (!findTileStep(target, factors.element, factors.element, f32) && !findStep(target, factors.element, factors.element, f32)))
    return describeMissingStep(factors.element, factors.element, f32);
  if (goesToLibrary(op))
    return "it goes to a library";
  if (!weight.getElementType().isF32() && weight.getElementType() != factors.element) {
    std::string text;
    llvm::raw_string_ostream(text) << "its weights are stored as " << weight.getElementType();
    return text;
  }
  if (!findConstant(op->getOperand(1)))
    return conv ? "the weights are computed" : "the right side is computed";
  if (factors.hasTwoTerms && (!weight.getElementType().isF32() || (conv && conv.getGroups() != 1)))
    return "its weights have one term, or are of several groups";
  if (conv && conv.getLayout() != Layout::ChannelsLast)
    return "it has another layout than channels_last";
  if (!conv && weight.getRank() != 2)
    return "the right side is no matrix";
  if (std::string why = findStepsFault(op, factors); !why.empty())
    return why;
  if (conv && findStripChain(conv, target))
    return "it runs line by line together with the next convolution";
  if (conv && !strict && !factors.hasTwoTerms && isWinogradFaster(conv, target, factors.element))
    return "Winograd's form is faster in f32";
  return "";
}

/// Reshapes of a value that nothing else reads: the rounding goes before them, into the producer's kernel.
static Value skipReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    if (!reshape->hasOneUse())
      return value;
    value = reshape.getInput();
  }
  return value;
}

/// The same reshapes of another element type.
static Value repeatReshapes(OpBuilder &builder, Value given, Value from, Value rounded) {
  if (given == from)
    return rounded;
  auto reshape = given.getDefiningOp<ReshapeOp>();
  Value inner = repeatReshapes(builder, reshape.getInput(), from, rounded);
  return ReshapeOp::create(builder, reshape.getLoc(), withElementType(reshape.getType(), getElementTypeOrSelf(inner.getType())), inner);
}

/// The left side in the type of the factors, made once for all that read it.
Value FactorRounding::roundLeft(Operation *op, const Factors &factors) {
  Value given = op->getOperand(0), from = factors.hasTwoTerms ? given : skipReshapes(given);
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value &rounded = casts[{from.getAsOpaquePointer(), op->getBlock(), factors.element.getAsOpaquePointer(), factors.hasTwoTerms}];
  if (rounded)
    return repeatReshapes(builder, given, from, rounded);
  RankedTensorType wide = cast<RankedTensorType>(from.getType()), narrow = withElementType(wide, factors.element);
  // Other users may stand before this one.
  if (Operation *producer = from.getDefiningOp(); producer && producer->getBlock() == op->getBlock())
    builder.setInsertionPointAfter(producer);
  else
    builder.setInsertionPointToStart(op->getBlock());
  Value high = CastOp::create(builder, loc, narrow, from);
  rounded = high;
  if (factors.hasTwoTerms) {
    Value rest = SubOp::create(builder, loc, wide, from, CastOp::create(builder, loc, wide, high));
    Value low = CastOp::create(builder, loc, narrow, rest);
    DimExprs dims = getDims(wide);
    dims[sumDim(op)] = simplifyDim(dims[sumDim(op)] * 3);
    rounded = ConcatOp::create(builder, loc, makeTensorType(dims, factors.element), ValueRange{high, low, high}, sumDim(op));
  }
  builder.setInsertionPoint(op);
  return repeatReshapes(builder, given, from, rounded);
}

/// High, high and low terms, one after the other along the sum.
static ElementsAttr splitTerms(ElementsAttr weights, int64_t dim) {
  auto type = cast<RankedTensorType>(weights.getType());
  ConstantData data(weights);
  ArrayRef<float> numbers = data.as<float>();
  ElementsAttr high = roundToHalves(weights, BFloat16Type::get(weights.getContext())).value;
  ConstantData highData(high);
  std::vector<float> rest(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i)
    rest[i] = numbers[i] - static_cast<float>(highData.asDouble(static_cast<int64_t>(i)));
  ElementsAttr low = roundToHalves(makeConstantOf<float>(type, rest), BFloat16Type::get(weights.getContext())).value;
  ConstantData lowData(low);
  int64_t inner = 1, outer = 1;
  for (int64_t i = 0; i < type.getRank(); ++i)
    (i < dim ? outer : inner) *= type.getDimSize(i);
  std::vector<uint16_t> words;
  words.reserve(3 * numbers.size());
  for (int64_t o = 0; o < outer; ++o)
    for (ArrayRef<uint16_t> term : {highData.as<uint16_t>(), highData.as<uint16_t>(), lowData.as<uint16_t>()})
      llvm::append_range(words, term.slice(o * inner, inner));
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] *= 3;
  return makeConstantOf<uint16_t>(RankedTensorType::get(shape, BFloat16Type::get(weights.getContext())), words);
}

/// Weights of halves with channels of zeros.
static ElementsAttr padWeights(ElementsAttr weights, int64_t channels) {
  auto type = cast<RankedTensorType>(weights.getType());
  SmallVector<int64_t> shape(type.getShape());
  int64_t taps = 1;
  for (int64_t size : ArrayRef(shape).drop_front(2))
    taps *= size;
  ConstantData data(weights);
  ArrayRef<uint16_t> words = data.as<uint16_t>();
  std::vector<uint16_t> padded;
  padded.reserve(shape[0] * (shape[1] + channels) * taps);
  for (int64_t filter = 0; filter < shape[0]; ++filter) {
    llvm::append_range(padded, words.slice(filter * shape[1] * taps, shape[1] * taps));
    padded.resize(padded.size() + channels * taps);
  }
  shape[1] += channels;
  return makeConstantOf<uint16_t>(RankedTensorType::get(shape, type.getElementType()), padded);
}

/// Null: a weight has no counterpart in the type.
ElementsAttr FactorRounding::roundWeight(Operation *op, const Factors &factors) {
  ElementsAttr weights = readConstant(*findConstant(op->getOperand(1)));
  if (weights.getElementType() == factors.element)
    return weights;
  RoundedWeights rounded = roundToHalves(weights, factors.element);
  return rounded.fault.empty() && factors.hasTwoTerms ? splitTerms(weights, isa<ConvOp>(op) ? 1 : 0) : rounded.value;
}

FactorRounding::Count &FactorRounding::countAsked(const Factors &factors) {
  Count &count = counts.try_emplace(factors.name, Count{factors, 0, 0, ""}).first->second;
  ++count.asked;
  return count;
}

void FactorRounding::leaveExact(Operation *op, Count &count, StringRef fault) {
  count.firstFault = count.firstFault.empty() ? fault.str() : count.firstFault;
  setRounding(op, "not " + count.factors.name + ": " + fault);
}

void FactorRounding::roundAttention(AttentionOp attention, const Factors &factors) {
  Count &count = countAsked(factors);
  std::string fault = !target || factors.hasTwoTerms ? "attention multiplies one term of each number" : attentions.findFault(attention, factors.element);
  if (!fault.empty())
    return leaveExact(attention, count, fault);
  ++count.done;
  attentions.round(attention, factors.element);
  setRoundedFactors(attention, factors.name, factors.bound);
}

void FactorRounding::roundFactors(Operation *op, const Factors &factors) {
  Count &count = countAsked(factors);
  std::string fault = findFault(op, factors);
  ElementsAttr weights = fault.empty() ? roundWeight(op, factors) : ElementsAttr();
  if (fault.empty() && !weights)
    fault = ("a weight is beyond the numbers of " + factors.name).str();
  if (!fault.empty())
    return leaveExact(op, count, fault);
  ++count.done;
  OpBuilder builder(op);
  // Where a step of one row multiplies them, none is missing.
  int64_t channels = findTilesFault(op, factors).empty() ? countMissingChannels(op, factors) : 0;
  if (channels)
    weights = padWeights(weights, channels);
  auto constant = ConstantOp::create(builder, op->getOperand(1).getLoc(), weights);
  if (auto given = findConstant(op->getOperand(1))->constant; !getRounding(given).empty())
    setRounding(constant, getRounding(given));
  Value left = roundLeft(op, factors);
  if (channels)
    padInput(cast<ConvOp>(op), left, channels);
  else
    op->setOperand(0, left);
  op->setOperand(1, constant);
  setRoundedFactors(op, factors.name, factors.bound);
}

void FactorRounding::summarize() {
  for (auto &[name, count] : counts)
    if (count.done)
      addRoundingLine(module, "factors of " + Twine(count.done) + " of " + Twine(count.asked) + " products and convolutions are rounded to " + name + ", " +
                                  count.factors.bound + "; sums of f32");
    else
      addRoundingLine(module, "no product or convolution has its factors rounded to " + name + ": " + count.firstFault);
}

LogicalResult FactorRounding::run() {
  SmallVector<Operation *> products;
  module.walk([&](Operation *op) {
    auto isReal = [&](Value value) { return getElementTypeOrSelf(value.getType()).isF32(); };
    if (isa<MatmulOp, ConvOp, AttentionOp>(op) && isReal(op->getResult(0)) && isReal(op->getOperand(0)))
      products.push_back(op);
  });
  for (Operation *op : products) {
    const Factors *factors = findRequest(op);
    if (!factors || !factors->element)
      continue;
    if (auto attention = dyn_cast<AttentionOp>(op))
      roundAttention(attention, *factors);
    else
      roundFactors(op, *factors);
  }
  for (auto &[node, factors] : named)
    if (!used.contains(node))
      return kernel::emitRefusal(module) << "factors of '" << node << "': the model has no product or convolution of f32 from a node of that name";
  summarize();
  module.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if ((isa<ConstantOp, ReshapeOp, IndexMap>(op)) && op->use_empty())
      op->erase();
  });
  return success();
}

namespace {
struct RoundFactorsPass : kiln::impl::RoundFactorsBase<RoundFactorsPass> {
  using RoundFactorsBase::RoundFactorsBase;
  void runOnOperation() override {
    FactorRounding rounding(getOperation(), strict);
    if (failed(rounding.parse(types)) || failed(rounding.run()))
      signalPassFailure();
  }
};
} // namespace
