//===- KernelBuilder.cpp - Writes the loops of one kernel ------------------===//
#include "passes/lowering/builder/KernelBuilder.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Scalar.h"
#include "passes/lowering/builder/IndexBounds.h"
#include "passes/target/groups/Places.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

using namespace nn;

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
    if (isa<ReshapeOp, IotaOp, DimValuesOp>(op))
      lanes = std::min(lanes, mostLaneExpressions);
  }
  return lanes;
}

KernelBuilder::KernelBuilder(GroupOp group, func::FuncOp kernel)
    : b(kernel.getBody()), location(group.getLoc()), groupOp(group), kernel(kernel), targetAttr(kernel::getTarget(group)),
      argumentPacks(group.getInputs().size()), lanesForGroup(countLanes(group, targetAttr)) {
  unsigned buffers = group.getInputs().size() + group.getNumResults();
  for (BlockArgument argument : kernel.getArguments().drop_front(buffers).drop_back(2))
    if (isa<IndexType>(argument.getType()))
      symbols.push_back(argument);
    else
      status = argument;
}

//===- Loops ---------------------------------------------------------------===//

AffineExpr KernelBuilder::index(Value value) {
  loopValues.push_back(value);
  return getAffineDimExpr(loopValues.size() - 1, context());
}

AffineExpr KernelBuilder::placeholder() { return index(Value()); }

Value KernelBuilder::emitConstant(int64_t value) { return arith::ConstantIndexOp::create(b, location, value); }

Value KernelBuilder::minimum(Value x, Value y) { return arith::MinSIOp::create(b, location, x, y); }

/// What truncates is faster than what rounds down.
static Value emitFloorDiv(OpBuilder &b, Location loc, AffineBinaryOpExpr expr, Value lhs, Value rhs) {
  if (isNeverNegative(expr.getLHS()))
    return arith::DivSIOp::create(b, loc, lhs, rhs);
  return arith::FloorDivSIOp::create(b, loc, lhs, rhs);
}

