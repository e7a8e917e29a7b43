//===- Quality.cpp - How far outputs are from the f32 model's --------------===//
#include "compiler/quantize/Quality.h"
#include <algorithm>
#include <cmath>

using namespace llvm;

namespace kiln::quantize {

/// Counts the rows along the last axis whose largest elements are in the same place.
void QualityMeter::compareRows(const Tensor &actual, const Tensor &exact, Sums &sum) {
  int64_t length = exact.getDims().empty() ? 1 : exact.getDims().back();
  if (length < 2)
    return;
  for (int64_t begin = 0; begin < exact.getNumElements(); begin += length) {
    auto findLargest = [&](const Tensor &tensor) {
      int64_t best = 0;
      for (int64_t i = 1; i < length; ++i)
        if (tensor.getValue(begin + i) > tensor.getValue(begin + best))
          best = i;
      return best;
    };
    ++sum.rows;
    sum.equal += findLargest(actual) == findLargest(exact);
  }
}

Error QualityMeter::add(ArrayRef<Tensor> actual, ArrayRef<Tensor> exact) {
  sums.resize(exact.size());
  for (auto [i, want] : enumerate(exact)) {
    const Tensor &got = actual[i];
    if (got.getDims() != want.getDims())
      return makeError("output " + Twine(i) + " is " + got.getSignature() + ", but " + want.getSignature() + " of the f32 model");
    if (!isFloat(want.getType()))
      continue;
    for (int64_t k = 0; k < want.getNumElements(); ++k) {
      double difference = got.getValue(k) - want.getValue(k);
      if (std::isfinite(want.getValue(k)) && !std::isfinite(difference))
        return makeError("output " + Twine(i) + " is not finite where that of the f32 model is");
      if (!std::isfinite(difference))
        continue;
      sums[i].error += difference * difference;
      sums[i].norm += want.getValue(k) * want.getValue(k);
    }
    compareRows(got, want, sums[i]);
  }
  return Error::success();
}

Quality QualityMeter::getOutput(size_t output) const {
  const Sums &sum = sums[output];
  Quality quality;
  quality.error = sum.norm > 0 ? std::sqrt(sum.error / sum.norm) : sum.error > 0 ? HUGE_VAL : 0;
  quality.agreement = sum.rows ? double(sum.equal) / double(sum.rows) : 1;
  return quality;
}

Quality QualityMeter::get() const {
  Quality worst;
  for (size_t i = 0; i < sums.size(); ++i) {
    Quality one = getOutput(i);
    worst.error = std::max(worst.error, one.error);
    worst.agreement = std::min(worst.agreement, one.agreement);
  }
  return worst;
}

} // namespace kiln::quantize
