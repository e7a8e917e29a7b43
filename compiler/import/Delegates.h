//===- Delegates.h - Groups of nodes that the program computes --------------===//
#ifndef KILN_COMPILER_IMPORT_DELEGATES_H
#define KILN_COMPILER_IMPORT_DELEGATES_H

#include "compiler/import/Diagnostics.h"
#include "compiler/import/onnx.pb.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace kiln {
struct ImportedModel;
struct ImportOptions;
struct Limits;
} // namespace kiln

namespace kiln::import {

class ModelFile;

/// One group: a function of the model during import, which gives the types of its results. Its name is that of the C function and of the ONNX file.
struct DelegateGroup {
  /// The operands of the call; weights come behind them in the function's inputs.
  unsigned operands = 0;
  std::vector<std::string> weights;
};

/// The operators of --delegate=NAME:OP,... in groups that are as large as they can be.
class Delegates {
public:
  llvm::LogicalResult read(const ImportOptions &options, Diagnostics &diagnostics);
  /// Makes each group of nodes of the model's graph a function, and one call of it.
  llvm::LogicalResult cut(onnx::ModelProto &model, Diagnostics &diagnostics);
  /// Null for a function that is no group.
  const DelegateGroup *find(const onnx::FunctionProto *function) const;
  /// Adds each group as a model of its own: its file's name and bytes. The types are those of the calls in the imported module.
  llvm::LogicalResult write(ModelFile &file, ImportedModel &imported, Diagnostics &diagnostics) const;
  /// Which nodes of their operators stay with Kiln, because they are in functions or bodies: one line for each delegate that has some.
  std::vector<std::string> describeLeft(const onnx::ModelProto &model, const Limits &limits) const;

private:
  class Cutter;
  llvm::LogicalResult readOne(llvm::StringRef text, Diagnostics &diagnostics);
  llvm::LogicalResult checkOperators(const onnx::ModelProto &model, Diagnostics &diagnostics) const;
  /// The number of the delegate that has the node's operator, or -1.
  int delegateOf(const onnx::NodeProto &node) const;

  std::string model;
  std::vector<std::string> names;
  /// For each operator the number of its delegate.
  llvm::StringMap<int> operators;
  llvm::DenseMap<const onnx::FunctionProto *, DelegateGroup> groups;
};

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_DELEGATES_H
