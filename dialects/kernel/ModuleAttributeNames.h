//===- ModuleAttributeNames.h - Attributes of the module ------------------===//
//
// Attributes of a module that has a target.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_KERNEL_MODULEATTRIBUTENAMES_H
#define KILN_DIALECTS_KERNEL_MODULEATTRIBUTENAMES_H

#include "llvm/ADT/StringRef.h"

namespace kiln::kernel {

inline constexpr llvm::StringLiteral targetAttrName = "kernel.target";
/// Measured plans by the work that they are for (describeWork).
inline constexpr llvm::StringLiteral profileAttrName = "kernel.profile";
/// For each entry of the profile whose work the module has: whether its plan fitted.
inline constexpr llvm::StringLiteral profileUseAttrName = "kernel.profile_use";
/// A dictionary for each composite of the module: nodes, composite, form, reason; fused_bytes and split_bytes where sizes are static.
inline constexpr llvm::StringLiteral compositesAttrName = "kernel.composites";
/// The size of the workspace if it is static, or of its static part, and the most bytes that are alive at the same time.
inline constexpr llvm::StringLiteral workspaceBytesAttrName = "kernel.workspace_bytes";
inline constexpr llvm::StringLiteral workspaceLowerBoundAttrName = "kernel.workspace_lower_bound";

} // namespace kiln::kernel

#endif // KILN_DIALECTS_KERNEL_MODULEATTRIBUTENAMES_H
