//===- DefinitionUse.cpp - Whether operands fit a definition ----------------===//
#include "compiler/import/DefinitionUse.h"
#include "compiler/definitions/Checker.h"
#include "compiler/definitions/Sizes.h"
#include "compiler/definitions/SourceText.h"
#include "compiler/import/Diagnostics.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/onnx.pb.h"

using namespace mlir;

namespace kiln::import {

using namespace definitions;

Type typeOf(Element element, MLIRContext *context) {
  return static_cast<int>(element) > 0 ? getElementType(static_cast<int>(element), context) : Type();
}

static std::string printType(Type type) {
  if (type.isInteger(1))
    return "bool";
  for (Element element : {Element::F32, Element::F64, Element::F16, Element::BF16, Element::I8, Element::I16, Element::I32, Element::I64, Element::U8,
                          Element::U16, Element::U32, Element::U64})
    if (typeOf(element, type.getContext()) == type)
      return nameElement(element);
  return "a type that definitions do not know";
}

/// Numbers of attributes beyond this would overflow sums of sizes.
static constexpr int64_t mostAttribute = int64_t(1) << 40;

namespace {
/// A definition applied to operands of known shapes.
class DefinitionUse {
public:
  struct Tensor {
    DimExprs dims;
    Type type;
  };
  using Attributes = llvm::function_ref<std::optional<int64_t>(llvm::StringRef)>;

  DefinitionUse(Node &node, const Definition &definition, ArrayRef<Tensor> operands, Attributes attributes, Diagnostics &diagnostics)
      : node(node), definition(definition), operands(operands), attributes(attributes), diagnostics(diagnostics) {}
  /// The result's shape and type.
  FailureOr<Tensor> check();

private:
  LogicalResult error(Place place, const llvm::Twine &message);
  LogicalResult checkTypes();
  LogicalResult checkRanks();
  LogicalResult bindCall(const Expr &call);
  LogicalResult bindCalls();
  LogicalResult checkSizes();
  LogicalResult checkMagnitude(const IndexExpr &expr, const llvm::Twine &what);
  LogicalResult checkRead(const Expr &read);
  LogicalResult checkEllipsis(const Expr &read, ArrayRef<AffineExpr> dims);
  LogicalResult checkDivisors(const IndexExpr &expr);
  LogicalResult checkItem(const Expr &read, const IndexItem &item, AffineExpr dim);
  LogicalResult expectEqual(Place place, AffineExpr have, AffineExpr want, const llvm::Twine &what);
  LogicalResult expectNotNegative(Place place, AffineExpr expr, const llvm::Twine &what);
  /// Null if it cannot be expressed, so that run time tells.
  AffineExpr evaluate(const IndexExpr &expr);
  /// The lowest or highest value of an index.
  AffineExpr bound(const IndexExpr &expr, bool isHighest);
  Type resolve(Element element) { return element == Element::Generic ? generic : typeOf(element, node.context()); }

