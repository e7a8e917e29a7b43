//===- Maps.cpp - Vectors of what maps have -----------------------------------===//
//
// A map is a pair of vectors, its keys and their values (MapValues.h). Both operators ask of each place of a vector which entry belongs there.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/ops/Maps.h"
#include "compiler/import/MapValues.h"
#include "compiler/import/ops/Strings.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNRuntimeOps.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// The values [1, places] of the entries that `hits` [places, entries] marks, the last one where it marks several, and `missing` where it marks none.
static LogicalResult takeMarked(Node &node, Value hits, Value values, Value missing) {
  Type i64 = node.builder().getI64Type();
  StringPlaces strings(node, {&values, &missing});
  if (node.failed())
    return failure();
  DimExprs dims = node.dims(hits), none = {dims[0], node.number(1)};
  Value number = node.binary<AddOp>(node.iota(dims, 1, i64), node.splat(dims, i64, 1));
  Value marked = node.make<SelectOp>(number.getType(), hits, number, node.splatLike(number, 0));
  Value at = node.reduce(ReduceKind::Max, node.concat({node.splat(none, i64, 0), marked}, 1), {1}, /*keep=*/false);
  Value all = node.concat({node.reshape(missing, {node.number(1)}), values}, 0);
  Value taken = node.make<GatherOp>(node.type({dims[0]}, node.elementType(all)), all, at, 0);
  Value result = strings.restore(taken);
  return node.failed() ? failure() : node.result(node.reshape(result, {node.number(1), dims[0]}));
}

/// Which of `keys` [entries] equals each of `wanted` [places].
static Value compareKeys(Node &node, Value wanted, Value keys) {
  DimExprs places = node.dims(wanted), entries = node.dims(keys);
  Value column = node.reshape(wanted, {places[0], node.number(1)}), row = node.reshape(keys, {node.number(1), entries[0]});
  return node.compare<EqualOp>(column, row);
}

static std::optional<MapValue> readMap(Node &node) {
  std::optional<MapValue> map = node.numInputs() > 0 ? getMap(node.input(0)) : std::nullopt;
  if (!map)
    (void)node.error("expected a map");
  return map;
}

static Value zeroOf(Node &node, Type element, StringRef text) {
  return isString(element) ? node.strings({text.str()}, node.number(1)) : node.splat({node.number(1)}, element, 0);
}

/// A column for each key of the vocabulary, with the key's value, or zero.
LogicalResult dictVectorizer(Node &node) {
  auto map = readMap(node);
  auto numbers = node.findInts("int64_vocabulary");
  auto texts = node.findStrings("string_vocabulary");
  bool hasNumbers = numbers && !numbers->empty(), hasTexts = texts && !texts->empty();
  if (!map || node.failed())
    return failure();
  if (hasNumbers == hasTexts)
    return node.error("expected keys in one of the attributes 'int64_vocabulary' and 'string_vocabulary'");
  if (hasTexts != isString(node.elementType(map->keys)))
    return node.error("the keys of the vocabulary have another type than those of the map");
  Value hits;
  if (hasTexts) {
    Value table = node.strings(*texts, node.number(texts->size()));
    if (llvm::StringSet<>(llvm::from_range, *texts).size() != texts->size())
      return node.unsupported("a key twice in 'string_vocabulary'", "remove the second one, and repeat the column behind the node");
    Type places = node.type(node.dims(map->keys), node.builder().getI64Type());
    Value place = node.make<StringFindOp>(places, map->keys, table.getDefiningOp<StringsOp>().getValuesAttr());
    hits = compareKeys(node, node.iota({node.number(texts->size())}, 0, node.builder().getI64Type()), place);
  } else {
    hits = compareKeys(node, node.constantInts(*numbers), map->keys);
  }
  return takeMarked(node, hits, map->values, zeroOf(node, node.elementType(map->values), ""));
}

/// The values in the order of their keys, in another type; SPARSE puts each at the place that its key says.
LogicalResult castMap(Node &node) {
  auto map = readMap(node);
  std::string to = node.getString("cast_to", "TO_FLOAT"), form = node.getString("map_form", "DENSE");
  int64_t places = node.getInt("max_map", 1);
  if (!map || node.failed())
    return failure();
  Type element = node.elementType(map->values), i64 = node.builder().getI64Type();
  if (isString(node.elementType(map->keys)))
    return node.error("the keys of the map are strings, expected int64");
  if (to == "TO_STRING" && !isString(element))
    return node.unsupported("a cast of numbers to strings within CastMap", "cast to numbers, and print them behind the model");
  Value values = map->values;
  if (to != "TO_STRING") {
    Type wanted = to == "TO_FLOAT" ? Type(node.builder().getF32Type()) : i64;
    values = isString(element) ? parseStrings(node, values, wanted) : node.cast(values, wanted);
  }
  if (node.failed())
    return failure();
  // ONNX Runtime fills strings with this text.
  Value missing = zeroOf(node, node.elementType(values), "0.f"), wanted, have = map->keys;
  if (form == "SPARSE") {
    if (places < 1 || places > node.limits().tensorBytes)
      return node.error("attribute 'max_map' is " + Twine(places) + ", expected a positive number");
    wanted = node.iota({node.number(places)}, 0, i64);
  } else {
    DimExprs entries = node.dims(map->keys), square = {entries[0], entries[0]};
    Value column = node.reshape(have, {entries[0], node.number(1)}), row = node.reshape(have, {node.number(1), entries[0]});
    Value isLess = node.compare<LessOp>(node.broadcastTo(row, square), node.broadcastTo(column, square));
    have = node.reduce(ReduceKind::Sum, node.cast(isLess, i64), {1}, /*keep=*/false);
    wanted = node.iota({entries[0]}, 0, i64);
  }
  return takeMarked(node, compareKeys(node, wanted, have), values, missing);
}

} // namespace kiln::import
