//===- Checker.cpp - Names and types of a definition ------------------------===//
//
// A number without a type takes that of what it meets, so types flow up: AnyInteger < AnyReal < a type. What depends on the type of the parameters, which only
// a call gives, becomes a requirement.
//
//===----------------------------------------------------------------------===//
#include "compiler/definitions/Checker.h"
#include "compiler/definitions/Functions.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace kiln::definitions {

bool Checker::error(Place place, const Twine &message) {
  fault = {place, message.str()};
  return false;
}

bool Checker::isIndex(StringRef name) const {
  auto isNamed = [&](const Index &index) { return index.name == name; };
  return any_of(definition.indices, isNamed) || any_of(definition.reduced, isNamed);
}

//===- Types ---------------------------------------------------------------===//

bool Checker::require(Requirement::Kind kind, Element element, Place place, const Twine &what) {
  if (element == Element::Generic) {
    // One of a kind is enough, or calls of calls would have twice as many with each.
    if (none_of(definition.requirements, [&](const Requirement &known) { return known.kind == kind; }))
      definition.requirements.push_back({kind, place, what.str()});
    return true;
  }
  if (meets(kind, element))
    return true;
  return error(place, what + " takes " + nameRequirement(kind) + ", not " + nameElement(element));
}

bool Checker::join(Element &type, Element other, Place place) {
  if (isLiteralElement(other) && !isLiteralElement(type))
    std::swap(type, other);
  if (!isLiteralElement(type))
    return type == other || error(place, "the types differ: " + nameElement(type) + " and " + nameElement(other) + "; convert one, as in float32(x[...])");
  if (isLiteralElement(other)) {
    type = std::min(type, other) == Element::AnyReal ? Element::AnyReal : Element::AnyInteger;
    return true;
  }
  bool isReal = type == Element::AnyReal;
  type = other;
  auto kind = isReal ? Requirement::Kind::Float : Requirement::Kind::Number;
  if (other != Element::Generic && !meets(kind, other))
    return error(place, (isReal ? "a real number" : "a number") + Twine(" cannot be ") + nameElement(other));
  return require(kind, other, place, isReal ? "a real number" : "a number");
}

bool Checker::checkBuiltin(Expr &expr) {
  using Rule = Function::Rule;
  const Function *function = findFunction(expr.name);
  if (expr.operands.size() < function->least || expr.operands.size() > function->most)
    return error(expr.place, "'" + expr.name + "' takes " + Twine(function->least) + (function->most > function->least ? " or more" : "") +
                                 (function->most > 1 ? " operands" : " operand") + ", not " + Twine(expr.operands.size()));
  for (Expr &operand : expr.operands)
    if (!checkExpr(operand))
      return false;
  size_t first = function->rule == Rule::Select;
  Element type = expr.operands[first].element;
  for (Expr &operand : drop_begin(expr.operands, first + 1))
    if (!join(type, operand.element, expr.place))
      return false;
  std::string what = "'" + expr.name + "'";
  switch (function->rule) {
  case Rule::Float:
  case Rule::Test:
    type = type == Element::AnyInteger ? Element::AnyReal : type;
    expr.element = function->rule == Rule::Test ? Element::Bool : type;
    return isLiteralElement(type) || require(Requirement::Kind::Float, type, expr.place, what);
  case Rule::Number:
    expr.element = type;
    return isLiteralElement(type) || require(Requirement::Kind::Number, type, expr.place, what);
  case Rule::Integer:
    expr.element = type;
    return type == Element::AnyInteger || require(Requirement::Kind::Integer, type, expr.place, what);
  case Rule::Compare:
    expr.element = Element::Bool;
    if (expr.name == "==" || expr.name == "!=")
      return true;
    return isLiteralElement(type) || require(Requirement::Kind::Number, type, expr.place, what);
  case Rule::Logic:
    expr.element = Element::Bool;
    return type == Element::Bool || error(expr.place, what + " takes bool, not " + nameElement(type));
  case Rule::Select:
    expr.element = type;
    return expr.operands[0].element == Element::Bool ||
           error(expr.operands[0].place, "the first operand of 'select' is bool, not " + nameElement(expr.operands[0].element));
  }
  return false;
}

//===- Calls ---------------------------------------------------------------===//

bool Checker::findCallee(Expr &call) {
  call.callee = library.find(definition.domain, call.name, definition.version);
  if (!call.callee)
    return error(call.place, "'" + call.name + "' is no function of the language, and no earlier definition has this name" + suggestFunction(call.name));
  if (call.operands.size() != call.callee->parameters.size())
    return error(call.place, "'" + call.name + "' takes " + Twine(call.callee->parameters.size()) + " operands, not " + Twine(call.operands.size()));
  for (const NamedLiteral &given : call.attributes) {
    const Attribute *attribute = call.callee->findAttribute(given.name);
    if (!attribute)
      return error(given.value.place, "'" + call.name + "' has no attribute '" + given.name + "'");
    if (attribute->value.isInteger && !given.value.isInteger)
      return error(given.value.place, "attribute '" + given.name + "' of '" + call.name + "' is an integer");
  }
  return true;
}

/// The longest text of a requirement that names the calls that it comes through.
static constexpr size_t mostWords = 300;

