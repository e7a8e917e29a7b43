//===- EmbeddedFiles.cpp - The runtime's files inside the compiler ---------===//
#include "compiler/emit/EmbeddedFiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

namespace kiln {

static constexpr EmbeddedFile files[] = {
#include "compiler/emit/EmbeddedFiles.inc"
};

ArrayRef<EmbeddedFile> embeddedFiles() { return files; }

StringRef embeddedFile(StringRef path) {
  const auto *found = llvm::find_if(files, [&](const EmbeddedFile &file) { return file.path == path; });
  if (found == std::end(files))
    llvm_unreachable("no such embedded file");
  return found->text;
}

} // namespace kiln
