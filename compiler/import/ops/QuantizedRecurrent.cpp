//===- QuantizedRecurrent.cpp - Recurrent layers on bytes ---------------------===//
//
// DynamicQuantizeLSTM of domain com.microsoft, as ONNX Runtime's kernel computes it: X is rounded to bytes with one scale for all of it, and in each step the
// hidden state with one scale for the batch. Both products are sums of integers. The steps are an nn.loop:
//
//   for each step:  [i o f c] = gates[t] + bytes(h) R;  C = f C + i c;  h = o tanh(C)
//
//===----------------------------------------------------------------------===//
#include "compiler/import/RolledLoops.h"
#include "compiler/import/ops/Contrib.h"
#include "compiler/import/ops/Quantization.h"
#include "compiler/import/ops/Recurrent.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

static const StringRef lstmActivations[] = {"Sigmoid", "Tanh", "Tanh"};

namespace {
/// Weights [directions, rows, 4 * hidden] with a scale and a zero point for each direction, or for each column of it.
struct ByteWeights {
  Value bytes, scale, zeroPoint;
};

class QuantizedLstm {
public:
  explicit QuantizedLstm(Node &node) : node(node), layer(node, 4, lstmActivations) {}
  LogicalResult run();

private:
  /// The order of what a step carries; the last one is there with lengths alone.
  enum { Hidden, Cell, Last };

  ByteWeights readWeights(unsigned at, unsigned scaleAt) { return {node.input(at), node.input(scaleAt), node.input(scaleAt + 1)}; }
  Value ofDirection(Value parameter) const;
  Value multiply(Value rows, const ByteWeights &weights) const;
  Value inputGates() const;
  Value reversed(Value x) const;
  Value activate(unsigned which, Value x) const;
  Value cut(Value x) const;
  SmallVector<Value> step(AffineExpr number, Value gates, ArrayRef<Value> carried) const;
  SmallVector<Value> keepFinished(AffineExpr number, ArrayRef<Value> next, ArrayRef<Value> carried) const;
  LogicalResult runDirection(int64_t direction);

  Node &node;
  Layer layer;
  ByteWeights input, recurrence;
  Part part{0, 1};
  Value peephole;
  /// The lengths of the batch's rows [batch, 1] in i64; null: all take part in all steps.
  Value lengths;
  bool isCoupled = false, isReverse = false;
  SmallVector<Value> states, lastHidden, lastCell;
};
} // namespace

/// The part's numbers of a weight's parameter: one, or one for each column.
Value QuantizedLstm::ofDirection(Value parameter) const {
  Value own = layer.rowsOf(part, parameter);
  DimExprs shape;
  if (node.rank(own) == 2)
    shape.push_back(node.dims(own)[1]);
  return node.reshape(own, shape);
}

/// Rows that are rounded to bytes together, times the part's weights.
Value QuantizedLstm::multiply(Value rows, const ByteWeights &weights) const {
  DimExprs dims = node.dims(weights.bytes);
  Value bytes = node.reshape(layer.rowsOf(part, weights.bytes), {dims[1], dims[2]});
  DynamicallyQuantized left = quantizeDynamically(node, rows);
  if (node.failed())
    return rows;
  Value sum = buildQuantizedMatmul(node, left.bytes, bytes, left.zeroPoint, ofDirection(weights.zeroPoint));
  return node.binary<MulOp>(node.cast(sum, node.elementType(rows)), node.binary<MulOp>(left.scale, ofDirection(weights.scale)));
}

