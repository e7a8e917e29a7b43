//===- Recurrent.cpp - LSTM, GRU, RNN ----------------------------------------===//
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

namespace {
/// What the recurrent operators share. One instance serves all directions of a node.
class Layer {
public:
  Layer(Node &node, int64_t gates, ArrayRef<StringRef> defaults) : node(node), gates(gates), defaults(defaults) {}

  bool read();
  int64_t numDirections() const { return direction == "bidirectional" ? 2 : 1; }
  bool isReverse(int64_t d) const { return direction == "reverse" || d == 1; }
  /// Row `d` of an operand [directions, ...], without that dimension; null when the operand is absent.
  Value ofDirection(Value operand, int64_t d);
  /// The state before the first step, [batch, hidden].
  Value initialState(unsigned input, int64_t d);
  /// X * W^T + bias for all steps, [steps, batch, gates * hidden].
  Value inputGates(int64_t d, Value bias);
  /// Activations of direction `d`.
  ArrayAttr activations(int64_t d);
  LogicalResult finish(ArrayRef<Value> states, ArrayRef<Value> hidden, ArrayRef<Value> cells);

  Node &node;
  int64_t gates, hidden = 0;
  ArrayRef<StringRef> defaults;
  std::string direction;
  bool batchFirst = false;
  Value x, weight, recurrence, bias, lengths;
  AffineExpr steps, batch, features;
  FloatAttr clip;

private:
  bool checkShape(Value value, ArrayRef<AffineExpr> want, StringRef what);
  SmallVector<std::string> names;
};
} // namespace

bool Layer::checkShape(Value value, ArrayRef<AffineExpr> want, StringRef what) {
  if (!value || !node.expectRank(value, want.size(), what))
    return !node.failed();
  for (auto [have, dim] : llvm::zip_equal(node.dims(value), want))
    if (!node.unify(have, dim, what + " has a wrong shape: dimensions"))
      return false;
  return true;
}

bool Layer::read() {
  x = node.input(0);
  weight = node.input(1);
  recurrence = node.input(2);
  bias = node.optionalInput(3);
  lengths = node.optionalInput(4);
  direction = node.getString("direction", "forward");
  batchFirst = node.getFlag("layout");
  if (node.opset < 7) // all results may be asked for
    node.ignore("output_sequence");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    (void)node.error("attribute 'direction' is '" + direction + "', expected forward, reverse or bidirectional");
  if (node.hasAttribute("clip"))
    clip = node.builder().getF64FloatAttr(node.getFloat("clip", 0));
  if (node.hasAttribute("activation_alpha") || node.hasAttribute("activation_beta"))
    (void)node.unsupported("activation_alpha and activation_beta", "use activations without parameters");
  names = node.findStrings("activations").value_or(SmallVector<std::string>());
  if (!node.expectRank(x, 3, "X") || !node.expectRank(weight, 3, "W") || !node.expectRank(recurrence, 3, "R"))
    return false;
  auto size = nn::getConstantDim(node.dims(recurrence)[2]);
  if (!size)
    (void)node.unsupported("a symbolic hidden size", "make it static with --dim");
  hidden = node.getInt("hidden_size", size.value_or(1));
  if (size && hidden != *size)
    (void)node.error("attribute 'hidden_size' is " + Twine(hidden) + ", but R has " + Twine(*size) + " columns");
  if (node.failed())
    return false;
  // The operators count steps first.
  if (batchFirst)
    x = node.transpose(x, {1, 0, 2});
  DimExprs dims = node.dims(x);
  steps = dims[0], batch = dims[1], features = dims[2];
  AffineExpr directions = node.number(numDirections()), rows = node.number(gates * hidden), h = node.number(hidden);
  return checkShape(weight, {directions, rows, features}, "W") && checkShape(recurrence, {directions, rows, h}, "R") &&
         checkShape(bias, {directions, node.number(2 * gates * hidden)}, "B") && checkShape(lengths, {batch}, "sequence_lens") &&
         checkShape(node.optionalInput(5), batchFirst ? DimExprs{batch, directions, h} : DimExprs{directions, batch, h}, "initial_h");
}

Value Layer::ofDirection(Value operand, int64_t d) {
  if (!operand)
    return {};
  DimExprs dims = node.dims(operand);
  dims.erase(dims.begin());
  return node.reshape(node.slice(operand, 0, node.number(d), node.number(1)), dims);
}

