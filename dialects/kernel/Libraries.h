//===- Libraries.h - Libraries that a target may list ----------------------===//
//
// A target's `libraries` are entries like
//   onednn        the operations at which it was measured to be faster
//   onednn:all    all operations that it supports
//   onednn:conv   one operation
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
  /// The header of its functions, below runtime/include.
  llvm::StringLiteral header;
  /// The nn operations that it supports.
  llvm::ArrayRef<llvm::StringLiteral> operations;
  /// The libraries that libkiln_NAME.a needs, as after -l.
  llvm::ArrayRef<llvm::StringLiteral> links;
};

/// Null for a name that Kiln does not know.
const Library *findLibrary(llvm::StringRef name);

/// The entries of `text`, which is NAME, NAME:all or NAME:OP,...; empty with `fault` set if there is no such library or operation.
std::vector<std::string> parseLibrary(llvm::StringRef text, std::string &fault);

} // namespace kiln::kernel

#endif // KILN_DIALECTS_KERNEL_LIBRARIES_H
