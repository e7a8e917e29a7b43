//===- RecordSection.h - A section of an object of any format --------------===//
#ifndef KILN_TOOLS_KILN_RECORDSECTION_H
#define KILN_TOOLS_KILN_RECORDSECTION_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace kiln {

/// The bytes of the first section of that name in a relocatable file: ELF of either size with the lower byte first, COFF, 64-bit Mach-O (where the name has
/// underscores for dots), or a custom section of WebAssembly. The file may contain any bytes; nullopt where it is none of these, is broken, or has no such
/// section.
std::optional<llvm::StringRef> findRecordSection(llvm::StringRef object, llvm::StringRef name);

} // namespace kiln

#endif // KILN_TOOLS_KILN_RECORDSECTION_H
