//===- Rewrite.h - Quantised forms of a graph ------------------------------===//
#ifndef KILN_COMPILER_QUANTIZE_REWRITE_H
#define KILN_COMPILER_QUANTIZE_REWRITE_H

#include "compiler/quantize/Quantization.h"

namespace kiln::quantize {

/// Writes the selected nodes with integers: weights and bias become integers behind DequantizeLinear, and what the nodes read goes through QuantizeLinear and
/// DequantizeLinear. `layers` is of this model, before the change.
void insertPairs(ModelGraph &model, const Layers &layers, const Quantization &numbers, const Selection &selection);

/// Gives the model an input of bool for each of these layers, which says whether it computes with rounded numbers, all in f32. Returns the inputs' names. The
/// results differ from those of insertPairs() only by the order of additions.
std::vector<std::string> insertSwitches(ModelGraph &model, const Layers &layers, const Quantization &numbers, llvm::ArrayRef<int> switched);

} // namespace kiln::quantize

#endif // KILN_COMPILER_QUANTIZE_REWRITE_H
