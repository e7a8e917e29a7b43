//===- Cases.h - Samples of a model's inputs in a folder -------------------===//
#ifndef KILN_TOOLS_KILN_QUANTIZE_CASES_H
#define KILN_TOOLS_KILN_QUANTIZE_CASES_H

#include "tools/kiln/ModelRun.h"

namespace kiln {

/// One sample: a file for each input of the model.
struct SampleCase {
  /// The folder or the file.
  std::string name;
  std::vector<std::string> files;
};

/// The samples in a folder, in the order of their names, numbers by their values. A sample is a folder with a file for each input, `input_N` or the input's
/// name; or the folder itself is one; or, for a model with one input, each file in it is one. Files are .npy, .pb or pictures.
llvm::Expected<std::vector<SampleCase>> findCases(llvm::StringRef folder, const LoadedModel &model);

/// Reads a sample's tensors.
llvm::Expected<std::vector<Tensor>> readCase(const SampleCase &sample, const LoadedModel &model);

} // namespace kiln

#endif // KILN_TOOLS_KILN_QUANTIZE_CASES_H
