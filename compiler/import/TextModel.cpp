//===- TextModel.cpp - Models in ONNX's textual syntax ------------------------===//
//
//   <ir_version: 8, opset_import: ["" : 17, "acme" : 1]>
//   g (float[n] x) => (float[n] y) { y = acme.Gate<slope = 0.5>(x) }
//   <domain: "acme", opset_import: ["" : 17]>
//   Gate<slope>(a) => (b) { b = LeakyRelu<alpha: float = @slope>(a) }
//
// One function for each rule of the syntax. The first error ends the reading: after it, every rule returns at once.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/TextModel.h"
#include "compiler/import/Diagnostics.h"
#include "compiler/import/onnx.pb.h"
#include "dialects/nn/RealNumber.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace kiln::import {

using Attribute = onnx::AttributeProto;
using Tensor = onnx::TensorProto;

namespace {
class TextReader {
public:
  explicit TextReader(StringRef text) : all(text), rest(text) {}
  bool readModel(onnx::ModelProto &model);
  std::string error;

private:
  /// Graphs within graphs and types within types.
  static constexpr unsigned deepest = 64;

  bool failed() const { return !error.empty(); }
  bool fail(const Twine &reason);
  void skipSpace();
  char peek();
  bool take(StringRef token);
  bool expect(StringRef token, StringRef where);
  bool isWord();
  StringRef peekWord();
  std::string readName(StringRef what);
  std::string readText(StringRef what);
  int64_t readInteger(StringRef what);
  bool isNumber();
  StringRef readNumber();

  template <typename Entry> void readList(StringRef open, StringRef close, StringRef where, Entry entry);
  /// A header: `entry` reads the value of each key.
  template <typename Entry> void readKeys(StringRef where, Entry entry);
  void readOpsets(google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &opsets);
  void readHeader(onnx::ModelProto &model);
  void readGraph(onnx::GraphProto &graph);
  void readFunction(onnx::FunctionProto &function);
  void readNodes(google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes);
  void readNode(onnx::NodeProto &node);
  void readOperator(onnx::NodeProto &node);
  void readAttributes(onnx::NodeProto &node);
  void readAttribute(Attribute &attribute, const std::string &name);
  void readValue(Attribute &attribute, bool isTyped);
  void addValue(Attribute &attribute, bool isTyped);
  void readType(onnx::TypeProto &type);
  void readTensorType(onnx::TypeProto::Tensor &type);
  void readConstant(Tensor &tensor);
  void addNumber(Tensor &tensor);
  void readDeclaration(onnx::GraphProto &graph, onnx::ValueInfoProto *info);

  StringRef all, rest;
  unsigned depth = 0;
};
} // namespace

/// The number of an element type by its name, or 0.
static int findElementType(StringRef name) {
  static const StringMap<int> types = {{"float", Tensor::FLOAT},   {"uint8", Tensor::UINT8},   {"int8", Tensor::INT8},     {"uint16", Tensor::UINT16},
                                       {"int16", Tensor::INT16},   {"int32", Tensor::INT32},   {"int64", Tensor::INT64},   {"string", Tensor::STRING},
                                       {"bool", Tensor::BOOL},     {"float16", Tensor::FLOAT16}, {"double", Tensor::DOUBLE}, {"uint32", Tensor::UINT32},
                                       {"uint64", Tensor::UINT64}, {"bfloat16", Tensor::BFLOAT16}};
  return types.lookup(name);
}

//===- Words -----------------------------------------------------------------===//

bool TextReader::fail(const Twine &reason) {
  if (error.empty())
    error = ("line " + Twine(all.drop_back(rest.size()).count('\n') + 1) + ": " + reason).str();
  return false;
}

void TextReader::skipSpace() {
  for (rest = rest.ltrim(); rest.starts_with("#"); rest = rest.ltrim())
    rest = rest.drop_until([](char c) { return c == '\n'; });
}

char TextReader::peek() {
  skipSpace();
  return failed() || rest.empty() ? '\0' : rest.front();
}

bool TextReader::take(StringRef token) {
  skipSpace();
  return !failed() && rest.consume_front(token);
}

