//===- EntryAttributeNames.h - Attributes in the entry --------------------===//
//
// Attributes of operations in the entry and in kernels.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_KERNEL_ENTRYATTRIBUTENAMES_H
#define KILN_DIALECTS_KERNEL_ENTRYATTRIBUTENAMES_H

#include "llvm/ADT/StringRef.h"

namespace kiln::kernel {

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

} // namespace kiln::kernel

#endif // KILN_DIALECTS_KERNEL_ENTRYATTRIBUTENAMES_H
