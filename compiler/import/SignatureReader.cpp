//===- SignatureReader.cpp - The model's inputs and outputs -----------------===//
#include "compiler/import/SignatureReader.h"
#include "compiler/files/Suggestion.h"
#include "compiler/import/BodyImporter.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/onnx.pb.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNQuantizedOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/RealNumber.h"
#include "dialects/nn/SignatureAttributeNames.h"
#include "dialects/nn/TensorQuantization.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln::import {

SignatureReader::SignatureReader(func::FuncOp function, OpBuilder &builder, const ImportOptions &options, const onnx::GraphProto &graph,
                                 Diagnostics &diagnostics, SymbolicSizes &sizes)
    : context(*builder.getContext()), function(function), builder(builder), options(options), graph(graph), diagnostics(diagnostics), sizes(sizes) {}

//===- Inputs --------------------------------------------------------------===//

static StringRef kindOf(const onnx::TypeProto &type) {
  switch (type.value_case()) {
  case onnx::TypeProto::kTensorType:
    return "tensor";
  case onnx::TypeProto::kSequenceType:
    return "sequence";
  case onnx::TypeProto::kMapType:
    return "map";
  case onnx::TypeProto::kOpaqueType:
    return "opaque";
  case onnx::TypeProto::kSparseTensorType:
    return "sparse tensor";
  case onnx::TypeProto::kOptionalType:
    return "optional";
  case onnx::TypeProto::VALUE_NOT_SET:
    break;
  }
  return "missing";
}

FailureOr<RankedTensorType> SignatureReader::inputType(StringRef name, const onnx::TypeProto &proto, const GivenShape &given) {
  std::string where = "input '" + printable(name) + "': ";
  if (!proto.has_tensor_type())
    return diagnostics.error(where + "its type is " + kindOf(proto) + ", only tensors, and sequences and optionals of them are supported");
  const onnx::TypeProto::Tensor &tensor = proto.tensor_type();
  Type element = getStorageType(tensor.elem_type(), &context);
  if (!element)
    return diagnostics.error(where + "element type " + getDataTypeName(tensor.elem_type()) + " is not supported");
  if (!tensor.has_shape() && !given.sizes)
    return diagnostics.error(where + "has no shape, so its rank is unknown; give one with " + given.wayOut);
  int64_t rank = tensor.has_shape() ? tensor.shape().dim_size() : given.sizes->size();
  if (rank > options.limits.rank)
    return diagnostics.error(where + "rank " + Twine(rank) + " is over the limit of " + Twine(options.limits.rank) + " dimensions");
  if (given.sizes && static_cast<int64_t>(given.sizes->size()) != rank)
    return diagnostics.error(where + given.option + " gives " + Twine(given.sizes->size()) + " dimensions, the model has " + Twine(rank));
  nn::DimExprs dims;
  int64_t bytes = nn::elementBytes(element);
  for (int64_t i = 0; i < rank; ++i) {
    onnx::TensorShapeProto::Dimension declared;
    if (tensor.has_shape())
      declared = tensor.shape().dim(i);
    int64_t size = given.sizes && (*given.sizes)[i] >= 0 ? (*given.sizes)[i] : declared.has_dim_value() ? declared.dim_value() : -1;
    if (size < -1)
      return diagnostics.error(where + "dimension " + Twine(i) + " is negative: " + Twine(size));
    if (size > 0 && (llvm::MulOverflow(bytes, size, bytes) || bytes > options.limits.tensorBytes))
      return diagnostics.error(where + "its size overflows the limit of " + Twine(options.limits.tensorBytes) + " bytes: the shape is too large");
    bool hasOwnName = declared.dim_param().empty() || (given.isElement && !options.dims.count(options.rename(declared.dim_param())));
    std::string symbolName = hasOwnName ? (name + "_" + Twine(i)).str() : declared.dim_param();
    dims.push_back(size >= 0 ? getAffineConstantExpr(size, &context) : sizes.get(symbolName));
  }
  return nn::makeTensorType(dims, element);
}

