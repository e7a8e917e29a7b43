//===- ArchiveWriter.h - Objects as a static library -----------------------===//
#ifndef KILN_COMPILER_EMIT_ARCHIVEWRITER_H
#define KILN_COMPILER_EMIT_ARCHIVEWRITER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <string>
#include <vector>

namespace kiln {

struct ArchiveMember {
  std::string name;
  uint64_t bytes;
  /// The global symbols that it defines, for the index of the archive.
  std::vector<std::string> symbols;
  std::function<void(llvm::raw_ostream &)> write;
};

/// The global symbols that an object defines; none for other files.
std::vector<std::string> definedSymbols(llvm::StringRef object);

uint64_t archiveBytes(llvm::ArrayRef<ArchiveMember> members);

/// Writes an archive in GNU's format without owners or times: the same members give the same bytes. Unlike LLVM's writer it does not need
/// the members in memory, which matters because weights are most of a library.
void writeArchive(llvm::raw_ostream &out, llvm::ArrayRef<ArchiveMember> members);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_ARCHIVEWRITER_H
