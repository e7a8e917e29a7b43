//===- Compile.h - From an ONNX file to a library --------------------------===//
#ifndef KILN_COMPILER_COMPILE_H
#define KILN_COMPILER_COMPILE_H

#include "compiler/CompileOptions.h"
#include "compiler/Origin.h"
#include "compiler/OutputFile.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringSet.h"
#include <map>
#include <memory>

namespace kiln::nn {
class ConstantPart;
}

namespace kiln {

/// The module for one target after the last stage that was run. Before the target stage, one module serves all targets.
struct TargetModule {
  std::string name;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// The sizes of a special version, "seq=128"; empty for the general one.
  std::string sizes = {};
  /// The rank of a sharded model that it is for; -1 for others.
  int64_t rank = -1;
  /// Other ranks that run the same code, with other parts of the constants; and after the kernel stage the modules that have only their weights.
  std::vector<int64_t> sharedBy = {};
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> sharedWeights = {};
  /// Whether one of its kernels multiplies by tiles; known after the target stage.
  bool usesTiles = false;

  std::string label() const { return name + (sizes.empty() ? "" : " " + sizes) + (rank < 0 ? "" : " rank " + std::to_string(rank)); }
};

/// A stage of a model that was cut, for messages.
struct StageSummary {
  /// What it gives to later stages.
  struct Border {
    std::string name, type;
    int64_t bytes;
    std::vector<unsigned> to;
    /// Whether each rank of a sharded model has another part of it.
    bool isPart = false;
  };
  std::string name;
  unsigned kernels = 0;
  /// Its part of the estimated time, 0 to 1.
  double share = 0;
  /// The bytes of its weights, and the most of its values that live at one time, at typical sizes.
  int64_t weightsBytes = 0, valueBytes = 0;
  /// The last node in front of it, and the bytes that cross there; empty for the first stage.
  std::string cutBehind = {};
  int64_t crossingBytes = 0;
  std::vector<Border> gives = {};
};

/// The results of a compile. Members of stages that did not run are empty.
struct Compilation {
  /// Shared by the models of a library.
  std::shared_ptr<mlir::MLIRContext> context;
  /// Owns weights that the module borrows.
  std::shared_ptr<void> storage;
  /// The number of results of @main that are the model's outputs. Observed values follow them.
  unsigned outputs = 0;
  /// The versions for special sizes follow the general module of their target, and so do the ranks.
  std::vector<TargetModule> targets;
  /// The parts of constants that the code of several ranks rests on (compiler/pipeline/Ranks.h).
  std::vector<std::shared_ptr<nn::ConstantPart>> rankParts = {};
  /// The inputs of which each rank has a part only.
  std::vector<bool> cutInputs = {};
  /// The models of a library of several, each after its own stages. `targets` and what else the stages set are then theirs.
  std::vector<std::unique_ptr<Compilation>> graphs = {};
  /// The model, or all that the library has.
  std::vector<const Compilation *> models() const;
  /// The stages of a model that was cut, all of them, also when the library has one only.
  std::vector<StageSummary> stages = {};
  /// The model's name as an identifier, and the targets' names with commas between them.
  std::string name, target;
  /// The reproducer of a failed pass; empty if there is none.
  std::string reproducer;
  /// After emit: libraries whose functions the model calls.
  std::vector<std::string> libraries;
  /// ONNX operators, with the number of nodes each.
  std::map<std::string, int64_t> operators;
  /// Messages without the prefixes "warning: " and "note: ".
  std::vector<std::string> warnings, notes;
  /// After the graph stage: the composite that the node which is to be explained is nearly a part of, and what is in the way; empty: none.
  std::string nearMiss;
  /// Files that were read, other than the model.
  std::vector<std::string> dependencies;
  /// After emit: NAME.h, and the C++ sources with everything that builds them, paths as `--emit=cpp` writes them.
  OutputFile header;
  std::vector<OutputFile> sources;
  /// After emit: NAME.hpp.
  OutputFile sessions;
  /// After emit, with `singleSource`: NAME.cpp with all of it, and what makes a library for Arduino of it and the header.
  OutputFile single;
  std::vector<OutputFile> arduino;
  /// After package: the objects of the library, weights among them unless they are a file of their own.
  std::vector<OutputFile> objects;
  /// The number of translation units, and how many of them came from the cache.
  unsigned units = 0, cachedUnits = 0;
  /// Why the kernel cache could not be used; empty if it was used or disabled.
  std::string cacheFault;
  /// Makes an object for the archive only, which describes the library (compiler/Description.h) and has the hashes of the given objects. Empty if the
  /// target has none.
  std::function<OutputFile(llvm::ArrayRef<HashedFile> objects)> makeRecord;
  /// After package: what the library is made from. It reads the models once more.
  std::function<Origin()> findOrigin;
  /// The groups of delegates, each as an ONNX model of its own.
  std::vector<OutputFile> delegated;
  /// NAME_weights.bin with `externalWeights`; an empty path otherwise.
  OutputFile weights;
  /// The same for each rank of a sharded model.
  std::vector<OutputFile> rankWeights;
  /// After package with `webModules`, in place of objects: NAME.wasm, NAME.mjs and NAME.d.ts; and the package.json that goes with them.
  std::vector<OutputFile> webFiles;
  OutputFile webPackage;
};

enum class CompileStatus {
  Done,
  /// The model or the options are at fault; see `errors`.
  AtFault,
  /// Kiln is at fault; see `errors`.
  Bug
};

/// Compiles up to `options.stopAfter`. On failure, `errors` has one line for each error, without "error: ".
CompileStatus compileModel(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors);

/// A model of a library of several.
struct GraphOptions {
  /// What the user calls it.
  std::string name;
  /// Its model, its name in C, which is LIBRARY_NAME, and what else the stages read. What concerns the library as a whole is read from its options.
  CompileOptions options;
};

/// Compiles several models to one library, which is called `library.name`. They share equal weights. Without graphs, `library` is the one model.
CompileStatus compileGraphs(const CompileOptions &library, llvm::ArrayRef<GraphOptions> graphs, Compilation &result, std::vector<std::string> &errors);

/// The object that describes the library, with the hashes of its other objects. The target must have one.
OutputFile makeRecord(const Compilation &compilation);

/// The objects as a static library, deterministic: libNAME.a. Refers to the compilation, which must outlive it.
OutputFile makeArchive(const Compilation &compilation);

/// NAME.pc and NAME-config.cmake, for pkg-config and CMake's find_package().
std::vector<OutputFile> makeBuildFiles(const Compilation &compilation);

/// The objects as a shared library: libNAME.so. If the linker fails, the file is empty and `errors` has a line.
OutputFile makeSharedLibrary(const Compilation &compilation, const CompileOptions &options, std::vector<std::string> &errors);

} // namespace kiln

#endif // KILN_COMPILER_COMPILE_H
