//===- Gather.cpp - Reads and writes at indices ------------------------------===//
#include "compiler/import/ops/Gather.h"
#include "compiler/import/Operators.h"
#include "compiler/import/ops/Strings.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// Indices must be i32 or i64; known ones must lie in [-size, size).
static bool checkIndices(Node &node, Value indices, AffineExpr size) {
  Type element = node.elementType(indices);
  if (!element.isSignlessInteger(32) && !element.isSignlessInteger(64)) {
    (void)node.error("indices have a type other than int32 or int64");
    return false;
  }
  auto known = nn::getConstantDim(size);
  auto constant = indices.getDefiningOp<ConstantOp>();
  if (!known || !constant)
    return true;
  nn::ConstantData data(constant.getValue());
  for (int64_t i = 0; i < data.numElements(); ++i)
    if (int64_t at = data.asInt(i); at < -*known || at >= *known) {
      (void)node.error("index " + Twine(at) + " is out of range for a dimension of size " + Twine(*known));
      return false;
    }
  return true;
}

Value buildGather(Node &node, Value x, Value indices, int64_t axis) {
  if (node.failed() || !checkIndices(node, indices, node.dims(x)[axis]))
    return x;
  DimExprs dims = node.dims(x), inner = node.dims(indices);
  // What reads the only index of a dimension that has any is a slice (GatherToSlice), which checks nothing.
  if (auto at = getIntegerContents(indices); at && at->size() == 1 && !nn::getConstantDim(dims[axis]))
    if (auto index = nn::getConstantDim(at->front()); index == 0 || index == -1)
      node.requireInRun(dims[axis] - 1);
  dims.erase(dims.begin() + axis);
  dims.insert(dims.begin() + axis, inner.begin(), inner.end());
  RankedTensorType type = node.type(dims, node.elementType(x));
  if (node.failed())
    return x;
  // One known index of a vector of sizes is what shape arithmetic does most: folded by rank one.
  if (auto contents = getContents(x, &node.facts()); contents && node.rank(x) == 1)
    if (auto at = getIntegerContents(indices); at && llvm::all_of(*at, [](AffineExpr e) { return nn::getConstantDim(e).has_value(); })) {
      Contents chosen;
      for (AffineExpr e : *at) {
        int64_t i = *nn::getConstantDim(e);
        chosen.push_back((*contents)[i < 0 ? i + contents->size() : i]);
      }
      return materialize(node.builder(), node.loc, type, chosen);
    }
  return node.make<GatherOp>(type, x, indices, axis);
}

static LogicalResult gather(Node &node) {
  Value x = node.input(0);
  int64_t axis = node.axis(node.getInt("axis", 0), node.rank(x));
  return node.result(buildGather(node, x, node.input(1), axis));
}

static LogicalResult gatherElements(Node &node) {
  Value x = node.input(0), indices = node.input(1);
  int64_t axis = node.axis(node.getInt("axis", 0), node.rank(x));
  if (node.failed() || !node.expectRank(indices, node.rank(x), "indices") || !checkIndices(node, indices, node.dims(x)[axis]))
    return failure();
  DimExprs from = node.dims(x), to = node.dims(indices);
  for (size_t i = 0; i < from.size(); ++i)
    if (static_cast<int64_t>(i) != axis)
      node.requireNotNegative(from[i] - to[i], "indices are larger than the input outside the axis");
  return node.failed() ? failure() : node.result(node.make<GatherElementsOp>(node.type(to, node.elementType(x)), x, indices, axis));
}

/// The length of the coordinate tuples, the last dimension of the indices.
static std::optional<int64_t> tupleLength(Node &node, Value indices, int64_t available) {
  DimExprs dims = node.dims(indices);
  auto length = dims.empty() ? std::nullopt : nn::getConstantDim(dims.back());
  if (!length)
    (void)node.error("indices need a static last dimension");
  else if (*length < 1 || *length > available)
    (void)node.error("indices have tuples of " + Twine(*length) + " coordinates, but only " + Twine(available) + " dimensions can be indexed");
  return node.failed() ? std::nullopt : length;
}

