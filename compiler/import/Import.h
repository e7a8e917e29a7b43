//===- Import.h - From an ONNX file to a module of nn operations ------------===//
#ifndef KILN_COMPILER_IMPORT_IMPORT_H
#define KILN_COMPILER_IMPORT_IMPORT_H

#include "compiler/Limits.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace kiln {

struct ImportOptions {
  /// The model; `.textproto` is protobuf's text format, everything else its binary format.
  std::string path;
  /// The name that all external symbols will bear; empty: made from the file name.
  std::string name;
  /// Named dimensions made static, from `--dim name=value`.
  std::map<std::string, int64_t> dims;
  /// The least and the most of named dimensions that stay dynamic, from `--dim name=least..most`.
  std::map<std::string, std::pair<int64_t, int64_t>> dimBounds;
  /// Inputs' shapes, from `--shape input=1x3x224x224`; -1 leaves a dimension as the model has it.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Inputs that become constants and leave the signature, from `--bind sr=16000`: one number, or as many as the input has elements, separated by commas.
  std::map<std::string, std::string> bindings;
  /// Lengths of inputs that are sequences, and their elements' shapes where the model does not declare them: `--sequence x=3`, `--sequence x=2:4x3,5x?`.
  std::map<std::string, std::string> sequences;
  /// Optional inputs without a value, from `--absent`.
  std::set<std::string> absent;
  /// What becomes of sizes that the model computes and that only run time knows, where they broadcast with each other.
  enum class Broadcasts {
    /// As ONNX has it, and a version of the model for runs in which they are equal.
    Versions,
    /// As ONNX has it.
    Exact,
    /// They are equal, as a run checks.
    Equal
  } broadcasts = Broadcasts::Versions;
  /// Every value that a node computes becomes a result of @main, behind the model's outputs, with its node in the attribute `nn.node`.
  bool exposeNodes = false;
  Limits limits;
};

struct ImportedModel {
  /// Owns the bytes of the weights, which the module only borrows: destroy it after the module.
  std::shared_ptr<void> storage;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// The model for runs in which what a version's `nn.assumed` lists is zero; the first one that fits a run goes before the model itself.
  struct Version {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    /// What is true in such runs: "equal sizes".
    std::string label;
  };
  std::vector<Version> versions;
  /// Results of @main that are the model's outputs; with `exposeNodes` there are more.
  unsigned outputs = 0;
  /// Files of external data, for dependency tracking.
  std::vector<std::string> externalFiles;
};

/// Reads the model and expresses it in the nn dialect. On failure `errors` has one line for each thing that is wrong, for example
/// `model.onnx: node 'conv_3' (Conv): weight has 3 input channels, but the input has 4`: printable, at most 4 KiB each, never empty.
mlir::FailureOr<ImportedModel> importModel(mlir::MLIRContext &context, const ImportOptions &options, std::vector<std::string> &errors);

/// Turns a file name or user text into a C identifier, as `ImportOptions::name` needs it.
std::string makeModelName(llvm::StringRef text);

} // namespace kiln

#endif // KILN_COMPILER_IMPORT_IMPORT_H