Value Layer::initialState(unsigned input, int64_t d) {
  Value given = node.optionalInput(input);
  if (!given)
    return node.splat({batch, node.number(hidden)}, node.elementType(x), 0);
  if (batchFirst)
    given = node.transpose(given, {1, 0, 2});
  return node.reshape(ofDirection(given, d), {batch, node.number(hidden)});
}

Value Layer::inputGates(int64_t d, Value bias) {
  AffineExpr rows = node.number(gates * hidden);
  Value w = node.transpose(ofDirection(weight, d), {1, 0});
  Value flat = node.matmul(node.reshape(x, {steps * batch, features}), w);
  Value all = node.reshape(flat, {steps, batch, rows});
  return bias ? node.binary<AddOp>(all, node.broadcastTo(bias, node.dims(all))) : all;
}

ArrayAttr Layer::activations(int64_t d) {
  SmallVector<StringRef> chosen(defaults);
  size_t each = defaults.size();
  if (!names.empty() && names.size() != each * numDirections())
    (void)node.error("attribute 'activations' has " + Twine(names.size()) + " entries, expected " + Twine(each * numDirections()));
  for (size_t i = 0; i < each && !names.empty() && !node.failed(); ++i) {
    chosen[i] = names[d * each + i];
    if (!llvm::is_contained({StringRef("Sigmoid"), StringRef("Tanh"), StringRef("Relu")}, chosen[i]))
      (void)node.unsupported("activation '" + chosen[i] + "'", "use Sigmoid, Tanh or Relu");
  }
  return node.builder().getStrArrayAttr(chosen);
}

/// Y [steps, directions, batch, hidden] and the last states [directions, batch, hidden], or with the batch first.
LogicalResult Layer::finish(ArrayRef<Value> states, ArrayRef<Value> last, ArrayRef<Value> cells) {
  AffineExpr one = node.number(1), h = node.number(hidden);
  auto join = [&](ArrayRef<Value> parts, DimExprs shape, int64_t axis, ArrayRef<int64_t> batchFirstOrder) {
    SmallVector<Value> shaped;
    for (Value part : parts)
      shaped.push_back(node.reshape(part, shape));
    Value joined = node.concat(shaped, axis);
    return batchFirst ? node.transpose(joined, batchFirstOrder) : joined;
  };
  if (node.failed())
    return failure();
  (void)node.result(0, join(states, {steps, one, batch, h}, 1, {2, 0, 1, 3}));
  (void)node.result(1, join(last, {one, batch, h}, 0, {1, 0, 2}));
  if (!cells.empty())
    (void)node.result(2, join(cells, {one, batch, h}, 0, {1, 0, 2}));
  return success(!node.failed());
}

/// Both halves of B, [gates * hidden] each.
static std::pair<Value, Value> splitBias(Layer &layer, int64_t d) {
  Value b = layer.ofDirection(layer.bias, d);
  if (!b)
    return {};
  AffineExpr half = layer.node.number(layer.gates * layer.hidden);
  return {layer.node.slice(b, 0, layer.node.number(0), half), layer.node.slice(b, 0, half, half)};
}

static LogicalResult lstm(Node &node) {
  static const StringRef defaults[] = {"Sigmoid", "Tanh", "Tanh"};
  Layer layer(node, 4, defaults);
  bool inputForget = node.getFlag("input_forget");
  if (!layer.read())
    return failure();
  SmallVector<Value> states, hidden, cells;
  OpBuilder &b = node.builder();
  for (int64_t d = 0; d < layer.numDirections() && !node.failed(); ++d) {
    auto [wb, rb] = splitBias(layer, d);
    Value gates = layer.inputGates(d, wb ? node.binary<AddOp>(wb, rb) : Value());
    Value h0 = layer.initialState(5, d), c0 = layer.initialState(6, d), peephole = layer.ofDirection(node.optionalInput(7), d);
    ArrayAttr activations = layer.activations(d);
    Value recurrence = layer.ofDirection(layer.recurrence, d);
    if (node.failed())
      return failure();
    Type element = node.elementType(layer.x), all = node.type({layer.steps, layer.batch, node.number(layer.hidden)}, element);
    auto op = LstmOp::create(b, node.loc, TypeRange{all, h0.getType(), c0.getType()}, gates, recurrence, h0, c0, peephole, layer.lengths, activations,
                             layer.isReverse(d) ? b.getUnitAttr() : UnitAttr(), inputForget ? b.getUnitAttr() : UnitAttr(), layer.clip);
    states.push_back(op.getStates());
    hidden.push_back(op.getLastHidden());
    cells.push_back(op.getLastCell());
  }
  return layer.finish(states, hidden, cells);
}

