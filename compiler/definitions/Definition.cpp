//===- Definition.cpp - Operators in the user's words -----------------------===//
#include "compiler/definitions/Definition.h"
#include "compiler/definitions/Functions.h"
#include "compiler/files/Suggestion.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace kiln::definitions {

namespace {
struct ElementName {
  StringLiteral name;
  Element element;
};
} // namespace

/// The first name of a type is the one that messages use.
static constexpr ElementName elementNames[] = {
    {"float32", Element::F32}, {"float64", Element::F64}, {"float16", Element::F16}, {"bfloat16", Element::BF16}, {"int8", Element::I8},
    {"int16", Element::I16},   {"int32", Element::I32},   {"int64", Element::I64},   {"uint8", Element::U8},      {"uint16", Element::U16},
    {"uint32", Element::U32},  {"uint64", Element::U64},  {"bool", Element::Bool},   {"float", Element::F32},     {"double", Element::F64}};

std::optional<Element> findElement(StringRef name) {
  for (const ElementName &entry : elementNames)
    if (entry.name == name)
      return entry.element;
  return std::nullopt;
}

std::string nameElement(Element element) {
  for (const ElementName &entry : elementNames)
    if (entry.element == element)
      return entry.name.str();
  return element == Element::AnyInteger ? "an integer" : element == Element::AnyReal ? "a real number" : "the parameters' type";
}

/// Sums and products of numbers are numbers, so that the forms of sizes that the solver makes stay short.
IndexExpr IndexExpr::make(Kind kind, IndexExpr lhs, IndexExpr rhs) {
  if (lhs.kind == Kind::Number && rhs.kind == Kind::Number) {
    int64_t result;
    bool overflows = kind == Kind::Add   ? __builtin_add_overflow(lhs.number, rhs.number, &result)
                     : kind == Kind::Sub ? __builtin_sub_overflow(lhs.number, rhs.number, &result)
                     : kind == Kind::Mul ? __builtin_mul_overflow(lhs.number, rhs.number, &result)
                                         : true;
    if (!overflows)
      return constant(result, lhs.place);
  }
  bool isSum = kind == Kind::Add || kind == Kind::Sub;
  if ((isSum && rhs.isConstant(0)) || ((kind == Kind::Mul || kind == Kind::FloorDiv) && rhs.isConstant(1)))
    return lhs;
  if ((kind == Kind::Add && lhs.isConstant(0)) || (kind == Kind::Mul && lhs.isConstant(1)))
    return rhs;
  Place place = lhs.place;
  return {kind, place, 0, "", {std::move(lhs), std::move(rhs)}};
}

std::optional<size_t> Definition::findEllipsis() const {
  for (auto [i, index] : enumerate(indices))
    if (index.isEllipsis)
      return i;
  return std::nullopt;
}

/// Whether every tensor is read at `[...]`.
static bool readsInPlace(const Expr &expr) {
  if (expr.kind == Expr::Kind::Read)
    return expr.operands.empty() && expr.otherwise.empty() && expr.indices.size() == 1 && expr.indices[0].isEllipsis;
  return all_of(expr.operands, readsInPlace);
}

bool Definition::isPointwise() const {
  return reduction == Reduction::None && indices.size() == 1 && indices[0].isEllipsis && readsInPlace(body);
}

const Parameter *Definition::findParameter(StringRef wanted) const {
  auto found = find_if(parameters, [&](const Parameter &parameter) { return parameter.name == wanted; });
  return found == parameters.end() ? nullptr : &*found;
}

const Attribute *Definition::findAttribute(StringRef wanted) const {
  auto found = find_if(attributes, [&](const Attribute &attribute) { return attribute.name == wanted; });
  return found == attributes.end() ? nullptr : &*found;
}

static constexpr Function functions[] = {
#define KILN_DEFINED_FUNCTION(name, least, most, rule, onnx) {name, least, most, Function::Rule::rule, onnx},
#include "compiler/definitions/Functions.def"
};

std::string suggestFunction(StringRef name) {
  std::vector<StringRef> names;
  for (const Function &function : functions)
    names.push_back(function.name);
  return suggest(name, names);
}

const Function *findFunction(StringRef name) {
  const Function *found = find_if(functions, [&](const Function &function) { return name == function.name; });
  return found == std::end(functions) ? nullptr : found;
}

} // namespace kiln::definitions