bool TextReader::expect(StringRef token, StringRef where) { return take(token) || fail("expected '" + token + "' " + where); }

bool TextReader::isWord() { return isAlpha(peek()) || peek() == '_'; }

StringRef TextReader::peekWord() {
  return isWord() ? rest.take_while([](char c) { return isAlnum(c) || c == '_'; }) : StringRef();
}

/// A name, which may be a text in quotes.
std::string TextReader::readName(StringRef what) {
  if (peek() == '"')
    return readText(what);
  StringRef word = peekWord();
  if (word.empty())
    fail("expected " + what);
  rest = rest.drop_front(word.size());
  return word.str();
}

std::string TextReader::readText(StringRef what) {
  std::string text;
  if (!take("\"")) {
    fail("expected " + what + " in quotes");
    return text;
  }
  for (; !rest.empty() && rest.front() != '"'; rest = rest.drop_front()) {
    if (rest.front() == '\\' && rest.size() > 1)
      rest = rest.drop_front();
    text += rest.front();
  }
  if (!rest.consume_front("\""))
    fail("a text has no closing quote");
  return text;
}

bool TextReader::isNumber() { return isDigit(peek()) || StringRef("+-.").contains(peek()) || peekWord() == "inf" || peekWord() == "nan"; }

StringRef TextReader::readNumber() {
  skipSpace();
  size_t length = 0;
  auto isPart = [&](char c) { return isAlnum(c) || c == '.' || ((c == '+' || c == '-') && (length == 0 || StringRef("eE").contains(rest[length - 1]))); };
  while (length < rest.size() && isPart(rest[length]))
    ++length;
  StringRef number = rest.take_front(length);
  if (number.empty())
    fail("expected a number");
  rest = rest.drop_front(length);
  return number;
}

int64_t TextReader::readInteger(StringRef what) {
  int64_t value = 0;
  StringRef number = readNumber();
  if (!failed() && number.ltrim('+').getAsInteger(10, value))
    fail("expected " + what + ", got '" + printable(number) + "'");
  return value;
}

/// Entries between brackets with commas between them.
template <typename Entry> void TextReader::readList(StringRef open, StringRef close, StringRef where, Entry entry) {
  if (!expect(open, where) || take(close))
    return;
  do
    entry();
  while (!failed() && take(","));
  expect(close, where);
}

//===- Types and constants -----------------------------------------------------===//

void TextReader::readTensorType(onnx::TypeProto::Tensor &type) {
  StringRef word = peekWord();
  int element = findElementType(word);
  if (!element) {
    fail("expected an element type, got '" + printable(word) + "'");
    return;
  }
  rest = rest.drop_front(word.size());
  type.set_elem_type(element);
  if (!take("[")) {
    type.mutable_shape();
    return;
  }
  // Brackets without dimensions leave the rank open.
  if (take("]"))
    return;
  do {
    auto *dim = type.mutable_shape()->add_dim();
    if (isWord())
      dim->set_dim_param(readName("a dimension"));
    else if (!take("?"))
      dim->set_dim_value(readInteger("a dimension"));
  } while (!failed() && take(","));
  expect("]", "behind dimensions");
}

void TextReader::readType(onnx::TypeProto &type) {
  StringRef word = peekWord();
  if (findElementType(word))
    return readTensorType(*type.mutable_tensor_type());
  if (word != "seq" && word != "optional" && word != "map") {
    fail("expected a type, got '" + printable(word) + "'");
    return;
  }
  if (++depth > deepest) {
    fail("types are nested more than " + Twine(deepest) + " deep");
    return;
  }
  rest = rest.drop_front(word.size());
  expect("(", "behind '" + word.str() + "'");
  if (word == "map") {
    onnx::TypeProto key;
    readTensorType(*key.mutable_tensor_type());
    type.mutable_map_type()->set_key_type(key.tensor_type().elem_type());
    expect(",", "behind the type of keys");
    readType(*type.mutable_map_type()->mutable_value_type());
  } else {
    readType(word == "seq" ? *type.mutable_sequence_type()->mutable_elem_type() : *type.mutable_optional_type()->mutable_elem_type());
  }
  expect(")", "behind a type");
  --depth;
}

