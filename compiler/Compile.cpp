//===- Compile.cpp - From an ONNX file to a library ------------------------===//
#include "compiler/Compile.h"
#include "compiler/Description.h"
#include "compiler/cut/CutModel.h"
#include "compiler/emit/ArchiveWriter.h"
#include "compiler/emit/ClangCompiler.h"
#include "compiler/emit/CompilerFlags.h"
#include "compiler/emit/DarwinArchive.h"
#include "compiler/emit/DataObject.h"
#include "compiler/emit/ExternalCompiler.h"
#include "compiler/emit/GuaranteeCheck.h"
#include "compiler/emit/HeaderPrinter.h"
#include "compiler/emit/Identifiers.h"
#include "compiler/emit/Preprocess.h"
#include "compiler/emit/Package.h"
#include "compiler/emit/SessionPrinter.h"
#include "compiler/emit/SingleSource.h"
#include "compiler/emit/StackUse.h"
#include "compiler/emit/TargetLinker.h"
#include "compiler/emit/Weights.h"
#include "compiler/emit/web/ModelModule.h"
#include "compiler/emit/web/ModuleLinker.h"
#include "compiler/emit/web/WebFiles.h"
#include "compiler/pipeline/DiagnosticCollector.h"
#include "compiler/pipeline/IRPhases.h"
#include "compiler/pipeline/Ranks.h"
#include "compiler/pipeline/Versions.h"
#include "compiler/run/LibraryFolder.h"
#include "dialects/kernel/Libraries.h"
#include "runtime/src/Checksum.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;

namespace kiln {

namespace {

/// The state of one compile.
class Driver {
public:
  Driver(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors)
      : options(options), result(result), errors(errors) {}
  CompileStatus run(ArrayRef<GraphOptions> graphs);

private:
  bool stopsInStage() const { return llvm::is_contained({"import", "graph", "target", "kernel"}, options.stopAfter); }
  CompileStatus makeModules(ArrayRef<GraphOptions> graphs);
  CompileStatus makeGraphs(ArrayRef<GraphOptions> graphs);
  CompileStatus makeRanks(CompileOptions own, Compilation &model, llvm::function_ref<CompileStatus(const CompileOptions &)> make) const;
  CompileStatus emit(std::vector<ModelSources> &sources);
  CompileStatus emitModel(const Signature &weights, std::vector<ModelSources> &sources);
  CompileStatus emitGraphs(const Signature &weights, std::vector<ModelSources> &sources);
  CompileStatus describeTargets(const Compilation &model, const Signature &weights, std::vector<std::vector<Signature>> &libraries);
  FailureOr<Signature> describeTarget(const Compilation &model, const TargetModule &target, const Signature &weights);
  CompileStatus package(const ModelSources &sources);
  CompileStatus checkGuarantees(const ModelSources &sources, ArrayRef<ObjectFile> objects);
  void setOrigin(ArrayRef<GraphOptions> graphs);
  /// Makes a module of each and the files around them.
  CompileStatus packageForWeb(ArrayRef<ModelSources> forms);
  void listWebFiles(ArrayRef<WebForm> forms);
  llvm::Expected<std::vector<ObjectFile>> makeObjects(const ModelSources &sources);
  bool knowsTargets();
  CompileStatus addWeights(const std::string &triple);
  /// The parts of the signature that are the same for all targets.
  CompileStatus describeWeights(Signature &weights);
  void listSources(const ModelSources &sources);
  CompileStatus listSingleSource(const ModelSources &sources);
  std::vector<ModuleOp> modules() const {
    std::vector<ModuleOp> all;
    for (const Compilation *model : result.models())
      for (const TargetModule &target : model->targets)
        all.push_back(*target.module);
    return all;
  }
  CompileStatus describeRankWeights(ArrayRef<const Compilation *> models, Signature &weights) const;
  void listRankWeights(ArrayRef<const Compilation *> models, const Signature &signature);
  void step(const std::string &name) {
    if (options.progress)
      options.progress(name, done++, stepCount);
  }

