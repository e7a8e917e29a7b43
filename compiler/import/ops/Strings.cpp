//===- Strings.cpp - Operators on strings ------------------------------------===//
//
// Operators that make new bytes get room for them at compile time: the bytes are an output of their own, which the strings point into. Numbers have a longest
// text. Other operators have room for --limit=string-bytes=N bytes, and a 64th of that for each string.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/ops/Strings.h"
#include "compiler/import/Operators.h"
#include "compiler/import/ops/Sampling.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNCallOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNRuntimeOps.h"
#include "dialects/nn/Regex.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

static ArrayAttr textList(Node &node, ArrayRef<std::string> texts) {
  return node.builder().getStrArrayAttr(SmallVector<StringRef>(texts.begin(), texts.end()));
}

static uint64_t positionOf(AffineExpr symbol) { return mlir::cast<AffineSymbolExpr>(symbol).getPosition(); }
static RankedTensorType countType(Node &node) { return RankedTensorType::get({1}, node.builder().getI64Type()); }

static bool expectStrings(Node &node, ArrayRef<Value> values) {
  for (Value value : values)
    if (!node.failed() && !isString(node.elementType(value)))
      (void)node.error("an input is not of strings");
  return !node.failed();
}

//===- Questions -----------------------------------------------------------===//

static LogicalResult regexFullMatch(Node &node) {
  Value x = node.input(0);
  if (!node.hasAttribute("pattern"))
    return node.error("attribute 'pattern' is missing");
  std::string pattern = node.getString("pattern", ""), reason;
  if (!compileRegex(pattern, reason))
    return node.unsupported("the pattern '" + pattern + "': " + reason, "write it with what docs/generated/NN.md lists for nn.string_match");
  return node.result(node.make<StringMatchOp>(node.type(node.dims(x), node.builder().getI1Type()), x, pattern));
}

//===- Bytes ---------------------------------------------------------------===//

/// Room for bytes: a part that is fixed, and one for each string.
namespace {
struct ByteRoom {
  int64_t fixed, each;
};
} // namespace

static ByteRoom roomForText(Node &node) {
  int64_t bytes = node.limits().stringBytes;
  return {bytes, (bytes + 63) / 64};
}

/// The strings of an operation that makes bytes: `make` gets the types of its results and the symbol of the bytes used.
template <typename Make> static Value withBytes(Node &node, Value x, const ByteRoom &room, const Make &make) {
  AffineExpr count = nn::getNumElements(node.dims(x), node.context());
  AffineExpr used = node.computedDim(count * room.each + room.fixed, node.outputName(0) + "_bytes_count");
  RankedTensorType bytes = node.type({used}, node.builder().getIntegerType(8, false));
  if (node.failed())
    return x;
  RankedTensorType strings = node.type(node.dims(x), node.builder().getIntegerType(128));
  DataSized op = make(TypeRange{strings, bytes, countType(node)}, positionOf(used));
  node.keepBytes(op->getResult(1), node.outputName(0) + "_bytes");
  return op->getResult(0);
}

Value parseStrings(Node &node, Value x, Type element) {
  Builder &b = node.builder();
  auto integer = dyn_cast<IntegerType>(element);
  if (element.isInteger(1)) {
    (void)node.unsupported("conversion of strings to bool", "compare the strings with one that stands for true");
    return x;
  }
  Type wide = !integer ? b.getF64Type() : integer.isUnsigned() ? Type(b.getIntegerType(64, false)) : b.getI64Type();
  return node.cast(node.make<StringParseOp>(node.type(node.dims(x), wide), x), element);
}

