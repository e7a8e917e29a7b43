//===- Operators.h - The table of ONNX operators -----------------------------===//
#ifndef KILN_COMPILER_IMPORT_OPERATORS_H
#define KILN_COMPILER_IMPORT_OPERATORS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"
#include <limits>

namespace kiln::import {

class Node;

/// Which element types the first input may have. Only operators of Sequence take lists of tensors and values that may be absent,
/// only those of Narrow codes of narrow floats, of Convertible also strings, and those of Everything all. Data are all numbers, bools and
/// strings: what operators take that only move elements.
enum class Elements { Any, Number, Float, Signed, Integer, Bool, String, Data, Sequence, Narrow, Convertible, Everything };

/// One row an operator: from opset `since` to `until` the node is expressed by `convert`.
struct Operator {
  llvm::StringLiteral name;
  int64_t since;
  Elements elements;
  llvm::LogicalResult (*convert)(Node &node);
  int64_t until = std::numeric_limits<int64_t>::max();
  llvm::StringLiteral domain = "";
  /// Whether a node is an nn.composite of the operator's name around what `convert` makes.
  bool isComposite = false;
};

/// The row of an operator that has no operation of its own and is to be known to targets by its name all the same.
constexpr Operator asComposite(Operator row) {
  row.isComposite = true;
  return row;
}

/// @name The families, each in the file of its name under ops/
/// @{
llvm::ArrayRef<Operator> getActivationOperators();
llvm::ArrayRef<Operator> getAttentionOperators();
llvm::ArrayRef<Operator> getBlockQuantizedOperators();
llvm::ArrayRef<Operator> getContribAttentionOperators();
llvm::ArrayRef<Operator> getContribOperators();
llvm::ArrayRef<Operator> getConvolutionOperators();
llvm::ArrayRef<Operator> getDataMovementOperators();
llvm::ArrayRef<Operator> getDataSizedOperators();
llvm::ArrayRef<Operator> getElementwiseOperators();
llvm::ArrayRef<Operator> getExperimentalOperators();
llvm::ArrayRef<Operator> getGatherOperators();
llvm::ArrayRef<Operator> getGeneratorOperators();
llvm::ArrayRef<Operator> getInverseOperators();
llvm::ArrayRef<Operator> getLearnedOperators();
llvm::ArrayRef<Operator> getLinearAttentionOperators();
llvm::ArrayRef<Operator> getLossOperators();
llvm::ArrayRef<Operator> getMatmulOperators();
llvm::ArrayRef<Operator> getNgramOperators();
llvm::ArrayRef<Operator> getNormalizationOperators();
llvm::ArrayRef<Operator> getPoolingOperators();
llvm::ArrayRef<Operator> getQuantizationOperators();
llvm::ArrayRef<Operator> getRandomOperators();
llvm::ArrayRef<Operator> getReductionOperators();
llvm::ArrayRef<Operator> getRecurrentOperators();
llvm::ArrayRef<Operator> getRegionOperators();
llvm::ArrayRef<Operator> getResizeOperators();
llvm::ArrayRef<Operator> getSamplingOperators();
llvm::ArrayRef<Operator> getSequenceOperators();
llvm::ArrayRef<Operator> getShapeOperators();
llvm::ArrayRef<Operator> getSignalOperators();
llvm::ArrayRef<Operator> getStringOperators();
llvm::ArrayRef<Operator> getTrainingOperators();
/// @}

/// The domain of ONNX Runtime's own models after it has moved channels behind the spatial dimensions.
inline constexpr llvm::StringLiteral channelsLastDomain = "com.ms.internal.nhwc";

/// The row for an operator of this domain and opset. When there is none, null and `reason` says why.
const Operator *findOperator(llvm::StringRef domain, llvm::StringRef name, int64_t opset, std::string &reason);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_OPERATORS_H
