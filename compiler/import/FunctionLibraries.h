//===- FunctionLibraries.h - Functions from outside of the model ------------===//
#ifndef KILN_COMPILER_IMPORT_FUNCTIONLIBRARIES_H
#define KILN_COMPILER_IMPORT_FUNCTIONLIBRARIES_H

#include "compiler/definitions/Library.h"
#include "compiler/import/ModelFile.h"
#include "llvm/ADT/DenseMap.h"

namespace kiln::onnx {
class FunctionProto;
class NodeProto;
} // namespace kiln::onnx

namespace kiln::import {

/// Functions and definitions for domains that a model imports. A function of the model's own comes before them.
class FunctionLibraries {
public:
  FunctionLibraries();
  ~FunctionLibraries();

  llvm::LogicalResult read(const ImportOptions &options, Diagnostics &diagnostics);
  /// Adds the functions that the model calls and does not have, and those that these call.
  llvm::LogicalResult addFunctions(onnx::ModelProto &model, Diagnostics &diagnostics);

  /// The definition that a function of the model comes from; null if it comes from none.
  const definitions::Definition *findDefinition(const onnx::FunctionProto *function) const { return written.lookup(function); }
  /// The C function for an operator; null if none is declared.
  const definitions::Extern *findExtern(llvm::StringRef domain, llvm::StringRef name, int64_t version) const;
  /// Says where an operator without a definition has one: for another domain, or a newer version. Empty if nowhere.
  std::string describeElsewhere(llvm::StringRef domain, llvm::StringRef name) const;
  /// Paths of the external files that the libraries' functions read.
  std::vector<std::string> externalPaths() const;

private:
  struct FunctionFile;
  llvm::LogicalResult readFunctions(const std::string &path, Diagnostics &diagnostics);
  /// The function for a node of a graph with these imports, added to the model; null if there is none or the model has it.
  llvm::FailureOr<const onnx::FunctionProto *> addFor(onnx::ModelProto &model, const onnx::NodeProto &node, int64_t version, Diagnostics &diagnostics);
  llvm::LogicalResult writeDefinition(onnx::FunctionProto &function, const definitions::Definition &definition, Diagnostics &diagnostics);

  std::vector<std::unique_ptr<FunctionFile>> files;
  std::vector<std::unique_ptr<definitions::Library>> libraries;
  llvm::DenseMap<const onnx::FunctionProto *, const definitions::Definition *> written;
  /// The functions that the model has.
  llvm::StringMap<bool> known;
};

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_FUNCTIONLIBRARIES_H
