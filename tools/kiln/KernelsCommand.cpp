//===- KernelsCommand.cpp - kiln kernels: a library of kernels without a model -===//
#include "compiler/emit/Identifiers.h"
#include "compiler/files/Printable.h"
#include "compiler/kernels/KernelCatalog.h"
#include "compiler/kernels/KernelLibrary.h"
#include "compiler/kernels/KernelRecord.h"
#include "compiler/run/Tensor.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/CompileFlags.h"
#include "tools/kiln/OutputFiles.h"
#include "tools/kiln/Reporting.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;

namespace kiln {

static cl::list<std::string> kernelRequests(cl::Positional, cl::CommaSeparated, cl::desc("[AS=]KERNEL[:PARAMETER=VALUE]...,..."),
                                            cl::sub(kernelsCommand));
static cl::opt<bool> listsKernels("list", cl::desc("Print the kernels with their signatures and parameters, those of --ops among them"),
                                  cl::sub(kernelsCommand));
static cl::opt<std::string> kernelsFolder("o", cl::desc("Folder for the files, created if missing"), cl::value_desc("DIR"), cl::sub(kernelsCommand));
static cl::list<std::string> kernelsEmit("emit", cl::CommaSeparated, cl::desc("What to write: lib (default), obj or so"), cl::value_desc("KIND,..."),
                                         cl::sub(kernelsCommand));

static void printKernelList(ArrayRef<KernelForm> forms) {
  if (wantsJson()) {
    json::Array list;
    for (const KernelForm &form : forms)
      list.push_back(toJson(form));
    return printJson(json::Object{{"kernels", std::move(list)}});
  }
  for (const KernelForm &form : forms) {
    printLine(outs(), form.signature());
    printLine(outs(), "    " + form.summary);
    if (!form.parameters.empty())
      printLine(outs(), "    parameters: " + join(map_range(form.parameters, [](const KernelParameter &p) { return p.name + "=" + p.value; }), ", "));
  }
}

static Expected<std::vector<std::string>> readKinds() {
  std::vector<std::string> kinds(kernelsEmit.begin(), kernelsEmit.end());
  if (kinds.empty())
    kinds = {"lib"};
  for (StringRef kind : kinds)
    if (!is_contained({"lib", "obj", "so"}, kind))
      return makeError("--emit=" + kind + ": expected lib, obj or so");
  return kinds;
}

static Expected<std::vector<OutputFile>> collectKernelFiles(const Compilation &library, const CompileOptions &options, ArrayRef<std::string> kinds) {
  std::vector<OutputFile> files = {library.header};
  if (is_contained(kinds, "lib"))
    files.push_back(makeArchive(library));
  if (is_contained(kinds, "lib") || is_contained(kinds, "so"))
    append_range(files, makeBuildFiles(library));
  if (is_contained(kinds, "so")) {
    std::vector<std::string> errors;
    files.push_back(makeSharedLibrary(library, options, errors));
    if (!errors.empty())
      return makeError(join(errors, "; "));
  }
  if (is_contained(kinds, "obj"))
    append_range(files, library.objects);
  return files;
}

static int compileAndWrite(std::vector<KernelForm> forms, const CompileOptions &options, ArrayRef<std::string> kinds) {
  Compilation library;
  std::vector<std::string> errors;
  json::Array descriptions;
  for (const KernelForm &form : forms)
    descriptions.push_back(toJson(setStaticSizes(form, options.dims)));
  CompileStatus status = compileKernels(std::move(forms), options, library, errors);
  reportSharedCache(options);
  if (status == CompileStatus::Bug)
    errors.insert(errors.begin(), "internal error in Kiln, please report it with the command");
  if (status != CompileStatus::Done)
    return report(errors, status == CompileStatus::Bug ? InternalError : AtFault);
  for (const std::string &warning : library.warnings)
    printLine(WithColor::warning(errs()), warning);
  Expected<std::vector<OutputFile>> files = collectKernelFiles(library, options, kinds);
  if (!files)
    return report(files.takeError(), AtFault);
  if (Error error = writeFiles(placeFiles(kernelsFolder, *files)))
    return report(std::move(error), AtFault);
  if (wantsJson()) {
    json::Array list;
    for (const OutputFile &file : *files)
      list.push_back(json::Object{{"path", jsonText(file.path)}, {"bytes", int64_t(file.getSize())}});
    printJson(json::Object{{"name", library.name}, {"kernels", std::move(descriptions)}, {"files", std::move(list)}});
  }
  return Done;
}

int runKernels() {
  Expected<CompileOptions> options = getCompileOptions();
  if (!options)
    return report(options.takeError(), WrongUsage);
  options->levelWithoutTiles = true;
  Expected<std::vector<std::string>> kinds = readKinds();
  if (!kinds)
    return report(kinds.takeError(), WrongUsage);
  KernelCatalog catalog;
  std::vector<std::string> errors;
  for (const std::string &file : options->definitions)
    if (!catalog.addDefinitions(file, errors))
      return report(errors, AtFault);
  std::vector<KernelForm> forms;
  for (StringRef request : kernelRequests) {
    Expected<KernelForm> form = catalog.make(request);
    if (form)
      forms.push_back(std::move(*form));
    else
      errors.push_back(toString(form.takeError()));
  }
  if (!errors.empty())
    return report(errors, AtFault);
  if (listsKernels) {
    Expected<std::vector<KernelForm>> all = forms.empty() ? catalog.list() : std::move(forms);
    if (!all)
      return report(all.takeError(), AtFault);
    printKernelList(*all);
    return Done;
  }
  if (forms.empty())
    return report(makeError("no kernels: name some, such as gemm_f32,softmax; kiln kernels --list prints all"), WrongUsage);
  if (kernelsFolder.empty())
    return report(makeError("no output folder: give -o DIR"), WrongUsage);
  if (options->name.empty())
    options->name = "kernels";
  return compileAndWrite(std::move(forms), *options, *kinds);
}

} // namespace kiln