/// Each row's steps in the other order, those behind its length where they are: [steps, batch, ...].
Value QuantizedLstm::reversed(Value x) const {
  if (node.failed())
    return x;
  Type i64 = node.builder().getI64Type();
  DimExprs dims = node.dims(x), places = {layer.steps, layer.batch};
  AffineExpr rows = nn::simplifyDim(layer.steps * layer.batch);
  auto scalar = [&](AffineExpr value) { return materialize(node.builder(), node.loc, RankedTensorType::get({}, i64), Number{value}); };
  Value time = node.iota(places, 0, i64), length = node.broadcastTo(node.reshape(lengths, {node.number(1), layer.batch}), places);
  Value mirrored = node.binary<SubOp>(node.binary<SubOp>(length, time), scalar(node.number(1)));
  Value from = node.make<SelectOp>(time.getType(), node.compare<LessOp>(time, length), mirrored, time);
  Value at = node.binary<AddOp>(node.binary<MulOp>(from, scalar(layer.batch)), node.iota(places, 1, i64));
  DimExprs flat = {rows, dims[2]};
  Value gathered = node.make<GatherOp>(node.type(flat, node.elementType(x)), node.reshape(x, flat), node.reshape(at, {rows}), 0);
  return node.reshape(gathered, dims);
}

/// bytes(X) W + biases for all steps [steps, batch, 4 * hidden]. What lies behind the longest row does not count for the scale.
Value QuantizedLstm::inputGates() const {
  Value x = layer.x;
  AffineExpr one = node.number(1), rows = nn::simplifyDim(layer.steps * layer.batch), columns = node.number(4 * layer.hidden);
  if (lengths) {
    Value longest = node.reshape(node.reduce(ReduceKind::Max, lengths, {0}, /*keep=*/true), {one, one, one});
    Value counts = node.compare<LessOp>(node.iota({layer.steps, one, one}, 0, node.elementType(lengths)), longest);
    x = node.make<SelectOp>(x.getType(), node.broadcastTo(counts, node.dims(x)), x, node.splatLike(x, 0));
  }
  Value all = multiply(node.reshape(x, {rows, layer.features}), input);
  if (auto [wb, rb] = layer.biases(part); wb)
    all = node.binary<AddOp>(all, node.reshape(node.binary<AddOp>(wb, rb), {columns}));
  all = node.reshape(all, {layer.steps, layer.batch, columns});
  return isReverse && lengths ? reversed(all) : all;
}

Value QuantizedLstm::cut(Value x) const {
  if (!layer.clip)
    return x;
  FloatAttr low = node.builder().getF64FloatAttr(-layer.clip.getValueAsDouble());
  return node.unary<ClampOp>(x, low, layer.clip);
}

/// Activation f, g or h of the standard.
Value QuantizedLstm::activate(unsigned which, Value x) const {
  auto known = *nn::findRecurrentActivation(cast<StringAttr>(layer.activations(part)[which]).getValue());
  if (known.name == "Affine")
    return node.binary<AddOp>(node.binary<MulOp>(x, known.alpha), node.splatLike(x, known.beta));
  if (known.name == "ScaledTanh")
    return node.binary<MulOp>(node.unary<TanhOp>(node.binary<MulOp>(x, known.beta)), known.alpha);
  double numbers[] = {known.alpha, known.beta};
  return buildActivation(node, x, known.name, ArrayRef(numbers).take_front(known.numbers));
}

/// From what is carried to what is carried next, and the row of all hidden states.
SmallVector<Value> QuantizedLstm::step(AffineExpr number, Value gates, ArrayRef<Value> carried) const {
  AffineExpr time = isReverse && !lengths ? layer.steps - 1 - number : number, units = node.number(layer.hidden);
  Value own = node.reshape(node.slice(gates, 0, time, node.number(1)), {layer.batch, node.number(4 * layer.hidden)});
  Value sum = node.binary<AddOp>(own, multiply(carried[Hidden], recurrence));
  auto gate = [&](int64_t at) { return node.slice(sum, 1, node.number(at * layer.hidden), units); };
  auto peep = [&](Value x, int64_t at, Value cell) {
    if (!peephole)
      return cut(x);
    Value weight = node.reshape(node.slice(peephole, 1, node.number(at * layer.hidden), units), {units});
    return cut(node.binary<AddOp>(x, node.binary<MulOp>(cell, weight)));
  };
  Value cell = carried[Cell], in = activate(0, peep(gate(0), 0, cell));
  Value forget = isCoupled ? node.binary<SubOp>(node.splatLike(in, 1), in) : activate(0, peep(gate(2), 2, cell));
  Value next = node.binary<AddOp>(node.binary<MulOp>(forget, cell), node.binary<MulOp>(in, activate(1, cut(gate(3)))));
  Value hidden = node.binary<MulOp>(activate(0, peep(gate(1), 1, next)), activate(2, next));
  return lengths && !node.failed() ? keepFinished(number, {hidden, next}, carried) : SmallVector<Value>{hidden, next, hidden};
}

