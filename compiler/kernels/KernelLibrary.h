//===- KernelLibrary.h - Several kernels in one library -------------------------===//
#ifndef KILN_COMPILER_KERNELS_KERNELLIBRARY_H
#define KILN_COMPILER_KERNELS_KERNELLIBRARY_H

#include "compiler/Compile.h"
#include "compiler/kernels/KernelHeader.h"

namespace kiln {

/// Compiles each kernel as a model, and the functions around them, to one library. `options` has its name, the targets, and what the user says of all
/// kernels; sizes that it names become static or get bounds wherever a kernel has them. On failure, `errors` has one line for each error.
CompileStatus compileKernels(std::vector<KernelForm> forms, const CompileOptions &options, Compilation &library, std::vector<std::string> &errors);

} // namespace kiln

#endif // KILN_COMPILER_KERNELS_KERNELLIBRARY_H