Value KernelBuilder::emit(AffineExpr expr) {
  expr = simplifyDim(expr);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return emitConstant(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return loopValues[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  if (AffineExpr part = matchPositivePart(expr))
    return arith::MaxSIOp::create(b, location, emit(part), emitConstant(0));
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = emit(binary.getLHS());
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() == AffineExprKind::Add && constant && constant.getValue() < 0)
    return arith::SubIOp::create(b, location, lhs, emitConstant(-constant.getValue()));
  Value rhs = emit(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(b, location, lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(b, location, lhs, rhs);
  case AffineExprKind::FloorDiv:
    return emitFloorDiv(b, location, binary, lhs, rhs);
  case AffineExprKind::Mod:
    if (isNeverNegative(binary.getLHS()))
      return arith::RemSIOp::create(b, location, lhs, rhs);
    return arith::SubIOp::create(b, location, lhs, arith::MulIOp::create(b, location, emitFloorDiv(b, location, binary, lhs, rhs), rhs));
  default: {
    Value one = emitConstant(1);
    Value sum = arith::SubIOp::create(b, location, arith::AddIOp::create(b, location, lhs, rhs), one);
    return arith::DivSIOp::create(b, location, sum, rhs);
  }
  }
}

SmallVector<Value> KernelBuilder::loop(AffineExpr lower, AffineExpr upper, int64_t step, StringRef name, ValueRange init,
                                       function_ref<SmallVector<Value>(AffineExpr, ValueRange)> body) {
  values.clear();
  Value from = emit(lower), to = emit(upper), by = emitConstant(step);
  auto loop = scf::ForOp::create(b, NameLoc::get(b.getStringAttr(name), location), from, to, by, init);
  // The builder makes a terminator of its own only when nothing is carried.
  if (init.empty())
    loop.getBody()->getTerminator()->erase();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  SmallVector<Value> next = body(index(loop.getInductionVar()), loop.getRegionIterArgs());
  scf::YieldOp::create(b, location, next);
  values.clear();
  return llvm::to_vector_of<Value>(loop.getResults());
}

void KernelBuilder::loop(AffineExpr lower, AffineExpr upper, int64_t step, StringRef name, function_ref<void(AffineExpr)> body) {
  loop(lower, upper, step, name, ValueRange(), [&](AffineExpr i, ValueRange) -> SmallVector<Value> {
    body(i);
    return {};
  });
}

void KernelBuilder::taskLoop(ArrayRef<AffineExpr> extents, function_ref<void(ArrayRef<AffineExpr>)> body) {
  AffineExpr begin = index(kernel.getArguments().drop_back().back()), end = index(kernel.getArguments().back());
  loop(begin, end, 1, "task", [&](AffineExpr task) {
    IndexExprs coordinates(extents.size());
    AffineExpr rest = task;
    for (size_t i = extents.size(); i-- > 0;) {
      // Of an empty dimension there are no tasks, but their code must not divide by zero.
      bool isSmall = getConstantDim(extents[i]).value_or(2) <= 1;
      coordinates[i] = isSmall ? constant(0) : i == 0 ? rest : rest % extents[i];
      rest = isSmall ? rest : rest.floorDiv(extents[i]);
    }
    // Coordinates become values of their own so that index expressions stay linear in them.
    for (AffineExpr &coordinate : coordinates)
      if (!isa<AffineConstantExpr>(coordinate) && !isa<AffineDimExpr>(coordinate))
        coordinate = index(emit(coordinate));
    body(coordinates);
  });
}

void KernelBuilder::vectorLoop(AffineExpr extent, unsigned lanes, StringRef name, function_ref<void(AffineExpr, Lanes)> body) {
  auto at = [&](AffineExpr i, unsigned count) { body(i, Lanes{cast<AffineDimExpr>(i).getPosition(), count}); };
  AffineExpr covered = constant(0);
  if (lanes > 1) {
    covered = simplifyDim(extent.floorDiv(lanes) * lanes);
    if (covered != constant(0))
      loop(constant(0), covered, lanes, name, [&](AffineExpr i) { at(i, lanes); });
  }
  auto size = getConstantDim(extent);
  int64_t done = lanes > 1 && size ? *size / lanes * lanes : 0;
  for (unsigned piece = lanes / 2; size && piece >= 4; piece /= 2)
    if (*size - done >= piece) {
      values.clear();
      at(index(emitConstant(done)), piece);
      done += piece;
    }
  if (size)
    covered = constant(done);
  if (!size || done < *size)
    loop(covered, extent, 1, name, [&](AffineExpr i) { at(i, 1); });
}

SmallVector<Value> KernelBuilder::whileLoop(ValueRange init, function_ref<Value(ValueRange)> condition,
                                            function_ref<SmallVector<Value>(ValueRange)> body) {
  values.clear();
  auto loop = scf::WhileOp::create(b, location, init.getTypes(), init);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Location> locations(init.size(), location);
  Block *before = b.createBlock(&loop.getBefore(), {}, init.getTypes(), locations);
  Value goesOn = condition(before->getArguments());
  scf::ConditionOp::create(b, location, goesOn, before->getArguments());
  values.clear();
  Block *after = b.createBlock(&loop.getAfter(), {}, init.getTypes(), locations);
  SmallVector<Value> next = body(after->getArguments());
  scf::YieldOp::create(b, location, next);
  values.clear();
  return llvm::to_vector_of<Value>(loop.getResults());
}

void KernelBuilder::branch(Value condition, function_ref<void()> body) {
  auto op = scf::IfOp::create(b, location, condition, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  values.clear();
  body();
  values.clear();
}

void KernelBuilder::failIf(Value condition, StringRef code) {
  assert(status && "the anchor must be one that checks values");
  branch(condition, [&] { kernel::FailOp::create(b, location, status, code); });
}

//===- Buffers -------------------------------------------------------------===//

Value KernelBuilder::buffer(unsigned argument) { return kernel.getArgument(argument); }
Value KernelBuilder::resultBuffer(unsigned result) { return kernel.getArgument(groupOp.getInputs().size() + result); }

bool KernelBuilder::isConstant(unsigned argument) { return groupOp.getInputs()[argument].getDefiningOp<ConstantOp>() != nullptr; }

void KernelBuilder::packConstant(unsigned argument, kernel::PackAttr pack) {
  assert(isConstant(argument) && "only constants can be packed");
  argumentPacks[argument] = pack;
}

Value KernelBuilder::scratch(Type elementType, AffineExpr elements) {
  assert(!scratchSize && "one scratch a kernel");
  scratchSize = elements;
  return addArgument(Extra::Scratch, MemRefType::get({ShapedType::kDynamic}, computeType(elementType)), "scratch");
}

/// Adds an argument before the symbols; a buffer is written to.
Value KernelBuilder::addArgument(Extra kind, Type type, StringRef name) {
  unsigned position = kernel.getNumArguments() - 2 - symbols.size();
  NamedAttrList attrs;
  attrs.set(kernel::nameAttrName, b.getStringAttr(name));
  if (isa<MemRefType>(type) && kind != Extra::Context)
    attrs.set(kernel::writtenAttrName, b.getUnitAttr());
  if (kind == Extra::Status)
    attrs.set(kernel::statusAttrName, b.getUnitAttr());
  bool inserted = succeeded(kernel.insertArgument(position, type, attrs.getDictionary(context()), location));
  assert(inserted && "a private function takes any argument");
  (void)inserted;
  extraArguments.push_back(kind);
  return kernel.getArgument(position);
}

//===- External functions ---------------------------------------------------===//

Value KernelBuilder::threads() { return addArgument(Extra::Threads, b.getIndexType(), "threads"); }

Value KernelBuilder::callerContext() { return addArgument(Extra::Context, MemRefType::get({ShapedType::kDynamic}, b.getI8Type()), "context"); }

Value KernelBuilder::state(int64_t bytes) {
  stateSize = bytes;
  return addArgument(Extra::State, MemRefType::get({ShapedType::kDynamic}, b.getI8Type()), "state");
}

void KernelBuilder::callExternal(StringRef name, ValueRange operands, ArrayRef<int64_t> writes, StringRef header, StringRef library) {
  auto module = kernel->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol<kernel::ExternalOp>(name)) {
    OpBuilder outside = OpBuilder::atBlockBegin(module.getBody());
    kernel::ExternalOp::create(outside, module.getLoc(), name, b.getFunctionType(operands.getTypes(), b.getI32Type()), writes,
                               outside.getStringAttr(header), outside.getStringAttr(library));
  }
  if (!status)
    status = addArgument(Extra::Status, MemRefType::get({1}, b.getI32Type()), "status");
  kernel::CallOp::create(b, location, name, operands, status);
}

AffineExpr KernelBuilder::firstTask() { return index(kernel.getArguments().drop_back().back()); }

AffineExpr KernelBuilder::scratchStart() { return firstTask() * scratchSize; }

AffineExpr KernelBuilder::linearize(ArrayRef<AffineExpr> dims, ArrayRef<AffineExpr> at) const {
  AffineExpr offset = constant(0);
  for (auto [dim, i] : llvm::zip_equal(dims, at))
    offset = offset * dim + i;
  return simplifyDim(offset);
}

AffineExpr KernelBuilder::elementOffset(BlockArgument argument, ArrayRef<AffineExpr> at) const {
  return simplifyDim(getElementOffset(argument, at));
}

AffineExpr KernelBuilder::elementStride(BlockArgument argument, unsigned dim) const {
  IndexExprs at;
  for (unsigned i = 0, rank = cast<RankedTensorType>(argument.getType()).getRank(); i < rank; ++i)
    at.push_back(getAffineDimExpr(i, context()));
  return linearCoefficient(getElementOffset(argument, at), dim);
}

AffineExpr KernelBuilder::resultOffset(unsigned result, ArrayRef<AffineExpr> at) const {
  if (AffineMap place = getPlace(groupOp, GroupOp(groupOp).getInputs().size() + result))
    return simplifyDim(place.getResult(0).replaceDims(at));
  return linearize(getDims(GroupOp(groupOp).getResult(result).getType()), at);
}

Value KernelBuilder::number(Type elementType, double value, unsigned lanes) {
  Type type = computeType(elementType);
  TypedAttr attr = isa<FloatType>(type) ? TypedAttr(FloatAttr::get(type, value))
                                        : IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(), static_cast<int64_t>(value), true, true));
  if (lanes > 1)
    attr = DenseElementsAttr::get(VectorType::get(lanes, type), Attribute(attr));
  return arith::ConstantOp::create(b, location, attr);
}

