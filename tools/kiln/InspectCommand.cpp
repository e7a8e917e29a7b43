//===- InspectCommand.cpp - kiln inspect: what is inside -------------------===//
#include "tools/kiln/Commands.h"
#include "tools/kiln/CompileFlags.h"
#include "tools/kiln/Decisions.h"
#include "tools/kiln/LibraryFile.h"
#include "tools/kiln/ModelRun.h"
#include "tools/kiln/Reporting.h"
#include "compiler/emit/Signature.h"
#include "compiler/emit/Weights.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

namespace {

/// What is known of a model or a library; both print the same way.
struct Description {
  std::string name, target;
  std::vector<std::pair<std::string, std::string>> inputs, outputs; // name, signature
  std::vector<std::string> symbols;                                  // with their bounds
  int64_t weightsBytes = 0, workspaceBytes = -1, fileBytes = 0;
  std::map<std::string, unsigned> operators;
  std::vector<Decision> kernels;
};

} // namespace

static std::string describeSymbol(StringRef name, int64_t min, int64_t max) { return (name + " (" + Twine(min) + " to " + Twine(max) + ")").str(); }

static Description describe(const Compilation &compilation, const Signature &signature) {
  Description result;
  result.name = signature.name;
  result.target = signature.target;
  for (const SignatureTensor &tensor : signature.inputs)
    result.inputs.emplace_back(tensor.onnxName, shapeText(tensor, signature));
  for (const SignatureTensor &tensor : signature.outputs)
    result.outputs.emplace_back(tensor.onnxName, shapeText(tensor, signature));
  for (const SignatureSymbol &symbol : signature.symbols)
    result.symbols.push_back(describeSymbol(symbol.onnxName, symbol.min, symbol.max));
  result.workspaceBytes = signature.workspaceBytes.value_or(-1);
  result.weightsBytes = signature.weightsBytes;
  result.kernels = collectDecisions(compilation);
  return result;
}

static Description describe(const LibraryDescription &library) {
  Description result;
  result.name = library.name;
  result.target = library.target;
  result.inputs = library.inputs;
  result.outputs = library.outputs;
  for (const LibraryDescription::Symbol &symbol : library.symbols)
    result.symbols.push_back(describeSymbol(symbol.name, symbol.min, symbol.max));
  result.weightsBytes = library.weightsBytes;
  result.workspaceBytes = library.workspaceBytes;
  return result;
}

static json::Array toJson(ArrayRef<std::pair<std::string, std::string>> tensors) {
  json::Array list;
  for (auto &[name, signature] : tensors)
    list.push_back(json::Object{{"name", name}, {"type", signature}});
  return list;
}

static void printDescription(Description description) {
  if (wantsJson()) {
    json::Object operators;
    for (auto &[name, count] : description.operators)
      operators[name] = count;
    printJson(json::Object{{"name", description.name},
               {"target", description.target},
               {"inputs", toJson(description.inputs)},
               {"outputs", toJson(description.outputs)},
               {"dimensions", json::Array(description.symbols)},
               {"weights_bytes", description.weightsBytes},
               {"workspace_bytes", description.workspaceBytes},
               {"file_bytes", description.fileBytes},
               {"operators", std::move(operators)},
               {"kernels", decisionsToJson(description.kernels)}});
    return;
  }
  outs() << "model      " << description.name << " for " << description.target << "\n";
  for (auto &[name, signature] : description.inputs)
    outs() << "input      " << name << ": " << signature << "\n";
  for (auto &[name, signature] : description.outputs)
    outs() << "output     " << name << ": " << signature << "\n";
  for (const std::string &symbol : description.symbols)
    outs() << "dimension  " << symbol << "\n";
  outs() << "weights    " << description.weightsBytes << " bytes\n"
         << "workspace  " << (description.workspaceBytes < 0 ? "depends on the dimensions" : std::to_string(description.workspaceBytes) + " bytes") << "\n"
         << "file       " << description.fileBytes << " bytes\n";
  for (auto &[name, count] : description.operators)
    outs() << "operator   " << name << " x " << count << "\n";
  for (const Decision &kernel : description.kernels)
    outs() << "kernel     " << toLine(kernel) << "\n";
}

static int inspectLibrary(const MemoryBuffer &file) {
  Expected<LibraryDescription> library = readLibrary(file.getMemBufferRef());
  if (!library)
    return report(makeError(file.getBufferIdentifier() + ": " + toString(library.takeError())), AtFault);
  Description description = describe(*library);
  description.fileBytes = int64_t(file.getBufferSize());
  printDescription(std::move(description));
  return Done;
}

static int inspectModel(CompileOptions options, int64_t fileBytes) {
  Compilation imported, lowered;
  options.stopAfter = "import";
  if (int status = compileOrReport(options, imported))
    return status;
  options.stopAfter = "kernel";
  if (int status = compileOrReport(options, lowered))
    return status;
  std::vector<Signature> signatures;
  std::vector<mlir::ModuleOp> modules;
  for (const TargetModule &target : lowered.targets) {
    auto signature = readSignature(*target.module, lowered.name);
    if (failed(signature))
      return report(makeError("the module has no signature after the kernel stage"), InternalError);
    signatures.push_back(std::move(*signature));
    modules.push_back(*target.module);
  }
  Description description = describe(lowered, mergeSignatures(signatures));
  auto weightsBytes = placeWeights(modules);
  description.weightsBytes = succeeded(weightsBytes) ? *weightsBytes : 0;
  description.target = lowered.target;
  description.operators = countOperators(*imported.targets.front().module);
  description.fileBytes = fileBytes;
  printDescription(std::move(description));
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
  if (magic == file_magic::archive)
    return inspectLibrary(**file);
  return inspectModel(*options, int64_t((*file)->getBufferSize()));
}

} // namespace kiln
