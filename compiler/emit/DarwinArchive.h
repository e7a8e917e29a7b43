//===- DarwinArchive.h - Objects as a static library for macOS -------------===//
#ifndef KILN_COMPILER_EMIT_DARWINARCHIVE_H
#define KILN_COMPILER_EMIT_DARWINARCHIVE_H

#include "compiler/emit/ArchiveWriter.h"

namespace kiln {

/// As archiveBytes and writeArchive, in the format of macOS' linkers, which know no other.
uint64_t darwinArchiveBytes(llvm::ArrayRef<ArchiveMember> members);
void writeDarwinArchive(llvm::raw_ostream &out, llvm::ArrayRef<ArchiveMember> members);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_DARWINARCHIVE_H
