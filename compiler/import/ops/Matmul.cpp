//===- Matmul.cpp - Matrix products ------------------------------------------===//
#include "compiler/import/ops/Matmul.h"
#include "compiler/import/Operators.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNReductionOps.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

Value dropVectorDims(Node &node, Value product, bool isRow, bool isColumn) {
  if (node.failed() || (!isRow && !isColumn))
    return product;
  DimExprs dims = node.dims(product);
  if (isColumn)
    dims.pop_back();
  if (isRow)
    dims.erase(dims.end() - (isColumn ? 1 : 2));
  return node.reshape(product, dims);
}

Value buildMatmul(Node &node, Value a, Value b) {
  DimExprs left = node.dims(a), right = node.dims(b);
  if (left.empty() || right.empty())
    (void)node.error("operands of rank 0 cannot be multiplied");
  else if (node.elementType(a) != node.elementType(b))
    (void)node.error("operands have different element types");
  if (node.failed())
    return a;
  bool isRow = left.size() == 1, isColumn = right.size() == 1;
  if (isRow)
    left.insert(left.begin(), node.number(1));
  if (isColumn)
    right.push_back(node.number(1));
  a = node.reshape(a, left);
  b = node.reshape(b, right);
  if (right.size() > 2) {
    auto batch = node.broadcastDims(ArrayRef(left).drop_back(2), ArrayRef(right).drop_back(2));
    if (!batch)
      return a;
    auto withBatch = [&](ArrayRef<AffineExpr> dims) {
      DimExprs result = *batch;
      llvm::append_range(result, dims.take_back(2));
      return result;
    };
    a = node.broadcastTo(a, withBatch(left));
    b = node.broadcastTo(b, withBatch(right));
  }
  if (node.failed())
    return a;
  Value product = node.matmul(a, b);
  return dropVectorDims(node, product, isRow, isColumn);
}

static LogicalResult matmul(Node &node) { return node.result(buildMatmul(node, node.input(0), node.input(1))); }

Value buildGemm(Node &node) {
  Value a = node.input(0), b = node.input(1);
  double alpha = node.getFloat("alpha", 1), beta = node.getFloat("beta", 1);
  bool transA = node.getFlag("transA"), transB = node.getFlag("transB");
  // Up to opset 6 it is said whether C is broadcast; since then it always may be.
  node.ignore("broadcast");
  if (!node.expectRank(a, 2, "A") || !node.expectRank(b, 2, "B"))
    return a;
  if (node.elementType(a) != node.elementType(b)) {
    (void)node.error("A and B have different element types");
    return a;
  }
  Value result = node.matmul(transA ? node.transpose(a, {1, 0}) : a, transB ? node.transpose(b, {1, 0}) : b);
  if (node.failed())
    return result;
  if (alpha != 1)
    result = node.binary<MulOp>(result, alpha);
  Value c = node.optionalInput(2);
  if (!c || beta == 0)
    return result;
  if (beta != 1)
    c = node.binary<MulOp>(c, beta);
  c = node.broadcastTo(c, node.dims(result));
  return node.failed() ? result : node.binary<AddOp>(result, c);
}

static LogicalResult gemm(Node &node) { return node.result(buildGemm(node)); }

//===- Einsum --------------------------------------------------------------===//

namespace {
/// The labels of an operand, one per dimension. Dimensions of an ellipsis get separate labels, counted from the right.
using Labels = SmallVector<int>;

/// An equation over operands.
class Einsum {
public:
  Einsum(Node &node) : node(node) {}
  LogicalResult run();

private:
  bool parseTerm(StringRef text, int64_t rank, Labels &labels);
  bool bindOperand(Value &value, Labels &labels);
  bool takeDiagonal(Value &value, int64_t first, int64_t second);
  Value align(Value value, const Labels &from, const Labels &to);
  Value contract(Value a, const Labels &la, Value b, const Labels &lb, const Labels &kept, Labels &result);
  Value sumOut(Value value, Labels &labels, const Labels &kept);

