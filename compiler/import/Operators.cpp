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

/// Why an operator of com.microsoft has no row; empty for those that are not known.
static StringRef findRefusal(StringRef name) {
  constexpr StringRef loops = "loops over a decoder are for the program around the model", machine = "its weights are packed for one machine";
  static const StringMap<StringRef> reasons = {{"BeamSearch", loops},
                                               {"CropAndResize", "use RoiAlign or Resize of ONNX"},
                                               {"DynamicQuantizeLSTM", "use LSTM of ONNX"},
                                               {"DynamicTimeWarping", "how long a path is depends on the whole of the data"},
                                               {"GreedySearch", loops},
                                               {"Inverse", "inverses of matrices have no kernel"},
                                               {"LongformerAttention", "ONNX Runtime has it for other devices only"},
                                               {"MatMulFpQ4", machine},
                                               {"MaxpoolWithMask", "what its mask means is not documented"},
                                               {"PagedAttention", "pages of a cache are managed by a server"},
                                               {"RemovePadding", "how many tokens are left depends on the data; export the model with padding"},
                                               {"Sampling", loops},
                                               {"SparseAttention", "ONNX Runtime has it for other devices only"},
                                               {"Tokenizer", "tokenize before the model"},
                                               {"WhisperBeamSearch", loops},
                                               {"WordConvEmbedding", "use Gather and Conv of ONNX"}};
  return reasons.lookup(name);
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
  else if (StringRef why = domain == "com.microsoft" ? findRefusal(name) : StringRef(); !why.empty())
    reason = "operator of domain 'com.microsoft' without support (" + why.str() + ")";
  else
    reason = "unknown operator of domain '" + printable(domain) + "'";
  return nullptr;
}

} // namespace kiln::import
