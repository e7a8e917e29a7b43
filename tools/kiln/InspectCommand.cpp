//===- InspectCommand.cpp - kiln inspect: what is inside -------------------===//
#include "tools/kiln/Commands.h"
#include "tools/kiln/CompileFlags.h"
#include "tools/kiln/LibraryFile.h"
#include "tools/kiln/ModelRun.h"
#include "tools/kiln/Reporting.h"
#include "compiler/emit/Weights.h"
#include "compiler/files/InputFile.h"
#include "compiler/files/Printable.h"
#include "compiler/kernels/KernelRecord.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

static void printTensors(StringRef kind, ArrayRef<Description::Tensor> tensors) {
  for (const Description::Tensor &tensor : tensors) {
    std::string range = tensor.range ? formatv(" in [{0}, {1}]", tensor.range->first, tensor.range->second).str() : "";
    std::string quantization = tensor.quantization ? ", " + quantizationText(*tensor.quantization) : "";
    std::string labels = tensor.labels ? ", " + labelsText(*tensor.labels) : "";
    printLine(outs(), kind + tensor.name + ": " + tensor.type + (tensor.element.empty() ? "" : ", ") + tensor.element + range + quantization + labels +
                          (tensor.layout.empty() ? "" : ", " + tensor.layout));
  }
}

/// A model, and the sizes of the library that it is alone in.
static void printModel(const Description &description, bool isAlone) {
  std::string accuracy = description.accuracy == "default" ? "" : ", accuracy " + description.accuracy;
  printLine(outs(), "model      " + description.name + " for " + description.target + accuracy);
  for (const std::string &line : description.rounding)
    printLine(outs(), "rounding   " + line);
  for (auto &[target, features] : description.needs)
    printLine(outs(), "cpu        " + target + " needs " + features);
  printTensors("input      ", description.inputs);
  printTensors("output     ", description.outputs);
  for (const Description::Dimension &dimension : description.dimensions) {
    std::string bounds = dimension.bound.empty() ? std::to_string(dimension.min) + " to " + std::to_string(dimension.max)
                                                 : "computed, at most " + dimension.bound;
    std::string special = join(map_range(dimension.special, [](int64_t size) { return std::to_string(size); }), ", ");
    printLine(outs(), "dimension  " + dimension.name + " (" + bounds + (special.empty() ? "" : "; alone, too: " + special) + ")");
  }
  if (isAlone)
    outs() << "weights    " << description.weightsBytes << " bytes\n";
  outs() << "workspace  " << (description.workspaceBytes < 0 ? "depends on the dimensions" : std::to_string(description.workspaceBytes) + " bytes") << "\n";
  if (isAlone)
    outs() << "file       " << description.fileBytes << " bytes\n";
  for (auto &[name, count] : description.operators)
    printLine(outs(), "operator   " + name + " x " + Twine(count));
  for (const Decision &kernel : description.kernels)
    printLine(outs(), "kernel     " + toLine(kernel));
}

static void printDescription(const Description &description) {
  if (wantsJson())
    return printJson(toJson(description));
  if (description.graphs.empty())
    return printModel(description, /*isAlone=*/true);
  printLine(outs(), "library    " + description.name + " for " + description.target + ", of " + Twine(description.graphs.size()) + " models");
  outs() << "weights    " << description.weightsBytes << " bytes\n"
         << "file       " << description.fileBytes << " bytes\n";
  for (const Description &graph : description.graphs) {
    outs() << "\n";
    printModel(graph, /*isAlone=*/false);
  }
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

/// A library of `kiln kernels`.
static int printKernels(KernelRecord record, int64_t fileBytes) {
  if (wantsJson()) {
    printJson(json::Object{
        {"name", jsonText(record.name)}, {"target", jsonText(record.target)}, {"kernels", std::move(record.kernels)}, {"file_bytes", fileBytes}});
    return Done;
  }
  printLine(outs(), "kernels    " + record.name + " for " + record.target);
  for (const std::string &line : record.lines)
    printLine(outs(), "kernel     " + line);
  outs() << "file       " << fileBytes << " bytes\n";
  return Done;
}

static int inspectLibrary(StringRef path) {
  Expected<std::unique_ptr<MemoryBuffer>> file = readInputFile(path, mostDataBytes);
  if (file)
    if (std::optional<std::string> text = readKernelsRecord((*file)->getMemBufferRef()))
      if (std::optional<KernelRecord> record = readRecord(*text))
        return printKernels(std::move(*record), int64_t((*file)->getBufferSize()));
  Expected<Description> library = file ? readLibrary((*file)->getMemBufferRef()) : file.takeError();
  if (!library)
    return report(makeError(path + ": " + toString(library.takeError())), AtFault);
  library->fileBytes = int64_t((*file)->getBufferSize());
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
  Expected<FileHead> head = readFileHead(options->model);
  if (!head)
    return report(makeError(options->model + ": " + toString(head.takeError())), AtFault);
  if (identify_magic(head->first) != file_magic::archive)
    return inspectModel(*options, int64_t(head->bytes));
  if (Error error = refuseCompileOptions())
    return report(std::move(error), WrongUsage);
  return inspectLibrary(options->model);
}

} // namespace kiln
