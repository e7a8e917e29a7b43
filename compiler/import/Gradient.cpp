//===- Gradient.cpp - Derivatives of a value ---------------------------------===//
//
//   y = f(x)  and  dy = Gradient<xs = ["x"], y = "y">(x)    ->    backwards over the operations between x and y, each gives its operands their share
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Gradient.h"
#include "compiler/files/Printable.h"
#include "compiler/import/Node.h"
#include "compiler/import/onnx.pb.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNElementwiseOps.h"
#include "dialects/nn/NNReductionOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

namespace {
class Backward {
public:
  Backward(Node &node, ArrayRef<Value> inputs) : node(node) {
    for (Value input : inputs)
      reached.insert(input);
  }
  /// The derivatives of the sum of y's elements by each value.
  llvm::DenseMap<Value, Value> run(Value y);

private:
  void add(Value operand, Value share);
  bool visit(Operation *op, Value g);
  bool visitUnary(Operation *op, Value g);
  bool visitBinary(Operation *op, Value g);
  bool visitMovement(Operation *op, Value g);
  bool visitMatmul(MatmulOp op, Value g);
  Value times(Value a, Value b) { return node.binary<MulOp>(a, b); }
  Value minus(Value x) { return node.unary<NegOp>(x); }
  /// 1 - x
  Value rest(Value x) { return node.binary<SubOp>(node.splatLike(x, 1), x); }
  Value sumTo(Value g, Value like);

  Node &node;
  /// The inputs and the values that depend on them.
  llvm::DenseSet<Value> reached;
  llvm::DenseMap<Value, Value> shares;
};
} // namespace

void Backward::add(Value operand, Value share) {
  if (node.failed() || !reached.contains(operand))
    return;
  Value &sum = shares[operand];
  sum = sum ? node.binary<AddOp>(sum, share) : share;
}

/// Sums over the copies that a broadcast has made.
Value Backward::sumTo(Value g, Value like) {
  DimExprs from = node.dims(like), to = node.dims(g);
  SmallVector<int64_t> axes;
  int64_t added = static_cast<int64_t>(to.size() - from.size());
  for (int64_t i = 0; i < static_cast<int64_t>(to.size()); ++i)
    if (i < added || !nn::provablyEqual(from[i - added], to[i]))
      axes.push_back(i);
  Value sum = axes.empty() ? g : node.reduce(ReduceKind::Sum, g, axes, /*keep=*/true);
  return node.reshape(sum, from);
}

bool Backward::visitUnary(Operation *op, Value g) {
  Value x = op->getOperand(0), r = op->getResult(0);
  auto share = [&]() -> Value {
    if (isa<NegOp>(op))
      return minus(g);
    if (isa<ExpOp>(op))
      return times(g, r);
    if (isa<LogOp>(op))
      return node.binary<DivOp>(g, x);
    if (isa<SqrtOp>(op))
      return node.binary<DivOp>(g, node.binary<MulOp>(r, 2.0));
    if (isa<SinOp>(op))
      return times(g, node.unary<CosOp>(x));
    if (isa<CosOp>(op))
      return minus(times(g, node.unary<SinOp>(x)));
    if (isa<TanhOp>(op))
      return times(g, rest(times(r, r)));
    if (isa<SigmoidOp>(op))
      return times(g, times(r, rest(r)));
    if (isa<AbsOp>(op))
      return times(g, node.unary<SignOp>(x));
    if (isa<ReluOp>(op))
      return node.make<SelectOp>(x.getType(), node.compare<GreaterOp>(x, node.splatLike(x, 0)), g, node.splatLike(g, 0));
    return {};
  }();
  if (share)
    add(x, share);
  return static_cast<bool>(share);
}

bool Backward::visitBinary(Operation *op, Value g) {
  Value x = op->getOperand(0), y = op->getOperand(1), r = op->getResult(0);
  if (isa<AddOp, SubOp>(op)) {
    add(x, g);
    add(y, isa<AddOp>(op) ? g : minus(g));
  } else if (isa<MulOp>(op)) {
    add(x, times(g, y));
    add(y, times(g, x));
  } else if (isa<DivOp>(op)) {
    add(x, node.binary<DivOp>(g, y));
    add(y, minus(node.binary<DivOp>(times(g, r), y)));
  } else if (isa<PowOp>(op)) {
    add(x, times(g, times(y, node.binary<PowOp>(x, node.binary<SubOp>(y, 1.0)))));
    if (reached.contains(y))
      add(y, times(g, times(r, node.unary<LogOp>(x))));
  } else {
    return false;
  }
  return true;
}