Value printNumbers(Node &node, Value x) {
  Builder &b = node.builder();
  Type element = node.elementType(x);
  auto integer = dyn_cast<IntegerType>(element);
  if (element.isInteger(1)) {
    (void)node.unsupported("conversion of bool to strings", "choose between two strings with Where");
    return x;
  }
  Type wide = element.isF64() ? element : !integer ? b.getF32Type() : integer.isUnsigned() ? Type(b.getIntegerType(64, false)) : b.getI64Type();
  x = node.cast(x, wide);
  // "-2.2250738585072014e-308"
  constexpr ByteRoom room = {0, 24};
  return withBytes(node, x, room, [&](TypeRange types, uint64_t counts) {
    return StringPrintOp::create(node.builder(), node.loc, types, x, room.fixed, room.each, counts);
  });
}

//===- Moving strings ------------------------------------------------------===//

StringPlaces::StringPlaces(Node &node, ArrayRef<Value *> values) : node(node) {
  auto isPresent = [](Value *value) { return static_cast<bool>(*value); };
  if (node.failed() || !llvm::all_of(values, [&](Value *value) { return !*value || isString(node.elementType(*value)); }))
    return;
  SmallVector<Value> parts;
  AffineExpr before = node.number(0);
  Type i64 = node.builder().getI64Type();
  for (Value *value : llvm::make_filter_range(values, isPresent)) {
    DimExprs dims = node.dims(*value);
    AffineExpr count = simplifyDim(getNumElements(dims, node.context()));
    parts.push_back(node.reshape(*value, {count}));
    Value places = node.reshape(node.iota({count}, 0, i64), dims);
    *value = node.binary<AddOp>(places, node.broadcastTo(sizeOf(node, before, i64), dims));
    before = simplifyDim(before + count);
  }
  parts.push_back(node.strings({""}, node.number(1)));
  table = node.concat(parts, 0);
}

Value StringPlaces::fill(Type element) {
  if (!isActive())
    return node.splat({}, element, 0);
  AffineExpr last = simplifyDim(getNumElements(node.dims(table), node.context()) - 1);
  return sizeOf(node, last, node.builder().getI64Type());
}

Value StringPlaces::restore(Value places) {
  if (!isActive() || node.failed())
    return places;
  return node.make<GatherOp>(node.type(node.dims(places), node.elementType(table)), table, places, 0);
}

static LogicalResult stringConcat(Node &node) {
  Value x = node.input(0), y = node.input(1);
  if (!expectStrings(node, {x, y}))
    return failure();
  node.broadcast({&x, &y});
  if (node.failed())
    return failure();
  y = node.reshape(y, node.dims(x));
  ByteRoom room = roomForText(node);
  return node.result(withBytes(node, x, room, [&](TypeRange types, uint64_t counts) {
    return StringConcatOp::create(node.builder(), node.loc, types, x, y, room.fixed, room.each, counts);
  }));
}

/// Stop words go, then letters change.
static LogicalResult stringNormalizer(Node &node) {
  Value x = node.input(0);
  std::string action = node.getString("case_change_action", "NONE");
  bool isSensitive = node.getFlag("is_case_sensitive");
  auto stops = node.findStrings("stopwords");
  node.ignore("locale");
  int64_t rank = node.rank(x);
  if (rank < 1 || rank > 2 || (rank == 2 && nn::getConstantDim(node.dims(x)[0]) != 1))
    return node.error("expected an input [C] or [1, C]");
  if (action != "NONE" && action != "UPPER" && action != "LOWER")
    return node.error("attribute 'case_change_action' is '" + action + "', expected NONE, UPPER or LOWER");
  AffineExpr length = node.dims(x).back();
  x = node.reshape(x, {length});
  if (stops && !stops->empty()) {
    auto known = nn::getConstantDim(length);
    AffineExpr most = known ? node.number(std::max<int64_t>(*known, 1)) : length + 1;
    AffineExpr kept = node.computedDim(most, node.outputName(0) + "_count");
    RankedTensorType type = node.type({kept}, node.elementType(x));
    if (node.failed())
      return failure();
    x = StringFilterOp::create(node.builder(), node.loc, type, countType(node), x, textList(node, *stops), isSensitive, positionOf(kept)).getResult();
  }
  if (ByteRoom room = roomForText(node); action != "NONE")
    x = withBytes(node, x, room, [&](TypeRange types, uint64_t counts) {
      return StringCaseOp::create(node.builder(), node.loc, types, x, action == "UPPER", room.fixed, room.each, counts);
    });
  DimExprs dims = node.dims(x);
  if (rank == 2)
    dims.insert(dims.begin(), node.number(1));
  return node.failed() ? failure() : node.result(node.reshape(x, dims));
}

