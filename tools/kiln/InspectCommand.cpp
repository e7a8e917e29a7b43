//===- InspectCommand.cpp - kiln inspect: what is inside -------------------===//
#include "tools/kiln/Commands.h"
#include "tools/kiln/Card.h"
#include "tools/kiln/CompileFlags.h"
#include "tools/kiln/HelpText.h"
#include "tools/kiln/LibraryFile.h"
#include "tools/kiln/ModelAdvice.h"
#include "tools/kiln/ModelRun.h"
#include "tools/kiln/ObjectTables.h"
#include "tools/kiln/OriginCheck.h"
#include "tools/kiln/Reporting.h"
#include "compiler/emit/Weights.h"
#include "compiler/files/InputFile.h"
#include "compiler/files/Printable.h"
#include "compiler/import/Import.h"
#include "compiler/import/ModelSummary.h"
#include "compiler/kernels/KernelRecord.h"
#include "compiler/pipeline/ReadModel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

static cl::list<std::string> madeFrom("model",
    cl::desc("Compare a library with this model, with this compiler and with the options of this command line: whether it was made from them. A library of "
             "several takes them in order"),
    cl::value_desc("[GRAPH=]MODEL.onnx"), cl::sub(inspectCommand));

static cl::opt<bool> withKernels("kernels", cl::desc("Also print the kernel of each group of operations, and why it was chosen"), cl::sub(inspectCommand));

/// A line, folded if standard output is a terminal; programs find each fact on one line.
static void printRow(StringRef label, const Twine &text) {
  constexpr size_t labelWidth = 11;
  outs() << left_justify(label, labelWidth);
  std::string words = printable(text.str());
  if (sys::Process::StandardOutIsDisplayed())
    printWrapped(outs(), words, labelWidth, labelWidth, getColumns());
  else
    outs() << words << "\n";
}

/// "12345 bytes (12 KiB)".
static std::string bytesText(int64_t bytes) {
  return std::to_string(bytes) + " bytes" + (bytes < 1 << 10 ? "" : " (" + sizeText(bytes) + ")");
}

static void printTensors(StringRef kind, ArrayRef<Description::Tensor> tensors) {
  for (const Description::Tensor &tensor : tensors) {
    std::string range = tensor.range ? formatv(" in [{0}, {1}]", tensor.range->first, tensor.range->second).str() : "";
    std::string quantization = tensor.quantization ? ", " + quantizationText(*tensor.quantization) : "";
    std::string labels = tensor.labels ? ", " + labelsText(*tensor.labels) : "";
    printRow(kind, tensor.name + ": " + tensor.type + (tensor.element.empty() ? "" : ", ") + tensor.element + range + quantization + labels +
                       (tensor.layout.empty() ? "" : ", " + tensor.layout));
  }
}

static void printMetadata(ArrayRef<std::pair<std::string, std::string>> metadata) {
  constexpr size_t most = 300;
  for (auto &[key, value] : metadata)
    printRow("metadata", printable(key) + ": " + printable(value, most));
}

/// A model, and the sizes of the library that it is alone in.
static void printModel(const Description &description, bool isAlone) {
  std::string accuracy = description.accuracy == "default" ? "" : ", accuracy " + description.accuracy;
  printRow("model", description.name + " for " + description.target + accuracy);
  printMetadata(description.metadata);
  for (const std::string &line : description.rounding)
    printRow("rounding", line);
  for (auto &[target, features] : description.needs)
    printRow("cpu", target + " needs " + features);
  printTensors("input", description.inputs);
  printTensors("output", description.outputs);
  for (const Description::Dimension &dimension : description.dimensions) {
    std::string bounds = dimension.bound.empty() ? std::to_string(dimension.min) + " to " + std::to_string(dimension.max)
                                                 : "computed, at most " + dimension.bound;
    std::string special = join(map_range(dimension.special, [](int64_t size) { return std::to_string(size); }), ", ");
    printRow("dimension", dimension.name + " (" + bounds + (special.empty() ? "" : "; alone, too: " + special) + ")");
  }
  for (const std::string &demand : description.demands)
    printRow("demand", demand);
  if (isAlone)
    printRow("weights", (description.rankBytes.empty() ? "" : "at most ") + bytesText(description.weightsBytes));
  if (!description.rankBytes.empty())
    printRow("ranks", join(map_range(description.rankBytes, [](int64_t bytes) { return std::to_string(bytes); }), ", ") + " bytes of weights");
  printRow("workspace", description.workspaceBytes < 0 ? "depends on the dimensions" : bytesText(description.workspaceBytes));
  if (isAlone)
    printRow("file", bytesText(description.fileBytes));
  for (auto &[name, count] : description.operators)
    printRow("operator", name + " x " + Twine(count));
  if (!withKernels && !description.kernels.empty())
    printRow("kernels", Twine(description.kernels.size()) + "; --kernels lists them");
  for (const Decision &kernel : ArrayRef(description.kernels).take_front(withKernels ? description.kernels.size() : 0))
    printRow("kernel", toLine(kernel));
}

