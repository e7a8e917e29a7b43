//===- GateLoop.cpp - The steps of a rank's units of a recurrent layer ------===//
//
//   for each step:  products = h R_own;  h_own, c_own = the cell of the layer;  h = all_gather(h_own)
//
// The formulas are those of passes/lowering/recurrent, on tensors.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Activations.h"
#include "dialects/nn/ComputedDims.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Scalar.h"
#include "dialects/nn/SymbolAttributeNames.h"
#include "passes/ranks/RecurrentGates.h"
#include "passes/ranks/Resharding.h"
#include "passes/ranks/SliceConstant.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Adds a symbol that counts the steps of a loop to the module. Returns its number.
static unsigned addStepSymbol(ModuleOp module, AffineExpr steps) {
  Builder b(module.getContext());
  ComputedDims computed(module);
  SmallVector<Attribute> names;
  if (auto known = module->getAttrOfType<ArrayAttr>(symbolsAttrName))
    names.assign(known.begin(), known.end());
  unsigned symbol = names.size();
  names.push_back(b.getStringAttr("rank_step_" + Twine(symbol)));
  SmallVector<AffineExpr> bounds;
  for (unsigned i = computed.given(); i < computed.total(); ++i)
    bounds.push_back(computed.getBound(i));
  bounds.push_back(computed.getUpperBound(steps));
  module->setAttr(symbolsAttrName, b.getArrayAttr(names));
  module->setAttr(computedSymbolsAttrName, AffineMapAttr::get(AffineMap::get(0, computed.given(), bounds, module.getContext())));
  return symbol;
}

namespace {

/// Builds the loop of a layer.
class GateLoop {
public:
  GateLoop(OpBuilder &builder, const GatedLayer &layer, ValueRange parts, const Grid &grid, unsigned axis, int64_t rank, int64_t &collectives)
      : b(builder), loc(layer.op->getLoc()), layer(layer), grid(grid), axis(axis), rank(rank), collectives(collectives),
        element(layer.getRecurrence().getElementType()), directions(layer.countDirections()), units(layer.countUnits()), own(units / grid.shape[axis]) {
    for (auto [role, value] : llvm::zip_equal(layer.roles, parts))
      values[role] = value;
  }

  SmallVector<Value> build();

private:
  AffineExpr number(int64_t value) const { return b.getAffineConstantExpr(value); }
  Value slice(Value value, ArrayRef<AffineExpr> starts, ArrayRef<AffineExpr> sizes) const;
  Value sliceLast(Value value, int64_t start, int64_t size) const;
  Value reshape(Value value, ArrayRef<AffineExpr> dims) const {
    return ReshapeOp::create(b, loc, makeTensorType(dims, getElementTypeOrSelf(value.getType())), value);
  }
  Value broadcast(Value value, ArrayRef<AffineExpr> dims) const;
  Value join(ArrayRef<Value> values, unsigned dim) const;
  Value gather(Value own) const;
  Value product(Value state, Value weights) const;
  Scalar scalar(Value value) const { return Scalar(b, loc, value, element); }
  Scalar activate(unsigned which, const Scalar &x, bool clips = true) const;
  /// Gate `number` of [directions, batch, gates * units].
  Scalar gate(Value all, int64_t number) const { return scalar(sliceLast(all, number * own, own)); }

  AffineExpr timeOf(int64_t direction) const;
  Value gatesOfStep() const;
  Value weightsOf(int64_t gate) const;
  Value activeRows(int64_t columns) const;
  /// The new states of this rank's units.
  Value stepLstm(Value gates, Value &cell) const;
  Value stepGru(Value gates, Value hidden, Value ownHidden) const;
  void buildBody(Block &block, ArrayRef<LayerRole> roles);

  OpBuilder &b;
  Location loc;
  const GatedLayer &layer;
  /// By role, null where the layer lacks one: around the loop, and then in its body.
  Value values[CountRoles];
  const Grid &grid;
  unsigned axis;
  int64_t rank;
  int64_t &collectives;
  Type element;
  int64_t directions, units, own;
  AffineExpr steps, step, batch;
};

} // namespace

//===- Values ----------------------------------------------------------------===//

Value GateLoop::slice(Value value, ArrayRef<AffineExpr> starts, ArrayRef<AffineExpr> sizes) const {
  return SliceOp::create(b, loc, makeTensorType(sizes, getElementTypeOrSelf(value.getType())), value,
                         AffineMapAttr::get(makeSymbolMap(starts, b.getContext())), b.getDenseI64ArrayAttr(SmallVector<int64_t>(sizes.size(), 1)));
}

Value GateLoop::sliceLast(Value value, int64_t start, int64_t size) const {
  DimExprs dims = getDims(value.getType());
  SmallVector<AffineExpr> starts(dims.size(), number(0));
  starts.back() = number(start);
  dims.back() = number(size);
  return slice(value, starts, dims);
}

