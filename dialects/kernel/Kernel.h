//===- Kernel.h - The kernel dialect ---------------------------------------===//
#ifndef KILN_DIALECTS_KERNEL_KERNEL_H
#define KILN_DIALECTS_KERNEL_KERNEL_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/kernel/Tuning.h"

#include "dialects/kernel/KernelDialect.h.inc"
#include "dialects/kernel/KernelEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/kernel/KernelAttributes.h.inc"

#define GET_OP_CLASSES
#include "dialects/kernel/KernelOps.h.inc"

namespace kiln::kernel {

/// Names of the discardable attributes that the dialect defines (see KernelBase.td).
inline constexpr llvm::StringLiteral targetAttrName = "kernel.target";
inline constexpr llvm::StringLiteral nodesAttrName = "kernel.nodes";
inline constexpr llvm::StringLiteral algorithmAttrName = "kernel.algorithm";
inline constexpr llvm::StringLiteral reasonAttrName = "kernel.reason";
inline constexpr llvm::StringLiteral refusalsAttrName = "kernel.refusals";
inline constexpr llvm::StringLiteral shapesAttrName = "kernel.shapes";
inline constexpr llvm::StringLiteral nameAttrName = "kernel.name";
inline constexpr llvm::StringLiteral writtenAttrName = "kernel.written";
inline constexpr llvm::StringLiteral statusAttrName = "kernel.status";
inline constexpr llvm::StringLiteral inPlaceAttrName = "kernel.in_place";
inline constexpr llvm::StringLiteral accuracyAttrName = "kernel.accuracy";
/// On a launch: pairs of operand numbers, an input and the result that may overwrite it.
inline constexpr llvm::StringLiteral overwritesAttrName = "kernel.overwrites";

/// How well a `math.exp` is computed: exact when it does not say.
Accuracy getExpAccuracy(mlir::Operation *exp);
/// The function of the kernel headers that computes it so: exp, exp_ulp4, exp_half.
std::string getExpFunction(Accuracy accuracy);

/// The target of the module that holds `op`; null when it has none.
TargetAttr getTarget(mlir::Operation *op);

} // namespace kiln::kernel

#endif // KILN_DIALECTS_KERNEL_KERNEL_H
