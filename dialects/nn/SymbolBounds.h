//===- SymbolBounds.h - Symbolic dimensions and their bounds -----===//
#ifndef KILN_DIALECTS_NN_SYMBOLBOUNDS_H
#define KILN_DIALECTS_NN_SYMBOLBOUNDS_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace kiln {

/// The default bounds of a dimension.
inline constexpr int64_t defaultSymbolMin = 0, defaultSymbolMax = 1 << 20;

namespace nn {

/// The names of the module's symbols, in their order.
std::vector<std::string> listSymbols(mlir::ModuleOp module);

/// The lower and upper bound of symbol `position` of the module: its `nn.symbol_bounds`, or the defaults.
std::pair<int64_t, int64_t> getSymbolBounds(mlir::ModuleOp module, unsigned position);

} // namespace nn

} // namespace kiln

#endif // KILN_DIALECTS_NN_SYMBOLBOUNDS_H
