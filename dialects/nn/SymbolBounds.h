//===- SymbolBounds.h - What the caller may give as a dimension ------------===//
#ifndef KILN_DIALECTS_NN_SYMBOLBOUNDS_H
#define KILN_DIALECTS_NN_SYMBOLBOUNDS_H

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

/// Bounds of a dimension without bounds of its own.
inline constexpr int64_t defaultSymbolMin = 0, defaultSymbolMax = 1 << 20;

namespace nn {

/// The least and the most that symbol `position` of the module may be: its `nn.symbol_bounds`, or the defaults.
std::pair<int64_t, int64_t> getSymbolBounds(mlir::ModuleOp module, unsigned position);

} // namespace nn

} // namespace kiln

#endif // KILN_DIALECTS_NN_SYMBOLBOUNDS_H
