//===- KernelForm.cpp - The text of a kernel ----------------------------------===//
#include "compiler/kernels/KernelForm.h"
#include "compiler/import/onnx.pb.h"
#include "compiler/kernels/ModelBuilding.h"
#include "compiler/run/Tensor.h"
#include "dialects/nn/RealNumber.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace kiln {

static constexpr std::pair<StringLiteral, int> elements[] = {
    {"f32", onnx::TensorProto::FLOAT}, {"f16", onnx::TensorProto::FLOAT16}, {"bf16", onnx::TensorProto::BFLOAT16}, {"f64", onnx::TensorProto::DOUBLE},
    {"i8", onnx::TensorProto::INT8},   {"u8", onnx::TensorProto::UINT8},    {"i16", onnx::TensorProto::INT16},     {"u16", onnx::TensorProto::UINT16},
    {"i32", onnx::TensorProto::INT32}, {"u32", onnx::TensorProto::UINT32},  {"i64", onnx::TensorProto::INT64},     {"u64", onnx::TensorProto::UINT64},
    {"bool", onnx::TensorProto::BOOL}};

int findElementNumber(StringRef name) {
  const auto *found = find_if(elements, [&](const auto &row) { return row.first == name; });
  return found == std::end(elements) ? 0 : found->second;
}

std::string describeUnknownType(StringRef name) {
  return ("'" + name + "' is no element type; expected f32, f16, bf16, f64, bool, or integers such as i8 and u64").str();
}

std::string KernelTensor::text() const { return (isPacked ? "packed " : "") + element + (isValue() ? "" : "[" + join(dims, ",") + "]"); }

std::string KernelForm::signature() const {
  auto list = [](ArrayRef<KernelTensor> tensors) {
    auto shown = make_filter_range(tensors, [](const KernelTensor &tensor) { return !tensor.isBehindPacked(); });
    return join(map_range(shown, [](const KernelTensor &tensor) { return tensor.name + ": " + tensor.text(); }), ", ");
  };
  return kernel + "(" + join(sizes, ", ") + "; " + list(inputs) + ") -> " + list(outputs);
}

namespace {
/// Reads a text whose parameters are filled in.
class FormReader {
public:
  FormReader(StringRef text, KernelForm &form) : rest(text), form(form) {}
  Error run();

private:
  void skipBlanks() { rest = rest.ltrim(); }
  bool take(StringRef token) {
    skipBlanks();
    return rest.consume_front(token);
  }
  void expect(StringRef token) {
    if (!take(token))
      fail("'" + token + "'");
  }
  void fail(const Twine &expected) {
    if (fault.empty())
      fault = ("expected " + expected + " at '" + rest.take_front(24) + "'").str();
    rest = "";
  }
  StringRef word();
  std::string number();
  std::string readDim();
  void readSizes();
  std::vector<KernelTensor> readTensors();
  void readNode();
  void readAttribute(onnx::NodeProto &node);
  std::string readOperand();
  std::vector<int64_t> readIntegers();

  StringRef rest;
  KernelForm &form;
  ModelBuilder builder;
  std::string fault;
};
} // namespace

/// A name with dots, for operators of a domain.
StringRef FormReader::word() {
  skipBlanks();
  bool begins = !rest.empty() && (isAlpha(rest.front()) || rest.front() == '_');
  StringRef found = begins ? rest.take_while([](char c) { return isAlnum(c) || c == '_' || c == '.'; }) : "";
  if (found.empty())
    fail("a name");
  rest = rest.drop_front(std::min(found.size(), rest.size()));
  return found;
}

/// The text of a number, with a point where it is real.
std::string FormReader::number() {
  skipBlanks();
  StringRef found = rest.take_while([](char c) { return isAlnum(c) || c == '.' || c == '-' || c == '+'; });
  double value;
  if (found.empty() || !parseReal(found, value))
    fail("a number");
  rest = rest.drop_front(std::min(found.size(), rest.size()));
  return found.str();
}

static bool isReal(StringRef number) { return number.find_first_of(".e") != StringRef::npos; }

std::vector<int64_t> FormReader::readIntegers() {
  std::vector<int64_t> numbers;
  for (expect("["); fault.empty() && !take("]"); take(","))
    if (StringRef(number()).getAsInteger(10, numbers.emplace_back()))
      fail("an integer");
  return numbers;
}

void FormReader::readSizes() {
  expect("[");
  while (fault.empty() && !take("]")) {
    bool derives = !form.derived.empty();
    std::string name = word().str();
    if (take("=")) {
      DerivedSize size{name, word().str(), 0};
      expect("/");
      if (StringRef(number()).getAsInteger(10, size.divisor) || size.divisor < 1)
        fail("a positive divisor");
      form.derived.push_back(size);
    } else if (derives) {
      fail("'='");
    } else {
      form.sizes.push_back(name);
    }
    take(",");
    take(";");
  }
}

