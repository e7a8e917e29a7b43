//===- Ranks.cpp - What the ranks of a sharded model exchange ---------------===//
#include "dialects/nn/Ranks.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Verify.h"

#include "llvm/ADT/DenseSet.h"
#include <set>

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

//===- Calls of the runtime (kiln/collectives.h) -----------------------------------===//

/// Calls visit(op) with the class of the collective.
template <typename Visit> static auto visitCollective(Operation *op, Visit visit) {
  if (auto collective = dyn_cast<AllReduceOp>(op))
    return visit(collective);
  if (auto collective = dyn_cast<ReduceScatterOp>(op))
    return visit(collective);
  if (auto collective = dyn_cast<AllGatherOp>(op))
    return visit(collective);
  if (auto collective = dyn_cast<AllToAllOp>(op))
    return visit(collective);
  if (auto collective = dyn_cast<MergedExchangeOp>(op))
    return visit(collective);
  return visit(cast<ShiftOp>(op));
}

StringRef nn::getCollectiveKind(Operation *op) {
  auto merged = dyn_cast<MergedExchangeOp>(op);
  return merged ? merged.getKind() : op->getName().stripDialect();
}

ArrayRef<int32_t> nn::getCollectiveRanks(Operation *op) {
  return visitCollective(op, [](auto collective) { return collective.getRanks(); });
}

/// The literals of any collective: its own, then how many ranks take part, and how far their numbers are apart. So the text is the same for all ranks.
template <typename Op> static ArrayAttr listLiterals(Op op, std::initializer_list<int64_t> own) {
  Builder b(op->getContext());
  SmallVector<Attribute> all;
  for (int64_t number : own)
    all.push_back(b.getI64IntegerAttr(number));
  all.push_back(b.getI64IntegerAttr(static_cast<int64_t>(op.getRanks().size())));
  all.push_back(b.getI64IntegerAttr(op.getRanks()[1] - op.getRanks()[0]));
  return b.getArrayAttr(all);
}

/// kiln_element_type of the ABI, which has ONNX's numbers.
static int64_t numberOfType(Type type) {
  enum : int64_t { F32 = 1, U8, I8, U16, I16, I32, I64, Bool = 9, F16, F64, U32, U64, BF16 = 16 };
  if (type.isF64())
    return F64;
  if (type.isF32())
    return F32;
  if (type.isF16())
    return F16;
  if (type.isBF16())
    return BF16;
  if (type.isInteger(1))
    return Bool;
  bool isUnsigned = type.isUnsignedInteger();
  switch (type.getIntOrFloatBitWidth()) {
  case 8:
    return isUnsigned ? U8 : I8;
  case 16:
    return isUnsigned ? U16 : I16;
  case 32:
    return isUnsigned ? U32 : I32;
  default:
    return isUnsigned ? U64 : I64;
  }
}

/// kiln_reduction of the ABI.
static int64_t numberOfReduction(ReduceKind kind) {
  enum : int64_t { Sum, Product, Min, Max };
  switch (kind) {
  case ReduceKind::Prod:
    return Product;
  case ReduceKind::Min:
    return Min;
  case ReduceKind::Max:
    return Max;
  default:
    return Sum;
  }
}

static int64_t elementOf(Value value) { return numberOfType(getElementTypeOrSelf(value.getType())); }

StringRef AllReduceOp::getFunction() { return "kiln::rank_all_reduce"; }
bool AllReduceOp::reportsFaults() { return true; }
bool AllReduceOp::callsHook() { return true; }
ArrayAttr AllReduceOp::getLiterals() { return listLiterals(*this, {elementOf(getInput()), numberOfReduction(getReduction())}); }

StringRef ReduceScatterOp::getFunction() { return "kiln::rank_reduce_scatter"; }
bool ReduceScatterOp::reportsFaults() { return true; }
bool ReduceScatterOp::callsHook() { return true; }
ArrayAttr ReduceScatterOp::getLiterals() { return listLiterals(*this, {elementOf(getInput()), numberOfReduction(getReduction())}); }

StringRef AllGatherOp::getFunction() { return "kiln::rank_all_gather"; }
bool AllGatherOp::reportsFaults() { return true; }
bool AllGatherOp::callsHook() { return true; }
ArrayAttr AllGatherOp::getLiterals() { return listLiterals(*this, {}); }

StringRef AllToAllOp::getFunction() { return "kiln::rank_all_to_all"; }
bool AllToAllOp::reportsFaults() { return true; }
bool AllToAllOp::callsHook() { return true; }
ArrayAttr AllToAllOp::getLiterals() { return listLiterals(*this, {}); }

