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

/// The model compiled with some choices, with its inputs, in this process or as a program that a command runs. The fastest of some runs counts: what disturbs a
/// run only makes it longer. A program is timed by the clock of the machine that runs it, and in one thread.
class Variant {
public:
  /// Compiles it, loads it and runs it once. Reports errors and returns the exit status.
  static int load(const CompileOptions &options, std::unique_ptr<Variant> &variant);
  ~Variant();
  Variant(const Variant &) = delete;

  /// Microseconds of the launches of each set of ONNX nodes.
  llvm::Expected<std::map<std::string, double>> measureKernels(kiln_context context);
  /// Milliseconds of a whole run.
  llvm::Expected<double> measureRun(const kiln_context &context);
  /// The emulator that runs the program, if one does.
  llvm::StringRef getEmulator() const { return getProgram() ? getProgram()->getEmulator() : llvm::StringRef(); }

private:
  Variant() = default;
  /// Null for a model in this process, and before one is loaded.
  const Program *getProgram() const { return model.loaded ? model.loaded->getProgram() : nullptr; }
  /// Runs the program once, and in it the model as often as fills a turn, and once more as often with the times of its kernels if these are wanted.
  llvm::Expected<RunTimes> runProgram(bool withKernels);
  /// Nanoseconds of its fastest run so far.
  int64_t fastest = INT64_MAX;
  RunnableModel model;
  std::vector<Tensor> inputs;
  std::optional<Execution> execution;
  kiln_profiler *profiler = nullptr;
};

} // namespace kiln

#endif // KILN_TOOLS_KILN_TUNE_VARIANT_H