/// The type of a call, whose operands have these types.
bool Checker::applyCallee(Expr &call, ArrayRef<Element> types) {
  std::optional<Element> generic;
  for (auto [parameter, type] : zip_equal(call.callee->parameters, types)) {
    Element joined = parameter.element == Element::Generic ? generic.value_or(type) : parameter.element;
    if (!join(joined, type, call.place))
      return false;
    if (parameter.element == Element::Generic)
      generic = joined;
  }
  for (const Requirement &requirement : call.callee->requirements) {
    if (generic == Element::AnyInteger && requirement.kind == Requirement::Kind::Float)
      generic = Element::AnyReal;
    std::string within = requirement.what.size() < mostWords ? " in '" + call.name + "'" : "";
    if (!isLiteralElement(*generic) && !require(requirement.kind, *generic, call.place, requirement.what + within))
      return false;
  }
  call.element = call.callee->result == Element::Generic ? *generic : call.callee->result;
  return true;
}

bool Checker::checkCall(Expr &call) {
  if (!findCallee(call))
    return false;
  if (!call.callee->isPointwise())
    return error(call.place, "'" + call.name + "' does not compute each element by itself; call it with whole tensors and read the result, as in " + call.name +
                                 "(x)[...]");
  SmallVector<Element> types;
  for (Expr &operand : call.operands) {
    if (!checkExpr(operand))
      return false;
    types.push_back(operand.element);
  }
  return applyCallee(call, types);
}

bool Checker::checkTensor(Expr &expr) {
  if (expr.kind == Expr::Kind::Name) {
    const Parameter *parameter = definition.findParameter(expr.name);
    if (!parameter)
      return error(expr.place, "expected a parameter or a call as operand of a call that is read, and '" + expr.name + "' is none");
    expr.element = parameter->element;
    expr.tensor = expr.name;
    return true;
  }
  if (expr.kind != Expr::Kind::Call)
    return error(expr.place, "expected a parameter or a call as operand of a call that is read");
  if (!findCallee(expr))
    return false;
  SmallVector<Element> types;
  for (Expr &operand : expr.operands) {
    if (!checkTensor(operand))
      return false;
    types.push_back(operand.element);
  }
  expr.tensor = "$" + std::to_string(++calls);
  return applyCallee(expr, types);
}

//===- Expressions ---------------------------------------------------------===//

bool Checker::checkRead(Expr &read) {
  if (read.operands.empty()) {
    const Parameter *parameter = definition.findParameter(read.name);
    if (!parameter)
      return error(read.place, "'" + read.name + "' is no parameter");
    read.element = parameter->element;
    read.tensor = read.name;
  } else {
    if (!checkTensor(read.operands[0]))
      return false;
    read.element = read.operands[0].element;
    read.tensor = read.operands[0].tensor;
  }
  for (Expr &otherwise : read.otherwise) {
    if (otherwise.kind == Expr::Kind::Name && !definition.findAttribute(otherwise.name))
      return error(otherwise.place, "'" + otherwise.name + "' is no attribute");
    if (!checkExpr(otherwise))
      return false;
    if (Element type = read.element; !join(type, otherwise.element, otherwise.place))
      return false;
  }
  return true;
}

bool Checker::checkExpr(Expr &expr) {
  switch (expr.kind) {
  case Expr::Kind::Number:
    return true;
  case Expr::Kind::Name:
    if (const Attribute *attribute = definition.findAttribute(expr.name)) {
      expr.element = attribute->value.isInteger ? Element::AnyInteger : Element::AnyReal;
      return true;
    }
    if (definition.findParameter(expr.name))
      return error(expr.place, "'" + expr.name + "' is a tensor; read an element of it, as in " + expr.name + "[...]");
    expr.element = Element::AnyInteger;
    return isIndex(expr.name) || error(expr.place, "'" + expr.name + "' is no parameter, attribute or index");
  case Expr::Kind::Read:
    return checkRead(expr);
  case Expr::Kind::Builtin:
    return checkBuiltin(expr);
  case Expr::Kind::Call:
    return checkCall(expr);
  case Expr::Kind::Convert:
    if (expr.operands.size() != 1)
      return error(expr.place, "'" + expr.name + "' takes one operand");
    if (expr.element == Element::Generic && none_of(definition.parameters, [](const Parameter &p) { return p.element == Element::Generic; }))
      return error(expr.place, "'cast' converts to the type of the parameters that declare none, and all declare one");
    return checkExpr(expr.operands[0]);
  }
  return false;
}

bool Checker::checkTypes() {
  if (!checkExpr(definition.body))
    return false;
  Element type = definition.body.element;
  definition.result = type == Element::AnyInteger ? Element::I64 : type == Element::AnyReal ? Element::F32 : type;
  if (definition.reduction == Reduction::None)
    return true;
  return require(Requirement::Kind::Number, definition.result, definition.body.place, "a reduction");
}

//===- Requirements --------------------------------------------------------===//

bool meets(Requirement::Kind kind, Element element) {
  bool isNumber = element != Element::Bool;
  bool isFloat = isFloatElement(element);
  return kind == Requirement::Kind::Float ? isFloat : kind == Requirement::Kind::Integer ? isNumber && !isFloat : isNumber;
}

StringRef nameRequirement(Requirement::Kind kind) {
  return kind == Requirement::Kind::Float ? "floating-point numbers" : kind == Requirement::Kind::Integer ? "integers" : "numbers";
}

bool checkDefinition(const Library &library, Definition &definition, Fault &fault) {
  Checker checker(library, definition, fault);
  return checker.collectIndices() && checker.checkTypes() && checker.checkRanks() && checker.solveSizes();
}

} // namespace kiln::definitions
