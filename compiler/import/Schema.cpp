//===- Schema.cpp - What the standard says of operators ---------------------===//
//
// Reads rows of Schemas.def and compares nodes with them. What needs the types of values is in OperandCheck.cpp.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Schema.h"
#include "compiler/import/Diagnostics.h"
#include "compiler/import/Operators.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/onnx.pb.h"
#include "dialects/nn/RealNumber.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using Attribute = kiln::onnx::AttributeProto;
using Tensor = kiln::onnx::TensorProto;

namespace kiln::import {

namespace {
struct Row {
  StringLiteral domain, name;
  int64_t since;
  StringLiteral inputs, outputs, types, attributes;
};
} // namespace

static constexpr Row rows[] = {
#define SCHEMA(domain, name, since, inputs, outputs, types, attributes) {domain, name, since, inputs, outputs, types, attributes},
#include "compiler/import/Schemas.def"
#undef SCHEMA
};

//===- Reading rows --------------------------------------------------------===//

static constexpr DataTypes bit(int dataType) { return DataTypes(1) << dataType; }

/// One data type, or a group of them.
static DataTypes readType(StringRef text) {
  static constexpr DataTypes floats = bit(Tensor::FLOAT16) | bit(Tensor::FLOAT) | bit(Tensor::DOUBLE), bfloat = bit(Tensor::BFLOAT16);
  static constexpr DataTypes signedInts = bit(Tensor::INT8) | bit(Tensor::INT16) | bit(Tensor::INT32) | bit(Tensor::INT64);
  static constexpr DataTypes unsignedInts = bit(Tensor::UINT8) | bit(Tensor::UINT16) | bit(Tensor::UINT32) | bit(Tensor::UINT64);
  static constexpr DataTypes numbers = floats | signedInts | unsignedInts;
  static constexpr DataTypes wide = floats | bit(Tensor::INT32) | bit(Tensor::INT64) | bit(Tensor::UINT32) | bit(Tensor::UINT64);
  static constexpr DataTypes all = numbers | bit(Tensor::BOOL) | bit(Tensor::STRING) | bit(Tensor::COMPLEX64) | bit(Tensor::COMPLEX128);
  static const StringMap<DataTypes> names = {
      {"f16", bit(Tensor::FLOAT16)}, {"f32", bit(Tensor::FLOAT)},   {"f64", bit(Tensor::DOUBLE)},
      {"bf16", bfloat},              {"i8", bit(Tensor::INT8)},     {"i16", bit(Tensor::INT16)},
      {"i32", bit(Tensor::INT32)},   {"i64", bit(Tensor::INT64)},   {"u8", bit(Tensor::UINT8)},
      {"u16", bit(Tensor::UINT16)},  {"u32", bit(Tensor::UINT32)},  {"u64", bit(Tensor::UINT64)},
      {"bool", bit(Tensor::BOOL)},   {"string", bit(Tensor::STRING)}, {"fp", floats},
      {"fp4", floats | bfloat},      {"int", signedInts},           {"uint", unsignedInts},
      {"num", numbers},              {"num4", numbers | bfloat},    {"wide", wide},
      {"all", all},                  {"ir4", all | bfloat},         {"f4", bit(Tensor::FLOAT4E2M1)},
      {"e4m3", bit(Tensor::FLOAT8E4M3FN)},
      {"f6", bit(Tensor::FLOAT6E2M3) | bit(Tensor::FLOAT6E3M2)},
      {"e8", bit(Tensor::FLOAT8E8M0)}, {"n4", bit(Tensor::UINT4) | bit(Tensor::INT4)}, {"n2", bit(Tensor::UINT2) | bit(Tensor::INT2)},
      {"f8", bit(Tensor::FLOAT8E4M3FN) | bit(Tensor::FLOAT8E4M3FNUZ) | bit(Tensor::FLOAT8E5M2) | bit(Tensor::FLOAT8E5M2FNUZ)},
      {"seq", sequenceType},         {"opt", optionalType},         {"map", mapType}};
  return names.lookup(text);
}

static DataTypes readTypes(StringRef text) {
  DataTypes types = 0;
  for (StringRef part : split(text, '|'))
    types |= readType(part);
  return types;
}

static SmallVector<ParameterFact> readParameters(StringRef text, const StringMap<DataTypes> &variables) {
  SmallVector<ParameterFact> parameters;
  for (StringRef part : split(text, ' ')) {
    auto [name, rest] = part.split(':');
    auto [type, ranks] = rest.split('/');
    if (name.empty())
      continue;
    ParameterFact fact;
    if (!ranks.empty()) {
      auto [least, most] = ranks.split('-');
      (void)least.getAsInteger(10, fact.leastRank);
      (void)(most.empty() ? least : most).getAsInteger(10, fact.mostRank);
    }
    fact.name = name.take_until([](char c) { return c == '?' || c == '*' || c == '&'; });
    if (StringRef mark = name.drop_front(fact.name.size()); !mark.empty()) {
      fact.kind = mark[0] == '?' ? ParameterFact::Optional : mark[0] == '*' ? ParameterFact::Variadic : ParameterFact::Heterogeneous;
      (void)mark.drop_front().getAsInteger(10, fact.least);
    }
    auto variable = variables.find(type);
    fact.variable = variable == variables.end() ? StringRef() : type;
    fact.types = variable == variables.end() ? readTypes(type) : variable->second;
    parameters.push_back(fact);
  }
  return parameters;
}

static int readKind(char letter) {
  static constexpr StringLiteral letters = "?fistgFISTGp?y";
  return static_cast<int>(letters.find(letter));
}

static SmallVector<AttributeFact> readAttributes(StringRef text) {
  SmallVector<AttributeFact> attributes;
  for (StringRef part : split(text, ' ')) {
    auto [name, rest] = part.split(':');
    if (name.empty())
      continue;
    bool isRequired = rest.consume_back("!");
    attributes.push_back({name, readKind(rest.front()), rest.drop_front(), isRequired});
  }
  return attributes;
}

const Schema *Schemas::find(StringRef domain, StringRef name, int64_t opset) {
  if (domain == channelsLastDomain)
    domain = "";
  auto isBefore = [&](const Row &row) { return std::tuple(StringRef(row.domain), StringRef(row.name), row.since) <= std::tuple(domain, name, opset); };
  const Row *row = llvm::partition_point(rows, isBefore);
  if (row == std::begin(rows) || (--row)->domain != domain || row->name != name || row->inputs == "-")
    return nullptr;
  auto [entry, isNew] = read.try_emplace(row);
  if (isNew) {
    StringMap<DataTypes> variables;
    for (StringRef part : split(row->types, ' '))
      variables[part.split('=').first] = readTypes(part.split('=').second);
    entry->second = {readParameters(row->inputs, variables), readParameters(row->outputs, variables), readAttributes(row->attributes)};
  }
  return &entry->second;
}

const ParameterFact *Schema::input(unsigned i) const {
  if (i < inputs.size())
    return &inputs[i];
  return !inputs.empty() && inputs.back().kind >= ParameterFact::Variadic ? &inputs.back() : nullptr;
}

const AttributeFact *Schema::findAttribute(StringRef name) const {
  const auto *found = llvm::find_if(attributes, [&](const AttributeFact &fact) { return fact.name == name; });
  return found == attributes.end() ? nullptr : found;
}

std::string describeTypes(DataTypes types) {
  SmallVector<std::string> names;
  for (int id = 1; id < 60; ++id)
    if (types & bit(id))
      names.push_back(getDataTypeName(id));
  for (auto [type, name] : {std::pair(sequenceType, "a sequence"), {optionalType, "an optional"}, {mapType, "a map"}})
    if (types & type)
      names.push_back(name);
  std::string last = names.empty() ? "nothing" : names.pop_back_val();
  return names.empty() ? last : llvm::join(names, ", ") + " or " + last;
}

//===- Counts --------------------------------------------------------------===//

/// What is wrong with the number of a node's inputs or outputs.
template <typename Names> static std::string findFaultInCount(ArrayRef<ParameterFact> facts, const Names &names, StringRef what) {
  bool isOpen = !facts.empty() && facts.back().kind >= ParameterFact::Variadic;
  auto count = static_cast<size_t>(names.size());
  size_t least = 0;
  for (auto [i, fact] : llvm::enumerate(facts))
    least = fact.kind == ParameterFact::Required ? i + 1 : isOpen && fact.least > 0 ? std::max(least, i + fact.least) : least;
  if (count > facts.size() && !isOpen)
    return ("has " + Twine(count) + " " + what + "s, the operator takes at most " + Twine(facts.size())).str();
  if (count < least)
    return (what + " " + Twine(count) + " is missing: has " + Twine(count) + " " + what + "s, the operator takes at least " + Twine(least)).str();
  return "";
}

std::string findFaultInCounts(const Schema &schema, const onnx::NodeProto &node) {
  if (std::string fault = findFaultInCount(schema.inputs, node.input(), "input"); !fault.empty())
    return fault;
  for (auto [i, name] : llvm::enumerate(node.input()))
    if (const ParameterFact *fact = schema.input(i); name.empty() && fact->kind != ParameterFact::Optional && fact->kind != ParameterFact::Heterogeneous)
      return ("input " + Twine(i) + " (" + fact->name + ") is missing").str();
  if (std::string fault = findFaultInCount(schema.outputs, node.output(), "output"); !fault.empty())
    return fault;
  if (node.output_size() > 0 && llvm::all_of(node.output(), [](const std::string &name) { return name.empty(); }))
    return "none of its outputs has a name";
  return "";
}

//===- Attributes ----------------------------------------------------------===//

StringRef getAttributeKindName(int kind) {
  static const char *const names[] = {"undefined", "float",   "int",     "string", "tensor",        "graph",          "floats", "ints",
                                      "strings",   "tensors", "graphs", "sparse tensor", "sparse tensors", "type",   "types"};
  return kind >= 0 && kind < static_cast<int>(std::size(names)) ? names[kind] : "something else";
}

/// The kinds for which the attribute has a value.
static SmallVector<int> listKinds(const Attribute &a) {
  const std::pair<bool, int> values[] = {{a.has_f(), Attribute::FLOAT},
                                         {a.has_i(), Attribute::INT},
                                         {a.has_s(), Attribute::STRING},
                                         {a.has_t(), Attribute::TENSOR},
                                         {a.has_g(), Attribute::GRAPH},
                                         {a.floats_size() > 0, Attribute::FLOATS},
                                         {a.ints_size() > 0, Attribute::INTS},
                                         {a.strings_size() > 0, Attribute::STRINGS},
                                         {a.tensors_size() > 0, Attribute::TENSORS},
                                         {a.graphs_size() > 0, Attribute::GRAPHS},
                                         {a.has_sparse_tensor(), Attribute::SPARSE_TENSOR},
                                         {a.sparse_tensors_size() > 0, Attribute::SPARSE_TENSORS},
                                         {a.has_tp(), Attribute::TYPE_PROTO},
                                         {a.type_protos_size() > 0, Attribute::TYPE_PROTOS}};
  SmallVector<int> kinds;
  for (auto [isThere, kind] : values)
    if (isThere)
      kinds.push_back(kind);
  return kinds;
}

int getAttributeKind(const Attribute &attribute) {
  SmallVector<int> kinds = listKinds(attribute);
  return attribute.type() ? attribute.type() : kinds.empty() ? 0 : kinds.front();
}

std::string findFaultInAttribute(const Attribute &attribute, bool isInFunction) {
  std::string what = "attribute '" + printable(attribute.name()) + "'";
  if (attribute.name().empty())
    return "an attribute has no name";
  SmallVector<int> kinds = listKinds(attribute);
  if (!attribute.ref_attr_name().empty() && !isInFunction)
    return what + " refers to '" + printable(attribute.ref_attr_name()) + "', which only a function's body may do";
  if (!attribute.ref_attr_name().empty() && !kinds.empty())
    return what + " refers to '" + printable(attribute.ref_attr_name()) + "' and has a value of its own";
  if (attribute.type() < 0 || attribute.type() > Attribute::TYPE_PROTOS)
    return what + " has the unknown type " + std::to_string(attribute.type());
  // Some exporters write a default value of another kind beside the value.
  if (attribute.type() && !kinds.empty() && !llvm::is_contained(kinds, attribute.type()))
    return what + " has type " + getAttributeKindName(attribute.type()).str() + ", but a value of another type than it says: " +
           getAttributeKindName(kinds.front()).str();
  bool isList = attribute.type() == Attribute::FLOATS || attribute.type() == Attribute::INTS || attribute.type() >= Attribute::STRINGS;
  bool isEmptyText = attribute.type() == Attribute::STRING || attribute.type() == Attribute::INT || attribute.type() == Attribute::FLOAT;
  if (attribute.ref_attr_name().empty() && kinds.empty() && attribute.type() && !isList && !isEmptyText)
    return what + " has no value";
  return "";
}

/// Whether a number is in a range of the table: >0, >=0 or [0,1].
static bool isInRange(double number, StringRef range) {
  double least, most;
  if (range.consume_front(">="))
    return parseReal(range, least) && number >= least;
  if (range.consume_front(">"))
    return parseReal(range, least) && number > least;
  auto [low, high] = range.drop_front().drop_back().split(',');
  bool isRead = parseReal(low, least) && parseReal(high, most);
  return isRead && number >= least && number <= most;
}

static std::string describeRange(StringRef range) {
  if (range.starts_with("{")) {
    SmallVector<StringRef> words;
    range.drop_front().drop_back().split(words, ',');
    StringRef last = words.pop_back_val();
    return words.empty() ? last.str() : llvm::join(words, ", ") + " or " + last.str();
  }
  if (range.starts_with(">"))
    return range.starts_with(">=") ? "at least " + range.drop_front(2).str() : range == ">0" ? "a positive number" : "more than " + range.drop_front().str();
  auto [low, high] = range.drop_front().drop_back().split(',');
  int64_t least = 0, most = 0;
  bool isPair = !low.getAsInteger(10, least) && !high.getAsInteger(10, most) && most == least + 1;
  return low.str() + (isPair ? " or " : " to ") + high.str();
}

/// The first value of the attribute that is outside of the range, or an empty text.
static std::string findOutside(const Attribute &attribute, StringRef range) {
  auto isOut = [&](double number) { return !isInRange(number, range); };
  if (range.starts_with("{")) {
    SmallVector<StringRef> words;
    range.drop_front().drop_back().split(words, ',');
    return llvm::is_contained(words, StringRef(attribute.s())) ? "" : "'" + printable(attribute.s()) + "'";
  }
  if (getAttributeKind(attribute) == Attribute::FLOAT)
    return isOut(attribute.f()) ? std::to_string(attribute.f()) : "";
  if (getAttributeKind(attribute) == Attribute::INT)
    return isOut(static_cast<double>(attribute.i())) ? std::to_string(attribute.i()) : "";
  for (int64_t number : attribute.ints())
    if (isOut(static_cast<double>(number)))
      return std::to_string(number);
  for (float number : attribute.floats())
    if (isOut(number))
      return std::to_string(number);
  return "";
}

std::string findFaultInAttributes(const Schema &schema, const onnx::NodeProto &node, ResolveAttribute resolve) {
  if (node.attribute_size() == 0 && schema.attributes.empty())
    return "";
  llvm::StringSet<> seen;
  for (const Attribute &attribute : node.attribute()) {
    std::string what = "attribute '" + printable(attribute.name()) + "'";
    if (!seen.insert(attribute.name()).second)
      return what + " is given twice";
    const AttributeFact *fact = schema.findAttribute(attribute.name());
    if (!fact)
      return "unknown " + what;
    const Attribute *value = attribute.ref_attr_name().empty() ? &attribute : resolve(attribute);
    if (!value)
      continue;
    int kind = getAttributeKind(*value);
    // An empty list without a type says nothing about its kind.
    if (kind != fact->kind && kind != Attribute::UNDEFINED)
      return what + " has type " + getAttributeKindName(kind).str() + ", expected " + getAttributeKindName(fact->kind).str();
    if (std::string outside = fact->range.empty() ? "" : findOutside(*value, fact->range); !outside.empty())
      return what + (kind > Attribute::GRAPH ? " has the entry " : " is ") + outside + ", expected " + describeRange(fact->range);
  }
  for (const AttributeFact &fact : schema.attributes)
    if (fact.isRequired && !seen.contains(fact.name))
      return ("attribute '" + fact.name + "' is missing").str();
  return "";
}

} // namespace kiln::import
