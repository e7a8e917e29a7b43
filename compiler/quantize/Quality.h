//===- Quality.h - How far outputs are from the f32 model's ----------------===//
#ifndef KILN_COMPILER_QUANTIZE_QUALITY_H
#define KILN_COMPILER_QUANTIZE_QUALITY_H

#include "compiler/quantize/Search.h"
#include "compiler/run/Tensor.h"
#include <vector>

namespace kiln::quantize {

/// Compares the outputs of samples, one sample after the other.
class QualityMeter {
public:
  /// The outputs of one sample, and what the f32 model computed. Fails if shapes differ or an output is not finite where the exact one is.
  llvm::Error add(llvm::ArrayRef<Tensor> actual, llvm::ArrayRef<Tensor> exact);
  /// Of the worst output.
  Quality get() const;
  /// Of one output.
  Quality getOutput(size_t output) const;
  size_t getNumOutputs() const { return sums.size(); }

private:
  struct Sums {
    double error = 0, norm = 0;
    int64_t rows = 0, equal = 0;
  };
  static void compareRows(const Tensor &actual, const Tensor &exact, Sums &sum);
  std::vector<Sums> sums;
};

} // namespace kiln::quantize

#endif // KILN_COMPILER_QUANTIZE_QUALITY_H
