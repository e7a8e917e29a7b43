//===- Card.h - What a compile has made, for a person ------------------------------===//
#ifndef KILN_TOOLS_KILN_CARD_H
#define KILN_TOOLS_KILN_CARD_H

#include "compiler/Compile.h"

namespace kiln {

/// The end of a compile.
struct CardFacts {
  const Compilation &compilation;
  const CompileOptions &options;
  llvm::ArrayRef<OutputFile> files;
  std::string folder;
  /// The models' files, as they were given.
  llvm::ArrayRef<std::string> models;
  double seconds;
};

/// Prints what was made, how large it is and how to go on: the call in C, the line for CMake, and commands to copy.
void printCard(llvm::raw_ostream &os, const CardFacts &facts);

/// "1.5 MiB", "36 KiB", "17 bytes".
std::string sizeText(int64_t bytes);

} // namespace kiln

#endif // KILN_TOOLS_KILN_CARD_H