void TextReader::addNumber(Tensor &tensor) {
  if (tensor.data_type() == Tensor::STRING) {
    tensor.add_string_data(readText("an element"));
    return;
  }
  if (tensor.data_type() == Tensor::FLOAT || tensor.data_type() == Tensor::DOUBLE) {
    StringRef number = readNumber();
    double value = 0;
    if (!parseReal(number.ltrim('+'), value))
      fail("expected a number, got '" + printable(number) + "'");
    tensor.data_type() == Tensor::FLOAT ? tensor.add_float_data(static_cast<float>(value)) : tensor.add_double_data(value);
    return;
  }
  if (tensor.data_type() == Tensor::UINT32 || tensor.data_type() == Tensor::UINT64) {
    StringRef number = readNumber();
    uint64_t value = 0;
    if (number.ltrim('+').getAsInteger(10, value))
      fail("expected a number of 0 or more, got '" + printable(number) + "'");
    tensor.add_uint64_data(value);
    return;
  }
  int64_t value = readInteger("an integer");
  tensor.data_type() == Tensor::INT64 ? tensor.add_int64_data(value) : tensor.add_int32_data(static_cast<int32_t>(value));
}

/// A tensor's elements, behind its type and its name.
void TextReader::readConstant(Tensor &tensor) {
  if (tensor.data_type() == Tensor::FLOAT16 || tensor.data_type() == Tensor::BFLOAT16)
    fail("constants of 16-bit floats are written as int32 with a Cast");
  readList("{", "}", "around the elements of a constant", [&] { addNumber(tensor); });
}

static void setShape(const onnx::TypeProto::Tensor &type, Tensor &tensor) {
  tensor.set_data_type(type.elem_type());
  for (const auto &dim : type.shape().dim())
    tensor.add_dims(dim.dim_value());
}

//===- Attributes --------------------------------------------------------------===//

/// The value of an attribute, or an entry of a list: its type follows from the text, unless the attribute has one.
void TextReader::addValue(Attribute &attribute, bool isTyped) {
  bool isList = attribute.type() >= Attribute::FLOATS;
  auto settle = [&](int one, int list) {
    if (!isTyped && attribute.type() == 0)
      attribute.set_type(one);
    return attribute.type() == one || attribute.type() == list || fail("attribute '" + printable(attribute.name()) + "' has a value of another type");
  };
  if (peek() == '"') {
    std::string text = readText("a text");
    if (settle(Attribute::STRING, Attribute::STRINGS))
      isList ? attribute.add_strings(text) : attribute.set_s(text);
  } else if (isNumber()) {
    StringRef number = readNumber().ltrim('+');
    int64_t integer = 0;
    double real = 0;
    bool isReal = number.getAsInteger(10, integer), wantsReal = attribute.type() == Attribute::FLOAT || attribute.type() == Attribute::FLOATS;
    if (isReal && !parseReal(number, real))
      fail("expected a number, got '" + printable(number) + "'");
    else if (isReal || wantsReal) {
      float value = static_cast<float>(isReal ? real : static_cast<double>(integer));
      if (settle(Attribute::FLOAT, Attribute::FLOATS))
        isList ? attribute.add_floats(value) : attribute.set_f(value);
    } else if (settle(Attribute::INT, Attribute::INTS)) {
      isList ? attribute.add_ints(integer) : attribute.set_i(integer);
    }
  } else if (findElementType(peekWord())) {
    if (!settle(Attribute::TENSOR, Attribute::TENSORS))
      return;
    onnx::TypeProto type;
    Tensor &tensor = isList ? *attribute.add_tensors() : *attribute.mutable_t();
    readTensorType(*type.mutable_tensor_type());
    setShape(type.tensor_type(), tensor);
    if (isWord())
      tensor.set_name(readName("a name"));
    (void)take("=");
    readConstant(tensor);
  } else if (isWord() && settle(Attribute::GRAPH, Attribute::GRAPHS)) {
    readGraph(isList ? *attribute.add_graphs() : *attribute.mutable_g());
  } else {
    fail("expected the value of attribute '" + printable(attribute.name()) + "'");
  }
}