  Node &node;
  DenseMap<int, AffineExpr> sizes;
  int64_t ellipsisRank = 0;
};
} // namespace

static constexpr int ellipsisLabel = 1000;

bool Einsum::parseTerm(StringRef text, int64_t rank, Labels &labels) {
  size_t letters = 0, dots = text.find("...");
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == dots) {
      i += 2;
      continue;
    }
    if (!llvm::isAlpha(text[i])) {
      (void)node.error("attribute 'equation' has the character '" + text.substr(i, 1) + "' where a letter is expected");
      return false;
    }
    ++letters;
  }
  int64_t hidden = rank < 0 ? ellipsisRank : rank - static_cast<int64_t>(letters);
  if (rank >= 0 && (hidden < 0 || (hidden > 0 && dots == StringRef::npos))) {
    (void)node.error("attribute 'equation' has a term for rank " + Twine(letters) + ", but its operand has rank " + Twine(rank));
    return false;
  }
  ellipsisRank = std::max(ellipsisRank, dots == StringRef::npos ? 0 : hidden);
  for (size_t i = 0; i < text.size(); ++i) {
    if (i != dots) {
      labels.push_back(text[i]);
      continue;
    }
    for (int64_t h = hidden; h > 0; --h)
      labels.push_back(ellipsisLabel + static_cast<int>(h));
    i += 2;
  }
  return true;
}

/// Two dimensions of equal size become the first of them: of its last two dimensions as one, each (size + 1)th element.
bool Einsum::takeDiagonal(Value &value, int64_t first, int64_t second) {
  DimExprs dims = node.dims(value);
  if (!node.unify(dims[first], dims[second], "dimensions of one letter differ"))
    return false;
  AffineExpr size = dims[first];
  auto known = nn::getConstantDim(size);
  if (!known) {
    (void)node.unsupported("the diagonal of a symbolic dimension", "make it static with --dim");
    return false;
  }
  SmallVector<int64_t> order, back;
  DimExprs others;
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i)
    if (i != first && i != second) {
      order.push_back(i);
      others.push_back(dims[i]);
    }
  int64_t left = others.size();
  for (int64_t i = 0; i <= left; ++i)
    back.push_back(i == first ? left : i < first ? i : i - 1);
  order.append({first, second});
  DimExprs flat = others, result = others;
  flat.push_back(size * size);
  value = node.slice(node.reshape(node.transpose(value, order), flat), left, node.number(0), size, *known + 1);
  value = node.transpose(value, back);
  return !node.failed();
}

/// Records the sizes of labels, and takes the diagonal of repeated ones.
bool Einsum::bindOperand(Value &value, Labels &labels) {
  for (size_t i = 0; i < labels.size(); ++i) {
    if (auto *first = llvm::find(labels, labels[i]); first != labels.begin() + i) {
      if (!takeDiagonal(value, first - labels.begin(), i))
        return false;
      labels.erase(labels.begin() + i--);
      continue;
    }
    AffineExpr dim = node.dims(value)[i];
    auto [entry, isNew] = sizes.try_emplace(labels[i], dim);
    // A size of 1 is broadcast, be it of a letter or of the ellipsis.
    if (!isNew && nn::getConstantDim(entry->second) == 1)
      entry->second = dim;
    else if (nn::getConstantDim(dim) != 1 && !node.unify(entry->second, dim, "dimensions of one letter differ"))
      return false;
  }
  return true;
}

/// Transposes to the order of `to`, with dimensions of size one for labels that are not there.
Value Einsum::align(Value value, const Labels &from, const Labels &to) {
  SmallVector<int64_t> permutation;
  DimExprs dims, own = node.dims(value);
  for (int label : to) {
    auto *at = llvm::find(from, label);
    dims.push_back(at == from.end() ? node.number(1) : own[at - from.begin()]);
    if (at != from.end())
      permutation.push_back(at - from.begin());
  }
  return node.reshape(node.transpose(value, permutation), dims);
}