/// Coordinates of constant indices, each against its own dimension.
static bool checkTuples(Node &node, Value indices, ArrayRef<AffineExpr> sizes) {
  auto constant = indices.getDefiningOp<ConstantOp>();
  if (!constant || !isa<IntegerType>(node.elementType(indices)))
    return true;
  nn::ConstantData data(constant.getValue());
  for (int64_t i = 0; i < data.numElements(); ++i) {
    auto size = nn::getConstantDim(sizes[i % sizes.size()]);
    if (!size || (data.asInt(i) < *size && data.asInt(i) >= -*size))
      continue;
    (void)node.error("index " + Twine(data.asInt(i)) + " is out of range for a dimension of size " + Twine(*size));
    return false;
  }
  return true;
}

static LogicalResult gatherNd(Node &node) {
  Value x = node.input(0), indices = node.input(1);
  int64_t batch = node.getInt("batch_dims", 0);
  DimExprs from = node.dims(x), at = node.dims(indices);
  if (batch < 0 || batch >= static_cast<int64_t>(std::min(from.size(), at.size())))
    return node.error("attribute 'batch_dims' is " + Twine(batch) + ", out of range for ranks " + Twine(from.size()) + " and " + Twine(at.size()));
  auto length = tupleLength(node, indices, from.size() - batch);
  if (!length || !checkTuples(node, indices, ArrayRef(from).slice(batch, *length)))
    return failure();
  for (int64_t i = 0; i < batch; ++i)
    if (!node.unify(from[i], at[i], "batch dimensions differ"))
      return failure();
  DimExprs to(at.begin(), at.end() - 1);
  to.append(from.begin() + batch + *length, from.end());
  return node.result(node.make<GatherNdOp>(node.type(to, node.elementType(x)), x, indices, batch));
}

static std::optional<ScatterReduction> readScatterReduction(Node &node, const StringPlaces &strings) {
  std::string text = node.getString("reduction", "none");
  auto kind = symbolizeScatterReduction(text);
  if (!kind)
    (void)node.error("attribute 'reduction' is '" + text + "', expected none, add, mul, min or max");
  else if (strings.isActive() && *kind != ScatterReduction::None)
    (void)node.error("attribute 'reduction' is '" + text + "', expected none for strings");
  return kind;
}

static LogicalResult scatterElements(Node &node) {
  Value x = node.input(0), indices = node.input(1), updates = node.input(2);
  int64_t axis = node.axis(node.getInt("axis", 0), node.rank(x));
  StringPlaces strings(node, {&x, &updates});
  auto reduction = readScatterReduction(node, strings);
  if (node.failed() || !node.expectRank(indices, node.rank(x), "indices") || !checkIndices(node, indices, node.dims(x)[axis]))
    return failure();
  if (!node.expectRank(updates, node.rank(indices), "updates") || node.elementType(updates) != node.elementType(x))
    return node.error("updates and input have different element types");
  for (auto [a, b] : llvm::zip_equal(node.dims(indices), node.dims(updates)))
    if (!node.unify(a, b, "indices and updates have different shapes: dimensions"))
      return failure();
  updates = node.reshape(updates, node.dims(indices));
  return node.result(strings.restore(node.make<ScatterElementsOp>(x.getType(), x, indices, updates, axis, *reduction)));
}

static LogicalResult scatterNd(Node &node) {
  Value x = node.input(0), indices = node.input(1), updates = node.input(2);
  StringPlaces strings(node, {&x, &updates});
  auto reduction = readScatterReduction(node, strings);
  if (node.failed())
    return failure();
  DimExprs from = node.dims(x), at = node.dims(indices);
  auto length = tupleLength(node, indices, from.size());
  if (!length || node.elementType(updates) != node.elementType(x))
    return node.error("updates and input have different element types");
  if (!checkTuples(node, indices, ArrayRef(from).take_front(*length)))
    return failure();
  DimExprs want(at.begin(), at.end() - 1);
  want.append(from.begin() + *length, from.end());
  if (!node.expectRank(updates, want.size(), "updates"))
    return failure();
  for (auto [a, b] : llvm::zip_equal(want, node.dims(updates)))
    if (!node.unify(a, b, "updates have a wrong shape: dimensions"))
      return failure();
  return node.result(strings.restore(node.make<ScatterNdOp>(x.getType(), x, indices, node.reshape(updates, want), *reduction)));
}

