//===- GroupValues.cpp - The values of a group as functions of an index ----===//
#include "passes/lowering/builder/GroupValues.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/kernel/Tuning.h"
#include "dialects/nn/DimFacts.h"
#include "dialects/nn/Permute.h"
#include "dialects/nn/Scalar.h"
#include "passes/target/choice/KernelTable.h"
#include "passes/target/groups/Places.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

using namespace nn;

//===- Lanes ---------------------------------------------------------------===//

/// Whether a value serves only as indices of gathers and scatters, which are read one at a time. `known` holds what is decided of other values.
static bool isOnlyIndex(Value value, llvm::DenseMap<Value, bool> &known) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  return known[value] = llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<GatherOp, GatherElementsOp, GatherNdOp, ScatterElementsOp, ScatterNdOp>(user))
      return use.getOperandNumber() == 1;
    return user->getNumResults() > 0 && llvm::all_of(user->getResults(), [&](Value result) { return isOnlyIndex(result, known); });
  });
}

/// Lanes that may have an expression each, as the values of a reshape or an iota do.
static constexpr unsigned mostLaneExpressions = 16;
static bool hasLaneExpressions(Operation *op) {
  if (auto reshape = dyn_cast_or_null<ReshapeOp>(op))
    return !onlyRenamesSizes(reshape);
  return isa_and_nonnull<IotaOp, DimValuesOp>(op);
}

/// One lane count for the whole group: that of its widest elements. Places in other tensors are read one at a time.
unsigned countLanes(GroupOp group, kernel::TargetAttr target) {
  unsigned lanes = std::numeric_limits<unsigned>::max();
  llvm::DenseMap<Value, bool> known;
  auto add = [&](Value value) {
    if (!isOnlyIndex(value, known))
      lanes = std::min(lanes, lanesOf(target, getElementTypeOrSelf(value.getType())));
  };
  llvm::for_each(group.getBody().getArguments(), add);
  for (Type type : group.getResultTypes())
    lanes = std::min(lanes, lanesOf(target, getElementTypeOrSelf(type)));
  for (Operation &op : group.getBody().front().without_terminator()) {
    llvm::for_each(op.getResults(), add);
    if (hasLaneExpressions(&op))
      lanes = std::min(lanes, mostLaneExpressions);
  }
  return lanes;
}

unsigned countLanes(Value value, kernel::TargetAttr target) {
  unsigned lanes = std::numeric_limits<unsigned>::max();
  for (Value source : collectSources(value)) {
    lanes = std::min(lanes, lanesOf(target, getElementTypeOrSelf(source.getType())));
    if (hasLaneExpressions(source.getDefiningOp()))
      lanes = std::min(lanes, mostLaneExpressions);
  }
  return lanes;
}

unsigned GroupValues::resultLanes() const {
  bool isBf16 = llvm::all_of(groupOp->getResultTypes(), [](Type type) { return getElementTypeOrSelf(type).isBF16(); });
  bool isWhole = lanesForGroup > 1 && lanesForGroup == lanesOf(targetAttr, getElementTypeOrSelf(groupOp->getResultTypes().front()));
  return isBf16 && isWhole ? lanesForGroup * targetAttr.tuned(kernel::Tuned::Bf16Vectors) : lanesForGroup;
}

GroupValues::GroupValues(GroupOp group, KernelLoops &loops, KernelSignature &signature)
    : groupOp(group), loops(loops), signature(signature), b(loops.builder()), location(loops.loc()), targetAttr(kernel::getTarget(group)),
      lanesForGroup(countLanes(group, targetAttr)) {
  constexpr unsigned fewParts = 16;
  for (unsigned result = 0; result < group.getNumResults(); ++result) {
    AffineMap place = getPlace(group, group.getInputs().size() + result);
    AffineExpr first = loops.constant(0);
    if (place)
      first = simplifyDim(place.getResult(0).replaceDims(SmallVector<AffineExpr>(place.getNumDims(), first)));
    firsts.emplace_back(first, hasMoreParts(first, fewParts) ? loops.index(loops.emit(first)) : first);
  }
}

