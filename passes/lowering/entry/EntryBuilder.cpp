//===- EntryBuilder.cpp - The entry that launches the kernels --------------===//
#include "passes/lowering/entry/EntryBuilder.h"
#include "dialects/kernel/EntryAttributeNames.h"
#include "dialects/kernel/KernelAttributeNames.h"
#include "dialects/kernel/Tuning.h"
#include "passes/lowering/builder/IndexArithmetic.h"
#include "dialects/kernel/Work.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Scalar.h"
#include "dialects/nn/ClassLabels.h"
#include "dialects/nn/SignatureAttributeNames.h"
#include "dialects/nn/SymbolAttributeNames.h"
#include "dialects/nn/TensorQuantization.h"
#include "passes/target/groups/Places.h"
#include "passes/target/groups/Views.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <numeric>

using namespace mlir;

namespace kiln {

using namespace nn;

/// What a symbol counts as in estimates.
static constexpr int64_t typicalSymbol = 64;

Type memoryType(Type elementType) {
  if (elementType.isInteger(1))
    return IntegerType::get(elementType.getContext(), 8);
  return isa<FloatType>(elementType) ? elementType : computeType(elementType);
}

static MemRefType bufferType(Type tensorType) {
  auto count = getConstantDim(getNumElements(getDims(tensorType), tensorType.getContext()));
  return MemRefType::get({count ? *count : ShapedType::kDynamic}, memoryType(getElementTypeOrSelf(tensorType)));
}

static ArrayAttr describeSignature(func::FuncOp main, bool results, OpBuilder &b) {
  SmallVector<Attribute> list;
  TypeRange types = results ? main.getResultTypes() : main.getArgumentTypes();
  for (auto [i, type] : llvm::enumerate(types)) {
    Attribute name = results ? main.getResultAttr(i, nn::nameAttrName) : main.getArgAttr(i, nn::nameAttrName);
    if (!name)
      name = b.getStringAttr((results ? "output" : "input") + Twine(i));
    NamedAttrList entry;
    entry.append("name", name);
    entry.append("type", TypeAttr::get(type));
    if (Attribute range = results ? Attribute() : main.getArgAttr(i, nn::rangeAttrName))
      entry.append("range", range);
    if (Attribute quantization = results ? main.getResultAttr(i, nn::quantizationAttrName) : main.getArgAttr(i, nn::quantizationAttrName))
      entry.append("quantization", quantization);
    if (Attribute labels = results ? main.getResultAttr(i, nn::labelsAttrName) : Attribute())
      entry.append("labels", labels);
    if (Attribute layout = results ? main.getResultAttr(i, nn::layoutAttrName) : main.getArgAttr(i, nn::layoutAttrName))
      entry.append("layout", layout);
    list.push_back(entry.getDictionary(b.getContext()));
  }
  return b.getArrayAttr(list);
}

EntryBuilder::EntryBuilder(func::FuncOp main)
    : main(main), module(main), b(main.getContext()), dims(main->getParentOfType<ModuleOp>()), facts(main->getParentOfType<ModuleOp>()),
      sizes(main->getParentOfType<ModuleOp>(), dims) {
  entry = kernel::EntryOp::create(module, main.getLoc(), "run", describeSignature(main, false, b), describeSignature(main, true, b));
  Block &block = entry.getBody().emplaceBlock();
  Operation *terminator = main.getBody().front().getTerminator();
  Location loc = main.getLoc();
  for (BlockArgument argument : main.getArguments())
    buffers[argument] = block.addArgument(bufferType(argument.getType()), loc);
  for (Value result : terminator->getOperands())
    buffers[seeThroughReshapes(result)] = block.addArgument(bufferType(result.getType()), loc);
  block.addArgument(MemRefType::get({ShapedType::kDynamic}, b.getI8Type()), loc);
  for (unsigned i = 0; i < dims.given(); ++i)
    symbols.push_back(block.addArgument(b.getIndexType(), loc));
  symbols.resize(dims.total());
  for (TypeRange types : {TypeRange(main.getArgumentTypes()), TypeRange(main.getResultTypes())})
    for (Type type : types)
      for (AffineExpr dim : getDims(type))
        dims.collect(dim, reported);
  b.setInsertionPointToEnd(&block);
  module.setInsertionPoint(entry);
  if (auto constraints = main->getParentOfType<ModuleOp>()->getAttrOfType<AffineMapAttr>(constraintsAttrName))
    llvm::append_range(unchecked, constraints.getValue().getResults());
  sizes.addFunction(main);
  addChecks();
}

//===- Symbols -------------------------------------------------------------===//

/// A count that is not computed yet is asked for by kernels that do not look at it: they take all symbols.
Value EntryBuilder::symbol(unsigned position) {
  if (Value known = symbols[position])
    return known;
  Location loc = entry.getLoc();
  Value cell = counts.lookup(position), zero = arith::ConstantIndexOp::create(b, loc, 0);
  return cell ? arith::IndexCastOp::create(b, loc, b.getIndexType(), memref::LoadOp::create(b, loc, cell, zero)).getResult() : zero;
}

/// Ends a run whose size is beyond the bound that the caller gives, which the run raises.
void EntryBuilder::checkRaised(const SymbolCount &count, Value cell) {
  std::optional<unsigned> raised = dims.findRaised(count.symbol);
  if (!raised)
    return;
  Location loc = entry.getLoc();
  auto names = main->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(symbolsAttrName);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), most = symbols[*raised];
  Value size = arith::IndexCastOp::create(b, loc, b.getIndexType(), memref::LoadOp::create(b, loc, cell, zero));
  kernel::ReportOp::create(b, loc, arith::MaxSIOp::create(b, loc, size, most), *raised);
  Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, size, most);
  kernel::CheckOp::create(b, loc, fits, "KILN_STATUS_DIMENSION_OUT_OF_BOUNDS",
                          cast<StringAttr>(names[count.symbol]).getValue().str() + " <= " + cast<StringAttr>(names[*raised]).getValue().str());
}

