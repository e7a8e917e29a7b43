//===- Ranking.h - Numbers of kernels that sort -----------------------------===//
#ifndef KILN_PASSES_LOWERING_BUILDER_RANKING_H
#define KILN_PASSES_LOWERING_BUILDER_RANKING_H

#include "mlir/IR/BuiltinTypes.h"

namespace kiln {

/// Returns the bits of a type's infinity, as the runtime's Ranking takes them (kiln/sort.h): 0 for signed integers, all bits for unsigned ones.
inline int64_t bitsOfInfinity(mlir::Type element) {
  auto type = mlir::dyn_cast<mlir::FloatType>(element);
  if (element.isUnsignedInteger())
    return -1;
  return type ? static_cast<int64_t>(llvm::APFloat::getInf(type.getFloatSemantics()).bitcastToAPInt().getZExtValue()) : 0;
}

} // namespace kiln

#endif // KILN_PASSES_LOWERING_BUILDER_RANKING_H