void GroupValues::setValue(Value tensor, Value computed) {
  overrides[tensor] = computed;
  values.clear();
}

//===- Places --------------------------------------------------------------===//

AffineExpr GroupValues::linearize(ArrayRef<AffineExpr> dims, ArrayRef<AffineExpr> at) const {
  AffineExpr offset = loops.constant(0);
  for (auto [dim, i] : llvm::zip_equal(dims, at))
    offset = offset * dim + i;
  return simplifyDim(offset);
}

AffineExpr GroupValues::elementOffset(BlockArgument argument, ArrayRef<AffineExpr> at) const {
  return simplifyDim(getElementOffset(argument, at));
}

AffineExpr GroupValues::elementStride(BlockArgument argument, unsigned dim) const {
  IndexExprs at;
  for (unsigned i = 0, rank = cast<RankedTensorType>(argument.getType()).getRank(); i < rank; ++i)
    at.push_back(getAffineDimExpr(i, loops.context()));
  return linearCoefficient(getElementOffset(argument, at), dim);
}

AffineExpr GroupValues::resultOffset(unsigned result, ArrayRef<AffineExpr> at) const {
  if (AffineMap place = getPlace(groupOp, GroupOp(groupOp).getInputs().size() + result))
    return simplifyDim(place.getResult(0).replaceDims(at) - firsts[result].first + firsts[result].second);
  return linearize(getDims(GroupOp(groupOp).getResult(result).getType()), at);
}

void GroupValues::collectOffsets(Value tensor, ArrayRef<AffineExpr> at, llvm::SetVector<AffineExpr> &offsets) {
  ReadPlaces seen;
  collectOffsets(tensor, at, offsets, seen);
}

void GroupValues::collectOffsets(Value tensor, ArrayRef<AffineExpr> at, llvm::SetVector<AffineExpr> &offsets, ReadPlaces &seen) {
  // A value with several users in the group is read at an index once.
  SmallVector<IndexExprs, 1> &places = seen[tensor];
  if (llvm::is_contained(places, at))
    return;
  places.emplace_back(at);
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    offsets.insert(elementOffset(argument, at));
    return;
  }
  Operation *op = tensor.getDefiningOp();
  if (overrides.count(tensor) || isa<SplatOp>(op))
    return;
  if (auto iota = dyn_cast<IotaOp>(op)) {
    offsets.insert(at[iota.getAxis()]);
    return;
  }
  if (isa<DimValuesOp>(op)) {
    offsets.insert(at.begin(), at.end());
    return;
  }
  if (auto view = dyn_cast<IndexMap>(op))
    if (AffineMap map = view.getIndexMap()) {
      IndexExprs source;
      for (AffineExpr expr : map.getResults())
        source.push_back(expr.replaceDims(at));
      return collectOffsets(op->getOperand(0), source, offsets, seen);
    }
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    if (onlyRenamesSizes(reshape))
      return collectOffsets(reshape.getInput(), at, offsets, seen);
    // The coordinates before a reshape are divisions of the offset: only that offset going on evenly keeps them right.
    offsets.insert(linearize(getDims(tensor.getType()), at));
    offsets.insert(at.begin(), at.end());
    return;
  }
  if (!isa<ScalarBody>(op)) {
    offsets.insert(linearize(getDims(tensor.getType()), at));
    return;
  }
  for (Value operand : op->getOperands())
    collectOffsets(operand, at, offsets, seen);
}

void GroupValues::collectStores(Value yielded, ArrayRef<AffineExpr> at, llvm::SetVector<AffineExpr> &offsets) {
  for (auto [i, value] : llvm::enumerate(groupOp.getTerminator()->getOperands()))
    if (value == yielded && getPlace(groupOp, groupOp.getInputs().size() + i))
      offsets.insert(resultOffset(i, at));
}

//===- Buffers -------------------------------------------------------------===//

/// Replaces loop dim `dim` by itself plus `lane`.
static AffineExpr shiftDim(AffineExpr expr, unsigned dim, int64_t lane) {
  AffineExpr d = getAffineDimExpr(dim, expr.getContext());
  return expr.replace(d, d + lane);
}