/// Rows that are behind their length keep cell and last state. Their hidden state, which counts for the scale, is zero where all states are asked for.
SmallVector<Value> QuantizedLstm::keepFinished(AffineExpr number, ArrayRef<Value> next, ArrayRef<Value> carried) const {
  Value at = materialize(node.builder(), node.loc, RankedTensorType::get({}, node.builder().getI64Type()), Number{number});
  Value isActive = node.broadcastTo(node.compare<LessOp>(at, lengths), node.dims(next[Hidden]));
  auto choose = [&](Value now, Value otherwise) { return node.make<SelectOp>(now.getType(), isActive, now, otherwise); };
  Value row = choose(next[Hidden], node.splatLike(next[Hidden], 0));
  return {node.hasOutput(0) ? row : choose(next[Hidden], carried[Hidden]), choose(next[Cell], carried[Cell]), choose(next[Hidden], carried[Last]), row};
}

LogicalResult QuantizedLstm::runDirection(int64_t direction) {
  part = {direction, 1};
  isReverse = layer.isReverse(part) != nullptr;
  peephole = layer.rowsOf(part, node.optionalInput(7));
  AffineExpr one = node.number(1), units = node.number(layer.hidden);
  DimExprs state = {layer.batch, units};
  Value gates = inputGates();
  SmallVector<Value> carried = {node.reshape(layer.initialState(part, 5), state), node.reshape(layer.initialState(part, 6), state)}, results;
  if (node.failed())
    return failure();
  if (lengths)
    carried.push_back(node.splatLike(carried[Hidden], 0));
  auto body = [&](AffineExpr number, ArrayRef<Value> present) -> FailureOr<SmallVector<Value>> {
    SmallVector<Value> next = step(number, gates, present);
    return node.failed() ? FailureOr<SmallVector<Value>>(failure()) : FailureOr(next);
  };
  if (failed(buildLoop(node, layer.steps, carried, {isReverse && !lengths}, body, results)) || results.empty())
    return failure(node.failed());
  Value all = results.back(), hidden = results[lengths ? Last : Hidden], cell = results[Cell];
  if (lengths) {
    Value isThere = node.broadcastTo(node.compare<GreaterOp>(lengths, node.splatLike(lengths, 0)), state);
    cell = node.make<SelectOp>(cell.getType(), isThere, cell, node.splatLike(cell, 0));
    all = isReverse ? reversed(all) : all;
  }
  states.push_back(node.reshape(all, {layer.steps, one, layer.batch, units}));
  lastHidden.push_back(node.reshape(hidden, {one, layer.batch, units}));
  lastCell.push_back(node.reshape(cell, {one, layer.batch, units}));
  return failure(node.failed());
}

LogicalResult QuantizedLstm::run() {
  isCoupled = node.getFlag("input_forget");
  if (!layer.read(/*isQuantized=*/true))
    return failure();
  input = readWeights(1, 8);
  recurrence = readWeights(2, 10);
  if (layer.lengths)
    lengths = node.reshape(node.cast(layer.lengths, node.builder().getI64Type()), {layer.batch, node.number(1)});
  for (int64_t direction = 0; direction < layer.directions; ++direction)
    if (failed(runDirection(direction)) || node.isUnsupported())
      return failure(node.failed());
  return layer.finish(states, lastHidden, lastCell);
}

LogicalResult dynamicQuantizeLstm(Node &node) { return QuantizedLstm(node).run(); }

} // namespace kiln::import
