//===- GraphSignature.cpp - The model's header, inputs and outputs -----------===//
#include "compiler/import/Graph.h"
#include "compiler/import/ModelCheck.h"
#include "compiler/import/NarrowTypes.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/onnx.pb.h"
#include "dialects/nn/ConstantData.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace mlir;

namespace kiln::import {

GraphImporter::GraphImporter(MLIRContext &context, const ImportOptions &options, ModelFile &file, Diagnostics &diagnostics,
                             SqueezedDims &squeezed, Assumptions &assumptions)
    : context(context), options(options), file(file), diagnostics(diagnostics), squeezed(squeezed), assumptions(assumptions), builder(&context, &calls) {}

//===- Symbols -------------------------------------------------------------===//

AffineExpr GraphImporter::symbol(StringRef name) {
  if (auto fixed = options.dims.find(name.str()); fixed != options.dims.end()) {
    fixedDims.insert(name);
    return getAffineConstantExpr(fixed->second, &context);
  }
  auto [entry, isNew] = symbolByName.try_emplace(name, AffineExpr());
  if (isNew) {
    entry->second = getAffineSymbolExpr(symbols.size(), &context);
    if (auto given = options.dimBounds.find(name.str()); given != options.dimBounds.end())
      facts.bound(symbols.size(), {given->second.first, given->second.second});
    symbols.push_back(name.str());
  }
  return entry->second;
}

AffineExpr GraphImporter::addComputedSymbol(const Twine &name, AffineExpr bound) {
  // Expressions in the library's tables mention it by its field, so the name is one.
  std::string stem;
  for (char c : name.str())
    if (llvm::isAlnum(c) || (!stem.empty() && stem.back() != '_'))
      stem += llvm::isAlnum(c) ? c : '_';
  if (stem.empty() || llvm::isDigit(stem.front()))
    stem = "n" + stem;
  std::string unique = stem;
  for (unsigned number = 2; llvm::is_contained(symbols, unique); ++number)
    unique = stem + "_" + std::to_string(number);
  symbols.push_back(unique);
  computedBounds.push_back(nn::simplifyDim(bound));
  facts.bound(symbols.size() - 1, {0, facts.getRange(bound).most});
  return getAffineSymbolExpr(symbols.size() - 1, &context);
}

bool GraphImporter::isConstraint(AffineExpr mustBeZero) const {
  return llvm::is_contained(constraints, nn::simplifyDim(mustBeZero)) || llvm::is_contained(constraints, nn::simplifyDim(mustBeZero * -1));
}

void GraphImporter::addConstraint(AffineExpr mustBeZero) {
  if (!isConstraint(mustBeZero))
    constraints.push_back(nn::simplifyDim(mustBeZero));
}

void GraphImporter::requireNotNegative(AffineExpr expr) {
  // Zero exactly for 0 <= expr < 2^40: constraints are equations.
  addConstraint(expr.floorDiv(int64_t(1) << 40));
  if (!isConditional())
    facts.add(expr);
}

bool GraphImporter::isInRange(AffineExpr expr) {
  assumptions.hasClamped = true;
  // Computed symbols may be others when the model is imported again.
  if (!assumptions.isInRange && !computedDims().isIn(expr))
    clamped.insert(nn::simplifyDim(expr));
  return assumptions.isInRange;
}

bool GraphImporter::hasSign(AffineExpr expr) {
  bool found = false;
  expr.walk([&](AffineExpr part) { found |= static_cast<bool>(nn::matchSign(part)); });
  return found;
}

bool GraphImporter::learn(AffineExpr mustBeZero, ArrayRef<AffineExpr> orOne) {
  if (clamped.empty() || isConditional() || !hasSign(mustBeZero))
    return false;
  // What never is zero needs nothing, and every sign would seem to be needed.
  if (nn::DimRange range = facts.getRange(mustBeZero); orOne.empty() && ((range.least && *range.least > 0) || (range.most && *range.most < 0)))
    return false;
  nn::DimFacts more = facts;
  auto isNeeded = [&](AffineExpr notNegative) {
    nn::DimFacts otherwise = facts;
    otherwise.add(notNegative * -1 - 1);
    auto isNever = [&](AffineExpr expr, int64_t value) {
      nn::DimRange range = otherwise.getRange(expr);
      return (range.least && *range.least > value) || (range.most && *range.most < value);
    };
    return isNever(mustBeZero, 0) && llvm::all_of(orOne, [&](AffineExpr size) { return isNever(size, 1); });
  };
  for (AffineExpr expr : clamped)
    for (AffineExpr sign : {expr, nn::simplifyDim(expr * -1)})
      if (isNeeded(sign)) {
        assumptions.found.insert(sign);
        more.add(sign);
      }
  if (nn::getConstantDim(more.simplify(mustBeZero)) == 0)
    return true;
  // Of a table of constant length, as that of positions, the rows that are asked for are meant to be there.
  DimExprs ofTables;
  for (AffineExpr expr : clamped)
    if (nn::DimRange range = facts.getRange(expr); range.most && !range.least) {
      ofTables.push_back(expr);
      more.add(expr);
    }
  bool isZero = nn::getConstantDim(more.simplify(mustBeZero)) == 0;
  if (isZero)
    assumptions.found.insert(ofTables.begin(), ofTables.end());
  return isZero;
}

void GraphImporter::assumeSigns() {
  for (AffineExpr expr : assumptions.notNegative)
    if (!facts.areOrdered(getAffineConstantExpr(0, &context), expr))
      requireNotNegative(expr);
}

AffineExpr GraphImporter::usePinned(AffineExpr dim) const {
  for (AffineExpr constraint : constraints) {
    AffineExpr symbol;
    bool isLinear = constraint.isPureAffine();
    constraint.walk([&](AffineExpr part) {
      bool isOther = isa<AffineSymbolExpr>(part) && symbol && part != symbol;
      isLinear &= !isOther && part.getKind() != AffineExprKind::FloorDiv && part.getKind() != AffineExprKind::CeilDiv && part.getKind() != AffineExprKind::Mod;
      symbol = isa<AffineSymbolExpr>(part) ? part : symbol;
    });
    if (!isLinear || !symbol || !dim.isFunctionOfSymbol(cast<AffineSymbolExpr>(symbol).getPosition()))
      continue;
    auto at = [&](int64_t value) { return nn::getConstantDim(constraint.replace(symbol, getAffineConstantExpr(value, &context))).value_or(0); };
    int64_t offset = at(0), factor = at(1) - offset;
    if (factor != 0 && offset % factor == 0)
      dim = nn::simplifyDim(dim.replace(symbol, getAffineConstantExpr(-offset / factor, &context)));
  }
  return dim;
}

//===- Inputs --------------------------------------------------------------===//

void GraphImporter::addInitializers(Scope &scope, const onnx::GraphProto &graph) {
  for (const onnx::TensorProto &tensor : graph.initializer())
    scope.initializers[tensor.name()] = &tensor;
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer())
    scope.sparseInitializers[tensor.values().name()] = &tensor;
  for (const auto *infos : {&graph.value_info(), &graph.output()})
    for (const onnx::ValueInfoProto &info : *infos)
      scope.declared[info.name()] = &info.type();
}

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

