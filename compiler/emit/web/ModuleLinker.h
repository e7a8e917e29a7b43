//===- ModuleLinker.h - Objects to a module of WebAssembly -------------------===//
#ifndef KILN_COMPILER_EMIT_WEB_MODULELINKER_H
#define KILN_COMPILER_EMIT_WEB_MODULELINKER_H

#include "compiler/emit/Objects.h"

namespace kiln {

/// Links objects with wasm-ld into a module without imports, which exports these functions, its memory, and where the memory that it does not use begins.
llvm::Expected<std::string> linkWasmModule(llvm::ArrayRef<ObjectFile> objects, llvm::ArrayRef<std::string> functions);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_WEB_MODULELINKER_H