StringRef ShiftOp::getFunction() { return "kiln::rank_shift"; }
bool ShiftOp::reportsFaults() { return true; }
bool ShiftOp::callsHook() { return true; }
ArrayAttr ShiftOp::getLiterals() { return listLiterals(*this, {static_cast<int64_t>(getOffset())}); }

/// kiln_exchange_kind of the ABI; nothing for other names.
static std::optional<int64_t> numberOfKind(StringRef kind) {
  static constexpr StringLiteral kinds[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "shift"};
  const auto *found = llvm::find(kinds, kind);
  return found == std::end(kinds) ? std::nullopt : std::optional<int64_t>(found - std::begin(kinds));
}

StringRef MergedExchangeOp::getFunction() { return "kiln::rank_merged"; }
bool MergedExchangeOp::reportsFaults() { return true; }
bool MergedExchangeOp::callsHook() { return true; }
ArrayAttr MergedExchangeOp::getLiterals() {
  int64_t reduction = getReduction() ? numberOfReduction(*getReduction()) : 0, offset = static_cast<int64_t>(getOffset().value_or(0));
  return listLiterals(*this, {*numberOfKind(getKind()), elementOf(getInputs().front()), reduction, offset});
}

//===- Order -----------------------------------------------------------------===//

std::optional<int64_t> nn::getCollectiveNumber(Operation *op) {
  if (isa<GroupOp, LoopOp>(op))
    op->walk([&](Operation *member) {
      if (!isCollective(member))
        return WalkResult::advance();
      op = member;
      return WalkResult::interrupt();
    });
  if (!isCollective(op))
    return std::nullopt;
  return visitCollective(op, [](auto collective) { return static_cast<int64_t>(collective.getNumber()); });
}

void nn::numberCollectives(Operation *module) {
  int64_t number = 0;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isCollective(op))
      visitCollective(op, [&](auto collective) { collective.setNumber(number++); });
  });
}

void nn::orderCollectives(Block &block) {
  std::vector<Operation *> ops;
  std::vector<std::pair<int64_t, size_t>> collectives;
  DenseMap<Operation *, size_t> places;
  for (Operation &op : block.without_terminator()) {
    if (auto number = getCollectiveNumber(&op))
      collectives.emplace_back(*number, ops.size());
    places[&op] = ops.size();
    ops.push_back(&op);
  }
  llvm::sort(collectives);
  bool isOrdered = llvm::is_sorted(collectives, [](auto &a, auto &b) { return a.second < b.second; });
  if (isOrdered)
    return;
  // What must come before each operation: those that it reads, and the collective before it.
  std::vector<size_t> waits(ops.size());
  std::vector<std::vector<size_t>> waiting(ops.size());
  auto follow = [&](size_t first, size_t second) {
    waiting[first].push_back(second);
    ++waits[second];
  };
  for (auto [place, op] : llvm::enumerate(ops))
    for (Value operand : op->getOperands())
      if (auto source = places.find(operand.getDefiningOp()); source != places.end())
        follow(source->second, place);
  for (size_t i = 0; i + 1 < collectives.size(); ++i)
    follow(collectives[i].second, collectives[i + 1].second);
  std::set<size_t> ready;
  for (size_t place = 0; place < ops.size(); ++place)
    if (waits[place] == 0)
      ready.insert(place);
  while (!ready.empty()) {
    size_t place = *ready.begin();
    ready.erase(ready.begin());
    ops[place]->moveBefore(block.getTerminator());
    for (size_t next : waiting[place])
      if (--waits[next] == 0)
        ready.insert(next);
  }
}

//===- Verifiers -------------------------------------------------------------===//

/// Different ranks, at least two, and this one among them.
static LogicalResult verifyRanks(Operation *op, ArrayRef<int32_t> ranks, int64_t index) {
  llvm::DenseSet<int32_t> known(ranks.begin(), ranks.end());
  if (ranks.size() < 2 || known.size() != ranks.size() || llvm::any_of(ranks, [](int32_t rank) { return rank < 0; }))
    return op->emitOpError("expected two or more different ranks");
  if (index < 0 || index >= static_cast<int64_t>(ranks.size()))
    return op->emitOpError() << "has index " << index << " among " << ranks.size() << " ranks";
  // Those along an axis of a grid: each rank finds the others from its own number alone.
  int64_t step = ranks[1] - ranks[0], count = static_cast<int64_t>(ranks.size());
  bool isAxis = count <= maxCollectiveRanks && step > 0 && ranks[0] / step % count == 0;
  for (auto [place, rank] : llvm::enumerate(ranks))
    isAxis &= rank == ranks[0] + static_cast<int64_t>(place) * step;
  if (!isAxis)
    return op->emitOpError("expected the ranks along an axis of a grid, at equal distances");
  return success();
}

