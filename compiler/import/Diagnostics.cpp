//===- Diagnostics.cpp - One printable line per mistake ---------------------===//
#include "compiler/import/Diagnostics.h"

#include "llvm/ADT/StringExtras.h"

namespace kiln::import {

/// A line is never longer than this, whatever the names in it.
static constexpr size_t lineLimit = 4000;

std::string printable(llvm::StringRef text, size_t limit) {
  std::string result;
  for (char c : text) {
    if (result.size() >= limit) {
      result += "...";
      break;
    }
    auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      result += "\\n";
    else if (byte < 0x20 || byte >= 0x7f)
      result += "\\x" + llvm::utohexstr(byte, /*LowerCase=*/true, 2);
    else
      result += c;
  }
  return result;
}

llvm::LogicalResult Diagnostics::error(const llvm::Twine &message) {
  lines.push_back(printable(file + ": " + message.str(), lineLimit));
  return llvm::failure();
}

} // namespace kiln::import
