//===- InspectCommand.cpp - kiln inspect: what is inside -------------------===//
#include "tools/kiln/Commands.h"
#include "tools/kiln/CompileFlags.h"
#include "tools/kiln/LibraryFile.h"
#include "tools/kiln/ModelRun.h"
#include "tools/kiln/Reporting.h"
#include "compiler/emit/Weights.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

static void printTensors(StringRef kind, ArrayRef<Description::Tensor> tensors) {
  for (const Description::Tensor &tensor : tensors) {
    outs() << kind << tensor.name << ": " << tensor.type << (tensor.element.empty() ? "" : ", ") << tensor.element;
    if (tensor.range)
      outs() << formatv(" in [{0}, {1}]", tensor.range->first, tensor.range->second);
    outs() << "\n";
  }
}

static void printDescription(const Description &description) {
  if (wantsJson())
    return printJson(toJson(description));
  outs() << "model      " << description.name << " for " << description.target;
  if (description.accuracy != "default")
    outs() << ", accuracy " << description.accuracy;
  outs() << "\n";
  for (auto &[target, features] : description.needs)
    outs() << "cpu        " << target << " needs " << features << "\n";
  printTensors("input      ", description.inputs);
  printTensors("output     ", description.outputs);
  for (const Description::Dimension &dimension : description.dimensions)
    outs() << "dimension  " << dimension.name << " ("
           << (dimension.bound.empty() ? std::to_string(dimension.min) + " to " + std::to_string(dimension.max) : "computed, at most " + dimension.bound)
           << (dimension.special.empty() ? "" : "; alone, too: " + join(map_range(dimension.special, [](int64_t size) { return std::to_string(size); }), ", "))
           << ")\n";
  outs() << "weights    " << description.weightsBytes << " bytes\n"
         << "workspace  " << (description.workspaceBytes < 0 ? "depends on the dimensions" : std::to_string(description.workspaceBytes) + " bytes") << "\n"
         << "file       " << description.fileBytes << " bytes\n";
  for (auto &[name, count] : description.operators)
    outs() << "operator   " << name << " x " << count << "\n";
  for (const Decision &kernel : description.kernels)
    outs() << "kernel     " << toLine(kernel) << "\n";
}

/// Options of a compile say nothing about a library that is there already: they are refused, not ignored.
static Error refuseCompileOptions() {
  std::vector<std::string> given;
  for (auto &entry : cl::getRegisteredOptions(inspectCommand))
    if (entry.second->getNumOccurrences() && !entry.second->isPositional() && !is_contained({"json", "v", "q"}, entry.first))
      given.push_back(("--" + entry.first).str());
  llvm::sort(given);
  return given.empty() ? Error::success() : makeError(join(given, ", ") + " cannot change a library; it needs a model");
}

static int inspectLibrary(const MemoryBuffer &file) {
  Expected<Description> library = readLibrary(file.getMemBufferRef());
  if (!library)
    return report(makeError(file.getBufferIdentifier() + ": " + toString(library.takeError())), AtFault);
  library->fileBytes = int64_t(file.getBufferSize());
  printDescription(*library);
  return Done;
}

static int inspectModel(CompileOptions options, int64_t fileBytes) {
  Compilation lowered;
  options.stopAfter = "kernel";
  if (int status = compileOrReport(options, lowered))
    return status;
  std::vector<Signature> signatures;
  std::vector<mlir::ModuleOp> modules;
  for (TargetModule &target : lowered.targets) {
    auto signature = readSignature(*target.module, lowered.name);
    if (failed(signature))
      return report(makeError("the module has no signature after the kernel stage"), InternalError);
    signatures.push_back(std::move(*signature));
    modules.push_back(*target.module);
  }
  Description description = describe(lowered, mergeSignatures(signatures));
  auto weightsBytes = placeWeights(modules);
  description.weightsBytes = succeeded(weightsBytes) ? *weightsBytes : 0;
  description.fileBytes = fileBytes;
  printDescription(description);
  return Done;
}

int runInspect() {
  Expected<CompileOptions> options = getCompileOptions();
  if (!options)
    return report(options.takeError(), WrongUsage);
  auto file = MemoryBuffer::getFile(options->model, false, false);
  if (!file)
    return report(makeError(options->model + ": " + file.getError().message()), AtFault);
  file_magic magic = identify_magic((*file)->getBuffer());
  if (magic == file_magic::archive) {
    if (Error error = refuseCompileOptions())
      return report(std::move(error), WrongUsage);
    return inspectLibrary(**file);
  }
  return inspectModel(*options, int64_t((*file)->getBufferSize()));
}

} // namespace kiln
