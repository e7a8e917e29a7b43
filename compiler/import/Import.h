//===- Import.h - From an ONNX file to a module of nn operations ------------===//
#ifndef KILN_COMPILER_IMPORT_IMPORT_H
#define KILN_COMPILER_IMPORT_IMPORT_H

#include "compiler/Limits.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace kiln {

/// The value of ImportOptions::bindings that leaves an input with a default to the caller.
inline constexpr llvm::StringLiteral openBinding = "?";

struct ImportOptions {
  /// The model; `.textproto` is protobuf's text format, everything else its binary format.
  std::string path;
  /// The prefix of all external symbols; empty: made from the file name.
  std::string name;
  /// Named dimensions made static, from `--dim name=value`.
  std::map<std::string, int64_t> dims;
  /// The bounds of named dimensions that stay dynamic, from `--dim name=least..most`.
  std::map<std::string, std::pair<int64_t, int64_t>> dimBounds;
  /// Other names for dimensions, from `--rename dim=name`; all other options use these.
  std::map<std::string, std::string> renames;
  std::string rename(llvm::StringRef dim) const {
    auto found = renames.find(dim.str());
    return found == renames.end() ? dim.str() : found->second;
  }
  /// Inputs' shapes, from `--shape input=1x3x224x224`; -1 leaves a dimension as the model has it.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Inputs that become constants and leave the signature, from `--bind sr=16000`: one number, or one for each element, separated by commas. Those of inputs
  /// with a default replace it; openBinding makes such an input one that each call gives.
  std::map<std::string, std::string> bindings;
  /// Lengths of inputs that are sequences, and their elements' shapes where the model does not declare them: `--sequence x=3`, `--sequence x=2:4x3,5x?`.
  std::map<std::string, std::string> sequences;
  /// Optional inputs without a value, from `--absent`.
  std::set<std::string> absent;
  /// Files of functions for domains that the model imports (--functions), and of definitions of operators (--ops).
  std::vector<std::string> functions, definitions;
  /// Operators that functions of the program's compute, in groups: NAME:OP,... (--delegate).
  std::vector<std::string> delegates;
  /// Weights may lie behind links, from `--follow-links`.
  bool followLinks = false;
  /// How to treat computed sizes that are known only at run time and that broadcast with each other.
  enum class Broadcasts {
    /// As in ONNX, with an additional version of the model for runs in which they are equal.
    Versions,
    /// As in ONNX.
    Exact,
    /// They are equal, which a run checks.
    Equal
  } broadcasts = Broadcasts::Versions;
  /// Make every computed value a result of @main, after the model's outputs, with its node in the attribute `nn.node`.
  bool exposeNodes = false;
  /// A declared shape that contradicts that of the nodes is an error, and no warning.
  bool strict = false;
  /// The most bytes that weights in files of their own may have; 0: any number.
  uint64_t mostExternalBytes = 0;
  Limits limits;
  /// Runs a module that computes constants from constants: the results of its @main, or an empty list if that cannot be. Null: nothing runs.
  std::function<std::vector<mlir::ElementsAttr>(mlir::ModuleOp module)> runConstants;
};

struct ImportedModel {
  /// Owns the bytes of the weights, which the module borrows. Destroy it after the module.
  std::shared_ptr<void> storage;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Versions for runs in which the expressions of `nn.assumed` are zero. A run uses the first version that fits, or else the model itself.
  struct Version {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    /// The name of the assumption: "equal sizes".
    std::string label;
  };
  std::vector<Version> versions;
  /// The number of results of @main that are the model's outputs; with `exposeNodes` there are more results.
  unsigned outputs = 0;
  /// Files of external data, for dependency tracking.
  std::vector<std::string> externalFiles;
  /// The groups of delegates as models of their own: NAME.onnx and its bytes.
  std::vector<std::pair<std::string, std::string>> delegated;
  std::vector<std::string> warnings;
};

/// Reads the model and expresses it in the nn dialect. On failure `errors` has one line for each thing that is wrong, for example
/// `model.onnx: node 'conv_3' (Conv): weight has 3 input channels, but the input has 4`: printable, at most 4 KiB each, never empty.
mlir::FailureOr<ImportedModel> importModel(mlir::MLIRContext &context, const ImportOptions &options, std::vector<std::string> &errors);

/// The most characters of a model's name.
inline constexpr size_t longestModelName = 128;
/// Turns a file name into a C identifier of at most so many characters, as `ImportOptions::name` and the IR have it.
std::string makeModelName(llvm::StringRef text);

} // namespace kiln

#endif // KILN_COMPILER_IMPORT_IMPORT_H