/// A name, a number, or a number divided by another.
std::string FormReader::readDim() {
  skipBlanks();
  if (rest.empty() || !isDigit(rest.front()))
    return word().str();
  int64_t size = 0, divisor = 1;
  if (StringRef(number()).getAsInteger(10, size) || (take("/") && StringRef(number()).getAsInteger(10, divisor)) || divisor < 1 || size % divisor != 0)
    fail("a whole number");
  return fault.empty() ? std::to_string(size / divisor) : "";
}

std::vector<KernelTensor> FormReader::readTensors() {
  std::vector<KernelTensor> tensors;
  expect("(");
  while (fault.empty() && !take(")")) {
    KernelTensor tensor;
    tensor.name = word().str();
    skipBlanks();
    if (bool isNamed = rest.starts_with(":"); !isNamed && llvm::is_contained({"packed", "sums", "scales"}, tensor.name)) {
      (tensor.name == "packed" ? tensor.isPacked : tensor.name == "sums" ? tensor.isSums : tensor.isScales) = true;
      tensor.name = word().str();
    }
    expect(":");
    tensor.element = word().str();
    if (fault.empty() && !findElementNumber(tensor.element))
      fault = describeUnknownType(tensor.element);
    if (take("["))
      while (fault.empty() && !take("]")) {
        tensor.dims.push_back(readDim());
        take(",");
      }
    take(",");
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

void FormReader::readAttribute(onnx::NodeProto &node) {
  std::string name = word().str();
  expect("=");
  skipBlanks();
  if (rest.starts_with("["))
    return builder.addIntegers(node, name, readIntegers());
  if (take("\"")) {
    StringRef text = rest.take_until([](char c) { return c == '"'; });
    rest = rest.drop_front(text.size());
    expect("\"");
    return builder.addString(node, name, text);
  }
  if (!rest.empty() && isAlpha(rest.front())) {
    int element = findElementNumber(word());
    if (!element)
      fail("a type");
    return builder.addInteger(node, name, element);
  }
  std::string text = number();
  double real = 0;
  int64_t integer = 0;
  if (isReal(text) && parseReal(text, real))
    return builder.addReal(node, name, real);
  if (StringRef(text).getAsInteger(10, integer))
    fail("an integer");
  builder.addInteger(node, name, integer);
}

std::string FormReader::readOperand() {
  skipBlanks();
  if (rest.starts_with("["))
    return builder.addConstant(readIntegers());
  if (!rest.empty() && isAlpha(rest.front()))
    return word().str();
  std::string text = number();
  std::string element = take(":") ? word().str() : isReal(text) ? "f32" : "i64";
  std::string name = fault.empty() ? builder.addConstant(text, findElementNumber(element)) : "";
  if (name.empty())
    fail("a number of that type");
  return name;
}

void FormReader::readNode() {
  std::vector<std::string> results = {word().str()};
  while (take(","))
    results.push_back(word().str());
  expect("=");
  onnx::NodeProto &node = builder.addNode(word());
  for (const std::string &result : results)
    node.add_output(result);
  if (take("<"))
    while (fault.empty() && !take(">")) {
      readAttribute(node);
      take(",");
    }
  expect("(");
  while (fault.empty() && !take(")")) {
    node.add_input(readOperand());
    take(",");
  }
}

Error FormReader::run() {
  readSizes();
  form.inputs = readTensors();
  expect("->");
  form.outputs = readTensors();
  expect("{");
  while (fault.empty() && !take("}")) {
    readNode();
    take(";");
  }
  skipBlanks();
  if (fault.empty() && !rest.empty())
    fail("the end");
  if (!fault.empty())
    return makeError("kernel '" + form.kernel + "': " + fault);
  for (const KernelTensor &input : form.inputs)
    builder.addInput(input);
  for (const KernelTensor &output : form.outputs)
    builder.addOutput(output.name);
  form.model = builder.serialize();
  return Error::success();
}

/// The text with the values of the parameters.
static std::string fillParameters(StringRef text, ArrayRef<KernelParameter> parameters) {
  std::string filled;
  while (!text.empty()) {
    size_t at = text.find('$');
    filled += text.take_front(at);
    text = at == StringRef::npos ? "" : text.drop_front(at + 1);
    StringRef name = text.take_while([](char c) { return isAlnum(c) || c == '_'; });
    if (const auto *found = find_if(parameters, [&](const KernelParameter &parameter) { return parameter.name == name; }); found != parameters.end()) {
      filled += found->value;
      text = text.drop_front(name.size());
    }
  }
  return filled;
}

Error readKernelText(StringRef text, KernelForm &form) {
  std::string filled = fillParameters(text, form.parameters);
  return FormReader(filled, form).run();
}

} // namespace kiln
