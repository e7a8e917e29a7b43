//===- TabulateBytes.cpp - Chains between bytes as tables -------------------===//
//
//   %a = nn.dequantize %x, %s, %z                           (%x: bytes)
//   %b = nn.sigmoid %a
//   %c = nn.mul %a, %b
//   %q = nn.quantize %c, %t, %y
//
// becomes
//
//   %q = nn.lookup %x in [...]
//
// whatever lies between, as long as it is element-wise and depends on one tensor of bytes: pairs of nn.quantize and nn.dequantize inside as well. The
// table is computed by the formulas of these operations, so that it says what they say. What only moves numbers before an nn.quantize moves bytes
// instead: first, because each operand may then have a table.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNQuantizedOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/Passes.h"
#include "passes/graph/EvaluateScalar.h"

#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace kiln {
#define GEN_PASS_DEF_TABULATEBYTES
#include "passes/Passes.h.inc"
} // namespace kiln

static constexpr int64_t tableSize = 256;

static bool isByte(Type type) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  return integer && integer.getWidth() == 8;
}

//===- What a value depends on ---------------------------------------------===//

namespace {
/// The values that tensors of bytes determine, and their tables.
class Tables {
public:
  /// The one tensor of bytes that determines an element-wise value; null for a number, nullopt when there is none.
  std::optional<Value> findRoot(Value value);
  /// The value for each byte of its root; null when it cannot be computed now.
  ElementsAttr evaluate(Value value);

private:
  std::optional<Value> findCommonRoot(Operation *op);
  ElementsAttr fill(Type element, function_ref<void(char *to, int64_t i)> write);

  llvm::DenseMap<Value, std::optional<Value>> roots;
  llvm::DenseMap<Value, ElementsAttr> tables;
};
} // namespace

/// Types in which tables are computed.
static bool isTabulated(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF32() || (isa<IntegerType>(element) && element.getIntOrFloatBitWidth() <= 32);
}

std::optional<Value> Tables::findCommonRoot(Operation *op) {
  if (!isa_and_nonnull<ScalarBody>(op) || op->getNumOperands() == 0)
    return std::nullopt;
  Value common;
  for (Value operand : op->getOperands()) {
    std::optional<Value> root = isTabulated(operand.getType()) ? findRoot(operand) : std::nullopt;
    if (!root || (*root && common && *root != common))
      return std::nullopt;
    common = *root ? *root : common;
  }
  return common ? std::optional(common) : std::nullopt;
}

std::optional<Value> Tables::findRoot(Value value) {
  if (auto known = roots.find(value); known != roots.end())
    return known->second;
  std::optional<Value> root;
  if (getSplatNumber(value))
    root = Value();
  else if (auto deeper = findCommonRoot(value.getDefiningOp()))
    root = deeper;
  else if (isByte(value.getType()))
    root = value;
  return roots[value] = root;
}

ElementsAttr Tables::fill(Type element, function_ref<void(char *, int64_t)> write) {
  int64_t bytes = elementBytes(element);
  std::vector<char> values(tableSize * bytes);
  for (int64_t i = 0; i < tableSize; ++i)
    write(&values[i * bytes], i);
  return makeConstant(RankedTensorType::get({tableSize}, element), std::move(values));
}

ElementsAttr Tables::evaluate(Value value) {
  if (auto known = tables.find(value); known != tables.end())
    return known->second;
  Type element = getElementTypeOrSelf(value.getType());
  ElementsAttr result;
  if (std::optional<double> number = getSplatNumber(value)) {
    bool isFloat = isa<FloatType>(element);
    result = fill(element, [&](char *to, int64_t) { isFloat ? storeNumber(to, element, *number) : storeNumber(to, element, static_cast<int64_t>(*number)); });
  } else if (findRoot(value) == value) {
    result = fill(element, [&](char *to, int64_t i) { *to = static_cast<char>(i); });
  } else {
    SmallVector<ElementsAttr> operands = llvm::map_to_vector(value.getDefiningOp()->getOperands(), [&](Value operand) { return evaluate(operand); });
    if (!llvm::is_contained(operands, nullptr)) {
      auto type = RankedTensorType::get({tableSize}, element);
      Operation *copy = value.getDefiningOp()->clone();
      copy->getResult(0).setType(type);
      SmallVector<ConstantData> data(operands.begin(), operands.end());
      FailureOr<std::vector<char>> bytes = evaluateScalarBody(cast<ScalarBody>(copy), data);
      copy->destroy();
      if (succeeded(bytes))
        result = makeConstant(type, std::move(*bytes));
    }
  }
  return tables[value] = result;
}

//===- Movement ------------------------------------------------------------===//

/// What picks or moves elements, whatever they are; a maximum picks the same one of bytes, because rounding is monotone.
static bool onlyMoves(Operation *op) {
  if (auto resize = dyn_cast_or_null<ResizeOp>(op))
    return resize.getMode() == ResizeMode::Nearest && resize.getCoordinates() != "tf_crop_and_resize";
  return isa_and_nonnull<MaxPoolOp, TransposeOp, ReshapeOp, SliceOp, ConcatOp>(op) && op->getNumResults() == 1;
}

