//===- Variant.h - A compile of a model whose kernels are timed -----------------===//
#ifndef KILN_TOOLS_KILN_TUNE_VARIANT_H
#define KILN_TOOLS_KILN_TUNE_VARIANT_H

#include "tools/kiln/ModelRun.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kiln {

/// The model compiled with some choices, with its inputs. The fastest of some runs counts: what disturbs a run only makes it longer.
class Variant {
public:
  /// Compiles it, loads it and runs it once. Reports errors and returns the exit status.
  static int load(const CompileOptions &options, std::unique_ptr<Variant> &variant);
  ~Variant();
  Variant(const Variant &) = delete;

  /// Microseconds of the launches of each set of ONNX nodes.
  std::map<std::string, double> measureKernels(kiln_context context);
  /// Milliseconds of a whole run.
  double measureRun(const kiln_context &context);

private:
  Variant() = default;
  RunnableModel model;
  std::vector<Tensor> inputs;
  std::optional<Execution> execution;
  kiln_profiler *profiler = nullptr;
};

} // namespace kiln

#endif // KILN_TOOLS_KILN_TUNE_VARIANT_H