/// The first sequence_lens[b] steps of each batch entry backwards, the others as they are.
static LogicalResult reverseSequence(Node &node) {
  Value x = node.input(0), lengths = node.input(1);
  int64_t batch = node.getInt("batch_axis", 1), time = node.getInt("time_axis", 0);
  if (batch + time != 1 || batch * time != 0 || node.rank(x) < 2 || !node.expectRank(lengths, 1, "sequence_lens"))
    return node.error("expected batch_axis and time_axis to be 0 and 1, and an input of rank 2 or more");
  DimExprs dims = node.dims(x), perBatch(dims.size(), node.number(1));
  perBatch[batch] = node.dims(lengths)[0];
  for (AffineExpr given : getIntegerContents(lengths).value_or(DimExprs()))
    if (auto count = nn::getConstantDim(given), size = nn::getConstantDim(dims[time]); count && (*count < 0 || (size && *count > *size)))
      return node.error("sequence_lens has a length of " + Twine(*count) + ", the time axis is of size " + nn::formatDim(dims[time]));
  Value at = node.iota(dims, time, node.builder().getI64Type());
  Value length = node.broadcastTo(node.reshape(node.cast(lengths, node.elementType(at)), perBatch), dims);
  if (node.failed())
    return failure();
  Value reversed = node.binary<SubOp>(node.binary<SubOp>(length, 1.0), at);
  Value places = node.make<SelectOp>(at.getType(), node.compare<LessOp>(at, length), reversed, at);
  return node.result(node.make<GatherElementsOp>(x.getType(), x, places, time));
}

/// Writes an update into a cache, for each batch entry from its own place on; a circular one goes on at the front.
static LogicalResult tensorScatter(Node &node) {
  Value cache = node.input(0), update = node.input(1), starts = node.optionalInput(2);
  StringPlaces strings(node, {&cache, &update});
  std::string mode = node.getString("mode", "linear");
  int64_t rank = node.rank(cache), axis = node.axis(node.getInt("axis", -2), rank);
  if (mode != "linear" && mode != "circular")
    return node.error("attribute 'mode' is '" + mode + "', expected linear or circular");
  if (node.failed() || axis == 0 || !node.expectRank(update, rank, "the update") || node.elementType(update) != node.elementType(cache))
    return node.error("expected an axis behind the batch, and an update of the cache's rank and element type");
  DimExprs dims = node.dims(update), all = node.dims(cache), perBatch(rank, node.number(1));
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis && !node.unify(dims[i], all[i], "the update differs from the cache outside the axis: dimensions"))
      return failure();
  if (auto size = nn::getConstantDim(all[axis]), more = nn::getConstantDim(dims[axis]); size && more && *more > *size)
    return node.error("the update is longer than the cache: dimensions " + Twine(*more) + " and " + Twine(*size));
  // One place for each row, and no more: caches of keys and values share them.
  DimExprs rows(rank, node.number(1));
  rows[axis] = dims[axis];
  if (starts && node.expectRank(starts, 1, "write_indices"))
    rows[0] = perBatch[0] = node.dims(starts)[0];
  Value places = node.iota(rows, axis, node.builder().getI64Type());
  if (starts && !node.failed())
    places = node.binary<AddOp>(places, node.broadcastTo(node.reshape(starts, perBatch), rows));
  if (mode == "circular") {
    Contents size = {{all[axis]}};
    places = node.binary<ModOp>(places, materialize(node.builder(), node.loc, RankedTensorType::get({}, node.builder().getI64Type()), size));
  }
  if (node.failed())
    return failure();
  return node.result(strings.restore(
      node.make<ScatterElementsOp>(cache.getType(), cache, node.broadcastTo(places, dims), update, axis, ScatterReduction::None)));
}

ArrayRef<Operator> getGatherOperators() {
  static const Operator rows[] = {
      {"Gather", 1, Elements::Data, gather},
      {"GatherElements", 11, Elements::Data, gatherElements},
      {"GatherND", 11, Elements::Data, gatherNd},
      {"GatherND", 1, Elements::Data, gatherNd, INT64_MAX, "com.microsoft"},
      {"ReverseSequence", 10, Elements::Data, reverseSequence},
      {"Scatter", 9, Elements::Data, scatterElements, 10},
      {"ScatterElements", 11, Elements::Data, scatterElements},
      {"ScatterND", 11, Elements::Data, scatterNd},
      {"TensorScatter", 24, Elements::Data, tensorScatter},
  };
  return rows;
}

} // namespace kiln::import