  const CompileOptions &options;
  Compilation &result;
  std::vector<std::string> &errors;
  Signature signature;
  /// import, graph, target, kernel; emit, package
  static constexpr unsigned stagesOfModel = 4, stagesOfLibrary = 2;
  unsigned done = 0, stepCount = stagesOfModel + stagesOfLibrary;
};

} // namespace

namespace {
/// Takes the checksum of what is written.
class ChecksumStream : public llvm::raw_ostream {
public:
  ChecksumStream() : raw_ostream(/*unbuffered=*/true) {}
  uint64_t get() const { return sum.get(); }

private:
  void write_impl(const char *bytes, size_t size) override {
    sum.add(bytes, size);
    written += size;
  }
  uint64_t current_pos() const override { return written; }
  Checksum sum;
  uint64_t written = 0;
};
} // namespace

/// The modules whose weights are in a rank's file, each with the code of the rank or of another one.
static std::vector<ModuleOp> listModules(ArrayRef<const Compilation *> models, int64_t rank) {
  std::vector<ModuleOp> modules;
  for (const Compilation *model : models)
    for (const TargetModule &target : model->targets) {
      if (target.rank == rank)
        modules.push_back(*target.module);
      for (auto [other, weights] : llvm::zip_equal(target.sharedBy, target.sharedWeights))
        if (other == rank)
          modules.push_back(*weights);
    }
  return modules;
}

/// Gives the weights of each rank their places, those of ranks with the same code the same ones.
CompileStatus Driver::describeRankWeights(ArrayRef<const Compilation *> models, Signature &weights) const {
  weights.externalWeights = true;
  weights.rankWeights.resize(countRanks(options));
  llvm::DenseSet<int64_t> placed;
  for (const Compilation *model : models)
    for (const TargetModule &target : model->targets) {
      if (!placed.insert(target.rank).second)
        continue;
      std::vector<std::vector<ModuleOp>> forms = {listModules(models, target.rank)};
      for (int64_t rank : target.sharedBy)
        forms.push_back(listModules(models, rank));
      auto bytes = placeWeights(forms);
      if (failed(bytes))
        return CompileStatus::Bug;
      weights.rankWeights[target.rank].bytes = *bytes;
      for (int64_t rank : target.sharedBy)
        weights.rankWeights[rank].bytes = *bytes;
      weights.weightsBytes = std::max(weights.weightsBytes, *bytes);
    }
  for (auto [rank, file] : llvm::enumerate(weights.rankWeights)) {
    ChecksumStream sum;
    writeWeights(listModules(models, static_cast<int64_t>(rank)), sum);
    file.checksum = sum.get();
  }
  return CompileStatus::Done;
}

/// A file for each rank that was compiled.
void Driver::listRankWeights(ArrayRef<const Compilation *> models, const Signature &signature) {
  for (auto [rank, weights] : llvm::enumerate(signature.rankWeights))
    if (std::vector<ModuleOp> all = listModules(models, static_cast<int64_t>(rank)); !all.empty())
      result.rankWeights.push_back({weights.file, "", [all](llvm::raw_ostream &out) { writeWeights(all, out); }, static_cast<uint64_t>(weights.bytes)});
}

CompileStatus Driver::describeWeights(Signature &weights) {
  if (!options.ranks.empty())
    return options.stages.count ? CompileStatus::Done : describeRankWeights(result.models(), weights);
  auto bytes = placeWeights(modules());
  if (failed(bytes))
    return CompileStatus::Bug;
  weights.weightsBytes = *bytes;
  // A module for JavaScript has its weights beside its code in any case, so that all forms share them.
  weights.externalWeights = (options.externalWeights || options.webModules) && *bytes;
  if (!options.externalWeights && *bytes > maxEmbeddedBytes) {
    errors.push_back("the weights take " + std::to_string(*bytes) + " bytes, but at most " + std::to_string(maxEmbeddedBytes) +
                     " can be embedded; use --weights=file");
    return CompileStatus::AtFault;
  }
  if (!weights.externalWeights)
    return CompileStatus::Done;
  ChecksumStream sum;
  writeWeights(modules(), sum);
  weights.weightsChecksum = sum.get();
  return CompileStatus::Done;
}

FailureOr<Signature> Driver::describeTarget(const Compilation &model, const TargetModule &target, const Signature &weights) {
  auto read = readSignature(*target.module, result.graphs.empty() && !options.stages.count ? options.name : model.name);
  if (failed(read))
    return failure();
  if (!result.graphs.empty())
    read->library = result.name;
  read->weightsBytes = weights.weightsBytes;
  read->externalWeights = weights.externalWeights;
  read->isInternal = options.isInternal;
  read->images = options.images;
  read->weightsChecksum = weights.weightsChecksum;
  read->rankWeights = weights.rankWeights;
  for (auto [rank, file] : llvm::enumerate(read->rankWeights))
    file.file = (options.stages.count ? read->name : read->library) + "_rank" + std::to_string(rank) + "_weights.bin";
  read->rank = target.rank < 0 ? 0 : target.rank;
  read->sharedBy = target.sharedBy;
  std::vector<std::string> features = neededFeatures(kernel::getTarget(*target.module));
  // The modules of one library: with modules for JavaScript, those of the same target, which are for different sizes.
  auto isInLibrary = [&](const TargetModule &other) { return !options.webModules || other.name == target.name; };
  if (llvm::count_if(model.targets, isInLibrary) > 1 || read->isSharded())
    read->variant = makeIdentifier(target.name);
  else // who knows the CPU still has to ask the system for the registers of tiles
    read->isGuarded = options.checksCpu ? !features.empty() : llvm::is_contained(features, "amx-tile");
  read->label = target.sizes;
  return read;
}

/// The targets of a library; with modules for JavaScript, those of each.
CompileStatus Driver::describeTargets(const Compilation &model, const Signature &common, std::vector<std::vector<Signature>> &libraries) {
  Signature weights = common;
  // Each stage of a sharded model has files of its own.
  if (!options.ranks.empty() && options.stages.count)
    if (CompileStatus status = describeRankWeights(&model, weights); status != CompileStatus::Done)
      return status;
  for (const TargetModule &target : model.targets) {
    auto read = describeTarget(model, target, weights);
    if (failed(read))
      return CompileStatus::Bug;
    if (!libraries.empty() && read->symbols.size() != libraries.front().front().symbols.size()) {
      errors.push_back("--specialize: with " + target.sizes + " no input or output has all sizes that the run computes");
      return CompileStatus::AtFault;
    }
    if (llvm::Error error = checkPreprocess(*read)) {
      errors.push_back(toString(std::move(error)));
      return CompileStatus::AtFault;
    }
    if (libraries.empty() || (options.webModules && !read->isVersion()))
      libraries.emplace_back();
    libraries.back().push_back(std::move(*read));
  }
  return CompileStatus::Done;
}

/// What two models both have: a file, such as `a_generic_run.cpp` of `a` for several targets and of `a_generic`; a function; or a macro, such as
/// A_N_SIZE_MAX of a dimension of `a` and of `a_n`. Empty: there is none.
static std::string findCommonName(const ModelSources &sources, StringRef library) {
  llvm::StringSet<> names;
  std::vector<std::string> all = sources.symbols;
  for (const SourceFile &unit : sources.units)
    all.push_back(unit.name);
  for (const std::string &name : all)
    if (!names.insert(name).second)
      return name;
  llvm::StringMap<StringRef> macros;
  std::string prefix = "#define " + makeMacroName(library) + "_", api = makeMacroName(library) + "_API";
  for (StringRef line : llvm::split(sources.header.text, '\n')) {
    if (!line.starts_with(prefix))
      continue;
    auto [macro, text] = line.split(' ').second.split(' ');
    // The API macro is defined in branches of the preprocessor, and C allows the same text twice.
    if (auto [known, isNew] = macros.try_emplace(macro, text); !isNew && known->second != text && macro != api)
      return macro.str();
  }
  return "";
}

CompileStatus Driver::emitGraphs(const Signature &weights, std::vector<ModelSources> &sources) {
  std::vector<std::vector<Signature>> models;
  for (const Compilation *model : result.models()) {
    std::vector<std::vector<Signature>> targets;
    if (CompileStatus status = describeTargets(*model, weights, targets); status != CompileStatus::Done)
      return status;
    models.push_back(std::move(targets.front()));
  }
  auto printed = printLibrary(result.name, models);
  if (failed(printed))
    return CompileStatus::Bug;
  if (std::string name = findCommonName(*printed, result.name); !name.empty()) {
    errors.push_back("two of the graphs would both have " + name + ": give one of them another name, GRAPH=FILE");
    return CompileStatus::AtFault;
  }
  signature = printed->signature;
  result.libraries = signature.libraries;
  if (!options.stages.count)
    listRankWeights(result.models(), signature);
  for (auto [model, own] : llvm::zip_equal(result.models(), printed->models))
    if (options.stages.count)
      listRankWeights(model, own);
  listSources(*printed);
  sources.push_back(std::move(*printed));
  return CompileStatus::Done;
}

CompileStatus Driver::emitModel(const Signature &weights, std::vector<ModelSources> &sources) {
  std::vector<std::vector<Signature>> libraries;
  if (CompileStatus status = describeTargets(result, weights, libraries); status != CompileStatus::Done)
    return status;
  for (const std::vector<Signature> &signatures : libraries) {
    auto printed = printSources(signatures);
    if (failed(printed))
      return CompileStatus::Bug;
    sources.push_back(std::move(*printed));
  }
  signature = sources.front().signature;
  result.name = signature.name;
  result.libraries = signature.libraries;
  listRankWeights(result.models(), signature);
  listSources(sources.front());
  return options.singleSource ? listSingleSource(sources.front()) : CompileStatus::Done;
}

CompileStatus Driver::emit(std::vector<ModelSources> &sources) {
  step("emit");
  DiagnosticCollector diagnostics(*result.context, errors);
  Signature weights;
  if (CompileStatus status = describeWeights(weights); status != CompileStatus::Done)
    return status;
  return result.graphs.empty() ? emitModel(weights, sources) : emitGraphs(weights, sources);
}

CompileStatus Driver::listSingleSource(const ModelSources &sources) {
  auto text = joinSources(sources);
  if (!text) {
    errors.push_back(toString(text.takeError()));
    return CompileStatus::AtFault;
  }
  for (const SourceFile &file : makeArduinoFiles(signature))
    result.arduino.push_back({file.name, file.text, nullptr});
  result.single = {signature.name + ".cpp", std::move(*text), nullptr};
  uint64_t bytes = signature.weightsBytes;
  if (!bytes)
    return CompileStatus::Done;
  std::string head = std::exchange(result.single.contents, "") + printWeightsHead(signature);
  result.single.streamBytes = head.size() + ByteTextStream::countCharacters(bytes) + weightsTail.size();
  result.single.stream = [head = std::move(head), all = modules()](llvm::raw_ostream &out) {
    out << head;
    {
      ByteTextStream numbers(out);
      writeWeights(all, numbers);
    }
    out << weightsTail;
  };
  return CompileStatus::Done;
}

void Driver::listSources(const ModelSources &sources) {
  result.header = {sources.header.name, sources.header.text, nullptr};
  SourceFile sessions = printSessions(sources.models);
  result.sessions = {sessions.name, sessions.text, nullptr};
  for (const SourceFile &file : makeSourceFolder(sources))
    result.sources.push_back({"src/" + file.name, file.text, nullptr});
  if (!signature.weightsBytes || signature.isSharded())
    return;
  auto stream = [all = modules()](llvm::raw_ostream &out) { writeWeights(all, out); };
  uint64_t bytes = signature.weightsBytes;
  result.sources.push_back({"src/" + signature.weightsFile(), "", stream, bytes});
  if (options.externalWeights)
    result.weights = {signature.weightsFile(), "", stream, bytes};
}

/// Reports names that the built-in compiler does not know: they come from a user's description of a target, so they are not a bug in Kiln.
bool Driver::knowsTargets() {
  for (const TargetModule &target : result.models().front()->targets)
    if (std::string unknown = findUnknown(kernel::getTarget(*target.module)); options.cxx.empty() && !unknown.empty()) {
      errors.push_back("target '" + target.name + "': " + unknown);
      return false;
    }
  return true;
}

llvm::Expected<std::vector<ObjectFile>> Driver::makeObjects(const ModelSources &sources) {
  auto noteFault = [&](const std::string &fault) { result.cacheFault = fault; };
  auto objects = compileObjects(sources, {options.cxx, options.jobs, options.cache, noteFault});
  if (!objects)
    return objects;
  result.units += objects->size();
  result.cachedUnits += llvm::count_if(*objects, [](const ObjectFile &object) { return object.cached; });
  return objects;
}

CompileStatus Driver::checkGuarantees(const ModelSources &sources, ArrayRef<ObjectFile> objects) {
  std::vector<std::string> faults = findBrokenGuarantees(options.guarantees, sources, objects);
  llvm::append_range(errors, faults);
  return faults.empty() ? CompileStatus::Done : CompileStatus::AtFault;
}

/// The models in the order in which they were given, and then what else was read.
void Driver::setOrigin(ArrayRef<GraphOptions> graphs) {
  std::vector<std::string> models;
  for (const GraphOptions &graph : graphs)
    models.push_back(graph.options.model);
  if (models.empty())
    models = {options.model};
  result.findOrigin = [own = options, models, files = result.dependencies] { return findOrigin(own, models, files); };
}

CompileStatus Driver::packageForWeb(ArrayRef<ModelSources> sources) {
  step("package");
  if (!knowsTargets())
    return CompileStatus::AtFault;
  if (!result.libraries.empty()) {
    errors.push_back("a module for JavaScript cannot call libraries, but the model calls " + llvm::join(result.libraries, ", "));
    return CompileStatus::AtFault;
  }
  std::vector<WebForm> forms;
  for (const ModelSources &form : sources) {
    auto objects = makeObjects(form);
    if (!objects) {
      errors.push_back(toString(objects.takeError()));
      return options.cxx.empty() ? CompileStatus::Bug : CompileStatus::AtFault;
    }
    if (CompileStatus status = checkGuarantees(form, *objects); status != CompileStatus::Done)
      return status;
    auto module = linkWasmModule(*objects, {form.signature.name + "_run", form.signature.name + "_workspace_size"});
    if (!module) {
      errors.push_back(toString(module.takeError()));
      return CompileStatus::AtFault;
    }
    size_t features = kernel::getTarget(form.signature.module()).getFeatures().size();
    forms.push_back({form.signature.target, std::move(*module), features});
  }
  llvm::sort(forms, [](const WebForm &a, const WebForm &b) { return std::tie(a.features, a.name) > std::tie(b.features, b.name); });
  listWebFiles(forms);
  return CompileStatus::Done;
}

void Driver::listWebFiles(ArrayRef<WebForm> forms) {
  bool embeds = signature.weightsBytes && !options.externalWeights;
  Signature whole = signature;
  whole.externalWeights = options.externalWeights && signature.weightsBytes;
  std::vector<std::string> names, files;
  for (const WebForm &form : forms)
    names.push_back(form.name);
  std::string head = makeWebContainer(forms, embeds ? signature.weightsBytes : 0);
  uint64_t bytes = head.size() + (embeds ? signature.weightsBytes : 0);
  auto stream = [head = std::move(head), all = modules(), embeds](llvm::raw_ostream &out) {
    out << head;
    if (embeds)
      writeWeights(all, out);
  };
  const std::string &name = signature.name;
  result.webFiles = {{name + ".wasm", "", stream, bytes},
                     {name + ".mjs", printModelModule(whole, names), nullptr},
                     // TypeScript takes the one for programs that import the file, the other for packages that name it.
                     {name + ".d.mts", printModelTypes(whole, names), nullptr},
                     {name + ".d.ts", printModelTypes(whole, names), nullptr}};
  if (whole.externalWeights)
    result.webFiles.push_back(result.weights);
  for (const OutputFile &file : result.webFiles)
    files.push_back(file.path);
  result.webPackage = {"package.json", printPackageFile(whole, files), nullptr};
}

CompileStatus Driver::package(const ModelSources &sources) {
  step("package");
  if (!knowsTargets())
    return CompileStatus::AtFault;
  auto objects = makeObjects(sources);
  if (!objects) {
    errors.push_back(toString(objects.takeError()));
    return options.cxx.empty() ? CompileStatus::Bug : CompileStatus::AtFault;
  }
  if (CompileStatus status = checkGuarantees(sources, *objects); status != CompileStatus::Done)
    return status;
  // The stack use of a library's functions is not known.
  std::vector<Signature> models = sources.models;
  for (Signature &model : models)
    if (signature.libraries.empty())
      model.stackBytes = boundStackUse(*objects, model.name + "_run");
  result.header.contents = printHeader(models);
  for (ObjectFile &object : *objects)
    result.objects.push_back({object.name, std::string(object.bytes.begin(), object.bytes.end()), nullptr});
  std::string triple = tripleOf(sources.units.front().target);
  if (canMakeDataObject(triple)) {
    Description description = describe(result, signature, models);
    description.guarantees = options.guarantees.list();
    result.makeRecord = [description, triple, find = result.findOrigin](ArrayRef<HashedFile> files) mutable {
      description.origin = find();
      description.origin->objects = files.vec();
      std::string text = llvm::formatv("{0}", llvm::json::Value(toJson(description)));
      return OutputFile{description.name + "_record.o", makeRecordObject(triple, recordSection, text), nullptr};
    };
  }
  if (!signature.weightsBytes || signature.externalWeights)
    return CompileStatus::Done;
  return addWeights(triple);
}

CompileStatus Driver::addWeights(const std::string &triple) {
  if (!canMakeDataObject(triple)) {
    errors.push_back("objects for " + triple + " cannot hold weights; use --weights=file");
    return CompileStatus::AtFault;
  }
  DataObject object = makeDataObject(triple, signature.name + "_weights", signature.weightsBytes);
  uint64_t bytes = object.bytes;
  auto stream = [object = std::move(object), all = modules()](llvm::raw_ostream &out) {
    out << object.head;
    writeWeights(all, out);
    out << object.tail;
  };
  result.objects.push_back({signature.name + "_weights.o", "", std::move(stream), bytes});
  return CompileStatus::Done;
}

static void explainFailure(CompileStatus status, std::vector<std::string> &errors) {
  if (status != CompileStatus::Done && errors.empty())
    errors.push_back("a stage failed without a diagnostic");
}

/// Runs the stages, for ranks with the same code only once; if a stage has looked at one rank's constants, once more for each rank alone.
CompileStatus Driver::makeRanks(CompileOptions own, Compilation &model, llvm::function_ref<CompileStatus(const CompileOptions &)> make) const {
  // Who looks at what a stage leaves sees the module of each rank.
  own.separateRanks |= stopsInStage() || options.afterStage;
  CompileStatus status = make(own);
  if (status == CompileStatus::Done && dependsOnParts(model)) {
    own.separateRanks = true;
    std::shared_ptr<MLIRContext> context = model.context;
    model = Compilation();
    model.context = std::move(context);
    status = make(own);
  }
  if (status == CompileStatus::Done && !stopsInStage())
    addSharedWeights(own, model);
  return status;
}

/// Runs the stages on each model.
CompileStatus Driver::makeGraphs(ArrayRef<GraphOptions> graphs) {
  result.name = options.name;
  stepCount = stagesOfModel * graphs.size() + stagesOfLibrary;
  for (const GraphOptions &graph : graphs) {
    Compilation &model = *result.graphs.emplace_back(std::make_unique<Compilation>());
    model.context = result.context;
    CompileOptions own = graph.options;
    own.keepReproducer = options.keepReproducer;
    std::vector<std::string> faults;
    CompileStatus status = makeRanks(own, model, [&](const CompileOptions &final) {
      return makeKernels(final, model, faults, [&](const std::string &name) { step(graph.name + ": " + name); });
    });
    explainFailure(status, faults);
    auto append = [&](std::vector<std::string> &to, ArrayRef<std::string> lines) {
      for (const std::string &line : lines)
        to.push_back(graph.name + ": " + line);
    };
    append(errors, faults);
    append(result.warnings, model.warnings);
    append(result.notes, model.notes);
    if (&graph != graphs.begin()) // the caller knows the first
      result.dependencies.push_back(own.model);
    llvm::append_range(result.dependencies, model.dependencies);
    llvm::append_range(result.delegated, model.delegated);
    result.context = model.context;
    result.reproducer = model.reproducer;
    result.target = model.target;
    if (status != CompileStatus::Done)
      return status;
  }
  return CompileStatus::Done;
}

CompileStatus Driver::makeModules(ArrayRef<GraphOptions> graphs) {
  auto begin = [&](const std::string &name) { step(name); };
  if (!graphs.empty())
    return makeGraphs(graphs);
  stepCount += options.stages.count > 0; // the cut
  return makeRanks(options, result, [&](const CompileOptions &own) {
    return options.stages.count ? makeStages(own, result, errors, begin) : makeKernels(own, result, errors, begin);
  });
}

CompileStatus Driver::run(ArrayRef<GraphOptions> graphs) {
  CompileStatus status = makeModules(graphs);
  if (status == CompileStatus::Done && !stopsInStage())
    dropUnusedLevel(options, result);
  // The plainest form is only the reference of a comparison, and compiles that observe values follow one that has said it.
  bool isFirst = status == CompileStatus::Done && !options.plain && !options.observation.any();
  for (auto [i, model] : llvm::enumerate(isFirst ? result.models() : std::vector<const Compilation *>()))
    if (std::string slow = describeFallbacks(findLoopFallbacks(*model)); !slow.empty())
      result.warnings.push_back((result.graphs.empty() ? "" : graphs.empty() ? model->name + ": " : graphs[i].name + ": ") + slow);
  if (status != CompileStatus::Done || stopsInStage())
    return status;
  std::vector<ModelSources> sources;
  status = emit(sources);
  setOrigin(graphs);
  if (status != CompileStatus::Done || options.stopAfter == "emit")
    return status;
  return options.webModules ? packageForWeb(sources) : package(sources.front());
}

CompileStatus compileModel(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors) {
  return compileGraphs(options, {}, result, errors);
}

CompileStatus compileGraphs(const CompileOptions &options, ArrayRef<GraphOptions> graphs, Compilation &result, std::vector<std::string> &errors) {
  CompileStatus status = Driver(options, result, errors).run(graphs);
  explainFailure(status, errors);
  return status;
}

} // namespace kiln
