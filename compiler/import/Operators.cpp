//===- Operators.cpp - The table of ONNX operators ---------------------------===//
#include "compiler/import/Operators.h"
#include "compiler/import/Diagnostics.h"
#include "compiler/import/ops/Contrib.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace kiln::import {

static StringMap<SmallVector<const Operator *, 1>> buildIndex() {
  StringMap<SmallVector<const Operator *, 1>> index;
  for (ArrayRef<Operator> family :
       {getActivationOperators(), getAttentionOperators(), getBlockQuantizedOperators(), getContribAttentionOperators(), getContribCacheOperators(),
        getContribExpertOperators(), getContribLayoutOperators(), getContribOperators(), getContribPaddingOperators(), getContribQuantizedOperators(),
        getContribQuantizedProductOperators(), getContribSignalOperators(), getContribWeightOperators(),
        getConvolutionOperators(), getDataMovementOperators(), getDataSizedOperators(), getElementwiseOperators(), getGatherOperators(),
        getGeneratorOperators(), getLearnedOperators(), getLinearAttentionOperators(), getLossOperators(), getMatmulOperators(), getNgramOperators(),
        getNormalizationOperators(), getPoolingOperators(), getQuantizationOperators(), getRandomOperators(), getReductionOperators(),
        getRecurrentOperators(), getRegionOperators(), getResizeOperators(), getSamplingOperators(), getSequenceOperators(), getShapeOperators(),
        getSignalOperators(), getStringOperators(), getTrainingOperators()})
    for (const Operator &row : family)
      index[row.name].push_back(&row);
  return index;
}

const Operator *findOperator(StringRef domain, StringRef name, int64_t opset, std::string &reason) {
  static const StringMap<SmallVector<const Operator *, 1>> index = buildIndex();
  auto rows = index.find(name);
  int64_t oldest = INT64_MAX;
  bool isRemoved = false;
  if (rows != index.end())
    for (const Operator *row : rows->second) {
      if (row->domain != domain)
        continue;
      if (row->since <= opset && opset <= row->until)
        return row;
      oldest = std::min(oldest, row->since);
      isRemoved |= opset > row->until;
    }
  if (isRemoved)
    reason = "the operator was removed before opset " + std::to_string(opset);
  else if (oldest != INT64_MAX)
    reason = "the operator is supported from opset " + std::to_string(oldest) + " on, and the model imports opset " + std::to_string(opset);
  else if (domain.empty())
    reason = "unknown operator";
  else
    reason = "unknown operator of domain '" + printable(domain) + "'";
  return nullptr;
}

} // namespace kiln::import