static LogicalResult stringSplit(Node &node) {
  Value x = node.input(0);
  std::string delimiter = node.getString("delimiter", "");
  auto splits = node.findInt("maxsplit");
  int64_t limit = node.limits().stringParts, most = splits.value_or(-1) < 0 ? std::numeric_limits<int64_t>::max() : *splits;
  int64_t room = most < limit ? most + 1 : limit;
  AffineExpr parts = node.computedDim(node.number(room), node.outputName(0) + "_parts");
  DimExprs dims = node.dims(x);
  RankedTensorType sizes = node.type(dims, node.builder().getI64Type());
  dims.push_back(parts);
  RankedTensorType type = node.type(dims, node.elementType(x));
  if (node.failed())
    return failure();
  auto op = StringSplitOp::create(node.builder(), node.loc, type, sizes, countType(node), x, delimiter, most, room, positionOf(parts));
  if (node.hasOutput(1))
    (void)node.result(1, op.getSizes());
  return node.result(op.getResult());
}

//===- Tokenizer -----------------------------------------------------------===//

/// The regular expressions of a Tokenizer: separators between tokens, or one for the tokens. One of the empty string, or of any character, are the characters
/// themselves, also those that '.' leaves out.
static SmallVector<std::string> readTokenPatterns(Node &node, bool &isBetween, int64_t least) {
  auto separators = node.findStrings("separators");
  SmallVector<std::string> patterns;
  isBetween = separators.has_value();
  if (separators)
    patterns.assign(separators->begin(), separators->end());
  else if (node.hasAttribute("tokenexp"))
    patterns.push_back(node.getString("tokenexp", ""));
  node.ignore("tokenexp");
  if (patterns.empty() || (!isBetween && patterns[0].empty()))
    (void)node.error("neither 'separators' nor 'tokenexp' has an expression");
  if (node.failed())
    return {};
  if (patterns.size() == 1 && patterns[0] == (isBetween ? "" : ".")) {
    isBetween = false;
    if (least > 1)
      (void)node.error("attribute 'mincharnum' is " + Twine(least) + ", and the tokens are single characters");
    return {".|\n"};
  }
  for (const std::string &pattern : patterns) {
    std::string reason;
    auto automaton = compileRegex(pattern, reason);
    if (!automaton)
      (void)node.unsupported("the pattern '" + pattern + "': " + reason, "write it with what docs/generated/NN.md lists for nn.string_match");
    else if (isBetween && automaton->acceptsNothing())
      (void)node.unsupported("the separator '" + pattern + "' may be empty", "write it so that it has a character");
  }
  return patterns;
}

static LogicalResult tokenizer(Node &node) {
  Value x = node.input(0);
  bool isMarked = node.requireInt("mark") != 0, isBetween = false;
  int64_t least = node.requireInt("mincharnum"), room = node.limits().stringParts + 2 * isMarked;
  if (!node.hasAttribute("pad_value"))
    return node.error("attribute 'pad_value' is missing");
  std::string padding = node.getString("pad_value", "");
  if (!node.failed() && node.rank(x) != 1 && node.rank(x) != 2)
    return node.error("the input has rank " + Twine(node.rank(x)) + ", expected [C] or [N, C]");
  SmallVector<std::string> patterns = readTokenPatterns(node, isBetween, least);
  if (node.failed() || node.isUnsupported())
    return failure(node.failed());
  AffineExpr longest = node.computedDim(node.number(room), node.outputName(0) + "_tokens");
  DimExprs dims = node.dims(x);
  dims.push_back(longest);
  RankedTensorType type = node.type(dims, node.elementType(x));
  if (node.failed())
    return failure();
  return node.result(StringTokenizeOp::create(node.builder(), node.loc, type, countType(node), x, textList(node, patterns), isBetween, least, padding, isMarked,
                                              room, positionOf(longest))
                         .getResult());
}

