//===- StoreWeights.cpp - Weights in fewer bits than the model's ------------===//
//
//   %r = nn.matmul %x, %w : tensor<8x768xf32>, tensor<768x96xf32> -> tensor<8x96xf32>                       (%w: a constant)
//
// becomes, with type=bf16 and type=int8,
//
//   %r = nn.matmul %x, %w1 : tensor<8x768xf32>, tensor<768x96xbf16> -> tensor<8x96xf32>
//
//   %p = nn.matmul %x, %w2 : tensor<8x768xf32>, tensor<768x96xi8> -> tensor<8x96xf32>
//   %r = nn.mul %p, (nn.broadcast_to %scale)                                                                 (%scale: one for each column)
//
// and with type=int4 nn.block_quantized_matmul. Nothing is dequantised into memory: kernels widen numbers as they load them.
//
// With `widen`, for the reference of `kiln verify`, operations keep weights of f32, which are computed from those that are stored:
//
//   %w3 = nn.mul (nn.cast %w2), (nn.broadcast_to %scale)
//   %r = nn.matmul %x, %w3 : tensor<8x768xf32>, tensor<768x96xf32> -> tensor<8x96xf32>
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/Refusal.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNBlockOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Rounding.h"
#include "passes/Passes.h"
#include "passes/graph/WeightRounding.h"

#include "mlir/IR/Iterators.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include <map>

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace kiln {
#define GEN_PASS_DEF_STOREWEIGHTS
#include "passes/Passes.h.inc"
} // namespace kiln

namespace {

enum class Form { F16, BF16, Int8, Int4 };

/// What users of the option call a form.
StringRef nameOf(Form form) {
  return form == Form::F16 ? "f16" : form == Form::BF16 ? "bf16" : form == Form::Int8 ? "int8" : "int4";
}

std::optional<Form> parseForm(StringRef text) {
  return llvm::StringSwitch<std::optional<Form>>(text)
      .Case("f16", Form::F16)
      .Case("bf16", Form::BF16)
      .Case("int8", Form::Int8)
      .Case("int4", Form::Int4)
      .Default(std::nullopt);
}

/// A constant that an operation reads, behind transposes.
struct WeightUse {
  Operation *user;
  unsigned operand;
  ConstantOp constant;
  /// From the constant on.
  SmallVector<TransposeOp> transposes;
  /// Dimension i of the weight is this one of the constant.
  SmallVector<int64_t> dims;

  RankedTensorType type() const { return cast<RankedTensorType>(user->getOperand(operand).getType()); }
};

/// Constants by what they were and what they become.
using Key = std::tuple<const void *, Form, unsigned, int64_t>;

class WeightStore {
public:
  WeightStore(ModuleOp module, Form form, bool widens) : module(module), form(form), widens(widens) {}
  void run();

private:
  void store(const WeightUse &use);
  void storeHalves(const WeightUse &use);
  void storeBytes(const WeightUse &use);
  bool storeBlocks(const WeightUse &use);
  void keep(const WeightUse &use, StringRef why);
  const RoundedWeights &round(const WeightUse &use, Form as, unsigned axis, int64_t block, ArrayRef<int64_t> scaleShape = {});
  Value place(const WeightUse &use, ElementsAttr value, const Twine &text);
  void summarize();

  ModuleOp module;
  Form form;
  bool widens;
  std::map<Key, RoundedWeights> known;
  std::map<const void *, ConstantOp> constants;
  int64_t stored = 0, kept = 0, bytesBefore = 0, bytesAfter = 0;
  WeightError error;
};

} // namespace

/// The operand that holds weights, by far the larger part of a model; nullopt for other operations.
static std::optional<unsigned> findWeightOperand(Operation *op) {
  if (isa<MatmulOp, ConvOp, ConvTransposeOp>(op))
    return 1;
  return isa<GatherOp>(op) ? std::optional<unsigned>(0) : std::nullopt;
}