/// `whole` has the dimensions of `part` behind one for the ranks.
static LogicalResult verifySlices(Operation *op, Value part, Value whole, size_t ranks, StringRef what) {
  DimExprs dims = getDims(part.getType());
  dims.insert(dims.begin(), getAffineConstantExpr(static_cast<int64_t>(ranks), op->getContext()));
  if (getElementTypeOrSelf(part.getType()) != getElementTypeOrSelf(whole.getType()))
    return op->emitOpError("changes the element type");
  return verifyDims(op, whole.getType(), dims, what);
}

/// Parts of a mean would have to know how many there are of each.
static LogicalResult verifyReduction(Operation *op, ReduceKind kind) {
  return kind == ReduceKind::Mean ? op->emitOpError("cannot combine parts to a mean") : LogicalResult(success());
}

LogicalResult AllReduceOp::verify() {
  return failed(verifyRanks(*this, getRanks(), getIndex())) ? failure() : verifyReduction(*this, getReduction());
}

LogicalResult ReduceScatterOp::verify() {
  if (failed(verifyRanks(*this, getRanks(), getIndex())) || failed(verifyReduction(*this, getReduction())))
    return failure();
  return verifySlices(*this, getResult(), getInput(), getRanks().size(), "the operand");
}

LogicalResult AllGatherOp::verify() {
  return failed(verifyRanks(*this, getRanks(), getIndex())) ? failure() : verifySlices(*this, getInput(), getResult(), getRanks().size(), "the result");
}

LogicalResult AllToAllOp::verify() {
  if (failed(verifyRanks(*this, getRanks(), getIndex())))
    return failure();
  RankedTensorType type = getInput().getType();
  if (type.getRank() == 0 || type.getDimSize(0) != static_cast<int64_t>(getRanks().size()))
    return emitOpError("expected a first dimension with a slice for each rank");
  return success();
}

LogicalResult ShiftOp::verify() {
  if (getOffset() != 1 && static_cast<int64_t>(getOffset()) != -1)
    return emitOpError() << "expected an offset of 1 or -1; got " << static_cast<int64_t>(getOffset());
  return verifyRanks(*this, getRanks(), getIndex());
}

/// The operand and the result of one of the merged collectives.
static LogicalResult verifyMember(MergedExchangeOp op, Value input, Value result) {
  StringRef kind = op.getKind();
  size_t ranks = op.getRanks().size();
  if (kind == "all_gather")
    return verifySlices(op, input, result, ranks, "the result");
  if (kind == "reduce_scatter")
    return verifySlices(op, result, input, ranks, "the operand");
  if (input.getType() != result.getType())
    return op.emitOpError() << "expected a result of type " << input.getType() << "; got " << result.getType();
  auto type = cast<RankedTensorType>(input.getType());
  if (kind == "all_to_all" && (type.getRank() == 0 || type.getDimSize(0) != static_cast<int64_t>(ranks)))
    return op.emitOpError("expected a first dimension with a slice for each rank");
  return success();
}

LogicalResult MergedExchangeOp::verify() {
  if (failed(verifyRanks(*this, getRanks(), getIndex())))
    return failure();
  if (!numberOfKind(getKind()))
    return emitOpError() << "merges '" << getKind() << "', which is not a collective";
  bool reduces = getKind() == "all_reduce" || getKind() == "reduce_scatter";
  if (reduces != getReduction().has_value() || (getKind() == "shift") != getOffset().has_value())
    return emitOpError("expected a reduction for collectives that combine, an offset for those that shift, and neither for others");
  if (reduces && failed(verifyReduction(*this, *getReduction())))
    return failure();
  if (getInputs().size() < 2 || getInputs().size() > mostMerged || getInputs().size() != getResults().size())
    return emitOpError() << "expected 2 to " << mostMerged << " operands, and a result for each; got " << getInputs().size() << " and " << getResults().size();
  for (auto [input, result] : llvm::zip_equal(getInputs(), getResults())) {
    if (reduces && getElementTypeOrSelf(input.getType()) != getElementTypeOrSelf(getInputs().front().getType()))
      return emitOpError("combines elements of different types");
    if (failed(verifyMember(*this, input, result)))
      return failure();
  }
  return success();
}
