//===- Compile.h - From an ONNX file to a library --------------------------===//
#ifndef KILN_COMPILER_COMPILE_H
#define KILN_COMPILER_COMPILE_H

#include "compiler/CompileOptions.h"
#include "compiler/OutputFile.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringSet.h"
#include <map>
#include <memory>

namespace kiln {

/// The model after the stages that were run, for one target. Before the target stage there is one for all targets.
struct TargetModule {
  std::string name;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// What it is a version for, "seq=128"; empty when it takes all sizes.
  std::string sizes = {};

  std::string label() const { return sizes.empty() ? name : name + " " + sizes; }
};

/// What a compile has made so far. Stages that did not run leave their members empty.
struct Compilation {
  std::unique_ptr<mlir::MLIRContext> context;
  /// Owns weights that the module borrows.
  std::shared_ptr<void> storage;
  /// Results of @main that are the model's own outputs; values that it shows besides follow them.
  unsigned outputs = 0;
  /// A target's versions for special sizes stand behind its own.
  std::vector<TargetModule> targets;
  /// The model's name as an identifier, and the targets' names with commas between them.
  std::string name, target;
  /// The file that has what a failing pass was given; empty: none.
  std::string reproducer;
  /// After emit: libraries whose functions the model calls.
  std::vector<std::string> libraries;
  /// ONNX operators, with the number of nodes each.
  std::map<std::string, int64_t> operators;
  /// Of what works otherwise than the user may expect, without "warning: " and "note: ".
  std::vector<std::string> warnings, notes;
  /// Files read besides the model.
  std::vector<std::string> dependencies;
  /// After emit: NAME.h, and the C++ sources with everything that builds them, paths as `--emit=cpp` writes them.
  OutputFile header;
  std::vector<OutputFile> sources;
  /// After package: the objects of the library, weights among them unless they are a file of their own.
  std::vector<OutputFile> objects;
  /// Translation units that the objects were made from, and those of them that came from the cache.
  unsigned units = 0, cachedUnits = 0;
  /// Why the kernel cache was not used though it was wanted; empty: it was, or was not wanted.
  std::string cacheFault;
  /// An object for the archive only, which says what the library is (compiler/Description.h); an empty path when the target has none.
  OutputFile record;
  /// NAME_weights.bin with `externalWeights`; an empty path otherwise.
  OutputFile weights;
};

enum class CompileStatus {
  Done,
  /// The model or the options; `errors` says what.
  AtFault,
  /// Kiln is wrong; `errors` says what.
  Bug
};

/// Compiles up to `options.stopAfter`. On failure `errors` has one line for each thing that is wrong, without "error: ".
CompileStatus compileModel(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors);

/// The objects as a static library, deterministic: libNAME.a. Refers to the compilation, which must outlive it.
OutputFile makeArchive(const Compilation &compilation);

/// NAME.pc and NAME-config.cmake, for pkg-config and CMake's find_package().
std::vector<OutputFile> makeBuildFiles(const Compilation &compilation);

/// The objects as a shared library: libNAME.so. An empty file and a line in `errors` when the linker fails.
OutputFile makeSharedLibrary(const Compilation &compilation, const CompileOptions &options, std::vector<std::string> &errors);

} // namespace kiln

#endif // KILN_COMPILER_COMPILE_H
