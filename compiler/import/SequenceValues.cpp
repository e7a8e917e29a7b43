//===- SequenceValues.cpp - Sequences and optionals at the interface ---------===//
//
// At the model's interface, a sequence is one tensor per element: NAME_0, NAME_1, ... The length of an input sequence, and whether an optional input has a
// value, must be known when the model is compiled.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/SequenceValues.h"
#include "compiler/import/MapValues.h"
#include "compiler/import/SignatureReader.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/onnx.pb.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln::import {

/// Each element is an argument of the compiled function.
static constexpr int64_t longestSequence = 1024;

Value makeSequence(OpBuilder &builder, Location loc, ArrayRef<Value> elements) {
  SmallVector<Type> types;
  for (Value element : elements)
    types.push_back(element.getType());
  return UnrealizedConversionCastOp::create(builder, loc, TupleType::get(builder.getContext(), types), elements).getResult(0);
}

std::optional<SmallVector<Value>> getElements(Value value) {
  auto list = value.getDefiningOp<UnrealizedConversionCastOp>();
  return list && isa<TupleType>(value.getType()) && !getMap(value) ? std::optional(SmallVector<Value>(list.getInputs())) : std::nullopt;
}

Value makeAbsent(OpBuilder &builder, Location loc) {
  return UnrealizedConversionCastOp::create(builder, loc, builder.getNoneType(), ValueRange()).getResult(0);
}

bool isAbsent(Value value) { return isa<NoneType>(value.getType()); }

//===- Options -------------------------------------------------------------===//

namespace {
/// The value of --sequence: the length, and either no shape, one for all elements, or one for each.
struct SequenceOption {
  int64_t length = 0;
  std::vector<std::vector<int64_t>> shapes;
  const std::vector<int64_t> *shape(int64_t element) const { return shapes.empty() ? nullptr : &shapes[shapes.size() == 1 ? 0 : element]; }
};
} // namespace

static std::optional<SequenceOption> parseSequence(StringRef text) {
  SequenceOption option;
  auto [length, shapes] = text.split(':');
  if (length.getAsInteger(10, option.length) || option.length < 0)
    return std::nullopt;
  if (!text.contains(':'))
    return option;
  SmallVector<StringRef> texts;
  shapes.split(texts, ',');
  for (StringRef shape : texts) {
    SmallVector<StringRef> sizes;
    shape.split(sizes, 'x', -1, /*KeepEmpty=*/!shape.empty());
    option.shapes.emplace_back();
    for (StringRef size : sizes)
      if (size == "?")
        option.shapes.back().push_back(-1);
      else if (size.getAsInteger(10, option.shapes.back().emplace_back()) || option.shapes.back().back() < 0)
        return std::nullopt;
  }
  return option.shapes.size() == 1 || static_cast<int64_t>(option.shapes.size()) == option.length ? std::optional(option) : std::nullopt;
}

LogicalResult SignatureReader::checkListOptions(const ImportOptions &options, const onnx::GraphProto &graph, Diagnostics &diagnostics) {
  auto find = [&](StringRef name) -> const onnx::TypeProto * {
    for (const onnx::ValueInfoProto &input : graph.input())
      if (input.name() == name)
        return &input.type();
    return nullptr;
  };
  auto isSequence = [](const onnx::TypeProto &type) {
    return type.has_sequence_type() || (type.has_optional_type() && type.optional_type().elem_type().has_sequence_type());
  };
  for (const auto &[name, text] : options.sequences)
    if (const onnx::TypeProto *type = find(name); !type || !isSequence(*type))
      return diagnostics.error("--sequence: the model has no input '" + printable(name) + "' that is a sequence");
  for (const std::string &name : options.absent)
    if (const onnx::TypeProto *type = find(name); !type || !type->has_optional_type())
      return diagnostics.error("--absent: the model has no input '" + printable(name) + "' that is optional");
  for (const auto &[name, shape] : options.shapes)
    if (isSequence(*find(name)))
      return diagnostics.error("--shape: input '" + printable(name) + "' is a sequence; give its elements' shapes with --sequence");
  for (const auto &[name, text] : options.bindings)
    if (!find(name)->has_tensor_type())
      return diagnostics.error("--bind: input '" + printable(name) + "' is not a tensor");
  return success();
}

//===- Inputs --------------------------------------------------------------===//

std::string SignatureReader::elementName(StringRef name, const Twine &part) const {
  auto isTaken = [&](StringRef text) {
    auto hasName = [&](const onnx::ValueInfoProto &value) { return value.name() == text; };
    return llvm::any_of(graph.input(), hasName) || llvm::any_of(graph.output(), hasName);
  };
  std::string text = (name + "_" + part).str();
  while (isTaken(text))
    text += "_";
  return text;
}

