//===- DefinitionKernel.h - A kernel of a user's definition --------------------===//
#ifndef KILN_COMPILER_KERNELS_DEFINITIONKERNEL_H
#define KILN_COMPILER_KERNELS_DEFINITIONKERNEL_H

#include "compiler/definitions/Definition.h"
#include "compiler/kernels/KernelForm.h"

namespace kiln {

/// The parameters that a kernel of the definition has: its attributes, and `type` where its parameters have a type that a call gives.
std::vector<KernelParameter> listParameters(const definitions::Definition &definition);

/// Completes a kernel that applies the definition once. `form` has its names and the values of its parameters. An index stands for a size of its name, and
/// `...` for one dimension, `elements`: elements lie without gaps, so their number is what an element-wise definition needs to know.
llvm::Error readDefinition(const definitions::Definition &definition, KernelForm &form);

} // namespace kiln

#endif // KILN_COMPILER_KERNELS_DEFINITIONKERNEL_H
