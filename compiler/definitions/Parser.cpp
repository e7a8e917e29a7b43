//===- Parser.cpp - From tokens to definitions ------------------------------===//
#include "compiler/definitions/Parser.h"
#include "compiler/definitions/Checker.h"
#include "compiler/definitions/Functions.h"
#include "compiler/files/Printable.h"
#include "dialects/kernel/Names.h"
#include "dialects/nn/RealNumber.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace llvm;

namespace kiln::definitions {

/// Counts the brackets around what is being parsed.
struct Parser::DepthGuard {
  explicit DepthGuard(Parser &parser) : parser(parser) { ++parser.depth; }
  ~DepthGuard() { --parser.depth; }
  bool fits() const { return parser.depth <= mostDepth || parser.error(parser.peek().place, "brackets and operators are nested too deep"); }
  Parser &parser;
};

bool Parser::accept(StringRef sign) {
  if (!peek().is(sign))
    return false;
  take();
  return true;
}

bool Parser::error(Place place, const Twine &message) {
  if (!failed)
    fault = {place, message.str()};
  failed = true;
  return false;
}

bool Parser::errorHere(const Twine &expected) {
  const Token &token = peek();
  std::string found = token.kind == Token::Kind::End ? "the end of the file" : "'" + printable(token.text, 60) + "'";
  return error(token.place, "expected " + expected + ", found " + found);
}

bool Parser::expect(StringRef sign, const Twine &what) { return accept(sign) || errorHere("'" + sign + "' " + what); }

static bool isReserved(StringRef name) { return is_contained({"domain", "version", "extern", "for", "else", "true", "false", "inf", "nan", "pi"}, name); }

bool Parser::parseName(std::string &name, Place &place, StringRef what) {
  place = peek().place;
  if (peek().kind != Token::Kind::Name)
    return errorHere(what);
  if (isReserved(peek().text))
    return error(place, "'" + peek().text + "' is a word of the language, expected " + what);
  name = take().text.str();
  return true;
}

//===- The file ------------------------------------------------------------===//

void Parser::parseFile(std::vector<Fault> &faults) {
  while (peek().kind != Token::Kind::End) {
    size_t first = at;
    parseItem();
    if (!failed)
      continue;
    faults.push_back(fault);
    failed = false;
    depth = 0;
    if (at == first)
      take();
    skipToItem();
  }
}

void Parser::skipToItem() {
  while (peek().kind != Token::Kind::End && (peek().kind != Token::Kind::Name || peek().place.column != 1))
    take();
}

void Parser::parseItem() {
  if (peek().is("domain") || peek().is("version"))
    parseDomain();
  else if (peek().is("extern"))
    parseExtern();
  else
    parseDefinition();
}

/// domain "com.acme" version 2, or one of both; for what follows.
bool Parser::parseDomain() {
  if (accept("domain")) {
    if (peek().kind != Token::Kind::String || peek().text.empty())
      return errorHere("the domain's name in quotes");
    if (peek().text == "ai.onnx")
      return error(peek().place, "the operators of ONNX are not defined anew; use a domain of your own");
    domain = take().text.str();
    version = 1;
  }
  if (!accept("version"))
    return true;
  if (peek().kind != Token::Kind::Integer || peek().text.getAsInteger(10, version) || version < 1)
    return errorHere("a version, a number from 1 on");
  take();
  return true;
}

bool Parser::parseDefinition() {
  Definition definition;
  definition.domain = domain;
  definition.version = version;
  definition.source = &library.source;
  if (!parseName(definition.name, definition.place, "the name of an operator") || !parseParameters(definition) || !parseIndices(definition) ||
      !parseAssignment(definition) || !parseBounds(definition))
    return false;
  if (findFunction(definition.name) || findElement(definition.name))
    return error(definition.place, "'" + definition.name + "' is a function of the language");
  if (const Definition *known = library.findVersion(domain, definition.name, version))
    return error(definition.place, "'" + definition.name + "' is defined twice, first in line " + Twine(known->place.line));
  if (Fault found; !checkDefinition(library, definition, found))
    return error(found.place, found.message);
  // Calls refer to what stands in the library.
  library.add(std::move(definition));
  return true;
}

bool Parser::parseLiteral(Literal &literal) {
  literal.place = peek().place;
  bool negative = accept("-");
  StringRef text = peek().text;
  if (peek().kind == Token::Kind::Integer) {
    literal.isInteger = true;
    if (text.getAsInteger(10, literal.integer))
      return error(literal.place, "the number " + printable(text, 60) + " has more than 64 bits");
    literal.integer *= negative ? -1 : 1;
    literal.real = static_cast<double>(literal.integer);
  } else if (peek().kind == Token::Kind::Real || peek().is("inf") || peek().is("nan") || peek().is("pi")) {
    constexpr double pi = 3.14159265358979323846;
    literal.real = text == "inf" ? HUGE_VAL : text == "nan" ? std::nan("") : text == "pi" ? pi : 0.0;
    if (peek().kind == Token::Kind::Real && !parseReal(text, literal.real))
      return error(literal.place, printable(text, 60) + " is no number of 64 bits");
    literal.real *= negative ? -1 : 1;
  } else {
    return errorHere("a number");
  }
  take();
  return true;
}

bool Parser::parseAttribute(Attribute &attribute) {
  Place place;
  return parseName(attribute.name, place, "the name of an attribute") && expect("=", "and the attribute's default") && parseLiteral(attribute.value);
}

/// (x, w: int8; alpha = 1.0)
bool Parser::parseParameters(Definition &definition) {
  if (!expect("(", "and the operator's parameters"))
    return false;
  auto isTaken = [&](StringRef name) { return definition.findParameter(name) || definition.findAttribute(name); };
  while (!peek().is(")") && !peek().is(";")) {
    Parameter parameter;
    if (!parseName(parameter.name, parameter.place, "the name of a parameter"))
      return false;
    if (isTaken(parameter.name))
      return error(parameter.place, "'" + parameter.name + "' stands twice among the parameters");
    if (accept(":")) {
      std::optional<Element> element = findElement(peek().text);
      if (!element)
        return errorHere("an element type, such as float32 or int8");
      parameter.element = *element;
      take();
    }
    definition.parameters.push_back(std::move(parameter));
    if (!accept(","))
      break;
  }
  if (accept(";"))
    do {
      Attribute attribute;
      Place place = peek().place;
      if (!parseAttribute(attribute))
        return false;
      if (isTaken(attribute.name))
        return error(place, "'" + attribute.name + "' stands twice among the parameters");
      definition.attributes.push_back(std::move(attribute));
    } while (accept(","));
  return expect(")", "behind the parameters");
}

/// [n, h < 2 * dim(x, 1), ...]
bool Parser::parseIndices(Definition &definition) {
  if (!expect("[", "and the indices of the result"))
    return false;
  while (!peek().is("]")) {
    Index index;
    index.place = peek().place;
    index.isEllipsis = accept("...");
    if (index.isEllipsis && definition.findEllipsis())
      return error(index.place, "'...' stands twice among the indices");
    if (!index.isEllipsis && !parseName(index.name, index.place, "an index"))
      return false;
    if (!index.isEllipsis && accept("<") && !parseIndexExpr(index.extent.emplace()))
      return false;
    definition.indices.push_back(std::move(index));
    if (!accept(","))
      break;
  }
  return expect("]", "behind the indices");
}

/// = EXPR, += EXPR, *= EXPR, max= EXPR, min= EXPR
bool Parser::parseAssignment(Definition &definition) {
  if (accept("+="))
    definition.reduction = Reduction::Sum;
  else if (accept("*="))
    definition.reduction = Reduction::Product;
  else if (peek().is("max") && peek(1).is("="))
    definition.reduction = Reduction::Max;
  else if (peek().is("min") && peek(1).is("="))
    definition.reduction = Reduction::Min;
  else if (!accept("="))
    return errorHere("'=', '+=', '*=', 'max=' or 'min='");
  if (definition.reduction == Reduction::Max || definition.reduction == Reduction::Min)
    at += 2;
  return parseExpr(definition.body);
}

/// for k < 3, l < dim(x, 1)
bool Parser::parseBounds(Definition &definition) {
  if (!accept("for"))
    return true;
  do {
    Index index;
    if (!parseName(index.name, index.place, "an index") || !expect("<", "and the size of the index") || !parseIndexExpr(index.extent.emplace()))
      return false;
    definition.reduced.push_back(std::move(index));
  } while (accept(","));
  return true;
}

//===- Externs -------------------------------------------------------------===//

/// x: float[b, i], ...; of results the names may be left out.
bool Parser::parseExternParameters(std::vector<Parameter> &parameters, bool areResults) {
  while (!peek().is(")")) {
    Parameter parameter;
    parameter.place = peek().place;
    if ((!areResults || peek(1).is(":")) && (!parseName(parameter.name, parameter.place, "the name of a parameter") || !expect(":", "and its type")))
      return false;
    std::optional<Element> element = findElement(peek().text);
    if (!element)
      return errorHere("an element type, such as float32 or int8");
    take();
    parameter.element = *element;
    if (!parseIndexItems(parameter.dims))
      return false;
    for (const IndexItem &item : parameter.dims)
      if (item.isEllipsis)
        return error(parameter.place, "a function in C takes tensors of a known rank, not '...'");
    parameter.rank = static_cast<int64_t>(parameter.dims.size());
    parameters.push_back(std::move(parameter));
    if (!accept(",") || (areResults && depth == 0))
      break;
  }
  return true;
}

/// extern f(x: float[b, i]) -> float[b, j] = symbol
bool Parser::parseExtern() {
  take();
  Extern external;
  external.domain = domain;
  external.version = version;
  external.source = &library.source;
  Place place;
  if (!parseName(external.name, external.place, "the name of an operator") || !expect("(", "and the operator's parameters") ||
      !parseExternParameters(external.parameters, false) || !expect(")", "behind the parameters") || !expect("->", "and the result's type"))
    return false;
  bool isList = accept("(");
  depth += isList;
  if (!parseExternParameters(external.results, true) || (isList && !expect(")", "behind the results")))
    return false;
  depth -= isList;
  if (external.results.empty())
    return error(external.place, "'" + external.name + "' has no result");
  if (!expect("=", "and the name of the function in C") || !parseName(external.symbol, place, "the name of a function in C"))
    return false;
  if (!kernel::isUserFunctionName(external.symbol))
    return error(place, "'" + external.symbol + "' is a name of C, of its library or of Kiln's, expected the name of a function of your own");
  std::vector<std::string> known, used;
  for (const Parameter &parameter : external.parameters)
    for (const IndexItem &item : parameter.dims)
      if (item.expr.kind == IndexExpr::Kind::Variable)
        known.push_back(item.expr.name);
  for (const Parameter &result : external.results)
    for (const IndexItem &item : result.dims)
      collectVariables(item.expr, used);
  for (const std::string &name : used)
    if (!is_contained(known, name))
      return error(external.results[0].place, "'" + name + "' is no size of a parameter");
  if (library.hasName(domain, external.name))
    return error(external.place, "'" + external.name + "' is defined twice");
  library.add(std::move(external));
  return true;
}

//===- Indices -------------------------------------------------------------===//

bool Parser::parseIndexItems(std::vector<IndexItem> &items) {
  if (!expect("[", "and the indices"))
    return false;
  while (!peek().is("]")) {
    IndexItem item;
    Place place = peek().place;
    item.isEllipsis = accept("...");
    if (item.isEllipsis && any_of(items, [](const IndexItem &known) { return known.isEllipsis; }))
      return error(place, "'...' stands twice among the indices");
    if (!item.isEllipsis && !parseIndexExpr(item.expr))
      return false;
    items.push_back(std::move(item));
    if (!accept(","))
      break;
  }
  return expect("]", "behind the indices");
}

bool Parser::parseIndexExpr(IndexExpr &expr) {
  DepthGuard guard(*this);
  if (!guard.fits() || !parseIndexTerm(expr))
    return false;
  for (unsigned length = 0; peek().is("+") || peek().is("-"); ++length) {
    if (length == longestChain)
      return error(peek().place, "more than " + Twine(longestChain) + " operators stand in a row");
    auto kind = take().is("+") ? IndexExpr::Kind::Add : IndexExpr::Kind::Sub;
    IndexExpr right;
    if (!parseIndexTerm(right))
      return false;
    expr = IndexExpr::make(kind, std::move(expr), std::move(right));
  }
  return true;
}

bool Parser::parseIndexTerm(IndexExpr &expr) {
  if (!parseIndexFactor(expr))
    return false;
  for (unsigned length = 0; peek().is("*") || peek().is("//") || peek().is("%"); ++length) {
    if (length == longestChain)
      return error(peek().place, "more than " + Twine(longestChain) + " operators stand in a row");
    Token sign = take();
    IndexExpr right;
    if (!parseIndexFactor(right))
      return false;
    bool divides = !sign.is("*");
    bool isNumber = right.kind == IndexExpr::Kind::Number;
    if (divides && (isNumber ? right.number < 1 : right.kind != IndexExpr::Kind::Dim))
      return error(right.place, "expected a number from 1 on, or the size of a dimension, as the divisor of an index");
    auto kind = sign.is("*") ? IndexExpr::Kind::Mul : sign.is("//") ? IndexExpr::Kind::FloorDiv : IndexExpr::Kind::Mod;
    expr = IndexExpr::make(kind, std::move(expr), std::move(right));
  }
  return true;
}

/// dim(x, 1), min(i, j), max(i, j)
bool Parser::parseIndexCall(IndexExpr &expr) {
  Token name = take();
  take();
  if (name.is("dim")) {
    Place place;
    Literal axis;
    if (!parseName(expr.name, place, "the name of a parameter") || !expect(",", "and the number of a dimension") || !parseLiteral(axis))
      return false;
    if (!axis.isInteger)
      return error(axis.place, "expected the number of a dimension");
    expr.kind = IndexExpr::Kind::Dim;
    expr.number = axis.integer;
    expr.place = name.place;
    return expect(")", "behind the dimension");
  }
  IndexExpr left, right;
  if (!parseIndexExpr(left) || !expect(",", "and another index") || !parseIndexExpr(right))
    return false;
  left.place = name.place;
  expr = IndexExpr::make(name.is("min") ? IndexExpr::Kind::Min : IndexExpr::Kind::Max, std::move(left), std::move(right));
  return expect(")", "behind the indices");
}

bool Parser::parseIndexFactor(IndexExpr &expr) {
  DepthGuard guard(*this);
  if (!guard.fits())
    return false;
  expr.place = peek().place;
  if (peek().kind == Token::Kind::Integer) {
    if (peek().text.getAsInteger(10, expr.number))
      return errorHere("a number of 64 bits");
    take();
    return true;
  }
  if (accept("-")) {
    IndexExpr operand;
    if (!parseIndexFactor(operand))
      return false;
    expr = IndexExpr::make(IndexExpr::Kind::Sub, IndexExpr::constant(0, expr.place), std::move(operand));
    return true;
  }
  if (accept("("))
    return parseIndexExpr(expr) && expect(")", "behind the index");
  if (peek(1).is("(") && (peek().is("dim") || peek().is("min") || peek().is("max")))
    return parseIndexCall(expr);
  expr.kind = IndexExpr::Kind::Variable;
  if (!parseName(expr.name, expr.place, "an index"))
    return false;
  return !peek().is("[") || error(expr.place, "an index cannot be read from a tensor; it consists of indices, attributes, sizes and numbers");
}

//===- Expressions ---------------------------------------------------------===//

/// The level of an operator between two operands: higher ones bind more closely; -1: none.
static int findLevel(const Token &token) {
  if (token.kind != Token::Kind::Sign)
    return -1;
  return StringSwitch<int>(token.text)
      .Case("||", 0)
      .Case("&&", 1)
      .Cases({"<", "<=", ">", ">=", "==", "!="}, 2)
      .Cases({"+", "-"}, 3)
      .Cases({"*", "/", "%"}, 4)
      .Default(-1);
}

bool Parser::parseExpr(Expr &expr, unsigned level) {
  DepthGuard guard(*this);
  constexpr unsigned comparison = 2;
  if (!guard.fits() || !parseUnary(expr))
    return false;
  // Operators of one level are a chain in the tree, which has a limit, too.
  unsigned length = 0;
  for (int found; (found = findLevel(peek())) >= static_cast<int>(level);) {
    Token sign = take();
    Expr result;
    result.kind = Expr::Kind::Builtin;
    result.place = sign.place;
    result.name = sign.text.str();
    Expr right;
    if (!parseExpr(right, static_cast<unsigned>(found) + 1))
      return false;
    if (++length > longestChain)
      return error(sign.place, "more than " + Twine(longestChain) + " operators stand in a row");
    result.operands.push_back(std::move(expr));
    result.operands.push_back(std::move(right));
    expr = std::move(result);
    if (found == comparison && findLevel(peek()) == comparison)
      return error(peek().place, "comparisons cannot be chained; write a < b && b < c");
  }
  return true;
}

bool Parser::parseUnary(Expr &expr) {
  if (!peek().is("-") && !peek().is("!"))
    return parsePrimary(expr);
  DepthGuard guard(*this);
  Token sign = take();
  expr.kind = Expr::Kind::Builtin;
  expr.place = sign.place;
  expr.name = sign.is("-") ? "neg" : "!";
  return guard.fits() && parseUnary(expr.operands.emplace_back());
}

bool Parser::parseNumber(Expr &expr) {
  expr.kind = Expr::Kind::Number;
  expr.place = peek().place;
  bool isTruth = peek().is("true") || peek().is("false");
  expr.element = isTruth ? Element::Bool : Element::AnyReal;
  if (isTruth) {
    expr.number = {expr.place, true, take().is("true"), 0};
    return true;
  }
  if (!parseLiteral(expr.number))
    return false;
  expr.element = expr.number.isInteger ? Element::AnyInteger : Element::AnyReal;
  return true;
}

bool Parser::parsePrimary(Expr &expr) {
  if (accept("("))
    return parseExpr(expr) && expect(")", "behind the expression");
  Token::Kind kind = peek().kind;
  StringRef text = peek().text;
  if (kind == Token::Kind::Integer || kind == Token::Kind::Real || (kind == Token::Kind::Name && is_contained({"true", "false", "inf", "nan", "pi"}, text)))
    return parseNumber(expr);
  if (kind != Token::Kind::Name || isReserved(text))
    return errorHere("an expression");
  return parseNamed(expr);
}

/// The arguments of a call behind its name; its attributes stand behind a semicolon.
bool Parser::parseArguments(Expr &call) {
  take();
  while (!peek().is(")") && !peek().is(";")) {
    if (!parseExpr(call.operands.emplace_back()))
      return false;
    if (!accept(","))
      break;
  }
  if (accept(";"))
    do {
      Attribute attribute;
      if (!parseAttribute(attribute))
        return false;
      call.attributes.push_back({attribute.name, attribute.value});
    } while (accept(","));
  return expect(")", "behind the arguments");
}

bool Parser::parseNamed(Expr &expr) {
  expr.place = peek().place;
  expr.name = take().text.str();
  expr.kind = Expr::Kind::Name;
  if (peek().is("(")) {
    std::optional<Element> element = findElement(expr.name);
    expr.kind = element || expr.name == "cast" ? Expr::Kind::Convert : findFunction(expr.name) ? Expr::Kind::Builtin : Expr::Kind::Call;
    expr.element = element.value_or(Element::Generic);
    if (!parseArguments(expr))
      return false;
    if (expr.kind != Expr::Kind::Call && !expr.attributes.empty())
      return error(expr.place, "'" + expr.name + "' has no attributes");
    if (expr.kind != Expr::Kind::Call || !peek().is("["))
      return true;
    Expr read;
    read.kind = Expr::Kind::Read;
    read.place = expr.place;
    read.name = expr.name;
    read.operands.push_back(std::move(expr));
    expr = std::move(read);
    return parseRead(expr);
  }
  if (!peek().is("["))
    return true;
  expr.kind = Expr::Kind::Read;
  return parseRead(expr);
}

/// [i, j - 1] else 0
bool Parser::parseRead(Expr &read) {
  if (!parseIndexItems(read.indices))
    return false;
  if (!accept("else"))
    return true;
  Expr &otherwise = read.otherwise.emplace_back();
  if (peek().kind != Token::Kind::Name || isReserved(peek().text))
    return parseNumber(otherwise);
  otherwise.kind = Expr::Kind::Name;
  otherwise.place = peek().place;
  return parseName(otherwise.name, otherwise.place, "a number or an attribute");
}

} // namespace kiln::definitions
