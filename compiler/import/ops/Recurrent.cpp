//===- Recurrent.cpp - LSTM, GRU, RNN ----------------------------------------===//
#include "compiler/import/ops/Recurrent.h"
#include "compiler/import/Operators.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNQuantizedOps.h"
#include "dialects/nn/NNRecurrentOps.h"

#include "llvm/Support/Format.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

bool Layer::checkShape(Value value, ArrayRef<AffineExpr> want, StringRef what) {
  if (!value || !node.expectRank(value, want.size(), what))
    return !node.failed();
  if (value == lengths && !node.elementType(value).isInteger(32))
    return succeeded(node.error(what + " must be int32"));
  if (value != lengths && node.elementType(value) != node.elementType(x))
    return succeeded(node.error(what + " has a different element type than X"));
  for (auto [have, dim] : llvm::zip_equal(node.dims(value), want))
    if (!node.unify(have, dim, what + " has a wrong shape: dimensions"))
      return false;
  return true;
}

/// Weights [directions, rows, columns] of input `at`: those of bytes are the other way round, and have a scale for each direction, or for each column
/// of it.
Value Layer::readWeights(unsigned at, unsigned scaleAt) {
  Value bytes = node.input(at), scale = node.input(scaleAt), zeroPoint = node.input(scaleAt + 1);
  if (node.failed() || !node.expectRank(bytes, 3, "the weights"))
    return bytes;
  DimExprs dims = node.dims(bytes), spread = {dims[0], node.number(1), node.number(1)};
  for (Value *parameter : {&scale, &zeroPoint}) {
    bool isForColumns = node.rank(*parameter) == 2;
    if (!node.unify(node.dims(*parameter)[0], dims[0], "the weights' scales or zero points and directions differ"))
      return bytes;
    spread[2] = isForColumns ? node.dims(*parameter)[1] : node.number(1);
    if (isForColumns && !node.unify(spread[2], dims[2], "the weights' scales or zero points and columns differ"))
      return bytes;
    *parameter = node.broadcastTo(node.reshape(*parameter, spread), dims);
  }
  if (node.failed())
    return bytes;
  return node.transpose(node.make<DequantizeOp>(node.type(dims, node.elementType(scale)), bytes, scale, zeroPoint), {0, 2, 1});
}

bool Layer::read(bool isQuantized) {
  x = node.input(0);
  weight = isQuantized ? readWeights(1, 8) : node.input(1);
  recurrence = isQuantized ? readWeights(2, 10) : node.input(2);
  bias = node.optionalInput(3);
  lengths = node.optionalInput(4);
  direction = node.getString("direction", "forward");
  batchFirst = node.getFlag("layout");
  if (node.opset < 7) // all results may be asked for
    node.ignore("output_sequence");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    (void)node.error("attribute 'direction' is '" + direction + "', expected forward, reverse or bidirectional");
  directions = direction == "bidirectional" ? 2 : 1;
  if (node.hasAttribute("clip"))
    clip = node.builder().getF64FloatAttr(node.getFloat("clip", 0));
  if (!readActivations() || !node.expectRank(x, 3, "X") || !node.expectRank(weight, 3, "W") || !node.expectRank(recurrence, 3, "R"))
    return false;
  auto size = nn::getConstantDim(node.dims(recurrence)[2]);
  if (!size)
    (void)node.unsupported("a symbolic hidden size", "make it static with --dim");
  else if (*size == 0)
    (void)node.error("the hidden size is 0");
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
  if (!checkShapes())
    return false;
  // Their number may be another symbol, which the run checks to be X's.
  if (lengths)
    lengths = node.reshape(lengths, {batch});
  return true;
}

bool Layer::checkShapes() {
  AffineExpr d = node.number(directions), rows = node.number(gates * hidden), h = node.number(hidden);
  DimExprs state = batchFirst ? DimExprs{batch, d, h} : DimExprs{d, batch, h};
  bool fit = checkShape(weight, {d, rows, features}, "W") && checkShape(recurrence, {d, rows, h}, "R") &&
             checkShape(bias, {d, node.number(2 * gates * hidden)}, "B") && checkShape(lengths, {batch}, "sequence_lens") &&
             checkShape(node.optionalInput(5), state, "initial_h");
  // Only LSTM has more.
  return fit && (gates != 4 || (checkShape(node.optionalInput(6), state, "initial_c") && checkShape(node.optionalInput(7), {d, node.number(3 * hidden)}, "P")));
}

static std::string listActivations() {
  SmallVector<StringRef> known;
  for (const nn::RecurrentActivation &row : nn::recurrentActivations)
    known.push_back(row.name);
  return llvm::join(known, ", ");
}

