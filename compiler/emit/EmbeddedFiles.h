//===- EmbeddedFiles.h - The runtime's files inside the compiler -----------===//
//
// The kernel headers, the runtime's sources, stand-ins for two headers of the C compiler and the program that runs a model elsewhere are part of the Kiln
// binary, so that a compile needs no installed file.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_EMIT_EMBEDDEDFILES_H
#define KILN_COMPILER_EMIT_EMBEDDEDFILES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace kiln {

struct EmbeddedFile {
  /// The path below runtime/include for headers ("kiln/vector.h"), below runtime for the rest ("src/Pool.cpp").
  llvm::StringRef path;
  llvm::StringRef text;
};

/// Sorted by path.
llvm::ArrayRef<EmbeddedFile> embeddedFiles();

/// The text of a file, which must exist.
llvm::StringRef embeddedFile(llvm::StringRef path);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_EMBEDDEDFILES_H
