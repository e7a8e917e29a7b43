//===- Refusal.cpp - Errors that the model is at fault for -----------------===//
#include "dialects/kernel/Refusal.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

using namespace mlir;

namespace kiln::kernel {

/// The mark in a diagnostic's metadata, which nobody prints.
static constexpr llvm::StringLiteral refusalMark = "kernel.refusal";

static InFlightDiagnostic markRefusal(InFlightDiagnostic error, MLIRContext *context) {
  error.getUnderlyingDiagnostic()->getMetadata().push_back(DiagnosticArgument(StringAttr::get(context, refusalMark)));
  return error;
}

InFlightDiagnostic emitRefusal(Location location) { return markRefusal(emitError(location), location.getContext()); }

InFlightDiagnostic emitRefusal(Operation *op) { return markRefusal(op->emitError(), op->getContext()); }

bool isRefusal(Diagnostic &diagnostic) {
  return llvm::any_of(diagnostic.getMetadata(), [](DiagnosticArgument &argument) {
    auto text = argument.getKind() == DiagnosticArgument::DiagnosticArgumentKind::Attribute ? dyn_cast<StringAttr>(argument.getAsAttribute()) : StringAttr();
    return text && text.getValue() == refusalMark;
  });
}

} // namespace kiln::kernel