/// Dimensions of size 1 are repeated.
Value GateLoop::broadcast(Value value, ArrayRef<AffineExpr> dims) const {
  return BroadcastToOp::create(b, loc, makeTensorType(dims, getElementTypeOrSelf(value.getType())), value);
}

Value GateLoop::join(ArrayRef<Value> values, unsigned dim) const {
  if (values.size() == 1)
    return values.front();
  DimExprs dims = getDims(values.front().getType());
  dims[dim] = simplifyDim(dims[dim] * static_cast<int64_t>(values.size()));
  return ConcatOp::create(b, loc, makeTensorType(dims, getElementTypeOrSelf(values.front().getType())), values, b.getI64IntegerAttr(dim));
}

/// The units of all ranks.
Value GateLoop::gather(Value own) const {
  Cut cut(grid.shape.size(), whole), all = cut;
  cut[axis] = unitDim;
  return Resharding(b, loc, grid, rank, collectives).change(own, cut, all);
}

Value GateLoop::product(Value state, Value weights) const {
  DimExprs dims = getDims(state.getType());
  dims.back() = getDims(weights.getType()).back();
  return MatmulOp::create(b, loc, makeTensorType(dims, element), state, weights);
}

Scalar GateLoop::activate(unsigned which, const Scalar &x, bool clips) const {
  FloatAttr clip = clips ? layer.clip : FloatAttr();
  double bound = clip ? clip.getValueAsDouble() : 0;
  Scalar clipped = clip ? min(max(x, x.like(-bound)), x.like(bound)) : x;
  return applyActivation(*findRecurrentActivation(cast<StringAttr>(layer.activations[which]).getValue()), clipped);
}

//===- A step ----------------------------------------------------------------===//

/// The time that a direction reads and writes in the step. One that runs in reverse comes to the rows of a shorter length when they begin.
AffineExpr GateLoop::timeOf(int64_t direction) const {
  bool isReverse = direction == 1 || layer.isReverse;
  return simplifyDim(isReverse ? steps - 1 - step : step);
}

/// [directions, batch, gates * units]
Value GateLoop::gatesOfStep() const {
  AffineExpr columns = number(layer.gateCount * own);
  SmallVector<Value> rows;
  for (int64_t direction = 0; direction < directions; ++direction)
    rows.push_back(slice(values[Gates], {timeOf(direction), number(0), simplifyDim(columns * direction)}, {number(1), batch, columns}));
  return join(rows, 0);
}

/// Whether rows are within their lengths, for so many columns; null without lengths.
Value GateLoop::activeRows(int64_t columns) const {
  if (!values[Lengths])
    return {};
  Type integer = b.getI64Type();
  SmallVector<Value> rows;
  DimExprs dims = {number(1), batch, number(columns)};
  Value counts = broadcast(reshape(values[Lengths], {number(1), batch, number(1)}), dims);
  Scalar lengths = castTo(Scalar(b, loc, counts, getElementTypeOrSelf(counts.getType())), integer);
  for (int64_t direction = 0; direction < directions; ++direction) {
    Value time = DimValuesOp::create(b, loc, RankedTensorType::get({}, integer), AffineMapAttr::get(makeSymbolMap({timeOf(direction)}, b.getContext())));
    Value times = broadcast(reshape(time, {number(1), number(1), number(1)}), dims);
    rows.push_back((Scalar(b, loc, times, integer) < lengths).value());
  }
  return join(rows, 0);
}

Value GateLoop::stepLstm(Value gates, Value &cell) const {
  enum { In, Out, Forget, Candidate };
  Scalar old = scalar(cell);
  auto withPeephole = [&](const Scalar &x, int64_t which, const Scalar &state) {
    if (!values[Peephole])
      return x;
    Value own = slice(values[Peephole], {number(0), number(which * units + grid.coordinate(rank, axis) * this->own)}, {number(directions), number(this->own)});
    return x + scalar(broadcast(reshape(own, {number(directions), number(1), number(this->own)}), getDims(cell.getType()))) * state;
  };
  Scalar input = activate(0, withPeephole(gate(gates, In), 0, old));
  Scalar forget = layer.couplesInputForget ? input.like(1.0) - input : activate(0, withPeephole(gate(gates, Forget), 2, old));
  Scalar next = forget * old + input * activate(1, gate(gates, Candidate));
  Scalar output = activate(0, withPeephole(gate(gates, Out), 1, next));
  cell = next.value();
  return (output * activate(2, next, /*clips=*/false)).value();
}

/// The columns of one gate, [directions, units of all, units of the rank].
Value GateLoop::weightsOf(int64_t gate) const {
  if (auto constant = values[Recurrence].getDefiningOp<ConstantOp>())
    return ConstantOp::create(b, loc, sliceConstant(constant.getValue(), unitDim, layer.gateCount, gate));
  return sliceLast(values[Recurrence], gate * own, own);
}