FailureOr<RankedTensorType> GraphImporter::inputType(StringRef name, const onnx::TypeProto &proto, const GivenShape &given) {
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
    bool hasOwnName = declared.dim_param().empty() || (given.isElement && !options.dims.count(declared.dim_param()));
    std::string symbolName = hasOwnName ? (name + "_" + Twine(i)).str() : declared.dim_param();
    dims.push_back(size >= 0 ? getAffineConstantExpr(size, &context) : symbol(symbolName));
  }
  return nn::makeTensorType(dims, element);
}

/// The numbers of a `--bind` text in the element type; empty when one is no such number.
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
      if (part.getAsDouble(value))
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

LogicalResult GraphImporter::bindInput(Scope &scope, StringRef name, RankedTensorType type, StringRef text) {
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

LogicalResult GraphImporter::addInput(Scope &scope, const onnx::ValueInfoProto &input) {
  // An initializer of the same name is the input's default, and Kiln takes it as its value.
  if (scope.initializers.contains(input.name()) || scope.sparseInitializers.contains(input.name()))
    return success();
  if (auto added = addList(scope, input))
    return *added;
  auto given = options.shapes.find(input.name());
  std::string wayOut = "--shape " + printable(input.name()) + "=...";
  FailureOr<RankedTensorType> type = inputType(input.name(), input.type(), {given == options.shapes.end() ? nullptr : &given->second, "--shape", wayOut});
  if (failed(type))
    return failure();
  scope.narrow[input.name()] = input.type().tensor_type().elem_type();
  if (auto bound = options.bindings.find(input.name()); bound != options.bindings.end())
    return bindInput(scope, input.name(), *type, bound->second);
  scope.values[input.name()] = addArgument(input.name(), *type);
  return success();
}

Value GraphImporter::addArgument(StringRef name, RankedTensorType type) {
  Location loc = NameLoc::get(StringAttr::get(&context, printable(name)));
  unsigned index = function.getNumArguments();
  (void)function.insertArgument(index, type, builder.getDictionaryAttr(builder.getNamedAttr(nn::nameAttrName, builder.getStringAttr(name))), loc);
  return function.getArgument(index);
}

LogicalResult GraphImporter::checkOptions(const onnx::GraphProto &graph) {
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
  return checkListOptions(graph);
}

LogicalResult GraphImporter::addInputs(Scope &scope, const onnx::GraphProto &graph) {
  for (const onnx::ValueInfoProto &input : graph.input())
    if (failed(addInput(scope, input)))
      return failure();
  auto isNamed = [&](StringRef name) {
    for (const onnx::ValueInfoProto &input : graph.input())
      for (auto [i, dim] : llvm::enumerate(input.type().tensor_type().shape().dim()))
        if (dim.dim_param() == name || input.name() + "_" + std::to_string(i) == name)
          return true;
    return false;
  };
  for (const auto &[name, size] : options.dims)
    if (!isNamed(name) && !fixedDims.contains(name))
      return diagnostics.error("--dim: no input has a dimension '" + printable(name) + "'" +
                               (symbols.empty() ? ", all are static" : ", but '" + printable(llvm::join(symbols, "', '")) + "'"));
  return success();
}

//===- Outputs -------------------------------------------------------------===//

LogicalResult GraphImporter::checkDeclared(Scope &scope, StringRef name, Value value, StringRef where) {
  const onnx::TypeProto *declared = scope.declared.lookup(name);
  if (!isa<RankedTensorType>(value.getType()))
    return success();
  if (!declared || !declared->has_tensor_type())
    return success();
  const auto &tensor = declared->tensor_type();
  auto type = cast<RankedTensorType>(value.getType());
  Type element = getStorageType(tensor.elem_type(), &context);
  bool isCode = isNarrowFloat(tensor.elem_type()) || isNarrowFloat(narrowType(scope, name));
  if ((element && element != type.getElementType()) || (isCode && tensor.elem_type() != narrowType(scope, name))) {
    std::string text;
    llvm::raw_string_ostream(text) << type.getElementType();
    return diagnostics.error(where + ": '" + printable(name) + "' has element type " + text + ", but the model declares type " +
                             getDataTypeName(tensor.elem_type()));
  }
  bool isExported = options.shapes.empty() && options.bindings.empty() && tensor.has_shape() && tensor.shape().dim_size() == type.getRank();
  for (int64_t i = 0; isExported && i < type.getRank(); ++i)
    if (const auto &dim = tensor.shape().dim(i); dim.dim_value() > 0 && type.isDynamicDim(i))
      (void)learn(nn::getDim(type, i) - dim.dim_value());
  // Sizes that options change are no longer those that the exporter wrote down.
  if (!tensor.has_shape() || !options.shapes.empty() || !options.dims.empty() || !options.bindings.empty())
    return success();
  bool differs = tensor.shape().dim_size() != type.getRank();
  for (int64_t i = 0; !differs && i < type.getRank(); ++i) {
    const auto &dim = tensor.shape().dim(i);
    differs = dim.has_dim_value() && dim.dim_value() > 0 && type.getDimSize(i) >= 0 && dim.dim_value() != type.getDimSize(i);
  }
  if (!differs)
    return success();
  std::string have, want;
  for (AffineExpr dim : nn::getDims(type))
    have += (have.empty() ? "" : "x") + nn::formatDim(dim);
  for (const auto &dim : tensor.shape().dim())
    want += (want.empty() ? "" : "x") + (dim.has_dim_value() ? std::to_string(dim.dim_value()) : std::string("?"));
  return diagnostics.error(where + ": '" + printable(name) + "' has shape " + have + ", but the model declares shape " + printable(want));
}

LogicalResult GraphImporter::returnOutputs(Scope &scope, const onnx::GraphProto &graph) {
  SmallVector<Value> values;
  llvm::StringSet<> seen;
  for (const onnx::ValueInfoProto &output : graph.output()) {
    std::string reason, where = "output '" + printable(output.name()) + "'";
    std::optional<Value> value = lookup(scope, output.name(), reason);
    if (!value)
      return diagnostics.error("output " + reason);
    if (!seen.insert(output.name()).second)
      return diagnostics.error(where + ": is listed twice: a duplicate");
    if (!*value)
      continue;
    if (!isa<RankedTensorType>(value->getType())) {
      if (failed(returnList(output, *value, values)))
        return failure();
      continue;
    }
    bool isDeclared = output.has_type() && output.type().value_case() != onnx::TypeProto::VALUE_NOT_SET;
    bool isOptional = isDeclared && output.type().has_optional_type() && output.type().optional_type().elem_type().has_tensor_type();
    if (isDeclared && !output.type().has_tensor_type() && (!isOptional || scope.tensors.contains(output.name())))
      return diagnostics.error(where + " is a tensor, but the model declares type " + kindOf(output.type()));
    if (isOptional)
      sequences.push_back({output.name(), false, true, true, false, static_cast<unsigned>(values.size()), 1});
    if (failed(checkDeclared(scope, output.name(), *value, where)))
      return failure();
    values.push_back(*value);
    outputNames.push_back(output.name());
  }
  if (graph.output_size() == 0)
    return diagnostics.error("the graph has no outputs");
  if (!unsupportedNodes.empty())
    return success();
  returnValues(values);
  return success();
}

void GraphImporter::returnValues(ArrayRef<Value> outputs) {
  SmallVector<Value> values(outputs);
  for (auto &[name, bytes] : keptBytes) {
    std::string unique = name;
    for (unsigned number = 2; llvm::is_contained(outputNames, unique); ++number)
      unique = name + "_" + std::to_string(number);
    sequences.push_back({unique, false, false, true, true, static_cast<unsigned>(values.size()), 1});
    outputNames.push_back(unique);
    values.push_back(bytes);
  }
  llvm::SmallPtrSet<Value, 16> returned(values.begin(), values.end());
  SmallVector<const NodeValue *> exposed;
  llvm::StringSet<> names;
  for (NodeValue &value : nodeValues)
    if (!getIntegerContents(value.value) && !value.value.getDefiningOp<nn::ConstantOp>() && returned.insert(value.value).second) {
      // Two calls of a function may have no names of their own.
      for (std::string stem = value.name; !names.insert(value.name).second;)
        value.name = stem + "#" + std::to_string(exposed.size());
      exposed.push_back(&value);
      values.push_back(value.value);
    }
  func::ReturnOp::create(builder, function.getLoc(), values);
  function.setFunctionType(builder.getFunctionType(function.getArgumentTypes(), ValueRange(values).getTypes()));
  llvm::DenseMap<Value, StringRef> nodes;
  for (const NodeValue &value : nodeValues)
    nodes[value.value] = value.node;
  // All at once: one after the other would copy the list of all results for each.
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
  for (const NodeValue *value : exposed)
    describe(value->name, StringRef(value->node));
  function.setAllResultAttrs(attributes);
}

//===- The module ----------------------------------------------------------===//

void GraphImporter::finishModule() {
  // Shape arithmetic that became part of types leaves dead operations behind.
  auto eraseDead = [&](llvm::function_ref<bool(Operation *)> isNeeded) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.front())))
      if (op.use_empty() && isPure(&op) && !op.hasTrait<OpTrait::IsTerminator>() && !isNeeded(&op))
        op.erase();
  };
  llvm::DenseSet<Value> borders = calls.listBorders();
  eraseDead([&](Operation *op) { return llvm::any_of(op->getResults(), [&](Value result) { return borders.contains(result); }); });
  calls.makeComposites(function.front());
  eraseDead([](Operation *) { return false; });
  std::string name = options.name.empty() ? makeModelName(options.path) : options.name;
  (*module)->setAttr(nn::modelAttrName, builder.getStringAttr(name));
  SmallVector<StringRef> names(symbols.begin(), symbols.end());
  (*module)->setAttr(nn::symbolsAttrName, builder.getStrArrayAttr(names));
  nn::setSequences(*module, sequences);
  if (!computedBounds.empty()) {
    unsigned given = symbols.size() - computedBounds.size();
    (*module)->setAttr(nn::computedSymbolsAttrName, AffineMapAttr::get(AffineMap::get(0, given, computedBounds, &context)));
  }
  DimExprs assumed = llvm::filter_to_vector(assumedEqual, [&](AffineExpr zero) { return isConstraint(zero); });
  if (!assumed.empty())
    (*module)->setAttr(nn::assumedAttrName, AffineMapAttr::get(AffineMap::get(0, symbols.size(), assumed, &context)));
  if (!constraints.empty())
    (*module)->setAttr(nn::constraintsAttrName, AffineMapAttr::get(AffineMap::get(0, symbols.size(), constraints, &context)));
}

