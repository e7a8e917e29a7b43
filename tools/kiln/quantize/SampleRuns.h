//===- SampleRuns.h - Forms of a model run on its samples ------------------===//
#ifndef KILN_TOOLS_KILN_QUANTIZE_SAMPLERUNS_H
#define KILN_TOOLS_KILN_QUANTIZE_SAMPLERUNS_H

#include "compiler/quantize/ModelGraph.h"
#include "compiler/quantize/Quality.h"
#include "tools/kiln/quantize/Cases.h"
#include <map>
#include <optional>

namespace kiln {

/// What is done with the outputs of one sample. `outputs` are in the model's order.
using UseOutputs = llvm::function_ref<llvm::Error(const LoadedModel &model, llvm::ArrayRef<Tensor> inputs, llvm::ArrayRef<Tensor> outputs)>;

/// The samples, and the f32 model that all forms are compared with.
class SampleRuns {
public:
  SampleRuns(const CompileOptions &options, const kiln_context &context) : options(options), context(context) {}

  /// Compiles the model of the options, finds the samples, and runs those that are measured. Reports errors and returns the exit status.
  int prepare(llvm::StringRef folder, size_t mostMeasured);
  size_t getNumCases() const { return cases.size(); }
  size_t getNumMeasured() const { return exact.size(); }
  const LoadedModel &getReference() const { return *reference.loaded; }

  /// Compiles a rewritten model, with these values as additional outputs.
  int compile(quantize::ModelGraph &model, llvm::StringRef name, llvm::ArrayRef<std::string> values, RunnableModel &result) const;
  /// Runs a form of the model on all samples, or on those that are measured, with `more` inputs behind the model's own.
  llvm::Error run(const LoadedModel &model, bool onlyMeasured, llvm::ArrayRef<Tensor> more, UseOutputs use) const;
  /// Compares the first outputs of a form with the f32 model's.
  llvm::Expected<quantize::QualityMeter> measure(const LoadedModel &model, llvm::ArrayRef<Tensor> more) const;

private:
  /// Notes the dynamic dimensions that a sample has.
  llvm::Error noteSizes(llvm::ArrayRef<Tensor> inputs);
  /// The places of the measured samples, evenly spread.
  size_t getMeasuredCase(size_t i) const { return i * cases.size() / exact.size(); }

  const CompileOptions &options;
  const kiln_context &context;
  RunnableModel reference;
  std::vector<SampleCase> cases;
  /// The dynamic dimensions, and their sizes where all samples agree: forms are compiled for these sizes, which takes much less time.
  std::map<std::string, std::optional<int64_t>> sizes;
  /// The f32 model's outputs for each measured sample.
  std::vector<std::vector<Tensor>> exact;
};

} // namespace kiln

#endif // KILN_TOOLS_KILN_QUANTIZE_SAMPLERUNS_H