/// The text by which the operations know an activation with numbers of its own.
static std::string nameWithNumbers(const nn::RecurrentActivation &activation) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto print = [&](double number) { stream << llvm::format("%.17g", number); };
  stream << activation.name << "(";
  print(activation.alpha);
  if (activation.numbers == 2) {
    stream << ",";
    print(activation.beta);
  }
  stream << ")";
  return text;
}

bool Layer::readActivations() {
  size_t each = defaults.size();
  auto given = node.findStrings("activations").value_or(SmallVector<std::string>());
  if (!given.empty() && given.size() != each * directions)
    return succeeded(node.error("attribute 'activations' has " + Twine(given.size()) + " entries, expected " + Twine(each * directions)));
  // Activations take their numbers from the lists in turn, as many as they have.
  SmallVector<double> alphas = node.findFloats("activation_alpha").value_or(SmallVector<double>());
  SmallVector<double> betas = node.findFloats("activation_beta").value_or(SmallVector<double>());
  size_t alpha = 0, beta = 0;
  for (size_t i = 0; i < each * directions && !node.failed(); ++i) {
    std::string name = given.empty() ? defaults[i % each].str() : given[i];
    auto known = nn::findRecurrentActivation(name);
    if (!known || name.size() != known->name.size())
      return succeeded(node.unsupported("activation '" + name + "'", "use one of " + listActivations()));
    bool hasAlpha = known->numbers > 0 && alpha < alphas.size(), hasBeta = known->numbers > 1 && beta < betas.size();
    if (!known->hasDefaults && (!hasAlpha || !hasBeta))
      return succeeded(node.error("activation '" + name + "' needs its numbers in attributes 'activation_alpha' and 'activation_beta'"));
    known->alpha = hasAlpha ? alphas[alpha++] : known->alpha;
    known->beta = hasBeta ? betas[beta++] : known->beta;
    names.push_back(hasAlpha || hasBeta ? nameWithNumbers(*known) : name);
  }
  return !node.failed();
}

SmallVector<Part> Layer::parts() {
  size_t each = defaults.size();
  if (directions == 1 || ArrayRef(names).take_front(each) == ArrayRef(names).drop_front(each))
    return {Part{0, directions}};
  return {Part{0, 1}, Part{1, 1}};
}

ArrayAttr Layer::activations(Part part) const {
  SmallVector<StringRef> chosen;
  for (const std::string &name : ArrayRef(names).slice(part.first * defaults.size(), defaults.size()))
    chosen.push_back(name);
  return node.builder().getStrArrayAttr(chosen);
}

Value Layer::rowsOf(Part part, Value operand) const {
  return !operand || part.count == directions ? operand : node.slice(operand, 0, node.number(part.first), node.number(part.count));
}

Value Layer::initialState(Part part, unsigned input) const {
  Value given = node.optionalInput(input);
  if (!given)
    return node.splat({node.number(part.count), batch, node.number(hidden)}, node.elementType(x), 0);
  return node.reshape(rowsOf(part, batchFirst ? node.transpose(given, {1, 0, 2}) : given), {node.number(part.count), batch, node.number(hidden)});
}

Value Layer::inputGates(Part part, Value bias) {
  AffineExpr columns = node.number(part.count * gates * hidden);
  Value w = node.transpose(node.reshape(rowsOf(part, weight), {columns, features}), {1, 0});
  Value all = node.matmul(node.reshape(x, {steps * batch, features}), w);
  if (bias)
    all = node.binary<AddOp>(all, node.reshape(bias, {columns}));
  return node.reshape(all, {steps, batch, columns});
}

std::pair<Value, Value> Layer::biases(Part part) const {
  Value b = rowsOf(part, bias);
  if (!b)
    return {};
  AffineExpr half = node.number(gates * hidden);
  return {node.slice(b, 1, node.number(0), half), node.slice(b, 1, half, half)};
}

RankedTensorType Layer::statesType(Part part) {
  return node.type({steps, node.number(part.count), batch, node.number(hidden)}, node.elementType(x));
}

/// Y [steps, directions, batch, hidden] and the last states [directions, batch, hidden], or with the batch first.
LogicalResult Layer::finish(ArrayRef<Value> states, ArrayRef<Value> last, ArrayRef<Value> cells) {
  if (node.failed())
    return failure();
  auto join = [&](ArrayRef<Value> parts, int64_t axis, ArrayRef<int64_t> batchFirstOrder) {
    Value joined = parts.size() == 1 ? parts.front() : node.concat(parts, axis);
    return batchFirst ? node.transpose(joined, batchFirstOrder) : joined;
  };
  (void)node.result(0, join(states, 1, {2, 0, 1, 3}));
  (void)node.result(1, join(last, 0, {1, 0, 2}));
  if (!cells.empty())
    (void)node.result(2, join(cells, 0, {1, 0, 2}));
  return success(!node.failed());
}