/// The numbers of a `--bind` text in the element type; empty if one of them is not such a number.
static std::vector<char> parseNumbers(StringRef text, Type element, int64_t count) {
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  std::vector<char> bytes;
  if (parts.size() != 1 && static_cast<int64_t>(parts.size()) != count)
    return bytes;
  for (int64_t i = 0; i < count; ++i) {
    StringRef part = parts[parts.size() == 1 ? 0 : i].trim();
    uint64_t bits = 0;
    if (auto real = dyn_cast<FloatType>(element)) {
      double value;
      if (!parseReal(part, value))
        return {};
      APFloat number(value);
      bool inexact;
      number.convert(real.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
      bits = number.bitcastToAPInt().getZExtValue();
    } else {
      int64_t value = part == "true" ? 1 : 0;
      if (part != "true" && part != "false" && part.getAsInteger(10, value))
        return {};
      bits = element.isInteger(1) ? value != 0 : value;
    }
    bytes.insert(bytes.end(), reinterpret_cast<char *>(&bits), reinterpret_cast<char *>(&bits) + nn::elementBytes(element));
  }
  return bytes;
}

LogicalResult SignatureReader::bindInput(Scope &scope, StringRef name, RankedTensorType type, StringRef text) {
  std::string where = "input '" + printable(name) + "': ";
  if (nn::isString(type.getElementType()))
    return diagnostics.error(where + "--bind of strings is not supported");
  if (!type.hasStaticShape() || type.getNumElements() > 65536)
    return diagnostics.error(where + "--bind needs a static shape of at most 65536 elements; give one with --shape");
  std::vector<char> bytes = parseNumbers(text, type.getElementType(), type.getNumElements());
  if (bytes.empty() && type.getNumElements() > 0)
    return diagnostics.error(where + "--bind value '" + printable(text) + "' is neither one number nor one for each element (" +
                             Twine(type.getNumElements()) + ")");
  Location loc = NameLoc::get(StringAttr::get(&context, printable(name)));
  scope.values[name] = nn::ConstantOp::create(builder, loc, nn::makeConstant(type, std::move(bytes)));
  return success();
}

LogicalResult SignatureReader::addInput(Scope &scope, const onnx::ValueInfoProto &input) {
  // An initializer of the same name is the input's default, and Kiln takes it as its value if no option gives another one or leaves it to the caller.
  bool hasDefault = scope.initializers.contains(input.name()) || scope.sparseInitializers.contains(input.name());
  auto bound = options.bindings.find(input.name());
  if (hasDefault && bound == options.bindings.end())
    return success();
  bool isOpen = bound != options.bindings.end() && bound->second == openBinding;
  if (isOpen && !hasDefault)
    return diagnostics.error("input '" + printable(input.name()) + "': --bind with ? is for inputs with a default, and this one has none");
  if (auto added = addList(scope, input))
    return *added;
  if (input.type().has_map_type())
    return addMap(scope, input);
  auto given = options.shapes.find(input.name());
  std::string wayOut = "--shape " + printable(input.name()) + "=...";
  FailureOr<RankedTensorType> type = inputType(input.name(), input.type(), {given == options.shapes.end() ? nullptr : &given->second, "--shape", wayOut});
  if (failed(type))
    return failure();
  scope.narrow[input.name()] = input.type().tensor_type().elem_type();
  if (bound != options.bindings.end() && !isOpen)
    return bindInput(scope, input.name(), *type, bound->second);
  scope.values[input.name()] = addArgument(input.name(), *type);
  return success();
}

Value SignatureReader::addArgument(StringRef name, RankedTensorType type) {
  Location loc = NameLoc::get(StringAttr::get(&context, printable(name)));
  argumentAttrs.push_back(builder.getDictionaryAttr(builder.getNamedAttr(nn::nameAttrName, builder.getStringAttr(name))));
  return function.front().addArgument(type, loc);
}

LogicalResult SignatureReader::checkOptions(const ImportOptions &options, const onnx::GraphProto &graph, Diagnostics &diagnostics) {
  auto isInput = [&](StringRef name) { return llvm::any_of(graph.input(), [&](const auto &input) { return input.name() == name; }); };
  for (const auto &[name, shape] : options.shapes)
    if (!isInput(name))
      return diagnostics.error("--shape: the model has no input '" + printable(name) + "'");
  for (const auto &[name, text] : options.bindings)
    if (!isInput(name))
      return diagnostics.error("--bind: the model has no input '" + printable(name) + "'");
  for (const auto &[name, size] : options.dims)
    if (size < 0)
      return diagnostics.error("--dim: '" + printable(name) + "' cannot be " + Twine(size));
  return checkListOptions(options, graph, diagnostics);
}

std::vector<std::string> SignatureReader::describeReplaced(const ImportOptions &options, const onnx::GraphProto &graph) {
  std::vector<std::string> lines;
  for (const auto &input : graph.input()) {
    auto given = options.shapes.find(input.name());
    if (given == options.shapes.end())
      continue;
    for (auto [i, declared, size] : llvm::enumerate(input.type().tensor_type().shape().dim(), given->second))
      if (declared.has_dim_value() && size >= 0 && declared.dim_value() != size)
        lines.push_back("--shape: dimension " + std::to_string(i) + " of input '" + printable(input.name()) + "' is " + std::to_string(declared.dim_value()) +
                        " in the model, and " + std::to_string(size) + " now");
  }
  return lines;
}

LogicalResult SignatureReader::addInputs(Scope &scope) {
  for (const onnx::ValueInfoProto &input : graph.input())
    if (failed(addInput(scope, input)))
      return failure();
  function.setFunctionType(builder.getFunctionType(function.front().getArgumentTypes(), {}));
  function.setAllArgAttrs(argumentAttrs);
  inputDims.assign(sizes.listNames().begin(), sizes.listNames().end());
  sizes.addRaised();
  return success();
}

LogicalResult SignatureReader::checkFixed() {
  auto isNamed = [&](StringRef name) {
    for (const onnx::ValueInfoProto &input : graph.input())
      for (auto [i, dim] : llvm::enumerate(input.type().tensor_type().shape().dim()))
        if (options.rename(dim.dim_param()) == name || options.rename(input.name() + "_" + std::to_string(i)) == name)
          return true;
    return false;
  };
  std::string name = sizes.findUnusedName(isNamed);
  if (name.empty())
    return success();
  return diagnostics.error("--dim: no input has a dimension '" + printable(name) + "'" + suggest(name, inputDims) +
                           (inputDims.empty() ? ", all are static" : ", but '" + printable(llvm::join(inputDims, "', '")) + "'"));
}

//===- Outputs -------------------------------------------------------------===//

LogicalResult SignatureReader::returnOutputs(Scope &scope, BodyImporter &body) {
  SmallVector<Value> values;
  llvm::StringSet<> seen;
  for (const onnx::ValueInfoProto &output : graph.output()) {
    std::string reason, where = "output '" + printable(output.name()) + "'";
    std::optional<Value> value = body.getValues().lookup(scope, output.name(), reason);
    if (!value)
      return diagnostics.error("output " + reason);
    // A value that is listed again is an output of its own.
    std::string name = output.name();
    for (unsigned number = 2; !seen.insert(name).second; ++number)
      name = output.name() + "_" + std::to_string(number);
    if (!*value)
      continue;
    if (getAlternatives(*value))
      return diagnostics.error(where + ": its rank depends on a condition that is known only at run time; fix the input that it depends on with --bind "
                                       "input=value");
    if (!isa<RankedTensorType>(value->getType())) {
      if (name != output.name())
        return diagnostics.error(where + ": is a list, and is listed twice");
      if (failed(returnList(output, *value, values)))
        return failure();
      continue;
    }
    bool isDeclared = output.has_type() && output.type().value_case() != onnx::TypeProto::VALUE_NOT_SET;
    bool isOptional = isDeclared && output.type().has_optional_type() && output.type().optional_type().elem_type().has_tensor_type();
    // A list of maps is a tensor with a row for each map and a column for each key (ZipMap).
    bool isListOfMaps = isDeclared && output.type().has_sequence_type() && output.type().sequence_type().elem_type().has_map_type();
    if (isListOfMaps) {
      values.push_back(*value);
      outputNames.push_back(name);
      continue;
    }
    if (isDeclared && !output.type().has_tensor_type() && (!isOptional || scope.tensors.contains(output.name())))
      return diagnostics.error(where + " is a tensor, but the model declares type " + kindOf(output.type()));
    if (isOptional)
      sequences.push_back({name, false, true, true, false, static_cast<unsigned>(values.size()), 1});
    if (failed(body.getValues().checkDeclared(scope, output.name(), *value, where)))
      return failure();
    values.push_back(*value);
    outputNames.push_back(name);
  }
  if (graph.output_size() == 0)
    return diagnostics.error("the graph has no outputs");
  if (body.hasUnsupported())
    return success();
  returnValues(values, body);
  return success();
}

void SignatureReader::noteQuantization() {
  auto *terminator = function.getBody().front().getTerminator();
  for (BlockArgument argument : function.getArguments()) {
    std::optional<nn::TensorQuantization> common;
    bool isCommon = true;
    for (OpOperand &use : argument.getUses()) {
      if (use.getOwner() == terminator)
        continue;
      auto own = isa<nn::DequantizeOp>(use.getOwner()) && use.getOperandNumber() == 0 ? nn::describeQuantization(use.getOwner()) : std::nullopt;
      isCommon = isCommon && own && (!common || *own == *common);
      common = own;
    }
    if (isCommon && common)
      function.setArgAttr(argument.getArgNumber(), nn::quantizationAttrName, common->toAttribute(&context));
  }
  for (unsigned i = 0; i < outputNames.size(); ++i)
    if (auto quantize = terminator->getOperand(i).getDefiningOp<nn::QuantizeOp>())
      if (auto own = nn::describeQuantization(quantize))
        function.setResultAttr(i, nn::quantizationAttrName, own->toAttribute(&context));
}

void SignatureReader::returnValues(ArrayRef<Value> outputs, BodyImporter &body) {
  SmallVector<Value> values(outputs);
  for (const auto &[name, bytes] : body.listKeptBytes()) {
    std::string unique = name;
    for (unsigned number = 2; llvm::is_contained(outputNames, unique); ++number)
      unique = name + "_" + std::to_string(number);
    sequences.push_back({unique, false, false, true, true, static_cast<unsigned>(values.size()), 1});
    outputNames.push_back(unique);
    values.push_back(bytes);
  }
  llvm::SmallPtrSet<Value, 16> returned(values.begin(), values.end());
  SmallVector<const BodyImporter::NodeValue *> exposed;
  llvm::StringSet<> names;
  for (BodyImporter::NodeValue &value : body.getNodeValues())
    if (!getIntegerContents(value.value) && !value.value.getDefiningOp<nn::ConstantOp>() && returned.insert(value.value).second) {
      // Calls of a function without names give equal names to its values.
      for (std::string stem = value.name; !names.insert(value.name).second;)
        value.name = stem + "#" + std::to_string(exposed.size());
      exposed.push_back(&value);
      values.push_back(value.value);
    }
  func::ReturnOp::create(builder, function.getLoc(), values);
  function.setFunctionType(builder.getFunctionType(function.getArgumentTypes(), ValueRange(values).getTypes()));
  llvm::DenseMap<Value, StringRef> nodes;
  for (const BodyImporter::NodeValue &value : body.getNodeValues())
    nodes[value.value] = value.node;
  // All at once, because setting them one by one would copy the list of all results each time.
  SmallVector<DictionaryAttr> attributes;
  auto describe = [&](const std::string &name, std::optional<StringRef> node) {
    NamedAttrList named;
    named.set(nn::nameAttrName, builder.getStringAttr(name));
    if (node)
      named.set(nn::nodeAttrName, builder.getStringAttr(*node));
    attributes.push_back(named.getDictionary(&context));
  };
  for (auto [i, name] : llvm::enumerate(outputNames)) {
    auto node = nodes.find(values[i]);
    describe(name, node == nodes.end() ? std::nullopt : std::optional(node->second));
  }
  for (const BodyImporter::NodeValue *value : exposed)
    describe(value->name, StringRef(value->node));
  function.setAllResultAttrs(attributes);
}

} // namespace kiln::import