//===- LabelEncoder --------------------------------------------------------===//

/// A list of values, and the one for keys that are none of the list.
namespace {
struct Labels {
  Value values, other;
};
} // namespace

template <typename T> static Value listOf(Node &node, Type element, ArrayRef<T> values) {
  return node.constant(nn::makeConstantOf<T>(RankedTensorType::get({static_cast<int64_t>(values.size())}, element), values));
}

static SmallVector<float> narrow(ArrayRef<double> values) { return SmallVector<float>(values.begin(), values.end()); }

/// The one list of the attributes that begin with `stem`: of strings, integers, floats, or a tensor.
static Value readList(Node &node, StringRef stem) {
  SmallVector<Value> found;
  Builder &b = node.builder();
  if (auto texts = node.findStrings((stem + "_strings").str()))
    found.push_back(node.strings(*texts, node.number(texts->size())));
  if (auto integers = node.findInts((stem + "_int64s").str()))
    found.push_back(listOf<int64_t>(node, b.getI64Type(), *integers));
  if (auto floats = node.findFloats((stem + "_floats").str()))
    found.push_back(listOf<float>(node, b.getF32Type(), narrow(*floats)));
  if (std::string name = (stem + "_tensor").str(); node.hasAttribute(name))
    found.push_back(node.tensorAttribute(name));
  if (node.failed())
    return {};
  if (found.size() != 1) {
    (void)node.error("has " + Twine(found.size()) + " attributes " + stem + "_..., expected one");
    return {};
  }
  return node.reshape(found.front(), {getNumElements(node.dims(found.front()), node.context())});
}

static Labels readLabels(Node &node) {
  Labels labels{readList(node, "values"), {}};
  Builder &b = node.builder();
  for (StringRef name : {"default_string", "default_int64", "default_float"})
    node.ignore(name);
  if (node.failed())
    return labels;
  Type element = node.elementType(labels.values);
  if (node.hasAttribute("default_tensor"))
    labels.other = node.tensorAttribute("default_tensor");
  else if (isString(element))
    labels.other = node.strings({node.getString("default_string", "_Unused")}, node.number(1));
  else if (isa<FloatType>(element))
    labels.other = node.cast(listOf<float>(node, b.getF32Type(), {static_cast<float>(node.getFloat("default_float", -0.0))}), element);
  else
    labels.other = node.cast(listOf<int64_t>(node, b.getI64Type(), {node.getInt("default_int64", -1)}), element);
  if (!node.failed() && node.elementType(labels.other) != element)
    (void)node.error("the default has another type than the values");
  return labels;
}

/// The number of the first key that equals the input, or that of the keys.
static Value findKey(Node &node, Value x, Value keys) {
  Type i64 = node.builder().getI64Type();
  if (node.elementType(x) != node.elementType(keys)) {
    (void)node.error("the keys have another type than the input");
    return x;
  }
  if (auto texts = keys.getDefiningOp<StringsOp>())
    return node.make<StringFindOp>(node.type(node.dims(x), i64), x, texts.getValuesAttr());
  AffineExpr count = node.dims(keys)[0];
  DimExprs each = node.dims(x), all = each;
  each.push_back(node.number(1));
  all.push_back(count);
  Value value = node.broadcastTo(node.reshape(x, each), all), key = node.broadcastTo(keys, all);
  Value hit = node.compare<EqualOp>(value, key);
  if (isa<FloatType>(node.elementType(x))) {
    auto isNan = [&](Value tensor) { return node.unary<NotOp>(node.compare<EqualOp>(tensor, tensor)); };
    hit = node.binary<OrOp>(hit, node.binary<AndOp>(isNan(value), isNan(key)));
  }
  Value places = node.iota(all, static_cast<int64_t>(all.size()) - 1, i64);
  Value none = node.splat(all, i64, static_cast<double>(nn::getConstantDim(count).value_or(0)));
  if (node.failed())
    return x;
  return node.reduce(ReduceKind::Min, node.make<SelectOp>(places.getType(), hit, places, none), {static_cast<int64_t>(all.size()) - 1}, /*keep=*/false);
}