static std::optional<WeightUse> findWeight(Operation *op) {
  std::optional<unsigned> operand = findWeightOperand(op);
  if (!operand || !getElementTypeOrSelf(op->getResult(0).getType()).isF32())
    return std::nullopt;
  WeightUse use{op, *operand, nullptr, {}, {}};
  Value value = op->getOperand(*operand);
  while (auto transpose = value.getDefiningOp<TransposeOp>()) {
    use.transposes.insert(use.transposes.begin(), transpose);
    value = transpose.getInput();
  }
  use.constant = value.getDefiningOp<ConstantOp>();
  auto type = cast<RankedTensorType>(value.getType());
  // Vectors are biases and the like.
  if (!use.constant || !type.getElementType().isF32() || type.getRank() < 2 || type.getNumElements() == 0)
    return std::nullopt;
  use.dims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  for (TransposeOp transpose : use.transposes)
    use.dims = llvm::map_to_vector(transpose.getPermutation(), [&](int64_t i) { return use.dims[i]; });
  return use;
}

static int64_t countBytes(ElementsAttr constant) {
  return constant ? constant.getNumElements() * elementBytes(constant.getElementType()) : 0;
}

void WeightStore::keep(const WeightUse &use, StringRef why) {
  ++kept;
  setRounding(use.constant, "weights stay f32: " + why);
}

const RoundedWeights &WeightStore::round(const WeightUse &use, Form as, unsigned axis, int64_t block, ArrayRef<int64_t> scaleShape) {
  ElementsAttr given = ConstantOp(use.constant).getValue();
  auto [entry, isNew] = known.try_emplace({given.getAsOpaquePointer(), as, axis, block});
  if (!isNew)
    return entry->second;
  Builder b(module.getContext());
  if (as == Form::Int8)
    entry->second = roundToBytes(given, axis, scaleShape);
  else if (as == Form::Int4)
    entry->second = roundToBlocks(given, axis, block);
  else
    entry->second = roundToHalves(given, as == Form::F16 ? Type(b.getF16Type()) : b.getBF16Type());
  if (entry->second.fault.empty()) {
    bytesBefore += countBytes(given);
    bytesAfter += countBytes(entry->second.value) + countBytes(entry->second.scale);
    error.add(entry->second.error);
  }
  return entry->second;
}

/// The rounded constant where the weight was, behind the same transposes.
Value WeightStore::place(const WeightUse &use, ElementsAttr value, const Twine &text) {
  ConstantOp &constant = constants[value.getAsOpaquePointer()];
  if (!constant) {
    OpBuilder builder(module.getContext());
    // Users may stand in loops, and before the one that was met first.
    builder.setInsertionPoint(use.constant);
    constant = ConstantOp::create(builder, ConstantOp(use.constant).getLoc(), value);
    setRounding(constant, text);
  }
  return constant;
}

static Value repeatTransposes(OpBuilder &builder, const WeightUse &use, Value value) {
  for (TransposeOp transpose : use.transposes) {
    Type element = getElementTypeOrSelf(value.getType());
    value = TransposeOp::create(builder, transpose.getLoc(), withElementType(transpose.getType(), element), value, transpose.getPermutation());
  }
  return value;
}

void WeightStore::storeHalves(const WeightUse &use) {
  const RoundedWeights &rounded = round(use, form, 0, 0);
  if (!rounded.fault.empty())
    return keep(use, rounded.fault);
  ++stored;
  OpBuilder builder(use.user);
  Value weight = repeatTransposes(builder, use, place(use, rounded.value, "weights stored as " + nameOf(form) + ": " + rounded.error.describe()));
  auto gather = dyn_cast<GatherOp>(use.user);
  if (widens)
    weight = CastOp::create(builder, use.user->getLoc(), use.type(), weight);
  if (widens || !gather) {
    use.user->setOperand(use.operand, weight);
    return;
  }
  auto type = withElementType(gather.getType(), getElementTypeOrSelf(weight.getType()));
  Value rows = GatherOp::create(builder, gather.getLoc(), type, weight, gather.getIndices(), gather.getAxis());
  gather.replaceAllUsesWith(CastOp::create(builder, gather.getLoc(), gather.getType(), rows).getResult());
  gather.erase();
}

