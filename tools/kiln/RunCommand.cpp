//===- RunCommand.cpp - kiln run: one run, outputs to files ----------------===//
#include "compiler/files/Printable.h"
#include "compiler/run/Npy.h"
#include "compiler/run/OnnxTensor.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/CompileFlags.h"
#include "tools/kiln/LaunchFlags.h"
#include "tools/kiln/ModelRun.h"
#include "tools/kiln/OutputFiles.h"
#include "tools/kiln/Reporting.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

static cl::opt<std::string> outputFolder("output-dir", cl::desc("Folder for the outputs, NAME.npy for each"), cl::value_desc("DIR"), cl::sub(runCommand));

static int runModel(const CompileOptions &options) {
  RunnableModel model;
  if (int status = loadOrReport(options, model))
    return status;
  Expected<InputSpecs> specs = getInputSpecs(*model.loaded);
  if (!specs)
    return report(specs.takeError(), AtFault);
  Expected<std::vector<Tensor>> inputs = makeInputs(*model.loaded, *specs, "", options);
  if (!inputs)
    return report(inputs.takeError(), AtFault);
  Expected<std::unique_ptr<ThreadPool>> pool = ThreadPool::create();
  if (!pool)
    return report(pool.takeError(), AtFault);
  Expected<Execution> execution = prepareRun(*model.loaded, *inputs);
  if (!execution)
    return report(execution.takeError(), AtFault);
  if (Error error = execution->run(&(*pool)->context))
    return report(std::move(error), AtFault);

  std::vector<OutputFile> files;
  json::Array list;
  StringSet<> taken;
  for (auto [info, tensor] : zip_equal(model.loaded->getOutputs(), execution->getOutputs())) {
    if (!model.loaded->findCut(info.name).empty() && verbosity() > 0)
      printLine(errs(), "warning: output '" + printable(info.name) + "' is cut: the file has rank 0's part");
    files.push_back({makeFileName(info.name, taken), "", nullptr});
    OutputFile &file = files.back();
    raw_string_ostream os(file.contents);
    if (fitsNpy(tensor)) {
      writeNpy(os, tensor);
    } else {
      file.path = StringRef(file.path).drop_back(StringRef(".npy").size()).str() + ".pb";
      file.contents = writeOnnxStrings(tensor);
    }
    list.push_back(json::Object{{"name", jsonText(info.name)}, {"file", files.back().path}, {"type", tensor.getSignature()}});
    if (verbosity() > 1 && !wantsJson())
      printLine(outs(), info.name + (": " + tensor.getSignature() + " -> " + outputFolder + "/" + files.back().path));
  }
  if (Error error = writeFiles(placeFiles(outputFolder, files)))
    return report(std::move(error), AtFault);
  if (wantsJson())
    printJson(json::Object{{"outputs", std::move(list)}, {"threads", (*pool)->threads}, {"compile_s", model.compileSeconds}});
  return Done;
}

int runRun() {
  Expected<CompileOptions> options = getCompileOptions();
  if (!options)
    return report(options.takeError(), WrongUsage);
  if (outputFolder.empty())
    return report(makeError("no output folder: give --output-dir DIR"), WrongUsage);
  return runOnRanks(*options, [&] { return runModel(*options); });
}

} // namespace kiln