static LogicalResult encode(Node &node, Value x, Value keys, const Labels &labels) {
  if (node.failed() || !node.unify(node.dims(keys)[0], node.dims(labels.values)[0], "keys and values have different lengths"))
    return failure();
  Value table = node.concat({labels.values, node.reshape(labels.other, {node.number(1)})}, 0);
  Value at = findKey(node, x, keys);
  RankedTensorType type = node.type(node.dims(x), node.elementType(table));
  return node.failed() ? failure() : node.result(node.make<GatherOp>(type, table, at, 0));
}

static LogicalResult labelEncoder(Node &node) {
  Value x = node.input(0), keys = readList(node, "keys");
  Labels labels = readLabels(node);
  return node.failed() ? failure() : encode(node, x, keys, labels);
}

/// Classes are numbered: strings become their numbers, numbers their strings.
static LogicalResult labelEncoderOfClasses(Node &node) {
  Value x = node.input(0);
  auto classes = node.findStrings("classes_strings");
  if (!classes)
    return node.error("attribute 'classes_strings' is missing");
  for (StringRef name : {"default_string", "default_int64"})
    node.ignore(name);
  SmallVector<int64_t> numbers = llvm::to_vector(llvm::seq<int64_t>(0, classes->size()));
  Value texts = node.strings(*classes, node.number(classes->size())), places = node.constantInts(numbers);
  if (isString(node.elementType(x)))
    return encode(node, x, texts, {places, node.constantInts({node.getInt("default_int64", -1)})});
  return encode(node, x, places, {texts, node.strings({node.getString("default_string", "_Unused")}, node.number(1))});
}

/// Strings become the numbers at their place in the other list, numbers the strings.
static LogicalResult categoryMapper(Node &node) {
  Value x = node.input(0);
  auto texts = node.findStrings("cats_strings");
  auto numbers = node.findInts("cats_int64s");
  for (StringRef name : {"default_string", "default_int64"})
    node.ignore(name);
  if (node.failed() || !texts || !numbers || texts->empty() || texts->size() != numbers->size())
    return node.error("expected as many entries in 'cats_strings' as in 'cats_int64s', and one at least");
  Value strings = node.strings(*texts, node.number(texts->size())), integers = node.constantInts(*numbers);
  if (isString(node.elementType(x)))
    return encode(node, x, strings, {integers, node.constantInts({node.getInt("default_int64", -1)})});
  return encode(node, x, integers, {strings, node.strings({node.getString("default_string", "_Unused")}, node.number(1))});
}

ArrayRef<Operator> getStringOperators() {
  static const Operator rows[] = {
      {"CategoryMapper", 1, Elements::Data, categoryMapper, INT64_MAX, "ai.onnx.ml"},
      {"LabelEncoder", 1, Elements::Data, labelEncoderOfClasses, 1, "ai.onnx.ml"},
      {"LabelEncoder", 2, Elements::Data, labelEncoder, INT64_MAX, "ai.onnx.ml"},
      {"RegexFullMatch", 20, Elements::String, regexFullMatch},
      {"StringConcat", 20, Elements::String, stringConcat},
      {"StringNormalizer", 10, Elements::String, stringNormalizer},
      {"StringSplit", 20, Elements::String, stringSplit},
      {"Tokenizer", 1, Elements::String, tokenizer, INT64_MAX, "com.microsoft"},
  };
  return rows;
}

} // namespace kiln::import