bool Backward::visitMovement(Operation *op, Value g) {
  Value x = op->getOperand(0);
  if (isa<ReshapeOp>(op)) {
    add(x, node.reshape(g, node.dims(x)));
  } else if (isa<BroadcastToOp>(op)) {
    add(x, sumTo(g, x));
  } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
    SmallVector<int64_t> inverse(transpose.getPermutation().size());
    for (auto [i, dim] : llvm::enumerate(transpose.getPermutation()))
      inverse[dim] = static_cast<int64_t>(i);
    add(x, node.transpose(g, inverse));
  } else if (auto reduce = dyn_cast<ReduceOp>(op); reduce && reduce.getKind() == ReduceKind::Sum) {
    DimExprs kept = node.dims(x);
    for (int64_t axis : reduce.getAxes())
      kept[axis] = node.number(1);
    add(x, node.broadcastTo(node.reshape(g, kept), node.dims(x)));
  } else {
    return false;
  }
  return true;
}

/// Two matrices, or two stacks of the same number of matrices.
bool Backward::visitMatmul(MatmulOp op, Value g) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  if (node.rank(a) != node.rank(b) || node.rank(a) != node.rank(g))
    return false;
  SmallVector<int64_t> swapped = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(a)));
  std::swap(swapped[swapped.size() - 2], swapped.back());
  if (reached.contains(a))
    add(a, sumTo(node.matmul(g, node.transpose(b, swapped)), a));
  if (reached.contains(b))
    add(b, sumTo(node.matmul(node.transpose(a, swapped), g), b));
  return true;
}

bool Backward::visit(Operation *op, Value g) {
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return visitMatmul(matmul, g);
  if (op->getNumOperands() == 2 && op->getNumResults() == 1)
    return visitBinary(op, g);
  return op->getNumOperands() == 1 && op->getNumResults() == 1 && (visitUnary(op, g) || visitMovement(op, g));
}

llvm::DenseMap<Value, Value> Backward::run(Value y) {
  SmallVector<Operation *> order;
  for (Operation &op : *node.builder().getInsertionBlock())
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return reached.contains(operand); })) {
      order.push_back(&op);
      reached.insert(op.result_begin(), op.result_end());
    }
  shares[y] = node.splatLike(y, 1);
  for (Operation *op : llvm::reverse(order)) {
    Value g = op->getNumResults() == 1 ? shares.lookup(op->getResult(0)) : Value();
    if (g && !node.failed() && !visit(op, g))
      (void)node.unsupported("the derivative of " + op->getName().getStringRef(), "write the derivative into the model");
  }
  return std::move(shares);
}

LogicalResult differentiate(Node &node) {
  auto xs = node.findStrings("xs"), zs = node.findStrings("zs");
  std::string y = node.getString("y", ""), reason;
  if (!xs || node.failed() || xs->size() + (zs ? zs->size() : 0) != node.numInputs() || node.numOutputs() > xs->size())
    return node.error("attributes 'xs' and 'zs' do not have one name for each input");
  SmallVector<std::string> names(*xs);
  if (zs)
    names.append(*zs);
  for (auto [name, input] : llvm::zip_equal(names, node.allInputs()))
    if (auto value = node.lookup(name, reason); !input || !value || *value != input)
      return node.unsupported("an input that is not the value '" + printable(name) + "' that it is derived by", "give the values that 'xs' and 'zs' name");
  auto result = node.lookup(y, reason);
  if (!result || !*result || !isa<RankedTensorType>(result->getType()))
    return node.error("attribute 'y': " + (reason.empty() ? "it is no tensor" : reason));
  SmallVector<Value> inputs(node.allInputs().begin(), node.allInputs().begin() + xs->size());
  SmallVector<Value> floats(inputs);
  floats.push_back(*result);
  for (Value value : floats)
    if (!isa<RankedTensorType>(value.getType()) || !isa<FloatType>(node.elementType(value)))
      return node.error("derivatives need floating-point numbers");
  llvm::DenseMap<Value, Value> shares = Backward(node, inputs).run(*result);
  SmallVector<Value> results;
  for (size_t i = 0; i < node.numOutputs() && !node.failed(); ++i) {
    Value share = shares.lookup(inputs[i]);
    results.push_back(share ? share : node.splatLike(inputs[i], 0));
  }
  return node.setResults(results);
}

} // namespace kiln::import
