//===- OutputFiles.h - Files that appear whole or not at all ---------------===//
#ifndef KILN_TOOLS_KILN_OUTPUTFILES_H
#define KILN_TOOLS_KILN_OUTPUTFILES_H

#include "compiler/Compile.h"
#include "llvm/Support/Error.h"

namespace kiln {

/// A file, and its whole path.
struct PlacedFile {
  std::string path;
  const OutputFile *file;
};

/// What happens to a file that is there already with the same bytes.
enum class SameBytes {
  Replaced,
  /// It keeps its modification time, so that a build does not make again what depends on it.
  Left
};

/// Writes all files, in folders that are made when missing, or none of them: each takes its name when all are written, and a signal or a full disk
/// leaves nothing.
llvm::Error writeFiles(llvm::ArrayRef<PlacedFile> files, SameBytes same = SameBytes::Replaced);

/// Why no file can be written there, before long work is done for it; its folder may be missing.
llvm::Error checkWritable(llvm::StringRef path);

/// The places of files below a folder.
std::vector<PlacedFile> placeFiles(llvm::StringRef folder, llvm::ArrayRef<OutputFile> files);

} // namespace kiln

#endif // KILN_TOOLS_KILN_OUTPUTFILES_H
