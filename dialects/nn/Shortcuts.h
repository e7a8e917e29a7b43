//===- Shortcuts.h - Attributes for computations that a proof makes unnecessary ---------===//
#ifndef KILN_DIALECTS_NN_SHORTCUTS_H
#define KILN_DIALECTS_NN_SHORTCUTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace kiln::nn {

/// On nn.softmax, written by --nn-prove-shortcuts: the constant to subtract in place of each row's maximum (f64), and why that is safe.
inline constexpr llvm::StringLiteral shiftAttrName = "shift";
inline constexpr llvm::StringLiteral proofAttrName = "proof";

/// On an exact `math.exp` of a kernel: its result is proven to be a normal number.
inline constexpr llvm::StringLiteral normalAttrName = "kernel.normal";

inline std::optional<double> getProvenShift(mlir::Operation *softmax) {
  auto shift = softmax->getAttrOfType<mlir::FloatAttr>(shiftAttrName);
  return shift ? std::optional(shift.getValueAsDouble()) : std::nullopt;
}

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_SHORTCUTS_H