static LogicalResult gru(Node &node) {
  static const StringRef defaults[] = {"Sigmoid", "Tanh"};
  Layer layer(node, 3, defaults);
  bool linear = node.getFlag("linear_before_reset");
  if (!layer.read())
    return failure();
  SmallVector<Value> states, hidden;
  OpBuilder &b = node.builder();
  int64_t size = layer.hidden;
  for (int64_t d = 0; d < layer.numDirections() && !node.failed(); ++d) {
    auto [wb, rb] = splitBias(layer, d);
    Value sum = wb, hiddenBias;
    if (wb) {
      // The recurrent bias of the hidden gate stays apart: the reset gate multiplies it.
      AffineExpr two = node.number(2 * size), one = node.number(size), zero = node.number(0);
      hiddenBias = node.slice(rb, 0, two, one);
      sum = node.binary<AddOp>(wb, node.concat({node.slice(rb, 0, zero, two), node.splat({one}, node.elementType(rb), 0)}, 0));
    }
    Value gates = layer.inputGates(d, sum), h0 = layer.initialState(5, d), recurrence = layer.ofDirection(layer.recurrence, d);
    ArrayAttr activations = layer.activations(d);
    if (node.failed())
      return failure();
    Type all = node.type({layer.steps, layer.batch, node.number(size)}, node.elementType(layer.x));
    auto op = GruOp::create(b, node.loc, TypeRange{all, h0.getType()}, gates, recurrence, h0, hiddenBias, layer.lengths, activations,
                            layer.isReverse(d) ? b.getUnitAttr() : UnitAttr(), linear ? b.getUnitAttr() : UnitAttr(), layer.clip);
    states.push_back(op.getStates());
    hidden.push_back(op.getLastHidden());
  }
  return layer.finish(states, hidden, {});
}

/// Steps that are written out one after the other.
static constexpr int64_t unrollLimit = 256;

static Value activate(Node &node, StringRef name, Value x) {
  return name == "Sigmoid" ? node.unary<SigmoidOp>(x) : name == "Relu" ? node.unary<ReluOp>(x) : node.unary<TanhOp>(x);
}

/// The plain recurrence has no operation of its own: its steps are written out.
static LogicalResult rnn(Node &node) {
  static const StringRef defaults[] = {"Tanh"};
  Layer layer(node, 1, defaults);
  if (!layer.read())
    return failure();
  auto steps = nn::getConstantDim(layer.steps);
  if (!steps || *steps > unrollLimit || layer.lengths || layer.clip)
    return node.unsupported("a symbolic or large number of steps, sequence_lens or clip", "make the sequence length static with --dim, or use GRU or LSTM");
  SmallVector<Value> states, last;
  AffineExpr one = node.number(1), h = node.number(layer.hidden);
  for (int64_t d = 0; d < layer.numDirections() && !node.failed(); ++d) {
    auto [wb, rb] = splitBias(layer, d);
    Value gates = layer.inputGates(d, wb ? node.binary<AddOp>(wb, rb) : Value()), state = layer.initialState(5, d);
    Value recurrence = node.transpose(layer.ofDirection(layer.recurrence, d), {1, 0});
    StringRef activation = cast<StringAttr>(layer.activations(d)[0]).getValue();
    SmallVector<Value> all(*steps);
    for (int64_t i = 0; i < *steps && !node.failed(); ++i) {
      int64_t t = layer.isReverse(d) ? *steps - 1 - i : i;
      Value gate = node.reshape(node.slice(gates, 0, node.number(t), one), {layer.batch, h});
      state = activate(node, activation, node.binary<AddOp>(gate, node.matmul(state, recurrence)));
      all[t] = node.reshape(state, {one, layer.batch, h});
    }
    if (node.failed() || all.empty())
      return node.error("there are no steps");
    states.push_back(node.concat(all, 0));
    last.push_back(state);
  }
  return layer.finish(states, last, {});
}

ArrayRef<Operator> getRecurrentOperators() {
  static const Operator rows[] = {
      {"GRU", 1, Elements::Float, gru},
      {"LSTM", 1, Elements::Float, lstm},
      {"RNN", 1, Elements::Float, rnn},
  };
  return rows;
}

} // namespace kiln::import
