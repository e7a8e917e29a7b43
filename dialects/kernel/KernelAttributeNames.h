//===- KernelAttributeNames.h - Attributes of kernels ---------------------===//
//
// Attributes of a kernel, which the comment above its function tells, and of its arguments.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_KERNEL_KERNELATTRIBUTENAMES_H
#define KILN_DIALECTS_KERNEL_KERNELATTRIBUTENAMES_H

#include "llvm/ADT/StringRef.h"

namespace kiln::kernel {

/// Also of a launch, because kernels of several nodes may be found to be the same.
inline constexpr llvm::StringLiteral nodesAttrName = "kernel.nodes";
inline constexpr llvm::StringLiteral algorithmAttrName = "kernel.algorithm";
inline constexpr llvm::StringLiteral reasonAttrName = "kernel.reason";
inline constexpr llvm::StringLiteral refusalsAttrName = "kernel.refusals";
inline constexpr llvm::StringLiteral shapesAttrName = "kernel.shapes";
inline constexpr llvm::StringLiteral nameAttrName = "kernel.name";
inline constexpr llvm::StringLiteral writtenAttrName = "kernel.written";
/// Also of the allocation of a status cell in the entry.
inline constexpr llvm::StringLiteral statusAttrName = "kernel.status";

} // namespace kiln::kernel

#endif // KILN_DIALECTS_KERNEL_KERNELATTRIBUTENAMES_H