LogicalResult SignatureReader::addSequence(Scope &scope, const onnx::ValueInfoProto &input, const onnx::TypeProto &sequence) {
  std::string where = "input '" + printable(input.name()) + "': ", wayOut = "--sequence " + printable(input.name()) + "=LENGTH:SHAPE,...";
  auto given = options.sequences.find(input.name());
  if (given == options.sequences.end())
    return diagnostics.error(where + "the length of a sequence must be known when the model is compiled; give it with --sequence " +
                             printable(input.name()) + "=LENGTH, or " + wayOut);
  std::optional<SequenceOption> option = parseSequence(given->second);
  if (!option || option->length > longestSequence)
    return diagnostics.error("--sequence=" + printable(input.name()) + "=" + printable(given->second) +
                             ": expected LENGTH or LENGTH:2x3,... with a length of at most " +
                             Twine(longestSequence) + " and one shape for all elements or one for each");
  unsigned first = function.front().getNumArguments();
  SmallVector<Value> elements;
  for (int64_t i = 0; i < option->length; ++i) {
    std::string name = elementName(input.name(), Twine(i));
    FailureOr<RankedTensorType> type =
        inputType(name, sequence.sequence_type().elem_type(), {option->shape(i), "--sequence", wayOut, /*isElement=*/true});
    if (failed(type))
      return failure();
    elements.push_back(addArgument(name, *type));
  }
  sequences.push_back({input.name(), true, input.type().has_optional_type(), false, false, first, option->length});
  scope.values[input.name()] = makeSequence(builder, function.getLoc(), elements);
  return success();
}

std::optional<LogicalResult> SignatureReader::addList(Scope &scope, const onnx::ValueInfoProto &input) {
  bool isOptional = input.type().has_optional_type();
  const onnx::TypeProto &held = isOptional ? input.type().optional_type().elem_type() : input.type();
  if (isOptional)
    scope.optionals.insert(input.name());
  if (options.absent.count(input.name())) {
    sequences.push_back({input.name(), held.has_sequence_type(), true, false, false, function.front().getNumArguments(), nn::SequenceInfo::absent});
    scope.values[input.name()] = makeAbsent(builder, function.getLoc());
    return success();
  }
  if (held.has_sequence_type())
    return addSequence(scope, input, held);
  if (!isOptional)
    return std::nullopt;
  auto given = options.shapes.find(input.name());
  std::string wayOut = "--shape " + printable(input.name()) + "=...";
  FailureOr<RankedTensorType> type = inputType(input.name(), held, {given == options.shapes.end() ? nullptr : &given->second, "--shape", wayOut});
  if (failed(type))
    return failure();
  sequences.push_back({input.name(), false, true, false, false, function.front().getNumArguments(), 1});
  scope.values[input.name()] = addArgument(input.name(), *type);
  return success();
}

//===- Outputs -------------------------------------------------------------===//

LogicalResult SignatureReader::returnList(const onnx::ValueInfoProto &output, Value list, SmallVectorImpl<Value> &results) {
  std::string where = "output '" + printable(output.name()) + "' is ";
  const onnx::TypeProto &declared = output.type();
  bool isOptional = declared.has_optional_type();
  const onnx::TypeProto &held = isOptional ? declared.optional_type().elem_type() : declared;
  bool isDeclared = declared.value_case() != onnx::TypeProto::VALUE_NOT_SET;
  nn::SequenceInfo info{output.name(), held.has_sequence_type(), isOptional, true, false, static_cast<unsigned>(results.size()), nn::SequenceInfo::absent};
  if (auto elements = getElements(list)) {
    if (isDeclared && !held.has_sequence_type())
      return diagnostics.error(where + "a sequence, but the model declares something else");
    Type element = getStorageType(held.sequence_type().elem_type().tensor_type().elem_type(), &context);
    info.count = elements->size();
    info.isSequence = true;
    for (auto [i, value] : llvm::enumerate(*elements)) {
      if (isDeclared && element != cast<RankedTensorType>(value.getType()).getElementType())
        return diagnostics.error(where + "a sequence of another element type than the model declares");
      outputNames.push_back(elementName(output.name(), Twine(i)));
      results.push_back(value);
    }
  } else if (isDeclared && !isOptional) {
    return diagnostics.error(where + "an optional without a value, but the model declares something else");
  }
  info.isOptional |= !info.isSequence;
  sequences.push_back(info);
  return success();
}

} // namespace kiln::import