/// Whether the numbers of a table are all ordered.
static bool isOrdered(ElementsAttr table) {
  ConstantData data(table);
  return llvm::none_of(llvm::seq<int64_t>(0, data.numElements()), [&](int64_t i) { return std::isnan(data.asDouble(i)); });
}

/// A number in the shape of another value.
static Value spreadLike(OpBuilder &builder, Location loc, Value number, RankedTensorType like) {
  Type element = getElementTypeOrSelf(number);
  double value = *getSplatNumber(number);
  TypedAttr attr;
  if (isa<FloatType>(element))
    attr = FloatAttr::get(element, value);
  else
    attr = IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(), static_cast<int64_t>(value), false, true));
  return SplatOp::create(builder, loc, withElementType(like, element), attr);
}

/// quantize(move(x, ...)) -> move(quantize(x), ...), where bytes determine all operands. Adds the new nn.quantize to the list.
static void moveBytes(QuantizeOp op, Tables &tables, SmallVectorImpl<QuantizeOp> &worklist) {
  Operation *move = op.getX().getDefiningOp();
  std::optional<double> scale = getSplatNumber(op.getScale());
  if (!onlyMoves(move) || !scale || !(*scale > 0) || !getSplatNumber(op.getZeroPoint()))
    return;
  auto isDetermined = [&](Value operand) {
    Operation *inner = operand.getDefiningOp();
    auto root = tables.findRoot(operand);
    return (root && *root) || (onlyMoves(inner) && llvm::all_of(inner->getOperands(), [&](Value moved) {
             auto below = tables.findRoot(moved);
             return below && *below;
           }));
  };
  if (!llvm::all_of(move->getOperands(), isDetermined))
    return;
  if (isa<MaxPoolOp>(move)) {
    auto root = tables.findRoot(move->getOperand(0));
    ElementsAttr table = root && *root ? tables.evaluate(move->getOperand(0)) : ElementsAttr();
    if (!table || !isOrdered(table))
      return;
  }
  OpBuilder builder(op);
  SmallVector<Value> bytes;
  for (Value operand : move->getOperands()) {
    auto type = cast<RankedTensorType>(operand.getType());
    Value scale = spreadLike(builder, op.getLoc(), op.getScale(), type), zero = spreadLike(builder, op.getLoc(), op.getZeroPoint(), type);
    auto inner = QuantizeOp::create(builder, op.getLoc(), withElementType(type, op.getType().getElementType()), operand, scale, zero);
    worklist.push_back(inner);
    bytes.push_back(inner);
  }
  Operation *moved = builder.clone(*move);
  moved->setOperands(bytes);
  moved->getResult(0).setType(op.getType());
  op.replaceAllUsesWith(moved->getResult(0));
}

//===- Tables --------------------------------------------------------------===//

/// A value of bytes that others determine, as a table, or as these bytes themselves if the table changes nothing.
static void tabulate(QuantizeOp op, Tables &tables) {
  std::optional<Value> root = tables.findRoot(op);
  if (!root || !*root || *root == op.getResult())
    return;
  ElementsAttr table = tables.evaluate(op);
  if (!table)
    return;
  ConstantData data(table);
  ArrayRef<int8_t> bytes = data.as<int8_t>();
  auto isOwn = [&](int64_t i) { return bytes[i] == static_cast<int8_t>(i); };
  bool isSame = root->getType() == op.getType() && llvm::all_of(llvm::seq<int64_t>(0, tableSize), isOwn);
  OpBuilder builder(op);
  op.replaceAllUsesWith(isSame ? *root : LookupOp::create(builder, op.getLoc(), op.getType(), *root, bytes).getResult());
}

namespace {
struct TabulateBytesPass : kiln::impl::TabulateBytesBase<TabulateBytesPass> {
  void runOnOperation() override {
    SmallVector<QuantizeOp> all;
    getOperation().walk([&](QuantizeOp op) {
      if (isByte(op.getType()))
        all.push_back(op);
    });
    Tables tables;
    for (size_t i = 0; i < all.size(); ++i) // The list grows.
      moveBytes(QuantizeOp(all[i]), tables, all);
    eraseDead();
    all.clear();
    getOperation().walk([&](QuantizeOp op) {
      if (isByte(op.getType()))
        all.push_back(op);
    });
    // Consumers first: what only a table needed is not needed any more. Nothing is erased meanwhile, because the tables know values by their addresses.
    Tables determined;
    for (QuantizeOp op : llvm::reverse(all))
      if (isNeeded(op))
        tabulate(op, determined);
    eraseDead();
  }

private:
  /// Whether something besides unused operations uses the result.
  static bool isNeeded(Operation *op) {
    llvm::SetVector<Operation *> users;
    users.insert(op);
    for (size_t i = 0; i < users.size(); ++i) {
      if (!isPure(users[i]) || users[i]->hasTrait<OpTrait::IsTerminator>() || users.size() > 64)
        return true;
      users.insert(users[i]->user_begin(), users[i]->user_end());
    }
    return false;
  }
  void eraseDead() {
    getOperation().walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op))
        op->erase();
    });
  }
};
} // namespace
