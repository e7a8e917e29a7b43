//===- PatternReasons.h - Why patterns do not match ------------------------===//
//
// A pattern says by notifyMatchFailure what it expected. The functions below hand that to the context's remark engine, if it has one: `kiln-opt --why-not`
// has one that prints the reasons.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_GRAPH_PATTERNREASONS_H
#define KILN_PASSES_GRAPH_PATTERNREASONS_H

#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace kiln {

/// The category of the remarks. A `missed` one has the pattern as its name, the operation's name as its function and the reason as its text. A `passed` one
/// says that the operation of that name and location is no more, and with it what was missed there.
inline constexpr llvm::StringLiteral matchCategory = "match";
/// The name of a pattern that is a function.
inline constexpr llvm::StringLiteral unnamedPattern = "rewrite";

/// Applies the patterns until none of them matches, and reports those that did not.
mlir::LogicalResult applyPatterns(mlir::Operation *op, mlir::RewritePatternSet patterns);

/// Tries one rewrite of `op`, with a rewriter in front of it, and reports it as unnamed if it does not match.
mlir::LogicalResult applyOnce(mlir::Operation *op, llvm::function_ref<mlir::LogicalResult(mlir::PatternRewriter &)> rewrite);

/// Creates MLIR's canonicalizer, which reports the same of its patterns.
std::unique_ptr<mlir::Pass> createCanonicalizer();

} // namespace kiln

#endif // KILN_PASSES_GRAPH_PATTERNREASONS_H