Value GroupValues::eachLane(Lanes lanes, ArrayRef<AffineExpr> exprs, function_ref<Value(ArrayRef<AffineExpr>)> scalar) {
  SmallVector<Value> elements;
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    IndexExprs shifted;
    for (AffineExpr expr : exprs)
      shifted.push_back(shiftDim(expr, lanes.dim, lane));
    elements.push_back(scalar(shifted));
  }
  auto type = VectorType::get(lanes.count, elements.front().getType());
  return vector::FromElementsOp::create(b, location, type, elements);
}

/// From the form in memory to the form kernels compute in: bool from a byte, f16 and bf16 to f32, and so weights of bytes.
static Value fromMemory(OpBuilder &b, Location loc, Value loaded, Type elementType) {
  Type compute = computeType(elementType);
  auto formed = [&](Type type) {
    auto vector = dyn_cast<VectorType>(loaded.getType());
    return vector ? Type(vector.clone(type)) : type;
  };
  if (elementType.isInteger(1)) {
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(loaded.getType()));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, loaded, zero);
  }
  if (isa<FloatType>(compute) && getElementTypeOrSelf(loaded.getType()).isInteger(8))
    return arith::SIToFPOp::create(b, loc, formed(compute), loaded);
  return getElementTypeOrSelf(loaded.getType()) == compute ? loaded : Value(arith::ExtFOp::create(b, loc, formed(compute), loaded));
}

static Value toMemory(OpBuilder &b, Location loc, Value value, Type memoryType) {
  auto vector = dyn_cast<VectorType>(value.getType());
  Type have = getElementTypeOrSelf(value.getType()), want = vector ? Type(vector.clone(memoryType)) : memoryType;
  if (have == memoryType)
    return value;
  if (have.isInteger(1))
    return arith::ExtUIOp::create(b, loc, want, value);
  return arith::TruncFOp::create(b, loc, want, value);
}

Value GroupValues::array(StringRef name, Type elementType, int64_t elements) {
  auto type = MemRefType::get({elements}, computeType(elementType));
  return loops.named(memref::AllocaOp::create(b, location, type, b.getI64IntegerAttr(64)), name);
}

Value GroupValues::loadBuffer(Value buffer, Type elementType, AffineExpr offset, Lanes lanes) {
  Type memory = cast<MemRefType>(buffer.getType()).getElementType();
  auto scalar = [&](ArrayRef<AffineExpr> at) -> Value {
    return fromMemory(b, location, memref::LoadOp::create(b, location, buffer, loops.emit(at.front())), elementType);
  };
  if (lanes.count == 1)
    return scalar(offset);
  std::optional<int64_t> stride = coefficientOf(offset, lanes.dim);
  if (stride == 0)
    return loops.broadcast(scalar(offset), lanes.count);
  if (AffineExpr factor = linearCoefficient(offset, lanes.dim); !stride && isBroadcastFactor(factor)) {
    AffineExpr step = getAffineDimExpr(lanes.dim, loops.context()), first = offset.replace(step, loops.constant(0));
    auto yield = [](OpBuilder &builder, Location loc, Value value) { scf::YieldOp::create(builder, loc, value); };
    Value spreads = arith::CmpIOp::create(b, location, arith::CmpIPredicate::eq, loops.emit(factor), loops.emitConstant(0));
    auto one = [&](OpBuilder &builder, Location loc) { yield(builder, loc, loops.broadcast(scalar(first), lanes.count)); };
    auto many = [&](OpBuilder &builder, Location loc) { yield(builder, loc, loadBuffer(buffer, elementType, first + step, lanes)); };
    return scf::IfOp::create(b, location, spreads, one, many).getResult(0);
  }
  if (!stride)
    return eachLane(lanes, offset, scalar);
  auto type = VectorType::get(lanes.count, memory);
  Value at = loops.emit(offset);
  Value loaded = *stride == 1 ? Value(vector::LoadOp::create(b, location, type, buffer, at))
                              : Value(kernel::StridedLoadOp::create(b, location, type, buffer, at, *stride));
  return fromMemory(b, location, loaded, elementType);
}