  Node &node;
  const Definition &definition;
  ArrayRef<Tensor> operands;
  Attributes attributes;
  Diagnostics &diagnostics;
  Type generic;
  llvm::StringMap<Tensor> tensors;
  llvm::StringMap<AffineExpr> sizes;
  DimExprs open;
  bool hasOpen = false;
};
} // namespace

LogicalResult DefinitionUse::error(Place place, const llvm::Twine &message) {
  if (node.failed())
    return failure();
  std::string text = message.str(), shown = definition.source->describe(place, "");
  auto [head, excerpt] = llvm::StringRef(shown).split('\n');
  diagnostics.showBelow(excerpt.str());
  return node.error("'" + definition.name + "' (" + head.rtrim(": ") + "): " + text);
}

//===- Types and ranks -------------------------------------------------------===//

LogicalResult DefinitionUse::checkTypes() {
  for (auto [parameter, operand] : llvm::zip_equal(definition.parameters, operands)) {
    Type want = resolve(parameter.element);
    if (parameter.element == Element::Generic && !generic)
      want = generic = operand.type;
    if (operand.type != want)
      return error(parameter.place, "operand '" + parameter.name + "' has elements of type " + printType(operand.type) + ", expected " + printType(want));
  }
  for (const Requirement &requirement : definition.requirements) {
    bool isFloat = isa<FloatType>(generic), isBool = generic.isInteger(1);
    bool isRight = requirement.kind == Requirement::Kind::Float     ? isFloat
                   : requirement.kind == Requirement::Kind::Integer ? !isFloat && !isBool
                                                                    : !isBool;
    if (!isRight)
      return error(requirement.place, requirement.what + " takes " + nameRequirement(requirement.kind) + ", and the operands are of type " +
                                          printType(generic));
  }
  bool isNarrow = generic && generic.isInteger() && generic.getIntOrFloatBitWidth() < 32;
  bool isReduced = definition.reduction != Reduction::None && definition.reduction != Reduction::Sum && definition.result == Element::Generic;
  if (isReduced && isNarrow)
    return error(definition.body.place, "ONNX has no such reduction of " + printType(generic) + "; declare the type of the parameter, or convert, as in " +
                                            "int32(x[...])");
  return success();
}

LogicalResult DefinitionUse::checkRanks() {
  for (auto [parameter, operand] : llvm::zip_equal(definition.parameters, operands)) {
    auto rank = static_cast<int64_t>(operand.dims.size());
    if (parameter.isOpen ? rank < parameter.rank : rank != parameter.rank)
      return error(parameter.place, "operand '" + parameter.name + "' has " + Twine(rank) + " dimensions, expected " +
                                        (parameter.isOpen ? "at least " : "") + Twine(parameter.rank));
  }
  return success();
}

//===- Sizes -----------------------------------------------------------------===//

AffineExpr DefinitionUse::evaluate(const IndexExpr &expr) {
  using Kind = IndexExpr::Kind;
  if (expr.kind == Kind::Number)
    return std::abs(expr.number / 2) < mostAttribute ? node.number(expr.number) : AffineExpr();
  if (expr.kind == Kind::Attribute) {
    std::optional<int64_t> value = attributes(expr.name);
    return value ? node.number(*value) : AffineExpr();
  }
  if (expr.kind == Kind::Dim) {
    const DimExprs &dims = tensors.find(expr.name)->second.dims;
    int64_t rank = static_cast<int64_t>(dims.size()), axis = expr.number < 0 ? expr.number + rank : expr.number;
    if (axis < 0 || axis >= rank) {
      (void)error(expr.place, "'" + expr.name + "' has " + Twine(rank) + " dimensions, and none with number " + Twine(expr.number));
      return {};
    }
    return dims[axis];
  }
  if (expr.kind == Kind::Variable)
    return {};
  AffineExpr left = evaluate(expr.operands[0]), right = evaluate(expr.operands[1]);
  if (!left || !right)
    return {};
  std::optional<int64_t> a = nn::getConstantDim(left), b = nn::getConstantDim(right);
  switch (expr.kind) {
  case Kind::Add:
    return left + right;
  case Kind::Sub:
    return left - right;
  case Kind::Mul:
    return a || b ? left * right : AffineExpr();
  case Kind::FloorDiv:
    return b && *b > 0 ? left.floorDiv(right) : AffineExpr();
  case Kind::Mod:
    return b && *b > 0 ? left % right : AffineExpr();
  default:
    if (left == right)
      return left;
    return a && b ? node.number(expr.kind == Kind::Min ? std::min(*a, *b) : std::max(*a, *b)) : AffineExpr();
  }
}

LogicalResult DefinitionUse::expectEqual(Place place, AffineExpr have, AffineExpr want, const llvm::Twine &what) {
  if (!have || !want || have == want)
    return success();
  if (nn::getConstantDim(have) && nn::getConstantDim(want))
    return error(place, what + " is " + Twine(*nn::getConstantDim(have)) + ", expected " + Twine(*nn::getConstantDim(want)));
  return success(node.unify(have, want, "'" + definition.name + "': " + what + ": sizes"));
}

LogicalResult DefinitionUse::expectNotNegative(Place place, AffineExpr expr, const llvm::Twine &what) {
  if (!expr)
    return success();
  if (std::optional<int64_t> number = nn::getConstantDim(expr))
    return *number >= 0 ? success() : error(place, what);
  node.requireNotNegative(expr, "'" + definition.name + "': " + what);
  return failure(node.failed());
}

LogicalResult DefinitionUse::checkMagnitude(const IndexExpr &expr, const llvm::Twine &what) {
  // An index whose size only run time knows is taken to have so many values. Run time also refuses sizes that pass 64 bits.
  constexpr double mostValues = 0x1p31;
  auto known = [](AffineExpr size, double otherwise) {
    std::optional<int64_t> number = size ? nn::getConstantDim(size) : std::nullopt;
    return number ? static_cast<double>(*number) : otherwise;
  };
  double magnitude = boundMagnitude(expr, [&](const IndexExpr &leaf) {
    if (leaf.kind == IndexExpr::Kind::Attribute)
      return std::abs(static_cast<double>(attributes(leaf.name).value_or(mostAttribute)));
    return leaf.kind == IndexExpr::Kind::Dim ? known(evaluate(leaf), 1) : known(sizes.lookup(leaf.name), mostValues);
  });
  if (node.failed())
    return failure();
  return magnitude <= mostMagnitude ? success() : error(expr.place, what + " may pass 64 bits: " + llvm::StringRef(print(expr)).take_front(200));
}

LogicalResult DefinitionUse::checkSizes() {
  for (const std::vector<Index> *list : {&definition.indices, &definition.reduced})
    for (const Index &index : *list) {
      if (index.isEllipsis)
        continue;
      if (failed(checkMagnitude(*index.extent, "the size of index '" + index.name + "'")))
        return failure();
      AffineExpr size = evaluate(*index.extent);
      if (node.failed())
        return failure();
      sizes[index.name] = size;
      std::optional<int64_t> number = size ? nn::getConstantDim(size) : std::nullopt;
      if (number && *number < 0)
        return error(index.place, "index '" + index.name + "' would have " + Twine(*number) + " values: " + print(*index.extent));
    }
  return success();
}

//===- Reads -----------------------------------------------------------------===//

AffineExpr DefinitionUse::bound(const IndexExpr &expr, bool isHighest) {
  using Kind = IndexExpr::Kind;
  if (expr.kind == Kind::Variable) {
    AffineExpr size = sizes.lookup(expr.name);
    return isHighest ? size ? size - 1 : AffineExpr() : node.number(0);
  }
  if (expr.operands.empty())
    return evaluate(expr);
  bool turns = expr.kind == Kind::Sub;
  AffineExpr left = bound(expr.operands[0], isHighest), right = bound(expr.operands[1], isHighest != turns);
  if (expr.kind == Kind::Mod)
    return right ? isHighest ? right - 1 : node.number(0) : AffineExpr();
  if (!left || !right)
    return {};
  std::optional<int64_t> a = nn::getConstantDim(left), b = nn::getConstantDim(right);
  switch (expr.kind) {
  case Kind::Add:
    return left + right;
  case Kind::Sub:
    return left - right;
  case Kind::FloorDiv:
    return b ? left.floorDiv(right) : AffineExpr();
  case Kind::Min:
    return a && b ? node.number(std::min(*a, *b)) : AffineExpr();
  case Kind::Max:
    return a && b ? node.number(std::max(*a, *b)) : AffineExpr();
  default:
    return {};
  }
}

/// The bounds of a sum of indices with factors.
static std::optional<AffineIndex> readSum(const IndexExpr &expr) {
  std::optional<AffineIndex> sum = asAffine(expr);
  return sum && !sum->terms.empty() ? sum : std::nullopt;
}

/// Dimensions that an index is divided by have elements.
LogicalResult DefinitionUse::checkDivisors(const IndexExpr &expr) {
  for (const IndexExpr &operand : expr.operands)
    if (failed(checkDivisors(operand)))
      return failure();
  if (expr.kind != IndexExpr::Kind::FloorDiv && expr.kind != IndexExpr::Kind::Mod)
    return success();
  AffineExpr by = evaluate(expr.operands[1]);
  return expectNotNegative(expr.operands[1].place, by ? by - 1 : AffineExpr(), "the divisor " + print(expr.operands[1]) + " of an index is 0");
}

LogicalResult DefinitionUse::checkItem(const Expr &read, const IndexItem &item, AffineExpr dim) {
  const IndexExpr &expr = item.expr;
  std::string name = read.operands.empty() ? read.name : read.name + "(...)";
  if (failed(checkMagnitude(expr, "an index of '" + name + "'")))
    return failure();
  if (failed(checkDivisors(expr)))
    return failure();
  AffineExpr low, high;
  if (std::optional<AffineIndex> sum = readSum(expr)) {
    low = high = evaluate(sum->rest);
    for (const AffineIndex::Term &term : sum->terms) {
      AffineExpr factor = evaluate(term.factor), size = sizes.lookup(term.index);
      std::optional<int64_t> number = factor ? nn::getConstantDim(factor) : std::nullopt;
      if (number && size && nn::getConstantDim(size) == 0)
        return success();
      if (number && *number <= 0 && !term.isNegative())
        return error(expr.place, "the factor of index '" + term.index + "' is " + Twine(*number) + ", expected a positive number");
      if (!number || !size || !low || !high)
        return success();
      (term.isNegative() ? low : high) = (term.isNegative() ? low : high) + (size - 1) * *number;
    }
  } else {
    low = bound(expr, false);
    high = bound(expr, true);
  }
  if (node.failed())
    return failure();
  if (!read.otherwise.empty())
    return success();
  std::optional<int64_t> first = low ? nn::getConstantDim(low) : std::nullopt, last = high ? nn::getConstantDim(high) : std::nullopt;
  std::optional<int64_t> size = nn::getConstantDim(dim);
  if (failed(expectNotNegative(expr.place, low, "index " + print(expr) + " of '" + name + "' begins at " + Twine(first.value_or(0)) +
                                                    "; 'else' gives what is outside")))
    return failure();
  return expectNotNegative(expr.place, high ? dim - 1 - high : AffineExpr(),
                           "index " + print(expr) + " of '" + name + "' reaches " + Twine(last.value_or(0)) + ", and there are " + Twine(size.value_or(0)) +
                               " elements; 'else' gives what is outside");
}

LogicalResult DefinitionUse::checkEllipsis(const Expr &read, ArrayRef<AffineExpr> dims) {
  if (!hasOpen) {
    hasOpen = true;
    open.assign(dims.begin(), dims.end());
    return success();
  }
  if (open.size() != dims.size())
    return error(read.place, "'...' stands for " + Twine(dims.size()) + " dimensions here, and for " + Twine(open.size()) + " before");
  for (auto [i, dim] : llvm::enumerate(dims))
    if (failed(expectEqual(read.place, dim, open[i], "dimension " + Twine(i) + " of '...' in '" + read.name + "'")))
      return failure();
  return success();
}

LogicalResult DefinitionUse::checkRead(const Expr &read) {
  const DimExprs &dims = tensors.find(read.tensor)->second.dims;
  bool isOpen = llvm::any_of(read.indices, [](const IndexItem &item) { return item.isEllipsis; });
  size_t named = read.indices.size() - isOpen;
  if (isOpen ? dims.size() < named : dims.size() != named)
    return error(read.place, "'" + read.name + "' has " + Twine(dims.size()) + " dimensions, and is read with " + Twine(named) + " indices");
  for (auto [i, item] : llvm::enumerate(read.indices)) {
    if (item.isEllipsis) {
      if (failed(checkEllipsis(read, ArrayRef(dims).slice(i, dims.size() - named))))
        return failure();
      continue;
    }
    int64_t axis = axisOf(read.indices, i);
    AffineExpr dim = dims[axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis];
    const Index *direct = nullptr;
    for (const std::vector<Index> *list : {&definition.indices, &definition.reduced})
      for (const Index &index : *list)
        if (item.expr.kind == IndexExpr::Kind::Variable && index.name == item.expr.name)
          direct = &index;
    // An index whose size is that of a dimension reads others of the same size; one with a size of its own has to lie inside.
    bool isWhole = direct && direct->extent->kind == IndexExpr::Kind::Dim && direct->extent->place.line == direct->place.line &&
                   direct->extent->place.column == direct->place.column;
    LogicalResult result = success();
    if (isWhole)
      result = expectEqual(item.expr.place, dim, sizes.lookup(direct->name), "the size of '" + read.name + "' along '" + direct->name + "'");
    else
      result = checkItem(read, item, dim);
    if (failed(result))
      return failure();
  }
  return success();
}

//===- Calls -----------------------------------------------------------------===//

LogicalResult DefinitionUse::bindCall(const Expr &call) {
  SmallVector<Tensor> inputs;
  for (const Expr &operand : call.operands) {
    if (operand.kind == Expr::Kind::Call && failed(bindCall(operand)))
      return failure();
    inputs.push_back(tensors.find(operand.tensor)->second);
  }
  auto find = [&](llvm::StringRef name) -> std::optional<int64_t> {
    for (const NamedLiteral &given : call.attributes)
      if (given.name == name)
        return given.value.integer;
    const definitions::Attribute *attribute = call.callee->findAttribute(name);
    return attribute ? std::optional(attribute->value.integer) : std::nullopt;
  };
  FailureOr<Tensor> result = DefinitionUse(node, *call.callee, inputs, find, diagnostics).check();
  if (succeeded(result))
    tensors[call.tensor] = *result;
  return result;
}

LogicalResult DefinitionUse::bindCalls() {
  LogicalResult result = success();
  forEachRead(definition.body, [&](const Expr &read) {
    if (succeeded(result) && !read.operands.empty())
      result = bindCall(read.operands[0]);
  });
  return result;
}

FailureOr<DefinitionUse::Tensor> DefinitionUse::check() {
  if (failed(checkTypes()) || failed(checkRanks()))
    return failure();
  for (const definitions::Attribute &attribute : definition.attributes)
    if (std::optional<int64_t> value = attribute.value.isInteger ? attributes(attribute.name) : std::nullopt; value && std::abs(*value / 2) > mostAttribute / 2)
      return error(definition.place, "attribute '" + attribute.name + "' is " + Twine(*value) + ", which is too large");
  for (auto [parameter, operand] : llvm::zip_equal(definition.parameters, operands))
    tensors[parameter.name] = operand;
  if (failed(bindCalls()) || failed(checkSizes()))
    return failure();
  LogicalResult checked = success();
  forEachRead(definition.body, [&](const Expr &read) { checked = failure(failed(checked) || failed(checkRead(read))); });
  if (failed(checked) || node.failed())
    return failure();
  Tensor result;
  for (const Index &index : definition.indices)
    if (index.isEllipsis)
      llvm::append_range(result.dims, open);
    else
      result.dims.push_back(sizes.lookup(index.name));
  result.type = resolve(definition.result);
  return result;
}

LogicalResult checkDefinitionUse(Node &node, const Definition &definition, ArrayRef<Value> operands,
                                 const llvm::StringMap<const onnx::AttributeProto *> &attributes, Diagnostics &diagnostics) {
  if (operands.size() != definition.parameters.size() || llvm::is_contained(operands, Value()))
    return node.error("'" + definition.name + "' takes " + Twine(definition.parameters.size()) + " operands, and the node gives " +
                      Twine(llvm::count_if(operands, [](Value value) { return bool(value); })));
  SmallVector<DefinitionUse::Tensor> tensors;
  for (Value operand : operands) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || !type.getElementType().isIntOrFloat() || nn::isString(type.getElementType()))
      return node.error("'" + definition.name + "' takes tensors of numbers");
    tensors.push_back({nn::getDims(type), type.getElementType()});
  }
  auto find = [&](llvm::StringRef name) -> std::optional<int64_t> {
    const onnx::AttributeProto *attribute = attributes.lookup(name);
    return attribute && attribute->type() == onnx::AttributeProto::INT ? std::optional(attribute->i()) : std::nullopt;
  };
  return DefinitionUse(node, definition, tensors, find, diagnostics).check();
}

} // namespace kiln::import
