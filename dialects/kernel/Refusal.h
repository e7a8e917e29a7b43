//===- Refusal.h - Errors that the model is at fault for -------------------===//
#ifndef KILN_DIALECTS_KERNEL_REFUSAL_H
#define KILN_DIALECTS_KERNEL_REFUSAL_H

#include "mlir/IR/Diagnostics.h"

namespace kiln::kernel {

/// Reports that a compile ends because of the model, its target or the options, in words that their author understands. Every other error of a
/// stage is a fault of Kiln's own, for which a reproducer is kept.
mlir::InFlightDiagnostic emitRefusal(mlir::Location location);
mlir::InFlightDiagnostic emitRefusal(mlir::Operation *op);

/// Whether emitRefusal made this diagnostic.
bool isRefusal(mlir::Diagnostic &diagnostic);

} // namespace kiln::kernel

#endif // KILN_DIALECTS_KERNEL_REFUSAL_H
