//===- Operators.cpp - The table of ONNX operators ---------------------------===//
#include "compiler/import/Operators.h"
#include "compiler/files/Suggestion.h"
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
        getContribExpertOperators(), getContribLayoutOperators(), getContribOperators(), getContribPaddingOperators(), getContribPagedOperators(),
        getContribQuantizedOperators(), getContribQuantizedProductOperators(), getContribRequestOperators(), getContribSignalOperators(),
        getContribSparseOperators(), getContribWeightOperators(), getConvolutionOperators(), getDataMovementOperators(), getDataSizedOperators(),
        getElementwiseOperators(), getExperimentalOperators(), getGatherOperators(), getGeneratorOperators(), getInverseOperators(), getLearnedOperators(),
        getLinearAttentionOperators(), getLossOperators(), getMatmulOperators(), getNgramOperators(),
        getNormalizationOperators(), getPoolingOperators(), getQuantizationOperators(), getRandomOperators(), getReductionOperators(),
        getRecurrentOperators(), getRegionOperators(), getResizeOperators(), getSamplingOperators(), getSequenceOperators(), getShapeOperators(),
        getSignalOperators(), getStringOperators(), getTrainingOperators()})
    for (const Operator &row : family)
      index[row.name].push_back(&row);
  return index;
}

/// Why an operator of another domain has no row; empty for those that are not known.
static StringRef findRefusal(StringRef domain, StringRef name) {
  constexpr StringRef gpus = "ONNX Runtime runs it on GPUs only";
  constexpr StringRef compiled = "what another compiler has made for one device; compile the model that it was made of";
  static const StringMap<StringRef> reasons = {
      {"com.microsoft.AttnLSTM", "no exporter writes it; an attention within each step of an LSTM is a Scan"},
      {"com.microsoft.BiasDropout", gpus},
      {"com.microsoft.BitmaskBiasDropout", gpus},
      {"com.microsoft.BitmaskDropout", gpus},
      {"com.microsoft.DecoderAttention", gpus},
      {"com.microsoft.DecoderMaskedSelfAttention", gpus},
      {"com.microsoft.DequantizeBFP", gpus},
      {"com.microsoft.DequantizeWithOrder", gpus},
      {"com.microsoft.EPContext", compiled},
      {"com.microsoft.GemmFloat8", gpus},
      {"com.microsoft.QOrderedAttention", gpus},
      {"com.microsoft.QOrderedGelu", gpus},
      {"com.microsoft.QOrderedLayerNormalization", gpus},
      {"com.microsoft.QOrderedLongformerAttention", gpus},
      {"com.microsoft.QOrderedMatMul", gpus},
      {"com.microsoft.QuantizeBFP", gpus},
      {"com.microsoft.QuantizeWithOrder", gpus},
      {"com.microsoft.Snpe", compiled},
      {"com.microsoft.SparseToDenseMatMul", "sparse tensors that a program gives; a sparse constant is a dense one"},
      {"com.microsoft.nchwc", "channels in blocks for one machine; save the optimized model at level 'extended'"}};
  // Some domains are refused as a whole.
  auto own = reasons.find((domain + "." + name).str());
  return own == reasons.end() ? reasons.lookup(domain) : own->second;
}

/// Operators of which the first input and the first result alone have channels.
static bool hasChannelsLastForm(StringRef name) {
  return is_contained({"AveragePool", "BatchNormalization", "Conv", "ConvTranspose", "DepthToSpace", "GlobalAveragePool", "GlobalMaxPool",
                       "InstanceNormalization", "LRN", "MaxPool", "QLinearConv", "SpaceToDepth"},
                      name);
}

static SmallVector<StringRef> listNames(const StringMap<SmallVector<const Operator *, 1>> &index, StringRef domain) {
  SmallVector<StringRef> names;
  for (auto &entry : index)
    if (any_of(entry.second, [&](const Operator *row) { return row->domain == domain; }))
      names.push_back(entry.first());
  llvm::sort(names);
  return names;
}

const Operator *findOperator(StringRef domain, StringRef name, int64_t opset, std::string &reason) {
  static const StringMap<SmallVector<const Operator *, 1>> index = buildIndex();
  if (domain == channelsLastDomain && hasChannelsLastForm(name))
    return findOperator("", name, opset, reason);
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
    reason = "unknown operator" + suggest(name, listNames(index, domain));
  else if (StringRef why = findRefusal(domain, name); !why.empty())
    reason = "operator of domain '" + domain.str() + "' without support (" + why.str() + ")";
  else
    reason = "unknown operator of domain '" + printable(domain) + "'" + suggest(name, listNames(index, domain));
  return nullptr;
}

} // namespace kiln::import
