//===- Diagnostics.cpp - One printable line per mistake ---------------------===//
#include "compiler/import/Diagnostics.h"

namespace kiln::import {

/// The longest line, whatever names it contains.
static constexpr size_t lineLimit = 4000;

llvm::LogicalResult Diagnostics::error(const llvm::Twine &message) {
  lines.push_back(printable(file + ": " + message.str(), lineLimit) + (below.empty() ? "" : "\n" + below));
  below.clear();
  lastFault.reset();
  return llvm::failure();
}

llvm::LogicalResult Diagnostics::fault(const llvm::Twine &message) {
  std::string text = message.str();
  (void)error(text);
  lastFault = text;
  return llvm::failure();
}

std::optional<std::string> Diagnostics::takeFault() {
  if (lines.size() != 1 || !lastFault)
    return std::nullopt;
  lines.clear();
  return std::exchange(lastFault, std::nullopt);
}

} // namespace kiln::import
