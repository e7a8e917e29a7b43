//===- EntryPrinter.h - The functions that a program calls, as C++ ---------===//
#ifndef KILN_COMPILER_EMIT_ENTRYPRINTER_H
#define KILN_COMPILER_EMIT_ENTRYPRINTER_H

#include "compiler/emit/Signature.h"
#include "llvm/ADT/StringMap.h"

namespace kiln {

/// The C++ names of a module's kernels, by symbol.
using KernelNames = llvm::StringMap<std::string>;

/// The translation unit with NAME_run, NAME_workspace_size, NAME_target and NAME_info. For one of several targets, it only has NAME_run_VARIANT and
/// NAME_workspace_size_VARIANT.
mlir::FailureOr<std::string> printEntrySource(const Signature &signature, const KernelNames &kernels);

/// The number of launches of a run.
size_t countLaunches(const Signature &signature);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_ENTRYPRINTER_H