/// Sums over the labels that are no longer needed.
Value Einsum::sumOut(Value value, Labels &labels, const Labels &kept) {
  SmallVector<int64_t> axes;
  Labels left;
  for (auto [i, label] : llvm::enumerate(labels)) {
    if (llvm::is_contained(kept, label))
      left.push_back(label);
    else
      axes.push_back(i);
  }
  labels = left;
  return node.reduce(ReduceKind::Sum, value, axes, /*keep=*/false);
}

/// One product of two operands as a batched matmul: batch labels in both and kept, summed ones in both, the rest on one side.
Value Einsum::contract(Value a, const Labels &la, Value b, const Labels &lb, const Labels &kept, Labels &result) {
  Labels batch, rows, columns, summed;
  for (int label : la)
    (llvm::is_contained(lb, label) ? llvm::is_contained(kept, label) ? batch : summed : rows).push_back(label);
  for (int label : lb)
    if (!llvm::is_contained(la, label))
      columns.push_back(label);
  auto join = [](std::initializer_list<const Labels *> parts) {
    Labels all;
    for (const Labels *part : parts)
      all.append(part->begin(), part->end());
    return all;
  };
  auto product = [&](const Labels &labels) {
    DimExprs dims;
    for (int label : labels)
      dims.push_back(sizes[label]);
    return nn::getNumElements(dims, node.context());
  };
  auto shape = [&](const Labels &labels) {
    DimExprs dims;
    for (int label : labels)
      dims.push_back(sizes[label]);
    return dims;
  };
  result = join({&batch, &rows, &columns});
  Labels left = join({&batch, &rows, &summed}), right = join({&batch, &summed, &columns});
  a = node.broadcastTo(align(a, la, left), shape(left));
  b = node.broadcastTo(align(b, lb, right), shape(right));
  a = node.reshape(a, {product(batch), product(rows), product(summed)});
  b = node.reshape(b, {product(batch), product(summed), product(columns)});
  return node.failed() ? a : node.reshape(node.matmul(a, b), shape(result));
}

LogicalResult Einsum::run() {
  std::string equation = node.getString("equation", "");
  llvm::erase(equation, ' ');
  auto [inputs, output] = StringRef(equation).split("->");
  SmallVector<StringRef> terms;
  inputs.split(terms, ',');
  if (terms.size() != node.numInputs())
    return node.error("attribute 'equation' has " + Twine(terms.size()) + " terms, but there are " + Twine(node.numInputs()) + " inputs");
  SmallVector<Labels> labels(terms.size());
  SmallVector<Value> values;
  std::map<int, int> counts;
  for (auto [i, term] : llvm::enumerate(terms)) {
    values.push_back(node.input(i));
    if (!parseTerm(term, node.rank(values[i]), labels[i]))
      return failure();
    for (int label : labels[i])
      ++counts[label];
    if (!bindOperand(values[i], labels[i]))
      return failure();
  }
  Labels wanted;
  if (StringRef(equation).contains("->")) {
    if (!parseTerm(output, -1, wanted))
      return failure();
  } else {
    // Without an output term: all letters that occur once in the equation, in alphabetical order, the ellipsis first.
    for (int64_t h = ellipsisRank; h > 0; --h)
      wanted.push_back(ellipsisLabel + static_cast<int>(h));
    for (auto [label, count] : counts)
      if (label < ellipsisLabel && count == 1)
        wanted.push_back(label);
  }
  for (auto [i, label] : llvm::enumerate(wanted))
    if (!sizes.contains(label) || llvm::is_contained(ArrayRef(wanted).take_front(i), label))
      return node.error("attribute 'equation' has an output label that no input has, or one twice");
  Value total = values[0];
  Labels have = labels[0];
  for (size_t i = 0; i < values.size(); ++i) {
    Labels needed = wanted;
    for (size_t j = i + 1; j < values.size(); ++j)
      needed.append(labels[j]);
    if (i > 0) {
      Labels kept = needed, joined;
      values[i] = sumOut(values[i], labels[i], [&] { Labels k = kept; k.append(have); return k; }());
      total = contract(total, have, values[i], labels[i], kept, joined);
      have = joined;
    }
    total = sumOut(total, have, needed);
    if (node.failed())
      return failure();
  }
  DimExprs dims;
  for (int label : wanted)
    dims.push_back(sizes[label]);
  return node.result(node.broadcastTo(align(total, have, wanted), dims));
}

