//===- ExternCalls.cpp - Operators that the program provides ----------------===//
#include "compiler/import/ExternCalls.h"
#include "compiler/definitions/Sizes.h"
#include "compiler/definitions/SourceText.h"
#include "compiler/import/DefinitionUse.h"
#include "compiler/import/Diagnostics.h"
#include "dialects/nn/NNCallOps.h"

using namespace mlir;

namespace kiln::import {

using definitions::Extern;
using definitions::IndexExpr;
using definitions::Parameter;

namespace {
class ExternCall {
public:
  ExternCall(Node &node, const Extern &external, Diagnostics &diagnostics) : node(node), external(external), diagnostics(diagnostics) {}
  LogicalResult run();

private:
  LogicalResult error(const Parameter &parameter, const llvm::Twine &message);
  LogicalResult bind(const Parameter &parameter, Value operand);
  /// Null after an error.
  AffineExpr evaluate(const Parameter &parameter, const IndexExpr &expr);

  Node &node;
  const Extern &external;
  Diagnostics &diagnostics;
  llvm::StringMap<AffineExpr> sizes;
};
} // namespace

LogicalResult ExternCall::error(const Parameter &parameter, const llvm::Twine &message) {
  std::string shown = external.source->describe(parameter.place, "");
  auto [head, excerpt] = llvm::StringRef(shown).split('\n');
  diagnostics.showBelow(excerpt.str());
  return node.error("'" + external.name + "' (" + head.rtrim(": ") + "): " + message);
}

AffineExpr ExternCall::evaluate(const Parameter &parameter, const IndexExpr &expr) {
  using Kind = IndexExpr::Kind;
  double magnitude = definitions::boundMagnitude(expr, [&](const IndexExpr &leaf) {
    AffineExpr size = sizes.lookup(leaf.name);
    std::optional<int64_t> number = size ? nn::getConstantDim(size) : std::nullopt;
    return static_cast<double>(number.value_or(1));
  });
  if (magnitude > definitions::mostMagnitude)
    return {};
  if (expr.kind == Kind::Number)
    return node.number(expr.number);
  if (expr.kind == Kind::Variable)
    return sizes.lookup(expr.name);
  AffineExpr left = expr.operands.empty() ? AffineExpr() : evaluate(parameter, expr.operands[0]);
  AffineExpr right = expr.operands.empty() ? AffineExpr() : evaluate(parameter, expr.operands[1]);
  if (!left || !right)
    return {};
  switch (expr.kind) {
  case Kind::Add:
    return left + right;
  case Kind::Sub:
    return left - right;
  case Kind::Mul:
    return nn::getConstantDim(left) || nn::getConstantDim(right) ? left * right : AffineExpr();
  case Kind::FloorDiv:
    return left.floorDiv(right);
  case Kind::Mod:
    return left % right;
  default:
    return {};
  }
}

LogicalResult ExternCall::bind(const Parameter &parameter, Value operand) {
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  Type element = typeOf(parameter.element, node.context());
  if (!type || type.getElementType() != element)
    return error(parameter, "operand '" + parameter.name + "' has another element type than " + definitions::nameElement(parameter.element));
  DimExprs dims = nn::getDims(type);
  if (static_cast<int64_t>(dims.size()) != parameter.rank)
    return error(parameter, "operand '" + parameter.name + "' has " + Twine(dims.size()) + " dimensions, expected " + Twine(parameter.rank));
  for (auto [item, dim] : llvm::zip_equal(parameter.dims, dims)) {
    bool isName = item.expr.kind == IndexExpr::Kind::Variable;
    if (isName && sizes.try_emplace(item.expr.name, dim).second)
      continue;
    AffineExpr want = evaluate(parameter, item.expr);
    if (!want)
      return error(parameter, "a size of '" + parameter.name + "' is not a sum or multiple of sizes before it");
    std::optional<int64_t> have = nn::getConstantDim(dim), expected = nn::getConstantDim(want);
    if (have && expected && *have != *expected)
      return error(parameter, "a dimension of '" + parameter.name + "' is " + Twine(*have) + ", expected " + Twine(*expected));
    if (!node.unify(dim, want, "'" + external.name + "': sizes of '" + parameter.name + "'"))
      return failure();
  }
  return success();
}

LogicalResult ExternCall::run() {
  ArrayRef<Value> operands = node.allInputs();
  if (operands.size() != external.parameters.size() || llvm::is_contained(operands, Value()))
    return node.error("'" + external.name + "' takes " + Twine(external.parameters.size()) + " operands, and the node gives " +
                      Twine(llvm::count_if(operands, [](Value value) { return bool(value); })));
  for (auto [parameter, operand] : llvm::zip_equal(external.parameters, operands))
    if (failed(bind(parameter, operand)))
      return failure();
  // The function gets no attributes.
  (void)node.hasInput(static_cast<unsigned>(operands.size()));
  node.checkAllAsked();
  SmallVector<Type> types;
  for (const Parameter &result : external.results) {
    DimExprs dims;
    for (const definitions::IndexItem &item : result.dims) {
      dims.push_back(evaluate(result, item.expr));
      if (!dims.back())
        return error(result, "a size of the result is not a sum or multiple of sizes of the parameters");
    }
    types.push_back(node.type(dims, typeOf(result.element, node.context())));
  }
  if (node.failed())
    return failure();
  auto call = nn::ExternCallOp::create(node.builder(), node.loc, types, operands, external.symbol);
  for (unsigned i = 0; i < types.size() && i < node.numOutputs(); ++i)
    if (failed(node.result(i, call.getResult(i))))
      return failure();
  return success();
}

LogicalResult importExtern(Node &node, const Extern &external, Diagnostics &diagnostics) { return ExternCall(node, external, diagnostics).run(); }

} // namespace kiln::import
