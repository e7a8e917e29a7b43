//===- WasmWriter.h - Binary data as an object of WebAssembly ---------------===//
#ifndef KILN_COMPILER_EMIT_WASMWRITER_H
#define KILN_COMPILER_EMIT_WASMWRITER_H

#include "compiler/emit/DataObject.h"

namespace kiln {

/// makeDataObject for WebAssembly.
DataObject makeWasmData(llvm::StringRef symbol, uint64_t size);

/// makeRecordObject for WebAssembly: a custom section of that name.
std::string makeWasmRecord(llvm::StringRef section, llvm::StringRef text);

/// The head of a section of a module, before `size` bytes of content; a custom section also has a name.
std::string makeWasmSection(unsigned id, uint64_t size);
std::string makeWasmCustomSection(llvm::StringRef name, uint64_t size);

/// What every module and object begins with.
llvm::StringRef wasmMagic();

} // namespace kiln

#endif // KILN_COMPILER_EMIT_WASMWRITER_H
