//===- DataObject.h - Binary data as an object file -------------------------===//
#ifndef KILN_COMPILER_EMIT_DATAOBJECT_H
#define KILN_COMPILER_EMIT_DATAOBJECT_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace kiln {

/// The parts of a relocatable file before and after the data, and the size of the whole.
struct DataObject {
  std::string head, tail;
  uint64_t bytes;
};

/// Whether makeDataObject can make objects for this target.
bool canMakeDataObject(llvm::StringRef triple);

/// A relocatable file, ELF, COFF, Mach-O or WebAssembly, with one hidden read-only symbol over `size` bytes, aligned to at least 64 (COFF hides none). The
/// caller writes the data between head and tail, so that gigabytes need not pass through an assembler or through memory.
DataObject makeDataObject(llvm::StringRef triple, llvm::StringRef symbol, uint64_t size);

/// A relocatable file of such a format whose only content is a section that linkers leave out of what they link. It has no symbols.
std::string makeRecordObject(llvm::StringRef triple, llvm::StringRef section, llvm::StringRef text);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_DATAOBJECT_H