/// What a library was made from.
static void printOrigin(const Description &description) {
  for (const std::string &guarantee : description.guarantees)
    printLine(outs(), "guarantee  " + guarantee);
  if (!description.origin)
    return;
  const Origin &origin = *description.origin;
  for (const HashedFile &model : origin.models)
    printLine(outs(), "made from  " + model.name + ", sha256 " + model.sha256);
  for (const HashedFile &file : origin.files)
    printLine(outs(), "and        " + file.name + ", sha256 " + file.sha256);
  printLine(outs(), "by         kiln " + origin.version + ", build " + origin.build);
  printLine(outs(), "with       " + join(origin.options, " "));
}

static void printDescription(const Description &description) {
  if (description.graphs.empty())
    return printModel(description, /*isAlone=*/true);
  printRow("library", description.name + " for " + description.target + ", of " + Twine(description.graphs.size()) + " models");
  printRow("weights", bytesText(description.weightsBytes));
  printRow("file", bytesText(description.fileBytes));
  for (const Description &graph : description.graphs) {
    outs() << "\n";
    printModel(graph, /*isAlone=*/false);
  }
}

//===- Models that do not compile ------------------------------------------===//

static void printFormat(const ModelSummary &summary) {
  printRow("format", "ONNX, IR version " + Twine(summary.irVersion) + ", opset " + join(summary.opsets, ", ") +
                         (summary.producer.empty() ? "" : ", made by " + summary.producer));
}

/// What the file says of itself.
static void printSummary(const ModelSummary &summary, int64_t fileBytes) {
  printMetadata(summary.metadata);
  for (const ModelSummary::Tensor &input : summary.inputs)
    printRow("input", input.name + ": " + input.type);
  for (const ModelSummary::Tensor &output : summary.outputs)
    printRow("output", output.name + ": " + output.type);
  printRow("weights", bytesText(summary.weightsBytes));
  printRow("file", bytesText(fileBytes));
  printRow("nodes", Twine(summary.nodes) + (summary.functions ? ", and " + std::to_string(summary.functions) + " functions" : ""));
  for (auto &[name, count] : summary.operators)
    printRow("operator", name + " x " + Twine(count));
}

/// Colours, ranges and sizes of pictures stand in no file.
static void printPictures(const ModelSummary &summary) {
  for (const std::string &name : listPictures(summary))
    printRow("picture", name + " looks like one; docs/Pictures.md says which colours, range and size known models expect");
}

static json::Object toJson(const ModelSummary &summary) {
  auto list = [](ArrayRef<ModelSummary::Tensor> tensors) {
    json::Array rows;
    for (const ModelSummary::Tensor &tensor : tensors)
      rows.push_back(json::Object{{"name", jsonText(tensor.name)}, {"type", jsonText(tensor.type)}});
    return rows;
  };
  json::Array metadata;
  for (auto &[key, value] : summary.metadata)
    metadata.push_back(json::Object{{"key", jsonText(key)}, {"value", jsonText(value)}});
  return json::Object{{"ir_version", summary.irVersion},       {"opsets", json::Array(map_range(summary.opsets, jsonText))},
                      {"producer", jsonText(summary.producer)}, {"metadata", std::move(metadata)},
                      {"inputs", list(summary.inputs)},         {"outputs", list(summary.outputs)},
                      {"weights_bytes", summary.weightsBytes},  {"nodes", summary.nodes}};
}

/// The model cannot be compiled as it is: what the file says, why, and what would help.
static int explainRefusal(const CompileOptions &options, const ModelSummary &summary, int64_t fileBytes, ArrayRef<std::string> errors) {
  Advice missing = findMissingOptions(options, summary);
  if (wantsJson()) {
    for (const std::string &error : errors)
      printError(error);
    json::Object object = toJson(summary);
    object["file_bytes"] = fileBytes;
    object["missing_options"] = jsonText(missing.options);
    object["errors"] = json::Array(map_range(errors, jsonText));
    object["exit_status"] = int(AtFault);
    printJson(std::move(object));
    return AtFault;
  }
  printFormat(summary);
  printSummary(summary, fileBytes);
  printPictures(summary);
  if (!missing.options.empty())
    printRow("missing", "it compiles with other options, for example " + missing.options);
  if (!missing.ground.empty())
    printRow("", missing.ground);
  outs().flush();
  return report(errors, AtFault);
}

