//===- OutputFiles.h - Files that appear whole or not at all ---------------===//
#ifndef KILN_TOOLS_KILN_OUTPUTFILES_H
#define KILN_TOOLS_KILN_OUTPUTFILES_H

#include "compiler/Compile.h"
#include "llvm/Support/Error.h"

namespace kiln {

/// Writes all files below `folder`, which is made when missing, or none of them: each is written under another name first, and a signal or
/// a full disk removes it again.
llvm::Error writeFiles(llvm::StringRef folder, llvm::ArrayRef<OutputFile> files);

} // namespace kiln

#endif // KILN_TOOLS_KILN_OUTPUTFILES_H