Value GateLoop::stepGru(Value gates, Value hidden, Value ownHidden) const {
  enum { Update, Reset, Candidate };
  auto biased = [&](const Scalar &x) {
    if (!values[RecurrenceBias])
      return x;
    Value bias = reshape(values[RecurrenceBias], {number(directions), number(1), number(own)});
    return x + scalar(broadcast(bias, getDims(ownHidden.getType())));
  };
  auto gateOf = [&](int64_t which) { return activate(0, gate(gates, which) + scalar(product(hidden, weightsOf(which)))); };
  Scalar update = gateOf(Update), reset = gateOf(Reset), old = scalar(ownHidden);
  Value last = weightsOf(Candidate);
  Scalar candidate = layer.exchanges == 1 ? reset * biased(scalar(product(hidden, last)))
                                                              : biased(scalar(product(gather((reset * old).value()), last)));
  Scalar fresh = activate(1, gate(gates, Candidate) + candidate);
  return ((update.like(1.0) - update) * fresh + update * old).value();
}

/// Arguments: the hidden states, this rank's cells if there are some, and what the body uses.
void GateLoop::buildBody(Block &block, ArrayRef<LayerRole> roles) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&block);
  for (auto [role, argument] : llvm::zip_equal(roles, block.getArguments()))
    values[role] = argument;
  // A kernel can have constants in the order that it wants.
  if (auto constant = values[Recurrence].getDefiningOp<ConstantOp>())
    values[Recurrence] = b.clone(*constant)->getResult(0);
  Value hidden = values[Hidden], cell = values[Cell];
  Value oldCell = cell, gates = gatesOfStep(), ownHidden = sliceLast(hidden, grid.coordinate(rank, axis) * own, own), fresh;
  if (layer.gateCount == 3)
    fresh = stepGru(gates, hidden, ownHidden);
  else {
    Scalar all = scalar(gates) + scalar(product(hidden, values[Recurrence]));
    fresh = cell ? stepLstm(all.value(), cell) : activate(0, all).value();
  }
  if (Value active = activeRows(own)) {
    Scalar condition(b, loc, active, b.getI1Type());
    fresh = select(condition, scalar(fresh), scalar(ownHidden)).value();
    cell = cell ? select(condition, scalar(cell), scalar(oldCell)).value() : cell;
  }
  Value all = gather(fresh), rows = all;
  if (Value active = activeRows(units))
    rows = select(Scalar(b, loc, active, b.getI1Type()), scalar(all), scalar(all).like(0.0)).value();
  SmallVector<Value> yielded = {all};
  if (cell)
    yielded.push_back(cell);
  for (int64_t direction = 0; direction < directions; ++direction)
    yielded.push_back(slice(rows, {number(direction), number(0), number(0)}, {number(1), batch, number(units)}));
  YieldOp::create(b, loc, yielded);
}

SmallVector<Value> GateLoop::build() {
  steps = getDim(values[Gates].getType(), 0), batch = getDim(values[Gates].getType(), 1);
  unsigned symbol = addStepSymbol(b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>(), steps);
  step = getAffineSymbolExpr(symbol, b.getContext());
  SmallVector<LayerRole> roles;
  SmallVector<Value> carried, used;
  for (LayerRole role : {Hidden, Cell, Gates, Peephole, RecurrenceBias, Lengths, Recurrence}) {
    if (!values[role] || (role == Recurrence && values[role].getDefiningOp<ConstantOp>()))
      continue;
    roles.push_back(role);
    (role == Hidden || role == Cell ? carried : used).push_back(values[role]);
  }
  SmallVector<Type> types(ValueRange(carried).getTypes());
  SmallVector<int64_t> axes(directions, 0), backwards;
  for (int64_t direction = 0; direction < directions; ++direction) {
    types.push_back(makeTensorType({steps, number(1), batch, number(units)}, element));
    backwards.push_back(direction == 1 || layer.isReverse);
  }
  auto loop = LoopOp::create(b, loc, types, AffineMap::get(0, countSymbols(steps), steps), symbol, false, carried, used, axes, backwards);
  Block &block = loop.getBody().emplaceBlock();
  for (Value operand : loop->getOperands())
    block.addArgument(operand.getType(), loc);
  buildBody(block, roles);
  SmallVector<Value> results = {join(SmallVector<Value>(loop.getResults().drop_front(carried.size())), 1)};
  llvm::append_range(results, loop.getResults().take_front(carried.size()));
  return results;
}

SmallVector<Value> buildGateLoop(OpBuilder &builder, const GatedLayer &layer, ValueRange parts, const Grid &grid, unsigned axis, int64_t rank,
                                 int64_t &collectives) {
  return GateLoop(builder, layer, parts, grid, axis, rank, collectives).build();
}

} // namespace kiln
