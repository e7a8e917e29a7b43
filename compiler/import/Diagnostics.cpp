//===- Diagnostics.cpp - One printable line per mistake ---------------------===//
#include "compiler/import/Diagnostics.h"

namespace kiln::import {

/// A line is never longer than this, whatever the names in it.
static constexpr size_t lineLimit = 4000;

llvm::LogicalResult Diagnostics::error(const llvm::Twine &message) {
  lines.push_back(printable(file + ": " + message.str(), lineLimit));
  return llvm::failure();
}

} // namespace kiln::import
