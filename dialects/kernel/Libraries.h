//===- Libraries.h - Libraries that a target may list ----------------------===//
//
// A target's `libraries` are entries like
//   onednn        what it is measured to be faster at
//   onednn:all    all that it can compute
//   onednn:conv   one kind of operation
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_KERNEL_LIBRARIES_H
#define KILN_DIALECTS_KERNEL_LIBRARIES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace kiln::kernel {

struct Library {
  llvm::StringLiteral name;
  /// What declares its functions, below runtime/include.
  llvm::StringLiteral header;
  /// nn operations that it has.
  llvm::ArrayRef<llvm::StringLiteral> operations;
  /// What libkiln_NAME.a is linked with, as after -l.
  llvm::ArrayRef<llvm::StringLiteral> links;
};

/// Null for a name that Kiln does not know.
const Library *findLibrary(llvm::StringRef name);

/// The entries of `text`, which is NAME, NAME:all or NAME:OP,...; none with `fault` set when there is no such library or operation.
std::vector<std::string> parseLibrary(llvm::StringRef text, std::string &fault);

} // namespace kiln::kernel

#endif // KILN_DIALECTS_KERNEL_LIBRARIES_H
