//===- EntryPrinter.h - The functions that a program calls, as C++ ---------===//
#ifndef KILN_COMPILER_EMIT_ENTRYPRINTER_H
#define KILN_COMPILER_EMIT_ENTRYPRINTER_H

#include "compiler/emit/Signature.h"
#include "llvm/ADT/StringMap.h"

namespace kiln {

/// The C++ names of a module's kernels, by symbol.
using KernelNames = llvm::StringMap<std::string>;

/// The translation unit with NAME_run, NAME_workspace_size and NAME_info.
mlir::FailureOr<std::string> printEntrySource(mlir::ModuleOp module, const Signature &signature, const KernelNames &kernels);

/// The constant tables behind NAME_info.
std::string printInfoTables(const Signature &signature, size_t launches);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_ENTRYPRINTER_H