Value GroupValues::loadStored(Value buffer, AffineExpr offset, unsigned lanes) {
  auto type = VectorType::get(lanes, cast<MemRefType>(buffer.getType()).getElementType());
  return vector::LoadOp::create(b, location, type, buffer, loops.emit(offset));
}

void GroupValues::storeBuffer(Value buffer, Type elementType, AffineExpr offset, Value value, Lanes lanes) {
  values.clear();
  Type memory = cast<MemRefType>(buffer.getType()).getElementType();
  value = toMemory(b, location, value, memory);
  if (lanes.count == 1) {
    memref::StoreOp::create(b, location, value, buffer, loops.emit(offset));
    return;
  }
  value = loops.broadcast(value, lanes.count);
  if (coefficientOf(offset, lanes.dim) == 1) {
    vector::StoreOp::create(b, location, value, buffer, loops.emit(offset));
    return;
  }
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    Value element = vector::ExtractOp::create(b, location, value, static_cast<int64_t>(lane));
    memref::StoreOp::create(b, location, element, buffer, loops.emit(shiftDim(offset, lanes.dim, lane)));
  }
}

//===- Values --------------------------------------------------------------===//

Value GroupValues::value(Value tensor, ArrayRef<AffineExpr> at, Lanes lanes) {
  if (Value computed = overrides.lookup(tensor))
    return loops.broadcast(computed, lanes.count);
  if (std::exchange(valuesBlock, loops.blockNumber()) != loops.blockNumber())
    values.clear();
  IndexExprs key;
  for (AffineExpr expr : at)
    key.push_back(simplifyDim(expr));
  for (const Computed &known : values[tensor])
    if (known.at == key && known.lanes == lanes.count)
      return known.value;
  Value computed = compute(tensor, key, lanes);
  values[tensor].push_back({key, lanes.count, computed});
  return computed;
}

Value GroupValues::compute(Value tensor, ArrayRef<AffineExpr> at, Lanes lanes) {
  Type element = getElementTypeOrSelf(tensor.getType());
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return loadBuffer(signature.buffer(argument.getArgNumber()), element, elementOffset(argument, at), lanes);
  Operation *op = tensor.getDefiningOp();
  if (auto constant = dyn_cast<SplatOp>(op))
    return splat(constant, lanes);
  if (auto iotaOp = dyn_cast<IotaOp>(op))
    return iota(iotaOp, at[iotaOp.getAxis()], lanes);
  if (auto dims = dyn_cast<DimValuesOp>(op))
    return dimValue(dims, at, lanes);
  if (auto view = dyn_cast<IndexMap>(op))
    if (AffineMap map = view.getIndexMap()) {
      IndexExprs source;
      for (AffineExpr expr : map.getResults())
        source.push_back(expr.replaceDims(at));
      return value(op->getOperand(0), source, lanes);
    }
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    if (onlyRenamesSizes(reshape))
      return value(reshape.getInput(), at, lanes);
    AffineExpr offset = linearize(getDims(reshape.getType()), at);
    DimExprs dims = getDims(reshape.getInput().getType());
    IndexExprs source(dims.size());
    for (size_t i = dims.size(); i-- > 0;) {
      source[i] = i == 0 ? offset : offset % dims[i];
      offset = offset.floorDiv(dims[i]);
    }
    return value(reshape.getInput(), source, lanes);
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(value(operand, at, lanes));
  return cast<ScalarBody>(op).buildScalar(b, op->getLoc(), operands);
}

Value GroupValues::splat(SplatOp op, Lanes lanes) {
  if (auto number = dyn_cast<FloatAttr>(op.getValue()))
    return loops.number(op.getType().getElementType(), number.getValueAsDouble(), lanes.count);
  APInt bits = cast<IntegerAttr>(op.getValue()).getValue();
  auto type = IntegerType::get(loops.context(), bits.getBitWidth());
  Value scalar = arith::ConstantOp::create(b, location, IntegerAttr::get(type, bits));
  return loops.broadcast(scalar, lanes.count);
}