/// Options of a compile say nothing about a library that is there already: they are refused, not ignored.
static Error refuseCompileOptions() {
  std::vector<std::string> given;
  for (auto &entry : cl::getRegisteredOptions(inspectCommand))
    if (entry.second->getNumOccurrences() && !entry.second->isPositional() && !is_contained({"json", "kernels", "v", "q", "model"}, entry.first))
      given.push_back(("--" + entry.first).str());
  llvm::sort(given);
  return given.empty() ? Error::success() : makeError(join(given, ", ") + " cannot change a library; it needs a model, or --model to compare with");
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

/// Whether the objects are those that the record names, and with --model whether the library was made from that. Null: there was nothing to compare.
static Expected<std::optional<OriginComparison>> checkOrigin(const Description &library, StringRef archive, const CompileOptions &options) {
  if (!library.origin) {
    if (!madeFrom.empty())
      return makeError("the library has no record of what it was made from");
    return std::nullopt;
  }
  OriginComparison result;
  if (!madeFrom.empty()) {
    std::vector<std::string> models;
    for (StringRef text : madeFrom)
      models.push_back((library.graphs.empty() || !text.contains('=') ? text : text.split('=').second).str());
    result = compareOrigin(*library.origin, models, options);
  }
  Expected<std::vector<StringRef>> members = listMembers(archive);
  if (!members)
    return members.takeError();
  std::vector<std::string> changed = findChangedObjects(*library.origin, *members);
  size_t count = library.origin->objects.size();
  result.lines.push_back("objects    " + (changed.empty() ? std::to_string(count) + ", all of them as they were made" : join(changed, "; ")));
  append_range(result.faults, changed);
  return result;
}

/// Prints what a library is and whether its record is true. Returns the exit status.
static int printLibrary(const Description &library, const std::optional<OriginComparison> &comparison, StringRef path) {
  int status = comparison && !comparison->faults.empty() ? AtFault : Done;
  if (wantsJson()) {
    json::Object object = toJson(library);
    if (comparison)
      object["faults"] = json::Array(map_range(comparison->faults, jsonText));
    printJson(std::move(object));
    return status;
  }
  printDescription(library);
  printOrigin(library);
  for (const std::string &line : comparison ? comparison->lines : std::vector<std::string>())
    printLine(outs(), line);
  outs().flush();
  if (status != Done)
    printError(path + ": " + (madeFrom.empty() ? "not as it was made: " : "not what was asked for: ") + join(comparison->faults, "; "));
  return status;
}

static int inspectLibrary(const CompileOptions &options) {
  StringRef path = options.model;
  Expected<std::unique_ptr<MemoryBuffer>> file = readInputFile(path, mostDataBytes);
  if (file)
    if (std::optional<std::string> text = readKernelsRecord((*file)->getMemBufferRef()))
      if (std::optional<KernelRecord> record = readRecord(*text))
        return printKernels(std::move(*record), int64_t((*file)->getBufferSize()));
  Expected<Description> library = file ? readLibrary((*file)->getMemBufferRef()) : file.takeError();
  if (!library)
    return report(makeError(path + ": " + toString(library.takeError())), AtFault);
  library->fileBytes = int64_t((*file)->getBufferSize());
  Expected<std::optional<OriginComparison>> comparison = checkOrigin(*library, (*file)->getBuffer(), options);
  if (!comparison)
    return report(makeError(path + ": " + toString(comparison.takeError())), AtFault);
  return printLibrary(*library, *comparison, path);
}

static bool isIR(StringRef path) { return path.ends_with(".mlir") || path.ends_with(".mlirbc"); }

static int inspectModel(CompileOptions options, int64_t fileBytes) {
  Compilation lowered;
  options.stopAfter = "kernel";
  ModelSummary summary;
  std::vector<std::string> errors;
  bool isOnnx = !isIR(options.model) && succeeded(readModelSummary(options.model, summary, errors));
  if (isOnnx) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    if (failed(importModel(context, makeImportOptions(options), errors)))
      return explainRefusal(options, summary, fileBytes, errors);
  }
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
  if (wantsJson()) {
    printJson(toJson(description));
    return Done;
  }
  if (isOnnx)
    printFormat(summary);
  printDescription(description);
  printPictures(summary);
  return Done;
}

int runInspect() {
  Expected<CompileOptions> options = getCompileOptions();
  if (!options)
    return report(options.takeError(), WrongUsage);
  Expected<FileHead> head = readFileHead(options->model);
  if (!head)
    return report(makeError(options->model + ": " + toString(head.takeError())), AtFault);
  if (identify_magic(head->first) != file_magic::archive) {
    if (!madeFrom.empty())
      return report(makeError("--model is for a library, and " + options->model + " is none"), WrongUsage);
    return inspectModel(*options, int64_t(head->bytes));
  }
  if (Error error = madeFrom.empty() ? refuseCompileOptions() : Error::success())
    return report(std::move(error), WrongUsage);
  return inspectLibrary(*options);
}

} // namespace kiln