Value KernelBuilder::named(Value value, StringRef name) {
  Location loc = NameLoc::get(b.getStringAttr(name));
  if (auto loop = value.getDefiningOp<scf::ForOp>())
    loop.getRegionIterArg(cast<OpResult>(value).getResultNumber()).setLoc(loc);
  else if (Operation *op = value.getDefiningOp())
    op->setLoc(loc);
  return value;
}

Value KernelBuilder::broadcast(Value scalar, unsigned lanes) {
  if (lanes == 1 || isa<VectorType>(scalar.getType()))
    return scalar;
  return vector::BroadcastOp::create(b, location, VectorType::get(lanes, scalar.getType()), scalar);
}

/// Replaces loop dim `dim` by itself plus `lane`.
static AffineExpr shiftDim(AffineExpr expr, unsigned dim, int64_t lane) {
  AffineExpr d = getAffineDimExpr(dim, expr.getContext());
  return expr.replace(d, d + lane);
}

Value KernelBuilder::eachLane(Lanes lanes, ArrayRef<AffineExpr> exprs, function_ref<Value(ArrayRef<AffineExpr>)> scalar) {
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

/// From the form in memory to the form kernels compute in: bool from a byte, f16 and bf16 to f32.
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

Value KernelBuilder::array(StringRef name, Type elementType, int64_t elements) {
  auto type = MemRefType::get({elements}, computeType(elementType));
  return named(memref::AllocaOp::create(b, location, type, b.getI64IntegerAttr(64)), name);
}

Value KernelBuilder::loadBuffer(Value buffer, Type elementType, AffineExpr offset, Lanes lanes) {
  Type memory = cast<MemRefType>(buffer.getType()).getElementType();
  auto scalar = [&](ArrayRef<AffineExpr> at) -> Value {
    return fromMemory(b, location, memref::LoadOp::create(b, location, buffer, emit(at.front())), elementType);
  };
  if (lanes.count == 1)
    return scalar(offset);
  std::optional<int64_t> stride = coefficientOf(offset, lanes.dim);
  if (stride == 0)
    return broadcast(scalar(offset), lanes.count);
  if (AffineExpr factor = linearCoefficient(offset, lanes.dim); !stride && isBroadcastFactor(factor)) {
    AffineExpr step = getAffineDimExpr(lanes.dim, context()), first = offset.replace(step, constant(0));
    auto yield = [](OpBuilder &builder, Location loc, Value value) { scf::YieldOp::create(builder, loc, value); };
    Value spreads = arith::CmpIOp::create(b, location, arith::CmpIPredicate::eq, emit(factor), emitConstant(0));
    auto one = [&](OpBuilder &builder, Location loc) { yield(builder, loc, broadcast(scalar(first), lanes.count)); };
    auto many = [&](OpBuilder &builder, Location loc) { yield(builder, loc, loadBuffer(buffer, elementType, first + step, lanes)); };
    return scf::IfOp::create(b, location, spreads, one, many).getResult(0);
  }
  if (!stride)
    return eachLane(lanes, offset, scalar);
  auto type = VectorType::get(lanes.count, memory);
  Value at = emit(offset);
  Value loaded = *stride == 1 ? Value(vector::LoadOp::create(b, location, type, buffer, at))
                              : Value(kernel::StridedLoadOp::create(b, location, type, buffer, at, *stride));
  return fromMemory(b, location, loaded, elementType);
}

void KernelBuilder::storeBuffer(Value buffer, Type elementType, AffineExpr offset, Value value, Lanes lanes) {
  values.clear();
  Type memory = cast<MemRefType>(buffer.getType()).getElementType();
  value = toMemory(b, location, value, memory);
  if (lanes.count == 1) {
    memref::StoreOp::create(b, location, value, buffer, emit(offset));
    return;
  }
  value = broadcast(value, lanes.count);
  if (coefficientOf(offset, lanes.dim) == 1) {
    vector::StoreOp::create(b, location, value, buffer, emit(offset));
    return;
  }
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    Value element = vector::ExtractOp::create(b, location, value, static_cast<int64_t>(lane));
    memref::StoreOp::create(b, location, element, buffer, emit(shiftDim(offset, lanes.dim, lane)));
  }
}