/// A group has computed a symbol; `always`: under no condition.
void EntryBuilder::learnSymbol(const SymbolCount &count, bool always) {
  Value cell = bufferOf(count.count);
  checkRaised(count, cell);
  OpBuilder::InsertionGuard guard(b);
  if (!always) {
    // Where the group does not run there is nothing to count.
    counts[count.symbol] = cell;
    b.setInsertionPointAfterValue(cell);
    Value zero = arith::ConstantIndexOp::create(b, entry.getLoc(), 0);
    memref::StoreOp::create(b, entry.getLoc(), arith::ConstantIntOp::create(b, entry.getLoc(), 0, 64), cell, zero);
    return;
  }
  b.setInsertionPointToEnd(&entry.getBody().front());
  auto names = main->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(symbolsAttrName);
  Location loc = NameLoc::get(cast<StringAttr>(names[count.symbol]));
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), loaded = memref::LoadOp::create(b, entry.getLoc(), cell, zero);
  symbols[count.symbol] = arith::IndexCastOp::create(b, loc, b.getIndexType(), loaded);
  if (llvm::is_contained(reported, count.symbol))
    kernel::ReportOp::create(b, entry.getLoc(), symbols[count.symbol], count.symbol);
  addChecks();
}

Value EntryBuilder::emit(AffineExpr expr) {
  Location loc = entry.getLoc();
  auto variable = [&](AffineExpr part) { return symbol(cast<AffineSymbolExpr>(part).getPosition()); };
  auto quotient = [&](AffineBinaryOpExpr part, Value lhs, Value rhs) -> Value {
    // A size that is 0 must not end the process: a check refuses the run, or there are no elements.
    if (!isa<AffineConstantExpr>(part.getRHS()))
      rhs = arith::MaxSIOp::create(b, loc, rhs, arith::ConstantIndexOp::create(b, loc, 1));
    if (part.getKind() == AffineExprKind::FloorDiv)
      return arith::FloorDivSIOp::create(b, loc, lhs, rhs);
    if (part.getKind() == AffineExprKind::CeilDiv)
      return arith::CeilDivSIOp::create(b, loc, lhs, rhs);
    return arith::RemSIOp::create(b, loc, lhs, rhs);
  };
  return emitIndex(b, loc, expr, {variable, quotient, [&](AffineExpr part) { sizes.addIndex(part); }});
}

