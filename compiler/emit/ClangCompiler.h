//===- ClangCompiler.h - C++ text to an object, in process -----------------===//
#ifndef KILN_COMPILER_EMIT_CLANGCOMPILER_H
#define KILN_COMPILER_EMIT_CLANGCOMPILER_H

#include "compiler/emit/Sources.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

namespace kiln {

/// Embedded kernel headers as Clang keeps them when it has parsed them, which it reads faster than their text. They belong to the arguments of one target.
struct PrecompiledHeaders {
  /// A line with an `#include` of each.
  std::string includes;
  llvm::SmallVector<char, 0> ast;
};

/// Parses the kernel headers that these lines include.
llvm::Expected<PrecompiledHeaders> precompileHeaders(llvm::StringRef includes, kernel::TargetAttr target);

/// Compiles one translation unit with Clang's libraries. It may only include `headers` and the embedded files; nothing is read
/// from disk. Any number of threads may compile at once. `precompiled` must be headers with which the unit begins; it may be null, and the object is the same.
llvm::Expected<llvm::SmallVector<char, 0>> compileInProcess(const SourceFile &unit, llvm::ArrayRef<SourceFile> headers, kernel::TargetAttr target,
                                                            const PrecompiledHeaders *precompiled = nullptr);

/// The program that runs a model on another machine (compiler/run/Program.h), for any CPU of the target's architecture: a unit that is the same for all models,
/// and one with the functions of a model of the signature's name, dimensions and weights.
std::vector<TranslationUnit> printRunner(const Signature &signature, kernel::TargetAttr target);

/// The object that a shared library of the target's system needs besides the model's; empty where there is none.
llvm::Expected<llvm::SmallVector<char, 0>> compileLibrarySupport(kernel::TargetAttr target);

/// The fault of a target: a triple, CPU or instruction set that Clang does not know, or an unsupported kind of machine. Empty if there is none.
std::string findUnknown(kernel::TargetAttr target);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_CLANGCOMPILER_H