//===- Values --------------------------------------------------------------===//

Value KernelBuilder::value(Value tensor, ArrayRef<AffineExpr> at, Lanes lanes) {
  if (Value computed = overrides.lookup(tensor))
    return broadcast(computed, lanes.count);
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

Value KernelBuilder::compute(Value tensor, ArrayRef<AffineExpr> at, Lanes lanes) {
  Type element = getElementTypeOrSelf(tensor.getType());
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return loadBuffer(buffer(argument.getArgNumber()), element, elementOffset(argument, at), lanes);
  Operation *op = tensor.getDefiningOp();
  if (auto splat = dyn_cast<SplatOp>(op)) {
    auto attr = splat.getValue();
    if (auto number = dyn_cast<FloatAttr>(attr))
      return this->number(element, number.getValueAsDouble(), lanes.count);
    APInt bits = cast<IntegerAttr>(attr).getValue();
    auto type = IntegerType::get(context(), bits.getBitWidth());
    Value scalar = arith::ConstantOp::create(b, location, IntegerAttr::get(type, bits));
    return broadcast(scalar, lanes.count);
  }
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

Value KernelBuilder::iota(IotaOp op, AffineExpr coordinate, Lanes lanes) {
  Type type = computeType(op.getType().getElementType());
  auto scalar = [&](ArrayRef<AffineExpr> at) -> Value {
    Value position = emit(at.front());
    if (!isa<FloatType>(type))
      return arith::IndexCastOp::create(b, location, type, position);
    Value wide = arith::IndexCastOp::create(b, location, b.getI64Type(), position);
    return arith::SIToFPOp::create(b, location, type, wide);
  };
  if (lanes.count == 1)
    return scalar(coordinate);
  if (coefficientOf(coordinate, lanes.dim) == 0)
    return broadcast(scalar(coordinate), lanes.count);
  return eachLane(lanes, coordinate, scalar);
}

Value KernelBuilder::dimValue(DimValuesOp op, ArrayRef<AffineExpr> at, Lanes lanes) {
  Type type = computeType(op.getType().getElementType());
  auto element = [&](AffineExpr expr) -> Value { return arith::IndexCastOp::create(b, location, type, emit(expr)); };
  if (at.empty())
    return broadcast(element(op.getMap().getResult(0)), lanes.count);
  auto scalar = [&](ArrayRef<AffineExpr> index) -> Value {
    if (auto position = getConstantDim(index.front()))
      return element(op.getMap().getResult(*position));
    Value chosen = element(op.getMap().getResults().back());
    for (unsigned i = op.getMap().getNumResults() - 1; i-- > 0;) {
      Value here = arith::CmpIOp::create(b, location, arith::CmpIPredicate::eq, emit(index.front()), emitConstant(i));
      chosen = arith::SelectOp::create(b, location, here, element(op.getMap().getResult(i)), chosen);
    }
    return chosen;
  };
  return lanes.count == 1 ? scalar(at) : eachLane(lanes, at, scalar);
}

void KernelBuilder::store(unsigned result, Value computed, ArrayRef<AffineExpr> at, Lanes lanes) {
  Type type = groupOp.getResult(result).getType();
  storeBuffer(resultBuffer(result), getElementTypeOrSelf(type), resultOffset(result, at), computed, lanes);
}

Value KernelBuilder::loadResult(unsigned result, ArrayRef<AffineExpr> at, Lanes lanes) {
  Type type = groupOp.getResult(result).getType();
  return loadBuffer(resultBuffer(result), getElementTypeOrSelf(type), resultOffset(result, at), lanes);
}

void KernelBuilder::storeResults(Value anchorResult, Value computed, ArrayRef<AffineExpr> at, Lanes lanes) {
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

void KernelBuilder::storeLanes(Value anchorResult, Value computed, ArrayRef<AffineExpr> at, Lanes lanes) {
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

std::optional<BufferAccess> KernelBuilder::access(Value tensor, ArrayRef<AffineExpr> at) {
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return BufferAccess{argument.getArgNumber(), elementOffset(argument, at)};
  auto view = dyn_cast<IndexMap>(tensor.getDefiningOp());
  AffineMap map = view ? view.getIndexMap() : AffineMap();
  if (!map)
    return std::nullopt;
  IndexExprs source;
  for (AffineExpr expr : map.getResults())
    source.push_back(expr.replaceDims(at));
  return access(tensor.getDefiningOp()->getOperand(0), source);
}

} // namespace kiln
