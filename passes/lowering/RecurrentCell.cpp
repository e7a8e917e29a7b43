//===- RecurrentCell.cpp - What LSTM and GRU kernels share -----------------===//
#include "passes/lowering/RecurrentCell.h"
#include "passes/lowering/RowLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Accumulators per gate: with three or four gates enough chains to hide the latency of an addition.
static constexpr int64_t chains = 2;

RecurrentCell::RecurrentCell(KernelBuilder &k, Value recurrence, int64_t gates)
    : k(k), recurrence(recurrence), gates(gates), element(getElementTypeOrSelf(recurrence.getType())), lanes(k.target().lanes(32)) {
  hidden = *getConstantDim(getDim(recurrence.getType(), 1));
  auto argument = dyn_cast<BlockArgument>(recurrence);
  packed = argument && k.isConstant(argument.getArgNumber()) && element.isF32();
  while (lanes > 1 && (hidden % lanes || !packed))
    lanes /= 2;
  if (lanes < 4)
    lanes = 1;
  packed &= lanes > 1;
  if (!packed)
    return;
  // [block, i, gate, lane] <- R[gate * hidden + block * lanes + lane, i]
  MLIRContext *context = k.context();
  AffineExpr block, i, gate, lane;
  bindDims(context, block, i, gate, lane);
  auto map = AffineMap::get(4, 0, {gate * hidden + block * lanes + lane, i}, context);
  k.packConstant(argument.getArgNumber(), kernel::PackAttr::get(context, {hidden / lanes, hidden, gates, static_cast<int64_t>(lanes)}, map));
}

bool knowsActivations(ArrayAttr names) {
  static constexpr llvm::StringLiteral known[] = {"Sigmoid", "Tanh", "Relu", "HardSigmoid", "Softsign", "Softplus", "Elu", "LeakyRelu", "ThresholdedRelu"};
  return llvm::all_of(names, [](Attribute name) { return llvm::is_contained(known, cast<StringAttr>(name).getValue()); });
}

Scalar RecurrentCell::activate(StringAttr name, const Scalar &x) const {
  StringRef f = name.getValue();
  if (f == "Sigmoid")
    return sigmoid(x);
  if (f == "Tanh")
    return tanh(x);
  if (f == "Relu")
    return max(x, 0.0);
  if (f == "HardSigmoid")
    return max(min(x * 0.2 + 0.5, 1.0), 0.0);
  if (f == "Softsign")
    return x / (abs(x) + 1.0);
  if (f == "Softplus")
    return max(x, 0.0) + log(exp(-abs(x)) + 1.0);
  if (f == "Elu")
    return select(x < 0.0, exp(x) - 1.0, x);
  if (f == "LeakyRelu")
    return select(x < 0.0, x * 0.01, x);
  assert(f == "ThresholdedRelu" && "matched kernels know their activations");
  return select(x > 1.0, x, x.like(0.0));
}

Scalar RecurrentCell::clip(const Scalar &x, const std::optional<APFloat> &limit) const {
  if (!limit)
    return x;
  double bound = limit->convertToDouble();
  return min(max(x, -bound), bound);
}

void RecurrentCell::copyUnits(function_ref<void(AffineExpr, Lanes)> body) const { k.vectorLoop(k.constant(hidden), lanes, "unit", body); }

void RecurrentCell::eachBlock(function_ref<void(AffineExpr, Lanes, unsigned)> body) const {
  k.loop(k.constant(0), k.constant(hidden), lanes, "unit",
         [&](AffineExpr j) { body(j, Lanes{cast<AffineDimExpr>(j).getPosition(), lanes}, hidden / lanes); });
}

void RecurrentCell::steps(AffineExpr count, bool reverse, Value lengths, AffineExpr b, unsigned states,
                          function_ref<void(AffineExpr)> body) const {
  k.loop(k.constant(0), count, 1, "step", [&](AffineExpr step) {
    AffineExpr t = k.index(k.emit(reverse ? count - 1 - step : step));
    if (!lengths)
      return body(t);
    Value length = arith::IndexCastOp::create(k.builder(), k.loc(), k.builder().getIndexType(), k.value(lengths, {b}));
    Value inside = arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::slt, k.emit(t), length);
    k.branch(inside, [&] { body(t); });
    Value outside = arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::sge, k.emit(t), length);
    k.branch(outside, [&] {
      copyUnits([&](AffineExpr j, Lanes at) { k.store(states, k.number(element, 0, at.count), {t, b, j}, at); });
    });
  });
}

Value RecurrentCell::weight(AffineExpr j, AffineExpr i, int64_t gate, Lanes at) const {
  if (!packed)
    return k.value(recurrence, {j + gate * hidden, i}, at);
  Value buffer = k.buffer(cast<BlockArgument>(recurrence).getArgNumber());
  AffineExpr offset = j * (hidden * gates) + (i * gates + gate) * static_cast<int64_t>(lanes);
  // The lanes of a block lie side by side: the vector runs along the stored lane, whatever the unit's place.
  AffineExpr lane = k.index(k.emit(offset));
  return k.loadBuffer(buffer, element, lane, Lanes{cast<AffineDimExpr>(lane).getPosition(), at.count});
}

SmallVector<Value> RecurrentCell::products(AffineExpr j, Lanes at, ArrayRef<int64_t> wanted, function_ref<Value(AffineExpr)> state) const {
  auto step = [&](AffineExpr i, ValueRange carried, int64_t part, SmallVectorImpl<Value> &next) {
    Scalar h = scalar(k.broadcast(state(i), at.count));
    for (auto [n, gate] : llvm::enumerate(wanted))
      next.push_back((h * scalar(weight(j, i, gate, at)) + scalar(carried[part * wanted.size() + n])).value());
  };
  int64_t width = hidden % chains == 0 ? chains : 1;
  SmallVector<Value> init(width * wanted.size(), k.number(element, 0, at.count));
  SmallVector<Value> sums = k.loop(k.constant(0), k.constant(hidden), width, "i", init, [&](AffineExpr i, ValueRange carried) {
    SmallVector<Value> next;
    for (int64_t part = 0; part < width; ++part)
      step(part == 0 ? i : k.index(k.emit(i + part)), carried, part, next);
    return next;
  });
  SmallVector<Value> totals(sums.begin(), sums.begin() + wanted.size());
  for (size_t n = 0; width > 1 && n < wanted.size(); ++n)
    totals[n] = (scalar(totals[n]) + scalar(sums[wanted.size() + n])).value();
  return totals;
}

} // namespace kiln