/// The shape of scales for each index of dimension `dim`, as they are broadcast to the result.
static SmallVector<int64_t> shapeOfScales(int64_t count, int64_t dim, int64_t rank) {
  SmallVector<int64_t> shape{count};
  shape.append(rank - 1 - dim, 1);
  return shape;
}

/// The rows of a table of bytes, times the scale of each.
static void gatherBytes(GatherOp gather, Value table, Value scale) {
  OpBuilder builder(gather);
  Location loc = gather.getLoc();
  Value rows = GatherOp::create(builder, loc, withElementType(gather.getType(), builder.getI8Type()), table, gather.getIndices(), 0);
  DimExprs dims = getDims(gather.getIndices().getType());
  dims.append(cast<RankedTensorType>(table.getType()).getRank() - 1, builder.getAffineConstantExpr(1));
  Value factors = GatherOp::create(builder, loc, makeTensorType(dims, builder.getF32Type()), scale, gather.getIndices(), 0);
  Value real = CastOp::create(builder, loc, gather.getType(), rows);
  if (factors.getType() != gather.getType())
    factors = BroadcastToOp::create(builder, loc, gather.getType(), factors);
  gather.replaceAllUsesWith(MulOp::create(builder, loc, gather.getType(), real, factors).getResult());
  gather.erase();
}

/// The numbers that bytes stand for, with a scale for each index of dimension `axis`.
static Value widenBytes(OpBuilder &builder, const WeightUse &use, Value bytes, ElementsAttr scales, unsigned axis) {
  Location loc = use.user->getLoc();
  RankedTensorType type = use.type();
  auto shape = RankedTensorType::get(shapeOfScales(type.getDimSize(axis), axis, type.getRank()), builder.getF32Type());
  Value factor = ConstantOp::create(builder, loc, makeConstantOf<float>(shape, ConstantData(scales).as<float>()));
  if (factor.getType() != type)
    factor = BroadcastToOp::create(builder, loc, type, factor);
  return MulOp::create(builder, loc, type, CastOp::create(builder, loc, type, bytes), factor);
}

/// What a product or convolution gives is multiplied by the scale of each column or channel.
static void scaleResult(Operation *op, Value scale) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Value result = op->getResult(0), factor = scale;
  if (factor.getType() != result.getType())
    factor = BroadcastToOp::create(builder, op->getLoc(), result.getType(), factor);
  auto scaled = MulOp::create(builder, op->getLoc(), result.getType(), result, factor);
  result.replaceAllUsesExcept(scaled.getResult(), scaled);
}

void WeightStore::storeBytes(const WeightUse &use) {
  RankedTensorType weight = use.type();
  auto gather = dyn_cast<GatherOp>(use.user);
  auto conv = dyn_cast<ConvOp>(use.user);
  if (gather && gather.getAxis() != 0)
    return keep(use, "a gather along dimension " + std::to_string(gather.getAxis()) + " has no scale for each row");
  if (!gather && !conv && weight.getRank() != 2)
    return keep(use, "a product with " + std::to_string(weight.getRank()) + "-dimensional weights has no one scale for each column");
  unsigned axis = gather || conv ? 0 : 1;
  int64_t rank = cast<RankedTensorType>(use.user->getResult(0).getType()).getRank(), channels = weight.getDimSize(axis);
  bool isLast = !conv || conv.getLayout() == Layout::ChannelsLast;
  SmallVector<int64_t> shape = gather ? shapeOfScales(channels, 0, weight.getRank()) : shapeOfScales(channels, isLast ? rank - 1 : 1, rank);
  const RoundedWeights &rounded = round(use, Form::Int8, static_cast<unsigned>(use.dims[axis]), 0, shape);
  if (!rounded.fault.empty())
    return keep(use, rounded.fault);
  ++stored;
  StringRef each = gather ? "row" : conv ? "output channel" : "column";
  Value bytes = place(use, rounded.value, "weights stored as int8 with a scale for each " + each + ": " + rounded.error.describe());
  OpBuilder builder(use.user);
  bytes = repeatTransposes(builder, use, bytes);
  if (widens) {
    use.user->setOperand(use.operand, widenBytes(builder, use, bytes, rounded.scale, axis));
    return;
  }
  ElementsAttr scales = rounded.scale;
  // The same weights may have been rounded for a result of another rank.
  if (cast<RankedTensorType>(scales.getType()).getShape() != ArrayRef(shape))
    scales = makeConstantOf<float>(RankedTensorType::get(shape, builder.getF32Type()), ConstantData(scales).as<float>());
  Value scale = ConstantOp::create(builder, use.user->getLoc(), scales);
  if (gather)
    return gatherBytes(gather, bytes, scale);
  use.user->setOperand(use.operand, bytes);
  scaleResult(use.user, scale);
}

