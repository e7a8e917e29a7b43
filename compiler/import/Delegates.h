//===- Delegates.h - Groups of nodes that the program computes --------------===//
#ifndef KILN_COMPILER_IMPORT_DELEGATES_H
#define KILN_COMPILER_IMPORT_DELEGATES_H

#include "compiler/import/Diagnostics.h"
#include "compiler/import/onnx.pb.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace kiln {
struct ImportOptions;
} // namespace kiln

namespace kiln::import {

class ModelFile;

/// One group: a function of the model during import, which gives the types of its results.
struct DelegateGroup {
  /// MODEL_NAME_0: the C function, and the ONNX file.
  std::string name;
  /// The operands of the call; weights come behind them in the function's inputs.
  unsigned operands = 0;
  std::vector<std::string> weights;
  /// Set by the import.
  std::vector<onnx::ValueInfoProto> inputs, outputs;
};

/// The operators of --delegate=NAME:OP,... in groups that are as large as they can be.
class Delegates {
public:
  llvm::LogicalResult read(const ImportOptions &options, Diagnostics &diagnostics);
  /// Makes each group of nodes of the model's graph a function, and one call of it.
  llvm::LogicalResult cut(onnx::ModelProto &model, Diagnostics &diagnostics);
  /// Null for a function that is no group.
  DelegateGroup *find(const onnx::FunctionProto *function) const;
  /// Adds each group as a model of its own: its file's name and bytes.
  llvm::LogicalResult write(ModelFile &file, std::vector<std::pair<std::string, std::string>> &files, Diagnostics &diagnostics) const;

private:
  class Cutter;
  llvm::LogicalResult readOne(llvm::StringRef text, Diagnostics &diagnostics);
  llvm::LogicalResult checkOperators(const onnx::ModelProto &model, Diagnostics &diagnostics) const;

  std::string model;
  std::vector<std::string> names;
  /// For each operator the number of its delegate.
  llvm::StringMap<int> delegateOf;
  std::vector<std::unique_ptr<DelegateGroup>> groups;
  llvm::DenseMap<const onnx::FunctionProto *, DelegateGroup *> groupOf;
};

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_DELEGATES_H
