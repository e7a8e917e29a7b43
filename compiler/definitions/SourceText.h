//===- SourceText.h - The text of a file of definitions ---------------------===//
#ifndef KILN_COMPILER_DEFINITIONS_SOURCETEXT_H
#define KILN_COMPILER_DEFINITIONS_SOURCETEXT_H

#include "compiler/definitions/Definition.h"
#include "llvm/ADT/Twine.h"

namespace kiln::definitions {

/// A mistake in a file of definitions.
struct Fault {
  Place place;
  std::string message;
};

/// A file's name and text, for messages that show the line.
class SourceText {
public:
  SourceText(std::string path, std::string text) : path(std::move(path)), text(std::move(text)) {}
  llvm::StringRef getPath() const { return path; }
  llvm::StringRef getText() const { return text; }
  /// Three lines: `acme.kiln:3:14: message`, the line, and a caret below the place. All of it is printable.
  std::string describe(Place place, const llvm::Twine &message) const;
  /// `acme.kiln:3:14`.
  std::string name(Place place) const;

private:
  std::string path, text;
};

} // namespace kiln::definitions

#endif // KILN_COMPILER_DEFINITIONS_SOURCETEXT_H
