//===- Checker.h - Checking a definition ------------------------------------===//
#ifndef KILN_COMPILER_DEFINITIONS_CHECKER_H
#define KILN_COMPILER_DEFINITIONS_CHECKER_H

#include "compiler/definitions/Library.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace kiln::definitions {

/// An index expression between the brackets of a read, and the dimension that it stands for.
struct Access {
  /// The read's tensor: a parameter, or $1, $2 for the result of a call.
  std::string tensor;
  /// Counted from the front, or from the end if negative.
  int64_t axis;
  const IndexExpr *expr;
  bool hasOtherwise;
};

/// Calls the function for each read in the expression, outer ones first.
void forEachRead(const Expr &expr, llvm::function_ref<void(const Expr &)> visit);
/// The dimension of item `i` of a read: those behind `...` count from the end.
int64_t axisOf(const std::vector<IndexItem> &items, size_t i);
/// All of a definition, in the order of the text.
std::vector<Access> listAccesses(const Definition &definition);
/// The names of the indices in an expression, each once.
void collectVariables(const IndexExpr &expr, std::vector<std::string> &names);

/// Whether such an element type is allowed.
bool meets(Requirement::Kind kind, Element element);
llvm::StringRef nameRequirement(Requirement::Kind kind);

/// Completes a definition. Its methods return false after a mistake.
class Checker {
public:
  Checker(const Library &library, Definition &definition, Fault &fault) : library(library), definition(definition), fault(fault) {}

  /// Finds the indices that are reduced over, and tells attributes from indices.
  bool collectIndices();
  bool checkTypes();
  /// Gives each parameter its rank.
  bool checkRanks();
  /// Gives each index its size (Sizes.cpp).
  bool solveSizes();

private:
  bool error(Place place, const llvm::Twine &message);
  bool isIndex(llvm::StringRef name) const;
  /// The common type of two operands.
  bool join(Element &type, Element other, Place place);
  bool require(Requirement::Kind kind, Element element, Place place, const llvm::Twine &what);
  bool checkExpr(Expr &expr);
  bool checkBuiltin(Expr &expr);
  bool checkRead(Expr &read);
  bool checkCall(Expr &call);
  bool checkTensor(Expr &expr);
  bool findCallee(Expr &call);
  bool applyCallee(Expr &call, llvm::ArrayRef<Element> types);

  bool resolveNames(IndexExpr &expr, bool allowsIndices);
  bool resolveReads(Expr &expr);
  bool noteRank(llvm::StringRef tensor, int64_t rank, bool isOpen, Place place);
  bool noteCallRanks(const Expr &call);

  const Library &library;
  Definition &definition;
  Fault &fault;
  unsigned calls = 0;
};

} // namespace kiln::definitions

#endif // KILN_COMPILER_DEFINITIONS_CHECKER_H
