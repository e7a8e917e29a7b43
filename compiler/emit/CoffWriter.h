//===- CoffWriter.h - Binary data as an object of Windows --------------------===//
#ifndef KILN_COMPILER_EMIT_COFFWRITER_H
#define KILN_COMPILER_EMIT_COFFWRITER_H

#include "compiler/emit/DataObject.h"

namespace kiln {

bool canMakeCoff(llvm::StringRef triple);

/// makeDataObject for COFF.
DataObject makeCoffData(llvm::StringRef triple, llvm::StringRef symbol, uint64_t size);

/// makeRecordObject for COFF.
std::string makeCoffRecord(llvm::StringRef triple, llvm::StringRef section, llvm::StringRef text);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_COFFWRITER_H
