//===- OutputFiles.h - Writing files completely or not at all ---------------===//
#ifndef KILN_TOOLS_KILN_OUTPUTFILES_H
#define KILN_TOOLS_KILN_OUTPUTFILES_H

#include "compiler/Compile.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

namespace kiln {

/// A file and its full path.
struct PlacedFile {
  std::string path;
  const OutputFile *file;
};

/// How to treat an existing file with the same bytes.
enum class SameBytes {
  Replaced,
  /// Keep its modification time, so that a build does not rebuild what depends on it.
  Left
};

/// The file for an output: NAME.npy; characters outside [A-Za-z0-9_.-] become `_`, and a name that another output has already gets a number.
std::string makeFileName(llvm::StringRef output, llvm::StringSet<> &taken);

/// Writes all files or none of them, creating missing folders. Files get their names when all have been written, and a signal or a full disk leaves
/// nothing behind.
llvm::Error writeFiles(llvm::ArrayRef<PlacedFile> files, SameBytes same = SameBytes::Replaced);

/// An error if no file can be written at this path, to be checked before long work. The folder need not exist.
llvm::Error checkWritable(llvm::StringRef path);

/// The places of files below a folder.
std::vector<PlacedFile> placeFiles(llvm::StringRef folder, llvm::ArrayRef<OutputFile> files);

} // namespace kiln

#endif // KILN_TOOLS_KILN_OUTPUTFILES_H
