//===- PackedRequests.h - Tokens of several requests without padding ---------===//
#ifndef KILN_COMPILER_IMPORT_OPS_PACKEDREQUESTS_H
#define KILN_COMPILER_IMPORT_OPS_PACKEDREQUESTS_H

#include "compiler/import/Node.h"

namespace kiln::import {

/// Tokens of several requests, one request behind the other. A request may have any number of them. Numbers are i64.
class PackedRequests {
public:
  explicit PackedRequests(Node &node) : node(node) {}
  /// `ends` has the place of the first token of each request and behind them the number of all tokens: [requests + 1]. Each run checks the first
  /// and the last of them.
  /// `requests` is a dimension that counts them, as of their states, or null. What is as large as the requests and their most tokens has a known bound
  /// only with one.
  mlir::LogicalResult read(AffineExpr allTokens, AffineExpr requests, Value ends, llvm::StringRef name);

  /// The tokens of the request that has most of them, which only the data tell unless there is one request.
  AffineExpr most(const llvm::Twine &name);
  /// [requests, length, width] from rows [tokens, width]. Behind a request's own rows stand some of others.
  Value pad(Value rows, AffineExpr length);
  /// The rows of tokens of [requests, length, width].
  Value unpad(Value padded, AffineExpr length);

  AffineExpr tokens, count;
  /// Of each request: the place of its first token, and the number of its tokens [requests].
  Value starts, counts;
  /// Of each token: its request, and its place in that [tokens].
  Value owner, offset;

private:
  Node &node;
};

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_OPS_PACKEDREQUESTS_H