void TextReader::readValue(Attribute &attribute, bool isTyped) {
  if (take("@")) {
    attribute.set_ref_attr_name(readName("the name of an attribute"));
    if (!isTyped)
      fail("attribute '" + printable(attribute.name()) + "' refers to one of the function, and has no type");
    return;
  }
  if (peek() != '[')
    return addValue(attribute, isTyped);
  // A list has the type of its first entry; among integers and real numbers, that of real ones.
  if (!isTyped) {
    StringRef list = rest.take_until([](char c) { return c == ']'; });
    StringRef first = list.drop_front().ltrim();
    bool isText = first.starts_with("\""), isReal = list.find_first_of(".en") != StringRef::npos;
    bool isNumeric = !first.empty() && (isDigit(first.front()) || StringRef("+-.").contains(first.front()));
    attribute.set_type(isText ? Attribute::STRINGS : !isNumeric && !first.empty() ? Attribute::TENSORS : isReal ? Attribute::FLOATS : Attribute::INTS);
  }
  readList("[", "]", "around a list", [&] { addValue(attribute, true); });
}

void TextReader::readAttribute(Attribute &attribute, const std::string &name) {
  attribute.set_name(name);
  bool isTyped = take(":");
  if (isTyped) {
    std::string type = readName("the type of an attribute");
    auto known = StringSwitch<int>(type)
                     .Case("float", Attribute::FLOAT)
                     .Case("int", Attribute::INT)
                     .Case("string", Attribute::STRING)
                     .Case("tensor", Attribute::TENSOR)
                     .Case("graph", Attribute::GRAPH)
                     .Case("floats", Attribute::FLOATS)
                     .Case("ints", Attribute::INTS)
                     .Case("strings", Attribute::STRINGS)
                     .Case("tensors", Attribute::TENSORS)
                     .Case("graphs", Attribute::GRAPHS)
                     .Default(0);
    if (!known)
      fail("'" + printable(type) + "' is no type of an attribute");
    else
      attribute.set_type(known);
  }
  if (expect("=", "behind the name of an attribute"))
    readValue(attribute, isTyped);
}

void TextReader::readAttributes(onnx::NodeProto &node) {
  if (peek() == '<')
    readList("<", ">", "around attributes", [&] { readAttribute(*node.add_attribute(), readName("the name of an attribute")); });
}

//===- Nodes, graphs, functions ------------------------------------------------===//

// Results and operands that are left out have no name.

/// The domain stands before the name, with a point between.
void TextReader::readOperator(onnx::NodeProto &node) {
  std::string domain, name = readName("the name of an operator");
  while (take(".")) {
    domain += (domain.empty() ? "" : ".") + name;
    name = readName("the name of an operator");
  }
  node.set_op_type(name);
  node.set_domain(domain);
  if (take(":"))
    node.set_overload(readName("an overload"));
}

void TextReader::readNode(onnx::NodeProto &node) {
  if (take("[")) {
    node.set_name(readName("the name of a node"));
    expect("]", "behind the name of a node");
  }
  do
    node.add_output(peek() == ',' || (node.output_size() > 0 && peek() == '=') ? "" : readName("the name of a result"));
  while (!failed() && take(","));
  if (!expect("=", "behind the results of a node"))
    return;
  readOperator(node);
  readAttributes(node);
  readList("(", ")", "around operands", [&] { node.add_input(peek() == ',' || peek() == ')' ? "" : readName("the name of an operand")); });
  readAttributes(node);
}

void TextReader::readNodes(google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes) {
  if (!expect("{", "before the nodes"))
    return;
  while (!failed() && !take("}")) {
    if (peek() == '\0')
      fail("expected '}' behind the nodes");
    else
      readNode(*nodes.Add());
  }
}