/// Determinants by elimination with row pivots. In each step the row with the largest first element takes the place of the first one, and its
/// multiples leave the others one row and column smaller.
static LogicalResult det(Node &node) {
  static constexpr int64_t limit = 64;
  Value x = node.input(0);
  DimExprs dims = node.dims(x);
  if (dims.size() < 2)
    return node.error("the input has rank " + Twine(dims.size()) + ", expected at least 2");
  auto size = nn::getConstantDim(dims.back());
  if (!size || *size > limit)
    return node.unsupported("matrices of symbolic size or of more than " + Twine(limit) + " rows", "make the dimension static with --dim");
  if (!node.unify(dims[dims.size() - 2], dims.back(), "the matrices are not square"))
    return failure();
  DimExprs outer(dims.begin(), dims.end() - 2);
  AffineExpr batch = nn::getNumElements(outer, node.context()), one = node.number(1), zero = node.number(0);
  Type i64 = node.builder().getI64Type(), element = node.elementType(x);
  Value rest = node.reshape(x, {batch, node.number(*size), node.number(*size)}), product = node.splat({batch, one}, element, 1);
  auto choose = [&](Value condition, Value yes, Value no) {
    node.broadcast({&condition, &yes, &no}, /*mixed=*/true);
    return node.failed() ? no : node.make<SelectOp>(no.getType(), condition, yes, no);
  };
  for (int64_t n = *size; n > 0 && !node.failed(); --n) {
    AffineExpr all = node.number(n), less = node.number(n - 1);
    Value column = node.reshape(node.slice(rest, 2, zero, one), {batch, all});
    Value at = node.make<ArgReduceOp>(node.type({batch, one}, i64), ReduceKind::Max, node.unary<AbsOp>(column), 1, false);
    Value pivot = node.make<GatherElementsOp>(node.type({batch, one}, element), column, at, 1);
    Value isFirst = node.compare<EqualOp>(at, node.splatLike(at, 0));
    product = node.binary<MulOp>(product, choose(isFirst, pivot, node.unary<NegOp>(pivot)));
    if (n == 1)
      break;
    Value atRow = node.broadcastTo(node.reshape(at, {batch, one, one}), {batch, one, all});
    Value pivotRow = node.make<GatherElementsOp>(node.type({batch, one, all}, element), rest, atRow, 1);
    Value number = node.binary<AddOp>(node.iota({one, less, one}, 1, i64), 1.0);
    DimExprs rows = {batch, less, one};
    Value replaced = node.compare<EqualOp>(node.broadcastTo(number, rows), node.broadcastTo(node.reshape(at, {batch, one, one}), rows));
    Value others = choose(replaced, node.slice(rest, 1, zero, one), node.slice(rest, 1, one, less));
    // A column of zeros makes the product zero; what is left then does not matter, but must not be NaN.
    Value divisor = choose(node.compare<EqualOp>(pivot, node.splatLike(pivot, 0)), node.splatLike(pivot, 1), pivot);
    Value factor = node.binary<DivOp>(node.slice(others, 2, zero, one), node.reshape(divisor, {batch, one, one}));
    Value tail = node.binary<MulOp>(factor, node.slice(pivotRow, 2, one, less));
    rest = node.binary<SubOp>(node.slice(others, 2, one, less), tail);
  }
  return node.failed() ? failure() : node.result(node.reshape(product, outer));
}

static LogicalResult einsum(Node &node) { return Einsum(node).run(); }

ArrayRef<Operator> getMatmulOperators() {
  static const Operator rows[] = {
      {"Det", 11, Elements::Float, det},
      {"Einsum", 12, Elements::Number, einsum},
      {"Gemm", 1, Elements::Number, gemm},
      {"MatMul", 1, Elements::Number, matmul},
  };
  return rows;
}

} // namespace kiln::import