static LogicalResult lstm(Node &node) {
  static const StringRef defaults[] = {"Sigmoid", "Tanh", "Tanh"};
  Layer layer(node, 4, defaults);
  bool inputForget = node.getFlag("input_forget");
  if (!layer.read())
    return failure();
  SmallVector<Value> states, hidden, cells;
  OpBuilder &b = node.builder();
  for (Part part : layer.parts()) {
    auto [wb, rb] = layer.biases(part);
    Value gates = layer.inputGates(part, wb ? node.binary<AddOp>(wb, rb) : Value()), recurrence = layer.recurrenceOf(part);
    Value h0 = layer.initialState(part, 5), c0 = layer.initialState(part, 6), peephole = layer.rowsOf(part, node.optionalInput(7));
    Type all = layer.statesType(part);
    if (node.failed())
      return failure();
    auto op = LstmOp::create(b, node.loc, TypeRange{all, h0.getType(), c0.getType()}, gates, recurrence, h0, c0, peephole, layer.lengths,
                             layer.activations(part), layer.isReverse(part), inputForget ? b.getUnitAttr() : UnitAttr(), layer.clip);
    states.push_back(op.getStates());
    hidden.push_back(op.getLastHidden());
    cells.push_back(op.getLastCell());
  }
  return layer.finish(states, hidden, cells);
}

/// Both biases of a GRU for `gates`, and what is left for the reset gate to multiply.
static std::pair<Value, Value> gruBiases(Layer &layer, Part part, bool linear) {
  Node &node = layer.node;
  auto [wb, rb] = layer.biases(part);
  if (!wb || !linear)
    return {wb ? node.binary<AddOp>(wb, rb) : Value(), Value()};
  AffineExpr two = node.number(2 * layer.hidden), one = node.number(layer.hidden), zero = node.number(0);
  Value none = node.splat({node.number(part.count), one}, node.elementType(rb), 0);
  return {node.binary<AddOp>(wb, node.concat({node.slice(rb, 1, zero, two), none}, 1)), node.slice(rb, 1, two, one)};
}

static LogicalResult gru(Node &node) {
  static const StringRef defaults[] = {"Sigmoid", "Tanh"};
  Layer layer(node, 3, defaults);
  bool linear = node.getFlag("linear_before_reset");
  if (!layer.read())
    return failure();
  SmallVector<Value> states, hidden;
  OpBuilder &b = node.builder();
  for (Part part : layer.parts()) {
    auto [sum, hiddenBias] = gruBiases(layer, part, linear);
    Value gates = layer.inputGates(part, sum), h0 = layer.initialState(part, 5), recurrence = layer.recurrenceOf(part);
    Type all = layer.statesType(part);
    if (node.failed())
      return failure();
    auto op = GruOp::create(b, node.loc, TypeRange{all, h0.getType()}, gates, recurrence, h0, hiddenBias, layer.lengths, layer.activations(part),
                            layer.isReverse(part), linear ? b.getUnitAttr() : UnitAttr(), layer.clip);
    states.push_back(op.getStates());
    hidden.push_back(op.getLastHidden());
  }
  return layer.finish(states, hidden, {});
}

static LogicalResult rnn(Node &node) {
  static const StringRef defaults[] = {"Tanh"};
  Layer layer(node, 1, defaults);
  if (!layer.read())
    return failure();
  SmallVector<Value> states, hidden;
  for (Part part : layer.parts()) {
    auto [wb, rb] = layer.biases(part);
    Value gates = layer.inputGates(part, wb ? node.binary<AddOp>(wb, rb) : Value());
    Value h0 = layer.initialState(part, 5), recurrence = layer.recurrenceOf(part);
    Type all = layer.statesType(part);
    if (node.failed())
      return failure();
    auto op = RnnOp::create(node.builder(), node.loc, TypeRange{all, h0.getType()}, gates, recurrence, h0, layer.lengths, layer.activations(part),
                            layer.isReverse(part), layer.clip);
    states.push_back(op.getStates());
    hidden.push_back(op.getLastHidden());
  }
  return layer.finish(states, hidden, {});
}

ArrayRef<Operator> getRecurrentOperators() {
  static const Operator rows[] = {
      {"DynamicQuantizeLSTM", 1, Elements::Float, dynamicQuantizeLstm, INT64_MAX, "com.microsoft"},
      {"GRU", 1, Elements::Float, gru},
      {"LSTM", 1, Elements::Float, lstm},
      {"RNN", 1, Elements::Float, rnn},
  };
  return rows;
}

} // namespace kiln::import
