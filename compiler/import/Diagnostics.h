//===- Diagnostics.h - One printable line per mistake -----------------------===//
#ifndef KILN_COMPILER_IMPORT_DIAGNOSTICS_H
#define KILN_COMPILER_IMPORT_DIAGNOSTICS_H

#include "compiler/files/Printable.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/LogicalResult.h"
#include <optional>
#include <string>
#include <vector>

namespace kiln::import {

/// Makes text of a model safe for a message: printable, with long text truncated.
inline std::string printable(llvm::StringRef text, size_t limit = 200) { return kiln::printable(text, limit); }

/// Collects the messages of one import.
class Diagnostics {
public:
  Diagnostics(std::string file, std::vector<std::string> &lines) : file(std::move(file)), lines(lines) {}

  /// `file: message`, as a failure.
  llvm::LogicalResult error(const llvm::Twine &message);
  /// An error about a node that may be in a branch which no run takes.
  llvm::LogicalResult fault(const llvm::Twine &message);
  /// Takes back the only message if it is such a mistake.
  std::optional<std::string> takeFault();
  /// Messages of another file's, which are printable.
  void append(const std::vector<std::string> &others) { lines.insert(lines.end(), others.begin(), others.end()); }
  /// Lines of text that the next message shows below itself. They are printable already.
  void showBelow(std::string excerpt) { below = std::move(excerpt); }
  bool empty() const { return lines.empty(); }

private:
  std::string file;
  std::vector<std::string> &lines;
  std::string below;
  /// The last message, if it is the mistake of a node.
  std::optional<std::string> lastFault;
};

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_DIAGNOSTICS_H
