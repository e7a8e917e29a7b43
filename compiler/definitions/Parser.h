//===- Parser.h - From tokens to definitions --------------------------------===//
#ifndef KILN_COMPILER_DEFINITIONS_PARSER_H
#define KILN_COMPILER_DEFINITIONS_PARSER_H

#include "compiler/definitions/Lexer.h"
#include "compiler/definitions/Library.h"

namespace kiln::definitions {

/// A parser by recursive descent. After a mistake, parsing functions return empty results, and `fault` has the first one.
class Parser {
public:
  Parser(Library &library, std::vector<Token> tokens, std::string domain)
      : library(library), tokens(std::move(tokens)), domain(std::move(domain)) {}

  /// Parses and checks the whole file. Goes on behind a mistake at what looks like the next definition.
  void parseFile(std::vector<Fault> &faults);

private:
  const Token &peek(size_t ahead = 0) const { return tokens[std::min(at + ahead, tokens.size() - 1)]; }
  Token take() { return tokens[at + 1 < tokens.size() ? at++ : at]; }
  bool accept(llvm::StringRef sign);
  bool expect(llvm::StringRef sign, const llvm::Twine &what);
  /// False, to return.
  bool error(Place place, const llvm::Twine &message);
  bool errorHere(const llvm::Twine &expected);
  bool isKeyword() const;
  bool parseName(std::string &name, Place &place, llvm::StringRef what);

  void parseItem();
  void skipToItem();
  bool parseDomain();
  bool parseDefinition();
  bool parseExtern();
  bool parseExternParameters(std::vector<Parameter> &parameters, bool areResults);
  bool parseParameters(Definition &definition);
  bool parseAttribute(Attribute &attribute);
  bool parseLiteral(Literal &literal);
  bool parseIndices(Definition &definition);
  bool parseAssignment(Definition &definition);
  bool parseBounds(Definition &definition);

  bool parseIndexExpr(IndexExpr &expr);
  bool parseIndexTerm(IndexExpr &expr);
  bool parseIndexFactor(IndexExpr &expr);
  bool parseIndexCall(IndexExpr &expr);
  bool parseIndexItems(std::vector<IndexItem> &items);

  bool parseExpr(Expr &expr, unsigned level = 0);
  bool parseUnary(Expr &expr);
  bool parsePrimary(Expr &expr);
  bool parseNumber(Expr &expr);
  bool parseNamed(Expr &expr);
  bool parseArguments(Expr &call);
  bool parseRead(Expr &read);

  /// The most brackets inside of each other.
  static constexpr unsigned mostDepth = 32;
  /// The most operators of one level beside each other, which nest in the tree.
  static constexpr unsigned longestChain = 128;
  struct DepthGuard;

  Library &library;
  std::vector<Token> tokens;
  std::string domain;
  int64_t version = 1;
  size_t at = 0;
  unsigned depth = 0;
  bool failed = false;
  Fault fault;
};

} // namespace kiln::definitions

#endif // KILN_COMPILER_DEFINITIONS_PARSER_H
