//===- ModelSummary.h - What an ONNX file says of itself --------------------===//
#ifndef KILN_COMPILER_IMPORT_MODELSUMMARY_H
#define KILN_COMPILER_IMPORT_MODELSUMMARY_H

#include "llvm/Support/LogicalResult.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kiln {

/// Read from the file alone, without an import, so that it is there for models that Kiln cannot compile, too. All texts are printable.
struct ModelSummary {
  struct Tensor {
    std::string name;
    /// "f32[batch,3,224,224]"; a dimension without a name is "?".
    std::string type;
    bool isTensor = false, isInteger = false, hasShape = false;
    /// Of each dimension the size, or -1, and the name, which may be empty.
    std::vector<std::pair<int64_t, std::string>> dims = {};
    /// The integers that a node Equal compares it with.
    std::vector<int64_t> comparedWith = {};
  };
  std::string producer;
  int64_t irVersion = 0;
  /// "ai.onnx 17".
  std::vector<std::string> opsets;
  std::vector<std::pair<std::string, std::string>> metadata;
  /// Inputs that have no default value, and outputs.
  std::vector<Tensor> inputs, outputs;
  std::map<std::string, int64_t> operators;
  int64_t nodes = 0, functions = 0, weightsBytes = 0;
};

/// On failure `errors` says why the file cannot be read.
llvm::LogicalResult readModelSummary(const std::string &path, ModelSummary &summary, std::vector<std::string> &errors);

} // namespace kiln

#endif // KILN_COMPILER_IMPORT_MODELSUMMARY_H
