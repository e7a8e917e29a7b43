//===- AttributeNames.h - Discardable attributes of the kernel dialect -----===//
//
// Every attribute by which one pass tells another something, unless it is inherent to its operation. AttributeRules.cpp says where each belongs and what
// it must be, docs/Architecture.md who writes and who reads it.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_KERNEL_ATTRIBUTENAMES_H
#define KILN_DIALECTS_KERNEL_ATTRIBUTENAMES_H

#include "llvm/ADT/StringRef.h"

namespace kiln::kernel {

/// @name Of the module
/// @{
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
/// @}

/// @name Of a kernel: the comment above its function
/// @{
/// Also of a launch, because kernels of several nodes may be found to be the same.
inline constexpr llvm::StringLiteral nodesAttrName = "kernel.nodes";
inline constexpr llvm::StringLiteral algorithmAttrName = "kernel.algorithm";
inline constexpr llvm::StringLiteral reasonAttrName = "kernel.reason";
inline constexpr llvm::StringLiteral refusalsAttrName = "kernel.refusals";
inline constexpr llvm::StringLiteral shapesAttrName = "kernel.shapes";
/// @}

/// @name Of a kernel's arguments
/// @{
inline constexpr llvm::StringLiteral nameAttrName = "kernel.name";
inline constexpr llvm::StringLiteral writtenAttrName = "kernel.written";
/// Also of the allocation of a status cell in the entry.
inline constexpr llvm::StringLiteral statusAttrName = "kernel.status";
/// @}

/// @name Of operations in the entry and in kernels
/// @{
/// Of the entry: pairs of an input and an output that may be one buffer.
inline constexpr llvm::StringLiteral inPlaceAttrName = "kernel.in_place";
/// Of a launch: pairs of operand numbers, an input and the result that may overwrite it.
inline constexpr llvm::StringLiteral overwritesAttrName = "kernel.overwrites";
/// Of a launch whose `flops` and `bytes` are not known before the run: an affine map with both as expressions of sizes, which are the launch's last
/// operands.
inline constexpr llvm::StringLiteral workAttrName = "kernel.work";
/// Of an allocation of dynamic size: the most bytes that it takes within the bounds of the dimensions. There is none when that is over `mostBytes`.
inline constexpr llvm::StringLiteral mostBytesAttrName = "kernel.most_bytes";
/// Of a `math.exp`: how exact it must be, and that its result is proven to be a normal number.
inline constexpr llvm::StringLiteral accuracyAttrName = "kernel.accuracy";
inline constexpr llvm::StringLiteral normalAttrName = "kernel.normal";
/// Of a loop in a kernel (`scf.for`): how many of its rounds compilers are to write out at a time.
inline constexpr llvm::StringLiteral unrollAttrName = "kernel.unroll";
/// @}

} // namespace kiln::kernel

#endif // KILN_DIALECTS_KERNEL_ATTRIBUTENAMES_H
