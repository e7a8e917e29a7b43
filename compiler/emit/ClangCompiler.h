//===- ClangCompiler.h - C++ text to an object, in process -----------------===//
#ifndef KILN_COMPILER_EMIT_CLANGCOMPILER_H
#define KILN_COMPILER_EMIT_CLANGCOMPILER_H

#include "compiler/emit/Sources.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

namespace kiln {

/// Compiles one translation unit with Clang's libraries. All files it may include are `headers` and the embedded ones; nothing is read from
/// disk. Any number of threads may compile at once.
llvm::Expected<llvm::SmallVector<char, 0>> compileInProcess(const SourceFile &unit, llvm::ArrayRef<SourceFile> headers, kernel::TargetAttr target);

/// What Clang does not know of a target, its triple, its CPU or an instruction set, or why the emitted code is not for it; empty: nothing.
std::string findUnknown(kernel::TargetAttr target);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_CLANGCOMPILER_H
