//===- NamedValues.cpp - What the names of a model stand for ---------------===//
#include "compiler/import/NamedValues.h"
#include "compiler/import/NarrowTypes.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/onnx.pb.h"
#include "dialects/nn/NNRuntimeOps.h"
#include "dialects/nn/NNStructureOps.h"

using namespace mlir;

namespace kiln::import {

void NamedValues::addInitializers(Scope &scope, const onnx::GraphProto &graph) {
  for (const onnx::TensorProto &tensor : graph.initializer())
    scope.initializers[tensor.name()] = &tensor;
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer())
    scope.sparseInitializers[tensor.values().name()] = &tensor;
  for (const auto *infos : {&graph.value_info(), &graph.output()})
    for (const onnx::ValueInfoProto &info : *infos)
      scope.declared[info.name()] = &info.type();
}

std::optional<Value> NamedValues::lookup(Scope &scope, StringRef name, std::string &reason) {
  for (Scope *at = &scope; at; at = at->parent) {
    if (auto found = at->values.find(name); found != at->values.end())
      return found->second;
    const onnx::TensorProto *tensor = at->initializers.lookup(name);
    const onnx::SparseTensorProto *sparse = at->sparseInitializers.lookup(name);
    if (!tensor && !sparse)
      continue;
    // A constant is placed in the graph around loops, because other nodes may use it as well.
    OpBuilder::InsertionGuard guard(builder);
    if (loop)
      builder.setInsertionPoint(loop);
    if (Value texts = tensor ? makeStrings(*tensor, NameLoc::get(StringAttr::get(&context, printable(name))), reason) : Value(); texts || !reason.empty()) {
      reason = "initializer '" + printable(name) + "': " + reason;
      return texts ? std::optional(at->values[name] = texts) : std::nullopt;
    }
    ElementsAttr attr = tensor ? read(*tensor, reason) : read(*sparse, reason);
    if (!attr) {
      reason = "initializer '" + printable(name) + "': " + reason;
      return std::nullopt;
    }
    Location loc = NameLoc::get(StringAttr::get(&context, printable(name)));
    return at->values[name] = nn::ConstantOp::create(builder, loc, attr);
  }
  reason = "'" + printable(name) + "' is not defined before its use: no input, initializer or earlier node has that name";
  return std::nullopt;
}

ElementsAttr NamedValues::read(const onnx::TensorProto &tensor, std::string &reason) {
  return readTensor(tensor, file, options.limits, &context, reason);
}

ElementsAttr NamedValues::read(const onnx::SparseTensorProto &tensor, std::string &reason) {
  return readSparseTensor(tensor, file, options.limits, &context, reason);
}

Value NamedValues::makeStrings(const onnx::TensorProto &tensor, Location loc, std::string &reason) {
  if (tensor.data_type() != onnx::TensorProto::STRING)
    return {};
  bool isEmpty = llvm::is_contained(tensor.dims(), 0), isWrong = tensor.dims_size() > options.limits.rank;
  int64_t count = isEmpty ? 0 : 1, most = tensor.string_data_size();
  for (int64_t dim : tensor.dims())
    isWrong |= dim < 0 || (!isEmpty && (count > most / dim || (count *= dim) < 0));
  if (isWrong || count != most) {
    reason = "its dimensions do not fit its " + std::to_string(most) + " strings";
    return {};
  }
  SmallVector<StringRef> texts(tensor.string_data().begin(), tensor.string_data().end());
  auto type = RankedTensorType::get(SmallVector<int64_t>(tensor.dims().begin(), tensor.dims().end()), builder.getIntegerType(128));
  return nn::StringsOp::create(builder, loc, type, builder.getStrArrayAttr(texts));
}

bool NamedValues::isAbsent(const Scope &scope, StringRef name) {
  const Scope *function = &scope;
  while (function->parent && !function->values.contains(name) && !function->initializers.contains(name))
    function = function->parent;
  return function->absent.contains(name);
}

int64_t NamedValues::narrowType(const Scope &scope, StringRef name) {
  for (const Scope *at = &scope; at; at = at->parent) {
    const onnx::TensorProto *tensor = at->initializers.lookup(name);
    int64_t dataType = tensor ? tensor->data_type() : at->narrow.lookup(name);
    if (isNarrowFloat(dataType) || narrowIntegerBits(dataType) > 0)
      return dataType;
  }
  return 0;
}

LogicalResult NamedValues::checkDeclared(Scope &scope, StringRef name, Value value, StringRef where) {
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
      (void)sizes.learn(nn::getDim(type, i) - dim.dim_value());
  // If options change sizes, the declared ones no longer apply.
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
  for (std::string *shape : {&have, &want})
    *shape = shape->empty() ? "[]" : *shape;
  std::string message = (where + ": '" + printable(name) + "' has shape " + have + ", but the model declares shape " + printable(want)).str();
  if (options.strict)
    return diagnostics.error(message);
  if (contradicted.insert(name).second && contradicted.size() == 1)
    firstContradiction = std::move(message);
  return success();
}

std::string NamedValues::describeContradictions() const {
  if (contradicted.empty())
    return "";
  std::string others = contradicted.size() == 1 ? "" : " (and others for " + std::to_string(contradicted.size() - 1) + " more values)";
  return firstContradiction + others + "; the shapes that the nodes give are taken";
}

} // namespace kiln::import