FailureOr<OwningOpRef<ModuleOp>> GraphImporter::run() {
  const onnx::GraphProto &graph = file.model().graph();
  Scope scope;
  if (failed(checkOptions(graph)))
    return failure();
  scope.opsets = readOpsets(file.model().opset_import());
  for (const onnx::FunctionProto &called : file.model().functions())
    functions[functionKey(called.domain(), called.name(), called.overload())] = &called;
  // Verifiers speak through the context; their words become the node's error.
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (verifierMessage.empty())
      verifierMessage = diagnostic.str();
    return success();
  });
  Location loc = NameLoc::get(StringAttr::get(&context, printable(graph.name().empty() ? "graph" : graph.name())));
  module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  function = func::FuncOp::create(builder, loc, "main", builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  SmallVector<const onnx::NodeProto *> nodes;
  for (const auto &node : graph.node())
    nodes.push_back(&node);
  addInitializers(scope, graph);
  if (failed(addInputs(scope, graph)))
    return failure();
  assumeSigns();
  if (failed(importNodes(scope, nodes)) || failed(returnOutputs(scope, graph)))
    return failure();
  if (!unsupportedNodes.empty()) {
    for (const std::string &line : unsupportedNodes)
      (void)diagnostics.error(line);
    return failure();
  }
  for (AffineExpr dim : squeezed.asked)
    if (auto size = nn::getConstantDim(usePinned(dim)); size && (*size == 1) != llvm::is_contained(squeezed.ones, dim))
      return diagnostics.error("a Squeeze without axes and other nodes do not agree on whether dimension " + nn::formatDim(dim) + " is 1");
  finishModule();
  if (failed(mlir::verify(*module)))
    return diagnostics.error("internal error: the imported module is not valid: " + verifierMessage);
  return std::move(module);
}

} // namespace kiln::import