/// False where the product cannot have blocks.
bool WeightStore::storeBlocks(const WeightUse &use) {
  constexpr int64_t block = 32;
  auto product = dyn_cast<MatmulOp>(use.user);
  RankedTensorType type = use.type();
  if (!product || type.getRank() != 2 || type.getDimSize(0) % block != 0)
    return false;
  const RoundedWeights &rounded = round(use, Form::Int4, static_cast<unsigned>(use.dims[0]), block);
  if (!rounded.fault.empty()) {
    keep(use, rounded.fault);
    return true;
  }
  ++stored;
  Value numbers = place(use, rounded.value, "weights stored as int4 with a scale for each block of " + Twine(block) + ": " + rounded.error.describe());
  OpBuilder builder(product);
  Value scale = ConstantOp::create(builder, product.getLoc(), rounded.scale);
  auto result = BlockQuantizedMatmulOp::create(builder, product.getLoc(), product.getType(), product.getLhs(), numbers, scale, Value(), Value(), Value(), 4);
  product.replaceAllUsesWith(result.getResult());
  product.erase();
  return true;
}

void WeightStore::store(const WeightUse &use) {
  if (isa<ConvTransposeOp>(use.user))
    return keep(use, "a transposed convolution takes them apart");
  if (form == Form::F16 || form == Form::BF16)
    return storeHalves(use);
  if (form != Form::Int4 || !storeBlocks(use))
    storeBytes(use);
}

static std::string formatMegabytes(int64_t bytes) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.1f", static_cast<double>(bytes) / 1e6);
  return text;
}

void WeightStore::summarize() {
  if (stored)
    addRoundingLine(module, "weights of " + Twine(stored) + " of " + Twine(stored + kept) + " products, convolutions and gathers are stored as " +
                                nameOf(form) + (form == Form::Int4 ? " (products) or int8" : "") + ", in " + formatMegabytes(bytesAfter) + " MB instead of " +
                                formatMegabytes(bytesBefore) + ": " + error.describe());
  else
    addRoundingLine(module, "no weights are stored as " + nameOf(form) + ": " +
                                (kept ? "none can be, --why says of each why" : "no product, convolution or gather has constant weights of f32"));
}

void WeightStore::run() {
  SmallVector<Operation *> users;
  module.walk([&](Operation *op) {
    if (findWeightOperand(op))
      users.push_back(op);
  });
  for (Operation *op : users)
    if (std::optional<WeightUse> use = findWeight(op))
      store(*use);
  summarize();
  // What nothing reads any more: the given weights, and transposes of them.
  module.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isa<ConstantOp, TransposeOp>(op) && op->use_empty())
      op->erase();
  });
}

namespace {
struct StoreWeightsPass : kiln::impl::StoreWeightsBase<StoreWeightsPass> {
  using StoreWeightsBase::StoreWeightsBase;
  void runOnOperation() override {
    std::optional<Form> form = parseForm(type);
    if (!form) {
      kernel::emitRefusal(getOperation()) << "weights of type '" << type << "': expected f16, bf16, int8 or int4";
      return signalPassFailure();
    }
    WeightStore(getOperation(), *form, widen).run();
  }
};
} // namespace