/// Of a product that may not fit into 64 bits each factor is looked at.
Value EntryBuilder::emitIsZero(AffineExpr expr) {
  Location loc = entry.getLoc();
  auto product = dyn_cast<AffineBinaryOpExpr>(simplifyDim(expr));
  if (product && product.getKind() == AffineExprKind::Mul && !isa<AffineConstantExpr>(product.getRHS()) && sizes.mayOverflow(product)) {
    Value left = emitIsZero(product.getLHS());
    return arith::OrIOp::create(b, loc, left, emitIsZero(product.getRHS()));
  }
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, emit(expr), zero);
}

/// Checks the constraints whose symbols are known by now.
void EntryBuilder::addChecks() {
  auto names = main->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(symbolsAttrName);
  SmallVector<AffineExpr> waiting;
  for (AffineExpr expr : std::exchange(unchecked, {})) {
    SmallVector<unsigned> computed;
    dims.collect(expr, computed);
    if (!llvm::all_of(computed, [&](unsigned position) { return symbols[position]; })) {
      waiting.push_back(expr);
      continue;
    }
    kernel::CheckOp::create(b, entry.getLoc(), emitIsZero(expr), "KILN_STATUS_DIMENSION_MISMATCH", formatDim(expr, names) + " = 0");
  }
  unchecked = waiting;
}

void EntryBuilder::findHolders(Block &block) {
  for (auto choose : block.getOps<ChooseOp>())
    for (Value branch : {choose.getThen(), choose.getOtherwise()})
      holders[seeThroughReshapes(branch)] = choose.getResult();
  for (auto loop : block.getOps<LoopOp>()) {
    for (auto [carried, result] : llvm::zip(loop.getCarried(), loop.getResults()))
      holders[seeThroughReshapes(carried)] = result;
    for (auto [copy, result] : llvm::zip_equal(loop.getTerminator()->getOperands(), loop.getResults()))
      holders[copy] = result;
    for (auto [argument, operand] : llvm::zip_equal(loop.getBody().getArguments(), loop->getOperands()))
      holders[argument] = operand;
  }
  for (auto group : block.getOps<GroupOp>()) {
    if (isView(group))
      holders[group.getResult(0)] = group.getInputs().front();
    for (auto [i, input] : llvm::enumerate(group.getInputs()))
      if (isInPlace(group, i))
        holders[seeThroughReshapes(input)] = group.getResult(0);
  }
}

Value EntryBuilder::weight(Value tensor, kernel::PackAttr pack) {
  ElementsAttr value = tensor.getDefiningOp<ConstantOp>().getValue();
  MemRefType type = bufferType(tensor.getType());
  if (pack)
    type = MemRefType::get({pack.getNumElements()}, type.getElementType());
  StringAttr &name = weights[{value, pack ? Attribute(pack) : Attribute(TypeAttr::get(type))}];
  if (!name) {
    name = b.getStringAttr("w" + Twine(weights.size() - 1));
    kernel::WeightOp::create(module, tensor.getLoc(), name, TypeAttr::get(type), value, pack, IntegerAttr());
  }
  return kernel::GetWeightOp::create(b, tensor.getLoc(), type, FlatSymbolRefAttr::get(name));
}

