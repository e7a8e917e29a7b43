//===- Matmul.cpp - Matrix products ------------------------------------------===//
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// numpy's matmul: one-dimensional operands become a row and a column, batch dimensions broadcast.
static LogicalResult matmul(Node &node) {
  Value a = node.input(0), b = node.input(1);
  DimExprs left = node.dims(a), right = node.dims(b);
  if (left.empty() || right.empty())
    return node.error("operands of rank 0 cannot be multiplied");
  if (node.elementType(a) != node.elementType(b))
    return node.error("operands have different element types");
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
      return failure();
    auto withBatch = [&](ArrayRef<AffineExpr> dims) {
      DimExprs result = *batch;
      llvm::append_range(result, dims.take_back(2));
      return result;
    };
    a = node.broadcastTo(a, withBatch(left));
    b = node.broadcastTo(b, withBatch(right));
  }
  if (node.failed())
    return failure();
  Value product = node.matmul(a, b);
  if (node.failed() || (!isRow && !isColumn))
    return node.result(product);
  DimExprs dims = node.dims(product);
  if (isColumn)
    dims.pop_back();
  if (isRow)
    dims.erase(dims.end() - (isColumn ? 1 : 2));
  return node.result(node.reshape(product, dims));
}

/// alpha * A' * B' + beta * C, where ' is an optional transposition.
static LogicalResult gemm(Node &node) {
  Value a = node.input(0), b = node.input(1);
  double alpha = node.getFloat("alpha", 1), beta = node.getFloat("beta", 1);
  bool transA = node.getFlag("transA"), transB = node.getFlag("transB");
  // Up to opset 6 it is said whether C is broadcast; since then it always may be.
  node.ignore("broadcast");
  if (!node.expectRank(a, 2, "A") || !node.expectRank(b, 2, "B"))
    return failure();
  if (node.elementType(a) != node.elementType(b))
    return node.error("A and B have different element types");
  Value result = node.matmul(transA ? node.transpose(a, {1, 0}) : a, transB ? node.transpose(b, {1, 0}) : b);
  if (node.failed())
    return failure();
  if (alpha != 1)
    result = node.binary<MulOp>(result, alpha);
  Value c = node.optionalInput(2);
  if (!c || beta == 0)
    return node.result(result);
  if (beta != 1)
    c = node.binary<MulOp>(c, beta);
  c = node.broadcastTo(c, node.dims(result));
  return node.failed() ? failure() : node.result(node.binary<AddOp>(result, c));
}

//===- Einsum --------------------------------------------------------------===//

namespace {
/// Labels of an operand, one a dimension. Dimensions of an ellipsis get labels of their own, counted from the right.
using Labels = SmallVector<int>;

/// An equation over operands.
class Einsum {
public:
  Einsum(Node &node) : node(node) {}
  LogicalResult run();

private:
  bool parseTerm(StringRef text, int64_t rank, Labels &labels);
  bool bindOperand(Value &value, Labels &labels);
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

/// Records the sizes of labels, and takes the diagonal of repeated ones.
bool Einsum::bindOperand(Value &value, Labels &labels) {
  for (size_t i = 0; i < labels.size(); ++i) {
    if (llvm::is_contained(ArrayRef(labels).take_front(i), labels[i])) {
      (void)node.unsupported("a repeated letter in one term of the equation (a diagonal)", "take the diagonal before");
      return false;
    }
    AffineExpr dim = node.dims(value)[i];
    auto [entry, isNew] = sizes.try_emplace(labels[i], dim);
    bool isStretched = labels[i] > ellipsisLabel && !isNew;
    if (isStretched && nn::getConstantDim(entry->second) == 1)
      entry->second = dim;
    else if (!(isStretched && nn::getConstantDim(dim) == 1) && !node.unify(entry->second, dim, "dimensions of one letter differ"))
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

/// Sums over the labels that nobody needs any more.
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
  for (auto [i, term] : llvm::enumerate(terms)) {
    values.push_back(node.input(i));
    if (!parseTerm(term, node.rank(values[i]), labels[i]) || !bindOperand(values[i], labels[i]))
      return failure();
  }
  Labels wanted;
  if (StringRef(equation).contains("->")) {
    if (!parseTerm(output, -1, wanted))
      return failure();
  } else {
    // Without an output term: all labels that occur once, in alphabetical order, the ellipsis first.
    std::map<int, int> counts;
    for (const Labels &term : labels)
      for (int label : term)
        ++counts[label];
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

static LogicalResult einsum(Node &node) { return Einsum(node).run(); }

ArrayRef<Operator> getMatmulOperators() {
  static const Operator rows[] = {
      {"Einsum", 12, Elements::Number, einsum},
      {"Gemm", 1, Elements::Number, gemm},
      {"MatMul", 1, Elements::Number, matmul},
  };
  return rows;
}

} // namespace kiln::import
