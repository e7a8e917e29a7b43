//===- CompileCommand.cpp - kiln compile: a model to a library -------------===//
#include "dialects/kernel/Kernel.h"
#include "dialects/nn/ConstantPart.h"
#include "tools/kiln/Card.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/CompileFlags.h"
#include "tools/kiln/ImageFlags.h"
#include "compiler/Decisions.h"
#include "compiler/ShardingReport.h"
#include "compiler/Sbom.h"
#include "compiler/files/Printable.h"
#include "tools/kiln/OutputFiles.h"
#include "tools/kiln/Reporting.h"
#include "tools/kiln/StageFlags.h"
#include "compiler/emit/BuildText.h"
#include "compiler/emit/Identifiers.h"
#include "compiler/emit/TargetLinker.h"
#include "compiler/run/Tensor.h"
#include "compiler/target/Targets.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include <chrono>

using namespace llvm;

namespace kiln {

static cl::opt<std::string> outputFolder("o", cl::desc("Folder for the files, created if missing"), cl::value_desc("DIR"), cl::sub(compileCommand));
static cl::list<std::string> emit("emit", cl::CommaSeparated,
    cl::desc("What to write: lib (default), obj, cpp, single (the C++ in one file), arduino (that as a library for Arduino and PlatformIO), so, mlir, "
             "header, sbom (CycloneDX, of the other files); for WebAssembly: wasm (default there), a module for JavaScript, or npm, a package "
             "of it"), cl::value_desc("KIND,..."),
                                  cl::sub(compileCommand));
static cl::opt<std::string> stopAfter("stop-after", cl::desc("Stop after this stage and print the IR (import, graph, target, kernel) or the C++ (emit)"),
                                      cl::value_desc("STAGE"), cl::sub(compileCommand));
static cl::opt<std::string> why("why", cl::ValueOptional, cl::value_desc("NODE"), cl::sub(compileCommand),
                                cl::desc("Print each kernel, why it was chosen, and why better ones were not; with an ONNX node, its kernels, why no "
                                         "other kernel computes it, and which composite it is nearly a part of"));
static cl::opt<std::string> depfile("depfile", cl::desc("Write the files' dependencies as a Makefile rule"), cl::value_desc("FILE"), cl::sub(compileCommand));
static cl::opt<std::string> stamp("stamp",
    cl::desc("Write an empty file last. Its modification time always changes, while files with unchanged bytes keep theirs"),
                                  cl::value_desc("FILE"), cl::sub(compileCommand));

/// The values of --emit.
static constexpr StringLiteral emitKinds[] = {"lib", "obj", "cpp", "so", "mlir", "header", "single", "arduino", "sbom", "wasm", "npm"};

static void printIr(mlir::ModuleOp module, raw_ostream &os, bool whole) {
  mlir::OpPrintingFlags flags;
  if (whole)
    nn::holdAllParts();
  else
    flags.elideLargeElementsAttrs(64).elideLargeResourceString(64);
  module.print(os, flags.enableDebugInfo(whole));
}

static int printStage(const Compilation &compilation) {
  if (stopAfter == "emit")
    for (const OutputFile &source : compilation.sources)
      outs() << "//--- " << source.path << "\n" << source.contents;
  else
    for (const Compilation *model : compilation.models())
      for (const TargetModule &target : model->targets) {
        if (compilation.models().size() > 1 || model->targets.size() > 1) {
          outs() << "// -----\n";
          printLine(outs(), "// " + (compilation.models().size() > 1 ? model->name + " " : "") + target.label());
        }
        printIr(*target.module, outs(), /*whole=*/false);
      }
  return Done;
}

static Expected<std::vector<OutputFile>> collectFiles(Compilation &compilation, const CompileOptions &options, ArrayRef<std::string> kinds) {
  auto wants = [&](StringRef kind) { return is_contained(kinds, kind); };
  std::vector<OutputFile> files;
  if (options.webModules)
    append_range(files, compilation.webFiles);
  else if (kinds != ArrayRef<std::string>{"mlir"} && kinds != ArrayRef<std::string>{"arduino"})
    files.push_back(compilation.header);
  if (wants("single"))
    files.push_back(compilation.single);
  if (wants("arduino")) {
    append_range(files, compilation.arduino);
    for (OutputFile file : {compilation.header, compilation.single}) {
      file.path = "src/" + file.path;
      files.push_back(std::move(file));
    }
  }
  if (wants("npm"))
    files.push_back(compilation.webPackage);
  if (wants("lib"))
    files.push_back(makeArchive(compilation));
  if (wants("lib") || wants("so"))
    append_range(files, makeBuildFiles(compilation));
  if (wants("so")) {
    std::vector<std::string> errors;
    files.push_back(makeSharedLibrary(compilation, options, errors));
    if (!errors.empty())
      return makeError(join(errors, "; "));
    // Programs link with a DLL by a library of what it exports.
    if (StringRef name = files.back().path; name.ends_with(".dll")) {
      Expected<std::string> imports = makeImportLibrary(name, files.back().toBuffer()->getMemBufferRef());
      if (!imports)
        return imports.takeError();
      files.push_back({"lib" + name.str() + ".a", *imports, nullptr});
    }
  }
  if (wants("obj"))
    append_range(files, compilation.objects);
  if (wants("cpp"))
    append_range(files, compilation.sources);
  // Boards and browsers have their own ways to call a model.
  if (!options.webModules && any_of(kinds, [](StringRef kind) { return is_contained({"lib", "obj", "so", "cpp", "header"}, kind); }))
    files.push_back(compilation.sessions);
  append_range(files, compilation.delegated);
  if (!compilation.weights.path.empty() && (wants("lib") || wants("obj") || wants("so")))
    files.push_back(compilation.weights);
  if (wants("lib") || wants("obj") || wants("so") || wants("cpp"))
    append_range(files, compilation.rankWeights);
  for (const Compilation *model : wants("mlir") ? compilation.models() : std::vector<const Compilation *>())
    for (const TargetModule &target : model->targets) {
      std::string variant = model->targets.size() > 1 ? "_" + makeIdentifier(target.label()) : "";
      files.push_back({model->name + variant + ".mlir", "", nullptr});
      raw_string_ostream os(files.back().contents);
      printIr(*target.module, os, /*whole=*/true);
    }
  if (wants("sbom"))
    files.push_back(makeSbom(compilation, options.guarantees.list(), files));
  return files;
}

/// `library: model and external data`.
static Expected<std::string> makeRule(const Compilation &compilation, const CompileOptions &options, StringRef firstFile) {
  std::vector<std::string> inputs = {options.model};
  append_range(inputs, compilation.dependencies);
  // To make, `TARGET: NAME=VALUE` sets a variable, but not behind another file.
  auto plain = find_if(inputs, [](StringRef path) { return !path.contains('='); });
  if (plain != inputs.end())
    std::rotate(inputs.begin(), plain, plain + 1);
  else
    return makeError("a depfile cannot hold the path '" + inputs.front() + "' alone: make takes it for a variable, for its '='");
  Expected<std::string> rule = makeDepfilePath(firstFile);
  for (auto [i, input] : enumerate(inputs)) {
    Expected<std::string> path = makeDepfilePath(input);
    if (!rule || !path)
      return joinErrors(rule.takeError(), path.takeError());
    *rule += (i ? " " : ": ") + *path;
  }
  return *rule + "\n";
}

/// What a summary says of one model.
static json::Object summarizeModel(const Compilation &model) {
  MemoryUse use = describeMemory(model);
  json::Object whole{{"name", model.name},
                     {"target", model.target},
                     {"layout_conversions", use.layoutConversions},
                     {"workspace_bytes", use.workspaceBytes},
                     {"workspace_lower_bound", use.workspaceLowerBound},
                     {"composites", compositesToJson(model)},
                     {"plain_loops", fallbacksToJson(findLoopFallbacks(model))},
                     {"kernels", decisionsToJson(collectDecisions(model))}};
  if (std::optional<json::Object> sharding = shardingToJson(model))
    whole["sharding"] = std::move(*sharding);
  return whole;
}

static void printSummary(const Compilation &compilation, const CompileOptions &options, ArrayRef<OutputFile> files, double seconds) {
  if (wantsJson()) {
    json::Array list, graphs;
    for (const std::unique_ptr<Compilation> &graph : compilation.graphs)
      graphs.push_back(summarizeModel(*graph));
    for (const OutputFile &file : files)
      list.push_back(json::Object{{"path", jsonText(file.path)}, {"bytes", int64_t(file.getSize())}});
    json::Object whole = compilation.graphs.empty() ? summarizeModel(compilation) : json::Object{{"name", compilation.name}, {"target", compilation.target}};
    whole["seconds"] = seconds;
    whole["files"] = std::move(list);
    whole["units"] = compilation.units;
    whole["cached_units"] = compilation.cachedUnits;
    if (!graphs.empty())
      whole["graphs"] = std::move(graphs);
    if (!compilation.stages.empty())
      whole["stages"] = stagesToJson(compilation.stages);
    printJson(std::move(whole));
  } else if (verbosity() > 1) {
    for (const OutputFile &file : files)
      printLine(outs(), outputFolder + "/" + file.path + "  " + Twine(file.getSize()) + " bytes");
  } else if (verbosity() == 1 && outs().is_displayed()) {
    printCard(outs(), {compilation, options, files, outputFolder, getModels(), seconds});
  }
}

static Error writeResult(Compilation &compilation, const CompileOptions &options, ArrayRef<OutputFile> files) {
  std::vector<PlacedFile> placed = placeFiles(outputFolder, files);
  OutputFile rule, empty;
  if (!depfile.empty()) {
    // The file behind the C header, or that header alone: the session's is for those who want it.
    std::vector<StringRef> made;
    for (const PlacedFile &file : placed)
      if (!StringRef(file.path).ends_with(".hpp"))
        made.push_back(file.path);
    std::string library = made[made.size() > 1 ? 1 : 0].str();
    Expected<std::string> text = makeRule(compilation, options, stamp.empty() ? library : stamp);
    if (!text)
      return text.takeError();
    rule.contents = *text;
    placed.push_back({depfile, &rule});
  }
  if (Error error = writeFiles(placed, SameBytes::Left))
    return error;
  return stamp.empty() ? Error::success() : writeFiles(PlacedFile{stamp, &empty});
}

static bool isWebKind(StringRef kind) { return kind == "wasm" || kind == "npm"; }

/// Kinds that are made of objects.
static bool hasObjects(StringRef kind) { return kind == "lib" || kind == "obj" || kind == "so" || isWebKind(kind); }

/// What some options need of the kinds.
static Error checkKinds(ArrayRef<std::string> kinds, const CompileOptions &options) {
  if (options.isInternal && is_contained(kinds, "so"))
    return makeError("--hidden: a shared library of the model alone would offer no functions; leave out --emit=so");
  if (kinds == ArrayRef<std::string>{"sbom"})
    return makeError("--emit=sbom lists the files of other kinds: --emit=lib,sbom");
  if (options.guarantees.any() && none_of(kinds, hasObjects))
    return makeError("--guarantee is checked on objects, and --emit=" + join(kinds, ",") + " makes none: add lib or obj");
  return Error::success();
}

/// Whether all targets are for WebAssembly, and whether JavaScript is around all of them. A target that is not known is reported by the compile.
static std::pair<bool, bool> isForWeb(ArrayRef<std::string> names) {
  mlir::MLIRContext context;
  std::string error;
  std::vector<kernel::TargetAttr> targets = makeTargets(&context, names, error);
  bool isWasm = !targets.empty() && all_of(targets, [](kernel::TargetAttr target) { return Triple(target.getTriple()).isWasm(); });
  return {isWasm, isWasm && none_of(targets, [](kernel::TargetAttr target) { return Triple(target.getTriple()).isOSWASI(); })};
}

/// What to write, and the options that follow from it.
static Expected<std::vector<std::string>> chooseKinds(CompileOptions &options) {
  std::vector<std::string> kinds(emit.begin(), emit.end());
  auto [isWasm, isWeb] = isForWeb(options.targets);
  if (kinds.empty())
    kinds = {isWeb ? "wasm" : "lib"};
  for (const std::string &kind : kinds)
    if (!is_contained(emitKinds, kind))
      return makeError("--emit=" + kind + ": expected lib, obj, cpp, single, arduino, so, mlir, header, sbom, wasm or npm");
  if (isWasm && is_contained(kinds, "so"))
    return makeError("--emit=so: WebAssembly has no shared libraries; --emit=wasm makes a module");
  if (none_of(kinds, isWebKind)) {
    if (isWasm && options.targets.size() > 1)
      return makeError("a library for WebAssembly has one target, because an engine that lacks an instruction refuses all of it; --emit=wasm has several");
    return kinds;
  }
  if (!all_of(kinds, [](StringRef kind) { return isWebKind(kind) || kind == "sbom"; }))
    return makeError("--emit=" + join(kinds, ",") + ": wasm and npm go with no other kind but sbom");
  if (!isWeb)
    return makeError("--emit=" + kinds.front() + ": expected targets for WebAssembly in JavaScript, such as --target=wasm32");
  options.webModules = true;
  // The name of the family stands for all forms of a module.
  if (options.targets == std::vector<std::string>{"wasm32"})
    options.targets = {"wasm32", "wasm32-simd128", "wasm32-relaxed"};
  return kinds;
}

/// What a library of several models cannot be.
static Error checkKinds(ArrayRef<std::string> kinds, const StageRequest &stages, ArrayRef<GraphOptions> graphs) {
  if (stages.count && !graphs.empty())
    return makeError("--stages takes one model");
  if (stages.count && is_contained(kinds, "mlir") && kinds.size() > 1)
    return makeError("--stages: --emit=mlir goes alone");
  for (StringRef kind : {"single", "arduino", "wasm", "npm"})
    if (stages.count && stages.only < 0 && is_contained(kinds, kind))
      return makeError("--emit=" + kind + " takes one stage: choose it by --stage=K, or emit a library of all: lib, obj, cpp or so");
  for (StringRef kind : {"single", "arduino", "wasm", "npm"})
    if (!graphs.empty() && is_contained(kinds, kind))
      return makeError("--emit=" + kind + " takes one model; compile each by itself, or emit a library of all: lib, obj, cpp or so");
  return Error::success();
}

/// Prints decisions of each model with --why. False if no model has the node that was asked for.
static bool explainModels(const Compilation &compilation, const CompileOptions &options, ArrayRef<GraphOptions> graphs) {
  if (!options.explain)
    return true;
  bool isExplained = why.empty();
  if (why.empty())
    printStages(compilation.stages);
  for (auto [i, model] : enumerate(compilation.models())) {
    bool isStage = !compilation.graphs.empty() && graphs.empty();
    std::string whose = isStage ? model->name + ": " : graphs.empty() ? "" : graphs[i].name + ": ";
    if (!whose.empty())
      printLine(errs(), isStage ? model->name : "graph " + graphs[i].name);
    if (why.empty()) {
      printSharding(*model);
      printDecisions(*model);
    } else {
      isExplained |= printDecisionsFor(*model, graphs.empty() ? why : graphs[i].options.explainNode);
    }
  }
  return isExplained;
}

int runCompile() {
  Expected<CompileOptions> options = getLibraryOptions();
  if (!options)
    return report(options.takeError(), WrongUsage);
  Expected<std::vector<std::string>> chosen = chooseKinds(*options);
  if (!chosen)
    return report(chosen.takeError(), WrongUsage);
  const std::vector<std::string> &kinds = *chosen;
  Expected<Guarantees> guarantees = getGuarantees();
  if (!guarantees)
    return report(guarantees.takeError(), WrongUsage);
  options->guarantees = *guarantees;
  if (Error error = checkKinds(kinds, *options))
    return report(std::move(error), WrongUsage);
  if (hasImageOptions()) {
    Expected<ImageOptions> images = getImageOptions();
    if (!images)
      return report(images.takeError(), WrongUsage);
    options->images = *images;
  }
  options->stopAfter = stopAfter;
  options->singleSource = is_contained(kinds, "single") || is_contained(kinds, "arduino");
  options->levelWithoutTiles = none_of(kinds, [](StringRef kind) { return is_contained({"single", "arduino", "mlir"}, kind); }) && stopAfter.empty();
  options->explain = why.getNumOccurrences() > 0;
  options->explainNode = why;
  if (!stopAfter.empty() && !is_contained({"import", "graph", "target", "kernel", "emit"}, StringRef(stopAfter)))
    return report(makeError("--stop-after=" + stopAfter + ": expected import, graph, target, kernel or emit"), WrongUsage);
  if (stopAfter.empty() && outputFolder.empty())
    return report(makeError("no output folder: give -o DIR"), WrongUsage);
  // Objects cost the most time; what needs none stops before them.
  if (stopAfter.empty() && none_of(kinds, hasObjects))
    options->stopAfter = all_of(kinds, [](StringRef kind) { return kind == "mlir"; }) ? "kernel" : "emit";

  Expected<std::vector<GraphOptions>> graphs = getGraphOptions(*options);
  if (!graphs)
    return report(graphs.takeError(), WrongUsage);
  if (Error error = checkKinds(kinds, options->stages, *graphs))
    return report(std::move(error), WrongUsage);

  auto start = std::chrono::steady_clock::now();
  Compilation compilation;
  if (int status = compileOrReport(*options, compilation, *graphs))
    return status;
  if (!explainModels(compilation, *options, *graphs))
    return report(makeError("--why=" + why + ": no kernel computes an ONNX node of this name"), AtFault);
  if (!stopAfter.empty())
    return printStage(compilation);
  Expected<std::vector<OutputFile>> files = collectFiles(compilation, *options, kinds);
  if (!files)
    return report(files.takeError(), AtFault);
  if (Error error = writeResult(compilation, *options, *files))
    return report(std::move(error), AtFault);
  printSummary(compilation, *options, *files, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return Done;
}

} // namespace kiln
