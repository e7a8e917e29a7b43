//===- NewCommand.cpp - kiln new: a project around a model ---------------------===//
//
// Writes CMakeLists.txt, main.cpp, buffers.h with the model's tensors, and a test that compares a run with that of `kiln run`.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/BuildText.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/CompileFlags.h"
#include "tools/kiln/GivenOptions.h"
#include "tools/kiln/OutputFiles.h"
#include "tools/kiln/Reporting.h"
#include "tools/kiln/project/ProjectFiles.h"
#include "compiler/files/Printable.h"
#include "compiler/files/Suggestion.h"
#include "compiler/run/Tensor.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

static cl::opt<std::string> projectFolder(cl::Positional, cl::Required, cl::desc("FOLDER"), cl::sub(newCommand));
static cl::opt<std::string> projectModel(cl::Positional, cl::Required, cl::desc("MODEL.onnx"), cl::sub(newCommand));
static cl::list<std::string> sizes("size", cl::desc("Size of a dynamic dimension in the program (default: 1, or the least)"), cl::value_desc("NAME=SIZE"),
    cl::sub(newCommand));

static Error setSizes(Project &project) {
  for (const SignatureSymbol &symbol : project.signature.givenSymbols())
    project.sizes[symbol.onnxName] = std::min(std::max<int64_t>(symbol.min, 1), symbol.max);
  StringSet<> given;
  for (StringRef text : sizes) {
    Expected<std::pair<std::string, int64_t>> size = parseDimension("size", text);
    if (!size)
      return size.takeError();
    auto known = project.sizes.find(size->first);
    if (known == project.sizes.end()) {
      std::vector<StringRef> names;
      for (auto &entry : project.sizes)
        names.push_back(entry.first);
      return makeError("--size=" + text + ": the model has no dynamic dimension '" + size->first + "'" + suggest(size->first, names));
    }
    if (!given.insert(size->first).second)
      return makeTwiceError("size", text, size->first);
    known->second = size->second;
  }
  return Error::success();
}

/// Compiles as far as the signature is known.
static int readProject(CompileOptions options, Project &project, Compilation &lowered) {
  options.stopAfter = "kernel";
  if (int status = compileOrReport(options, lowered))
    return status;
  std::vector<Signature> signatures;
  for (TargetModule &target : lowered.targets) {
    auto signature = readSignature(*target.module, lowered.name);
    if (failed(signature))
      return report(makeError("the module has no signature after the kernel stage"), InternalError);
    signatures.push_back(std::move(*signature));
  }
  project.signature = mergeSignatures(signatures);
  if (Error error = setSizes(project))
    return report(std::move(error), WrongUsage);
  if (std::string reason = findObstacle(project.signature); !reason.empty())
    return report(makeError(reason + ", for which kiln new writes no program; docs/Runtime.md shows such calls"), AtFault);
  return Done;
}

int runNew() {
  Expected<CompileOptions> options = getLibraryOptions();
  if (!options)
    return report(options.takeError(), WrongUsage);
  options->model = projectModel;
  if (sys::fs::exists(projectFolder) && !sys::fs::is_directory(projectFolder))
    return report(makeError("'" + projectFolder + "' is a file; kiln new FOLDER MODEL.onnx makes a folder"), WrongUsage);
  for (StringRef name : {"CMakeLists.txt", "main.cpp", "buffers.h", "test.cpp", "test.cmake"})
    if (SmallString<128> path(projectFolder); sys::path::append(path, name), sys::fs::exists(path))
      return report(makeError("'" + path.str() + "' is there already: kiln new changes no files"), AtFault);
  Project project;
  project.options = getGivenOptions(newCommand, {"size", "v", "q", "json", "name"});
  for (const std::string &option : project.options)
    if (!fitsCMakeList(option))
      return report(makeError("kiln new writes no project with '" + option + "': lists of CMake keep no ';', no '\\' and no single bracket"), WrongUsage);
  Compilation lowered;
  if (int status = readProject(*options, project, lowered))
    return status;
  SmallString<128> model(projectModel);
  sys::fs::make_absolute(model);
  sys::path::remove_dots(model, /*remove_dot_dot=*/true);
  project.model = std::string(model);
  // The program's name is that of the folder, and the model's target has another one.
  SmallString<128> folder(projectFolder);
  sys::fs::make_absolute(folder);
  sys::path::remove_dots(folder, /*remove_dot_dot=*/true);
  project.program = makeProgramName(sys::path::filename(folder));
  std::vector<OutputFile> files = writeProject(project);
  if (Error error = writeFiles(placeFiles(projectFolder, files)))
    return report(std::move(error), AtFault);
  if (wantsJson()) {
    json::Array list;
    for (const OutputFile &file : files)
      list.push_back(json::Object{{"path", jsonText(file.path)}, {"bytes", int64_t(file.getSize())}});
    printJson(json::Object{{"name", project.signature.name}, {"files", std::move(list)}});
  } else if (verbosity() > 0 && outs().is_displayed()) {
    printLine(outs(), "cmake -S " + projectFolder + " -B " + projectFolder + "/build && cmake --build " + projectFolder + "/build && ctest --test-dir " +
                          projectFolder + "/build");
  }
  return Done;
}

} // namespace kiln
