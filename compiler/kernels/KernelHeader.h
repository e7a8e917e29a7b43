//===- KernelHeader.h - The C functions of a library of kernels -----------------===//
#ifndef KILN_COMPILER_KERNELS_KERNELHEADER_H
#define KILN_COMPILER_KERNELS_KERNELHEADER_H

#include "compiler/emit/Signature.h"
#include "compiler/kernels/KernelForm.h"

namespace kiln {

/// How a target's kernel wants its packed operand.
struct PanelsOfTarget {
  std::string target;
  int64_t width, depth;
};

/// A compiled kernel: what it is for, and the small model behind its function.
struct CompiledKernel {
  KernelForm form;
  Signature model;
  /// Those of each target; empty without a packed operand.
  std::vector<PanelsOfTarget> panels;
};

/// The names that a kernel's function has for itself, so that no size has one of them.
inline constexpr llvm::StringLiteral ownParameters[] = {"workspace", "context", "dims", "inputs", "outputs"};

/// NAME.h: the C ABI block, and two functions for each kernel.
std::string printKernelHeader(llvm::StringRef name, llvm::ArrayRef<CompiledKernel> kernels);

/// The translation unit that defines these functions by those of the models.
std::string printKernelUnit(llvm::StringRef name, llvm::ArrayRef<CompiledKernel> kernels);

} // namespace kiln

#endif // KILN_COMPILER_KERNELS_KERNELHEADER_H