/// Adds the factors of a number without the constants in them. Returns the product of these constants; 0: it is none that could be taken out.
static int64_t collectFactors(AffineExpr expr, SmallVectorImpl<AffineExpr> &factors) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  bool isProduct = binary && expr.getKind() == AffineExprKind::Mul, isSum = binary && expr.getKind() == AffineExprKind::Add;
  if (!isProduct && !isSum) {
    factors.push_back(expr);
    return 1;
  }
  SmallVector<AffineExpr> left, right;
  int64_t x = collectFactors(binary.getLHS(), left), y = collectFactors(binary.getRHS(), right), product;
  if (x == 0 || y == 0 || llvm::MulOverflow(x, y, product))
    return 0;
  if (isProduct) {
    factors.append(left);
    factors.append(right);
    return product;
  }
  int64_t common = std::gcd(x, y);
  AffineExpr one = getAffineConstantExpr(1, expr.getContext());
  auto multiply = [](ArrayRef<AffineExpr> list, AffineExpr by) { return std::accumulate(list.begin(), list.end(), by, std::multiplies<AffineExpr>()); };
  factors.push_back(multiply(left, one) * (x / common) + multiply(right, one) * (y / common));
  return common;
}

/// (a * 8 + 8) * (b * 8 + 8) * 96 as (a + 1) * (b + 1) * 6144: buffers of equal sizes have equal expressions, and may share memory.
static AffineExpr gatherConstants(AffineExpr count) {
  SmallVector<AffineExpr> factors;
  int64_t constant = collectFactors(count, factors);
  if (constant == 0)
    return count;
  AffineExpr product = getAffineConstantExpr(1, count.getContext());
  for (AffineExpr factor : factors)
    product = product * factor;
  return product * constant;
}

/// Memory for at most `most` elements.
Value EntryBuilder::allocate(Location loc, Type elementType, AffineExpr most) {
  if (!most) {
    emitError(loc, "internal error: the largest size of a buffer is not known");
    isComplete = false;
    most = getAffineConstantExpr(0, b.getContext());
  }
  if (auto size = getConstantDim(most))
    return memref::AllocOp::create(b, loc, MemRefType::get({*size}, elementType));
  // The size of a value that only a branch computes may be negative in runs that do not take the branch.
  most = facts.getLarger(most, getAffineConstantExpr(0, b.getContext()));
  double bytes = sizes.addBuffer(most, elementBytes(elementType));
  auto buffer = memref::AllocOp::create(b, loc, MemRefType::get({ShapedType::kDynamic}, elementType), emit(gatherConstants(most)));
  if (bytes <= static_cast<double>(mostBytes))
    buffer->setAttr(kernel::mostBytesAttrName, b.getI64IntegerAttr(static_cast<int64_t>(std::ceil(bytes))));
  return buffer;
}

Value EntryBuilder::bufferOf(Value tensor) {
  tensor = seeThroughReshapes(tensor);
  while (Value holder = holders.lookup(tensor))
    tensor = seeThroughReshapes(holder);
  // A constant without elements has no place among the weights: any buffer does.
  bool isEmpty = getConstantDim(getNumElements(getDims(tensor.getType()), tensor.getContext())) == 0;
  if (tensor.getDefiningOp<ConstantOp>() && !isEmpty)
    return weight(tensor, nullptr);
  Value &buffer = buffers[tensor];
  if (!buffer)
    buffer = allocate(tensor.getLoc(), bufferType(tensor.getType()).getElementType(), dims.getMostElements(getDims(tensor.getType()), b.getContext()));
  return buffer;
}

/// An expression with every symbol at its typical value.
static int64_t estimate(AffineExpr expr) {
  SmallVector<AffineExpr> typical(countSymbols(expr), getAffineConstantExpr(typicalSymbol, expr.getContext()));
  auto constant = dyn_cast<AffineConstantExpr>(simplifyDim(expr.replaceSymbols(typical)));
  // A model may be fit for smaller sizes only: then an extent is negative here.
  return constant ? std::max<int64_t>(constant.getValue(), 0) : 0;
}

//===- Conditions ----------------------------------------------------------===//