Value GroupValues::iota(IotaOp op, AffineExpr coordinate, Lanes lanes) {
  Type type = computeType(op.getType().getElementType());
  auto scalar = [&](ArrayRef<AffineExpr> at) -> Value {
    Value position = loops.emit(at.front());
    if (!isa<FloatType>(type))
      return arith::IndexCastOp::create(b, location, type, position);
    Value wide = arith::IndexCastOp::create(b, location, b.getI64Type(), position);
    return arith::SIToFPOp::create(b, location, type, wide);
  };
  if (lanes.count == 1)
    return scalar(coordinate);
  if (coefficientOf(coordinate, lanes.dim) == 0)
    return loops.broadcast(scalar(coordinate), lanes.count);
  return eachLane(lanes, coordinate, scalar);
}

Value GroupValues::dimValue(DimValuesOp op, ArrayRef<AffineExpr> at, Lanes lanes) {
  Type type = computeType(op.getType().getElementType());
  auto element = [&](AffineExpr expr) -> Value { return arith::IndexCastOp::create(b, location, type, loops.emit(expr)); };
  if (at.empty())
    return loops.broadcast(element(op.getMap().getResult(0)), lanes.count);
  auto scalar = [&](ArrayRef<AffineExpr> index) -> Value {
    if (auto position = getConstantDim(index.front()))
      return element(op.getMap().getResult(*position));
    Value chosen = element(op.getMap().getResults().back());
    for (unsigned i = op.getMap().getNumResults() - 1; i-- > 0;) {
      Value here = arith::CmpIOp::create(b, location, arith::CmpIPredicate::eq, loops.emit(index.front()), loops.emitConstant(i));
      chosen = arith::SelectOp::create(b, location, here, element(op.getMap().getResult(i)), chosen);
    }
    return chosen;
  };
  return lanes.count == 1 ? scalar(at) : eachLane(lanes, at, scalar);
}

void GroupValues::store(unsigned result, Value computed, ArrayRef<AffineExpr> at, Lanes lanes) {
  Type type = groupOp.getResult(result).getType();
  storeBuffer(signature.resultBuffer(result), getElementTypeOrSelf(type), resultOffset(result, at), computed, lanes);
}

Value GroupValues::loadResult(unsigned result, ArrayRef<AffineExpr> at, Lanes lanes) {
  Type type = groupOp.getResult(result).getType();
  return loadBuffer(signature.resultBuffer(result), getElementTypeOrSelf(type), resultOffset(result, at), lanes);
}

void GroupValues::storeResults(Value anchorResult, Value computed, ArrayRef<AffineExpr> at, Lanes lanes) {
  values.clear();
  if (anchorResult)
    overrides[anchorResult] = computed;
  SmallVector<Value> yielded;
  for (Value result : groupOp.getTerminator()->getOperands())
    yielded.push_back(value(result, at, lanes));
  for (auto [i, result] : llvm::enumerate(yielded))
    store(i, result, at, lanes);
  if (anchorResult)
    overrides.erase(anchorResult);
  values.clear();
}

void GroupValues::storeLanes(Value anchorResult, Value computed, ArrayRef<AffineExpr> at, Lanes lanes) {
  if (lanes.count <= lanesForGroup)
    return storeResults(anchorResult, computed, at, lanes);
  for (int64_t first = 0; first < lanes.count; first += lanesForGroup) {
    IndexExprs place;
    for (AffineExpr expr : at)
      place.push_back(shiftDim(expr, lanes.dim, first));
    auto positions = llvm::to_vector(llvm::seq<int64_t>(first, first + lanesForGroup));
    Value piece = lanesForGroup == 1 ? Value(vector::ExtractOp::create(b, location, computed, first))
                                     : Value(vector::ShuffleOp::create(b, location, computed, computed, positions));
    storeResults(anchorResult, piece, place, Lanes{lanes.dim, lanesForGroup});
  }
}

} // namespace kiln
