//===- Diagnostics.cpp - One printable line per mistake ---------------------===//
#include "compiler/import/Diagnostics.h"

namespace kiln::import {

/// The longest line, whatever names it contains.
static constexpr size_t lineLimit = 4000;

llvm::LogicalResult Diagnostics::error(const llvm::Twine &message) {
  lines.push_back(printable(file + ": " + message.str(), lineLimit) + (below.empty() ? "" : "\n" + below));
  below.clear();
  return llvm::failure();
}

} // namespace kiln::import
