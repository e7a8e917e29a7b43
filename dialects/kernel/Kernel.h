//===- Kernel.h - The kernel dialect: attributes and enums -----------------===//
#ifndef KILN_DIALECTS_KERNEL_KERNEL_H
#define KILN_DIALECTS_KERNEL_KERNEL_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

namespace kiln::kernel {
/// The numbers of #kernel.tuning. Tuning.h lists them, for the sources that read one: others need not be compiled again when the list changes.
enum class Tuned : unsigned;
} // namespace kiln::kernel

#include "dialects/kernel/KernelDialect.h.inc"
#include "dialects/kernel/KernelEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/kernel/KernelAttributes.h.inc"

namespace kiln::kernel {

/// How well a `math.exp` is computed: exact when it does not say.
Accuracy getExpAccuracy(mlir::Operation *exp);
/// The function of the kernel headers that computes it so: exp, exp_ulp4, exp_half.
std::string getExpFunction(Accuracy accuracy);

/// The target of the module that holds `op`; null when it has none.
TargetAttr getTarget(mlir::Operation *op);

} // namespace kiln::kernel

#endif // KILN_DIALECTS_KERNEL_KERNEL_H
