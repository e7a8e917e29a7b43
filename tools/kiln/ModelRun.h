//===- ModelRun.h - A model compiled, loaded and given its inputs ----------===//
#ifndef KILN_TOOLS_KILN_MODELRUN_H
#define KILN_TOOLS_KILN_MODELRUN_H

#include "compiler/Compile.h"
#include "compiler/run/LoadedModel.h"
#include "compiler/run/MachineProbe.h"
#include "kiln/images.h"
#include "kiln/runtime.h"
#include <map>

namespace kiln {

/// A model loaded into this process, and the cost of its compile.
struct RunnableModel {
  std::unique_ptr<LoadedModel> loaded;
  double compileSeconds = 0;
  size_t libraryBytes = 0;
  /// The vector bits of its target, by the target's name.
  std::map<std::string, unsigned> vectorBits;
  /// The functions by which its kernels multiply bytes and bf16, by the target's name.
  std::map<std::string, ProbedSteps> steps;
};

/// Compiles and loads the model. Reports errors and returns the exit status.
int loadOrReport(const CompileOptions &options, RunnableModel &model);

/// Loads what --load names into this process.
llvm::Error loadGivenFunctions();

/// The value of an --input.
struct InputSpec {
  std::string text;
  /// The sequence or optional, and the index of the element.
  const kiln_sequence_info *list = nullptr;
  size_t element = 0;
};

/// By the name of the tensor. The value for a sequence is stored for each element, or under the sequence's name if it has none.
using InputSpecs = std::map<std::string, InputSpec>;

/// Parses `--input NAME=VALUE`. A name may contain `=`; the names of the model resolve that.
llvm::Expected<InputSpecs> getInputSpecs(const LoadedModel &model);

/// A run with these inputs. `--run-dim` gives the dimensions that no input has.
llvm::Expected<Execution> prepareRun(const LoadedModel &model, llvm::ArrayRef<Tensor> inputs);

/// The sizes that `--run-dim` gives, whatever the model.
llvm::Expected<NamedSizes> readRunDims();

/// Reads or fills all inputs, in the model's order. Inputs without a spec get `fallback`, or an error if it is empty.
/// Inputs with a range are filled from it, and given values must be in the range.
llvm::Expected<std::vector<Tensor>> makeInputs(const LoadedModel &model, const InputSpecs &specs, llvm::StringRef fallback, const CompileOptions &options);

/// Reads a .npy, ONNX .pb or picture file for an input.
llvm::Expected<Tensor> readInput(const InputSpec &spec, const kiln_tensor_info &info);

/// Fails if a value is outside the range that the options promise for its input.
llvm::Error checkRanges(const LoadedModel &model, llvm::ArrayRef<Tensor> inputs, const CompileOptions &options);

/// The tensors of a sequence or optional in a file of recorded values (.pb). Their number must be that for which the model was compiled.
llvm::Expected<std::vector<Tensor>> readListFile(llvm::StringRef path, const kiln_sequence_info &list);

/// One thread, and Kiln's decoder of pictures.
kiln_context makePlainContext();

/// A pool of --threads threads and a context on it, with Kiln's decoder of pictures.
class ThreadPool {
public:
  static llvm::Expected<std::unique_ptr<ThreadPool>> create();
  ~ThreadPool();
  kiln_context context = KILN_CONTEXT_INIT;
  int32_t threads = 1;

private:
  kiln_pool *pool = nullptr;
  kiln_images images = KILN_IMAGES_INIT;
};

} // namespace kiln

#endif // KILN_TOOLS_KILN_MODELRUN_H