/// Whether a condition that a kernel has computed is what the literal says.
Value EntryBuilder::test(OpBuilder &at, const Literal &literal) {
  Location loc = literal.condition.getLoc();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&entry.getBody().front());
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), none = arith::ConstantIntOp::create(b, loc, 0, 8);
  Value byte = memref::LoadOp::create(at, loc, bufferOf(literal.condition), zero);
  return arith::CmpIOp::create(at, loc, literal.holds ? arith::CmpIPredicate::ne : arith::CmpIPredicate::eq, byte, none);
}

/// Whether all literals are true; a condition is looked at only when those before it are, as it may not have been computed otherwise.
Value EntryBuilder::testAll(OpBuilder &at, ArrayRef<Literal> path) {
  Location loc = entry.getLoc();
  Value first = test(at, path.front());
  if (path.size() == 1)
    return first;
  auto branch = scf::IfOp::create(at, loc, TypeRange(b.getI1Type()), first, /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder inside = OpBuilder::atBlockEnd(branch.thenBlock()), otherwise = OpBuilder::atBlockEnd(branch.elseBlock());
  scf::YieldOp::create(inside, loc, testAll(inside, path.drop_front()));
  scf::YieldOp::create(otherwise, loc, ValueRange(arith::ConstantIntOp::create(otherwise, loc, 0, 1)));
  return branch.getResult(0);
}

OpBuilder EntryBuilder::atEnd(Block *block) {
  bool ends = !block->empty() && block->back().hasTrait<OpTrait::IsTerminator>();
  return ends ? OpBuilder::atBlockTerminator(block) : OpBuilder::atBlockEnd(block);
}

/// From here on `b` makes what stands in no branch and in no loop: before `op`, or before the loops around it.
void EntryBuilder::leave(Operation *op) { b.setInsertionPoint(loops.empty() ? op : loops.front().op); }

/// The block behind the conditions of `path`. Branches that are open are gone on with.
Block *EntryBuilder::enterPath(const Path &path) {
  size_t common = 0;
  while (common < std::min(path.size(), open.size()) && open[common].literal == path[common])
    ++common;
  bool isOpposite = common < std::min(path.size(), open.size()) && open[common].literal.condition == path[common].condition &&
                    open[common].block == open[common].op.thenBlock();
  open.truncate(common + isOpposite);
  if (isOpposite)
    open.back() = {path[common], open.back().op, open.back().op.elseBlock()};
  for (const Literal &literal : ArrayRef(path).drop_front(open.size())) {
    OpBuilder at = open.empty() ? atEnd(loops.empty() ? &entry.getBody().front() : loops.back().steps) : OpBuilder::atBlockTerminator(open.back().block);
    auto branch = scf::IfOp::create(at, literal.condition.getLoc(), test(at, literal), /*withElseRegion=*/true);
    open.push_back({literal, branch, branch.thenBlock()});
  }
  // Buffers and sizes belong to no branch.
  leave(open.front().op);
  return open.back().block;
}

/// The block for what is needed when `guard` holds. Afterwards `b` makes what stands in no branch.
Block *EntryBuilder::enter(const Guard &guard) {
  Block *block = loops.empty() ? &entry.getBody().front() : loops.back().steps;
  if (guard.size() == 1 && !guard.front().empty())
    return enterPath(guard.front());
  open.clear();
  b.setInsertionPointToEnd(block);
  if (!loops.empty())
    leave(loops.front().op);
  if (guard.size() < 2)
    return block;
  OpBuilder at = atEnd(block);
  Value any;
  for (const Path &path : guard) {
    Value all = testAll(at, path);
    any = any ? arith::OrIOp::create(at, entry.getLoc(), any, all).getResult() : all;
  }
  auto branch = scf::IfOp::create(at, entry.getLoc(), any, /*withElseRegion=*/false);
  leave(branch);
  return branch.thenBlock();
}

//===- Loops ---------------------------------------------------------------===//

/// The loop itself, without what a step does.
Block *EntryBuilder::makeSteps(LoopOp loop, OpBuilder &at) {
  Location loc = loop.getLoc();
  Value count = emit(loop.getStepCount()), zero = arith::ConstantIndexOp::create(at, loc, 0), one = arith::ConstantIndexOp::create(at, loc, 1);
  if (!loop.getConditional()) {
    auto steps = scf::ForOp::create(at, loc, zero, count, one);
    symbols[loop.getStep()] = steps.getInductionVar();
    return steps.getBody();
  }
  Value goesOn = bufferOf(loop.getResult(0));
  auto steps = scf::WhileOp::create(
      at, loc, TypeRange(at.getIndexType()), ValueRange(zero),
      [&](OpBuilder &inside, Location, ValueRange state) {
        Value below = arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::slt, state.front(), count);
        Value isSet = arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::ne, memref::LoadOp::create(inside, loc, goesOn, zero),
                                            arith::ConstantIntOp::create(inside, loc, 0, 8));
        scf::ConditionOp::create(inside, loc, arith::AndIOp::create(inside, loc, below, isSet), state);
      },
      [&](OpBuilder &inside, Location, ValueRange state) {
        scf::YieldOp::create(inside, loc, ValueRange(arith::AddIOp::create(inside, loc, state.front(), one)));
      });
  symbols[loop.getStep()] = steps.getAfterArguments().front();
  return steps.getAfterBody();
}

