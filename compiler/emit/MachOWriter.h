//===- MachOWriter.h - Binary data as an object of macOS ----------------------===//
#ifndef KILN_COMPILER_EMIT_MACHOWRITER_H
#define KILN_COMPILER_EMIT_MACHOWRITER_H

#include "compiler/emit/DataObject.h"

namespace kiln {

bool canMakeMachO(llvm::StringRef triple);

/// makeDataObject for Mach-O.
DataObject makeMachOData(llvm::StringRef triple, llvm::StringRef symbol, uint64_t size);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_MACHOWRITER_H
