//===- MachOWriter.h - Binary data as an object of macOS ----------------------===//
#ifndef KILN_COMPILER_EMIT_MACHOWRITER_H
#define KILN_COMPILER_EMIT_MACHOWRITER_H

#include "compiler/emit/DataObject.h"

namespace kiln {

bool canMakeMachO(llvm::StringRef triple);

/// makeDataObject for Mach-O.
DataObject makeMachOData(llvm::StringRef triple, llvm::StringRef symbol, uint64_t size);

/// The longest name of a section; longer ones lose their end.
inline constexpr size_t mostMachOName = 16;

/// makeRecordObject for Mach-O. The section's name is that without its dots in front, behind two underscores, and its other dots are underscores, too.
std::string makeMachORecord(llvm::StringRef triple, llvm::StringRef section, llvm::StringRef text);

/// The name that a section has there.
std::string nameMachOSection(llvm::StringRef section);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_MACHOWRITER_H