void EntryBuilder::beginLoop(LoopOp loop, const Guard &guard) {
  Block *block = enter(guard);
  for (Value result : loop.getResults())
    bufferOf(result);
  OpBuilder at = atEnd(block);
  b.restoreInsertionPoint(at.saveInsertionPoint());
  Block *steps = makeSteps(loop, at);
  loops.push_back({steps->getParentOp(), steps, open});
  open.clear();
}

void EntryBuilder::endLoop(LoopOp loop) {
  open = loops.pop_back_val().open;
  symbols[loop.getStep()] = Value();
}

//===- Launches ------------------------------------------------------------===//

/// The cell in which kernels that check values report a fault.
Value EntryBuilder::getStatus(Location loc) {
  if (!status) {
    auto cell = memref::AllocOp::create(b, loc, MemRefType::get({1}, b.getI32Type()));
    cell->setAttr(kernel::statusAttrName, b.getUnitAttr());
    status = cell;
  }
  return status;
}

/// Whether the tasks may run on several threads: waking a second one is not worth it for what one core does in about 5 us.
static bool isParallel(const KernelBuilder &builder, const LaunchInfo &info) {
  kernel::TargetAttr target = kernel::getTarget(builder.group());
  int64_t bits = info.operationBits ? info.operationBits : target.getVectorBits();
  int64_t work = target.tuned(kernel::Tuned::ParallelWork) * bits, bytes = target.tuned(kernel::Tuned::ParallelBytes);
  return (info.byThreads || estimate(info.tasks) > 1) && (estimate(info.flops) >= work || estimate(info.bytes) >= bytes);
}

Value EntryBuilder::countTasks(const KernelBuilder &builder, const LaunchInfo &info) {
  if (info.byThreads && isParallel(builder, info))
    return kernel::ThreadsOp::create(b, entry.getLoc(), b.getIndexType());
  return emit(info.tasks);
}

/// What a kernel takes besides inputs, results and symbols.
Value EntryBuilder::makeExtra(const KernelBuilder &builder, KernelBuilder::Extra extra, Type type, const LaunchInfo &info) {
  Location loc = builder.group().getLoc();
  switch (extra) {
  case KernelBuilder::Extra::Scratch:
    return allocate(loc, cast<MemRefType>(type).getElementType(), dims.getUpperBound(simplifyDim(info.tasks * builder.scratchElements())));
  case KernelBuilder::Extra::Status:
    return getStatus(loc);
  case KernelBuilder::Extra::State:
    return kernel::StateOp::create(b, loc, MemRefType::get({builder.stateBytes()}, b.getI8Type()));
  case KernelBuilder::Extra::Threads:
    return countTasks(builder, info);
  case KernelBuilder::Extra::Context:
    return kernel::ContextOp::create(b, loc, MemRefType::get({1}, b.getI8Type()));
  }
  llvm_unreachable("all kinds are above");
}

