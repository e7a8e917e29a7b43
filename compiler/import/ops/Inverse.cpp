//===- Inverse.cpp - Inverses of matrices ------------------------------------===//
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNReductionOps.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// Each row is a step of the elimination, so larger matrices would make too many operations.
static constexpr int64_t mostRows = 64;

static Value choose(Node &node, Value condition, Value yes, Value no) {
  node.broadcast({&condition, &yes, &no}, /*mixed=*/true);
  return node.failed() ? no : node.make<SelectOp>(no.getType(), condition, yes, no);
}

/// One step of Gauss-Jordan on [batch, n, 2n]: the row with the largest element of column k, of those from k on, takes the place of row k, and its
/// multiples clear the column elsewhere.
static Value eliminate(Node &node, Value rows, int64_t k, int64_t n) {
  AffineExpr batch = node.dims(rows)[0], one = node.number(1), all = node.number(n), width = node.number(2 * n);
  Type i64 = node.builder().getI64Type(), element = node.elementType(rows);
  Value below = node.slice(node.slice(rows, 1, node.number(k), node.number(n - k)), 2, node.number(k), one);
  Value sizes = node.unary<AbsOp>(node.reshape(below, {batch, node.number(n - k)}));
  Value at = node.make<ArgReduceOp>(node.type({batch, one}, i64), ReduceKind::Max, sizes, 1, false);
  at = node.reshape(node.binary<AddOp>(at, static_cast<double>(k)), {batch, one, one});
  Value pivotRow = node.make<GatherElementsOp>(node.type({batch, one, width}, element), rows, node.broadcastTo(at, {batch, one, width}), 1);
  Value pivot = node.slice(pivotRow, 2, node.number(k), one), number = node.broadcastTo(node.iota({one, all, one}, 1, i64), {batch, all, one});
  Value isReplaced = node.compare<EqualOp>(number, node.broadcastTo(at, {batch, all, one}));
  Value swapped = choose(node, isReplaced, node.slice(rows, 1, node.number(k), one), rows);
  Value normal = node.binary<DivOp>(pivotRow, pivot), factors = node.slice(swapped, 2, node.number(k), one);
  Value cleared = node.binary<SubOp>(swapped, node.binary<MulOp>(factors, normal));
  return choose(node, node.compare<EqualOp>(number, node.splatLike(number, static_cast<double>(k))), normal, cleared);
}

static LogicalResult inverse(Node &node) {
  Value x = node.input(0);
  DimExprs dims = node.dims(x);
  if (dims.size() < 2)
    return node.error("the input has rank " + Twine(dims.size()) + ", expected at least 2");
  if (!node.unify(dims[dims.size() - 2], dims.back(), "the matrices are not square"))
    return failure();
  auto size = nn::getConstantDim(dims.back());
  if (!size || *size > mostRows)
    return node.unsupported("inverses of symbolic size or of more than " + Twine(mostRows) + " rows", "make the dimension static with --dim");
  int64_t n = *size;
  if (n == 0)
    return node.result(x);
  AffineExpr batch = nn::getNumElements(ArrayRef(dims).drop_back(2), node.context()), all = node.number(n);
  Value matrices = node.cast(node.reshape(x, {batch, all, all}), node.wideType(x));
  Type i64 = node.builder().getI64Type();
  Value isDiagonal = node.compare<EqualOp>(node.broadcastTo(node.iota({all, node.number(1)}, 0, i64), {all, all}),
                                           node.broadcastTo(node.iota({node.number(1), all}, 1, i64), {all, all}));
  Value identity = node.broadcastTo(node.cast(isDiagonal, node.elementType(matrices)), {batch, all, all});
  Value rows = node.failed() ? matrices : node.concat({matrices, identity}, 2);
  for (int64_t k = 0; k < n && !node.failed(); ++k)
    rows = eliminate(node, rows, k, n);
  if (node.failed())
    return failure();
  return node.result(node.reshape(node.cast(node.slice(rows, 2, all, all), node.elementType(x)), dims));
}

ArrayRef<Operator> getInverseOperators() {
  static const Operator rows[] = {
      {"Inverse", 1, Elements::Float, inverse, INT64_MAX, "com.microsoft"},
      {"Inverse", 1, Elements::Float, inverse, INT64_MAX, "ai.onnx.contrib"},
  };
  return rows;
}

} // namespace kiln::import