/// A name with or without its type, and perhaps with a constant.
void TextReader::readDeclaration(onnx::GraphProto &graph, onnx::ValueInfoProto *info) {
  onnx::TypeProto type;
  StringRef word = peekWord();
  if (findElementType(word) || word == "seq" || word == "optional" || word == "map")
    readType(type);
  std::string name = readName("the name of a value");
  bool isConstant = take("=") || peek() == '{';
  if (isConstant) {
    Tensor &tensor = *graph.add_initializer();
    setShape(type.tensor_type(), tensor);
    tensor.set_name(name);
    readConstant(tensor);
  }
  if (!info && !isConstant)
    info = graph.add_value_info();
  if (!info)
    return;
  info->set_name(name);
  if (type.value_case() != onnx::TypeProto::VALUE_NOT_SET)
    *info->mutable_type() = type;
}

void TextReader::readGraph(onnx::GraphProto &graph) {
  if (++depth > deepest) {
    fail("graphs are nested more than " + Twine(deepest) + " deep");
    return;
  }
  graph.set_name(readName("the name of a graph"));
  readList("(", ")", "around the inputs of a graph", [&] { readDeclaration(graph, graph.add_input()); });
  expect("=>", "between inputs and outputs");
  readList("(", ")", "around the outputs of a graph", [&] { readDeclaration(graph, graph.add_output()); });
  if (peek() == '<')
    readList("<", ">", "around declarations", [&] { readDeclaration(graph, nullptr); });
  readNodes(*graph.mutable_node());
  --depth;
}

void TextReader::readOpsets(google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &opsets) {
  readList("[", "]", "around opsets", [&] {
    onnx::OperatorSetIdProto &opset = *opsets.Add();
    opset.set_domain(readText("a domain"));
    expect(":", "behind a domain");
    opset.set_version(readInteger("a version"));
  });
}

template <typename Entry> void TextReader::readKeys(StringRef where, Entry entry) {
  readList("<", ">", where, [&] {
    std::string key = readName("a key of the header");
    expect(":", "behind a key of the header");
    entry(key);
  });
}

void TextReader::readHeader(onnx::ModelProto &model) {
  readKeys("around the header", [&](StringRef key) {
    if (key == "ir_version")
      model.set_ir_version(readInteger("a version"));
    else if (key == "opset_import")
      readOpsets(*model.mutable_opset_import());
    else if (key == "model_version")
      (void)readInteger("a version");
    else if (key == "producer_name" || key == "producer_version" || key == "domain" || key == "doc_string")
      (void)readText("a text");
    else
      fail("'" + printable(key) + "' is no key of a model's header");
  });
}

void TextReader::readFunction(onnx::FunctionProto &function) {
  readKeys("around the header of a function", [&](StringRef key) {
    if (key == "domain")
      function.set_domain(readText("a domain"));
    else if (key == "overload")
      function.set_overload(readText("an overload"));
    else if (key == "opset_import")
      readOpsets(*function.mutable_opset_import());
    else if (key == "doc_string")
      (void)readText("a text");
    else
      fail("'" + printable(key) + "' is no key of a function's header");
  });
  function.set_name(readName("the name of a function"));
  if (peek() == '<')
    readList("<", ">", "around attributes", [&] {
      std::string name = readName("the name of an attribute");
      if (peek() == ':' || peek() == '=')
        readAttribute(*function.add_attribute_proto(), name);
      else
        function.add_attribute(name);
    });
  readList("(", ")", "around the inputs of a function", [&] { function.add_input(readName("the name of an input")); });
  expect("=>", "between inputs and outputs");
  readList("(", ")", "around the outputs of a function", [&] { function.add_output(readName("the name of an output")); });
  readNodes(*function.mutable_node());
}

bool TextReader::readModel(onnx::ModelProto &model) {
  readHeader(model);
  readGraph(*model.mutable_graph());
  while (!failed() && peek() == '<')
    readFunction(*model.add_functions());
  return !failed() && (peek() == '\0' || fail("expected a function or the end"));
}

bool parseTextModel(StringRef text, onnx::ModelProto &model, std::string &error) {
  TextReader reader(text);
  if (reader.readModel(model))
    return true;
  error = reader.error;
  return false;
}

} // namespace kiln::import