void EntryBuilder::launch(const KernelBuilder &builder, func::FuncOp kernel, const LaunchInfo &info, const Guard &guard) {
  GroupOp group = builder.group();
  Block *block = enter(guard);
  ArrayRef<kernel::PackAttr> packs = builder.packs();
  SmallVector<Value> operands;
  for (auto [i, input] : llvm::enumerate(group.getInputs()))
    operands.push_back(packs[i] ? weight(seeThroughReshapes(input), packs[i]) : bufferOf(input));
  for (Value result : group.getResults())
    operands.push_back(bufferOf(result));
  if (checksValues(group))
    operands.push_back(getStatus(group.getLoc()));
  for (KernelBuilder::Extra extra : builder.extras())
    operands.push_back(makeExtra(builder, extra, kernel.getArgumentTypes()[operands.size()], info));
  SmallVector<int64_t> overwrites;
  for (unsigned input : getOverwritable(group))
    if (llvm::count(operands, operands[input]) == 1)
      overwrites.append({input, static_cast<int64_t>(group.getInputs().size())});
  std::optional<SymbolCount> computes = getSymbolCount(group);
  bool isBranch = !block->empty() && block->back().hasTrait<OpTrait::IsTerminator>();
  // What is computed under a condition is known only there.
  if (isBranch && (!counts.empty() || !loops.empty()))
    b.setInsertionPoint(&block->back());
  for (unsigned i = 0; i < symbols.size(); ++i)
    operands.push_back(symbol(i));
  // Kernels take buffers of any size.
  for (Value &operand : operands)
    if (auto type = dyn_cast<MemRefType>(operand.getType()); type && type.hasStaticShape() && operand != status) {
      auto any = MemRefType::get({ShapedType::kDynamic}, type.getElementType());
      operand = memref::CastOp::create(b, group.getLoc(), any, operand);
    }
  std::optional<int64_t> flops = getConstantDim(info.flops), bytes = getConstantDim(info.bytes);
  bool isKnown = flops && bytes;
  bool parallel = isParallel(builder, info), endsOnFault = llvm::is_contained(builder.extras(), KernelBuilder::Extra::Context);
  Value count = countTasks(builder, info);
  if (isBranch)
    b.setInsertionPoint(&block->back());
  auto launch = kernel::LaunchOp::create(b, group.getLoc(), FlatSymbolRefAttr::get(kernel.getSymNameAttr()), operands, count,
                                         parallel ? b.getUnitAttr() : UnitAttr(), endsOnFault ? b.getUnitAttr() : UnitAttr(),
                                         isKnown ? b.getI64IntegerAttr(*flops) : IntegerAttr(), isKnown ? b.getI64IntegerAttr(*bytes) : IntegerAttr());
  if (!isKnown)
    launch->setAttr(kernel::workAttrName,
                    AffineMapAttr::get(AffineMap::get(0, symbols.size(), {simplifyDim(info.flops), simplifyDim(info.bytes)}, b.getContext())));
  if (!overwrites.empty())
    launch->setAttr(kernel::overwritesAttrName, b.getDenseI64ArrayAttr(overwrites));
  // The kernel's own list grows when kernels of other groups are found to be the same.
  launch->setAttr(kernel::nodesAttrName, kernel->getAttr(kernel::nodesAttrName));
  if (computes)
    learnSymbol(*computes, !isBranch);
}

LogicalResult EntryBuilder::finish() {
  // Nothing is computed from the dimensions before it is known to fit.
  b.setInsertionPointToStart(&entry.getBody().front());
  sizes.emit(b, entry.getLoc(), entry.getBody().getArguments().take_back(dims.given()));
  // Lowerings have said how packed arguments lie.
  entry.setInputsAttr(describeSignature(main, false, b));
  // The entry reads best after the kernels that it launches.
  entry->moveAfter(main);
  return success(isComplete);
}

} // namespace kiln
