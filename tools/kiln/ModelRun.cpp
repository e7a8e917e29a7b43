//===- ModelRun.cpp - A model compiled, loaded and given its inputs --------===//
#include "tools/kiln/ModelRun.h"
#include "dialects/kernel/Kernel.h"
#include "passes/target/choice/ByteTile.h"
#include "passes/target/choice/StepTile.h"
#include "compiler/emit/BuildText.h"
#include "compiler/emit/ClangCompiler.h"
#include "compiler/emit/CompilerFlags.h"
#include "compiler/emit/Objects.h"
#include "compiler/files/InputFile.h"
#include "compiler/files/Suggestion.h"
#include "compiler/run/DimText.h"
#include "compiler/run/Fill.h"
#include "compiler/run/Image.h"
#include "compiler/run/LibraryFolder.h"
#include "compiler/run/Npy.h"
#include "compiler/run/OnnxTensor.h"
#include "compiler/target/native/HiddenFeatures.h"
#include "dialects/kernel/Kernel.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/CompileFlags.h"
#include "tools/kiln/ImageFlags.h"
#include "tools/kiln/LaunchFlags.h"
#include "tools/kiln/Reporting.h"
#include "tools/kiln/SizeProposal.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <chrono>
#include <cmath>

using namespace llvm;

namespace kiln {

static cl::list<std::string> input("input", cl::desc("Values of an input: a file (.npy, .pb, a picture; any file for bytes of rank 1), or random[:SEED], "
                                                     "normal[:SD], uniform:LO:HI, randint:LO:HI, arange, zeros, ones, a number"),
                                   cl::value_desc("NAME=VALUE"), cl::sub(fillingCommands));
static cl::list<std::string> load("load", cl::desc("Shared library with the target's functions for composites"), cl::value_desc("LIBRARY.so"),
                                  cl::sub(runningCommands));
static cl::list<std::string> runDim("run-dim", cl::desc("Size of a dynamic dimension of filled inputs, or of one that no input has"),
                                    cl::value_desc("NAME=SIZE"), cl::sub(runningCommands));
static cl::opt<uint64_t> seed("seed", cl::desc("Seed of filled inputs (default: 0)"), cl::value_desc("N"), cl::init(0), cl::sub(fillingCommands));
static cl::opt<int> threads("threads", cl::desc("Number of threads that run the model; 0 means one per CPU (default: 1)"), cl::value_desc("N"), cl::init(1),
                            cl::sub(runningCommands));
static cl::opt<std::string> runner("runner",
    cl::desc("Command that runs a program of the target, given its path (default: qemu for another CPU, node for WebAssembly, Wine for Windows)"),
                                    cl::value_desc("COMMAND"),
                                   cl::sub(runCommand), cl::sub(verifyCommand), cl::sub(benchCommand), cl::sub(tuneCommand), cl::sub(reportCommand));

static ProbedSteps listSteps(kernel::TargetAttr target) {
  mlir::Builder b(target.getContext());
  mlir::Type brain = b.getBF16Type(), f32 = b.getF32Type();
  kernel::StepAttr byteTiles = findTileStep(target, b.getIntegerType(8, /*isSigned=*/false), b.getI8Type(), b.getI32Type());
  kernel::StepAttr brainTiles = findTileStep(target, brain, brain, f32), brainStep = brainTiles ? brainTiles : target.findStep(brain, brain, f32);
  return {(byteTiles ? byteTiles : findByteStep(target)).getFunction().str(), brainStep ? brainStep.getFunction().str() : ""};
}

static void describeTargets(ArrayRef<TargetModule> targets, RunnableModel &model) {
  for (const TargetModule &target : targets)
    if (kernel::TargetAttr attribute = kernel::getTarget(*target.module)) {
      model.vectorBits[attribute.getName().str()] = attribute.getVectorBits();
      model.steps[attribute.getName().str()] = listSteps(attribute);
    }
}

static Destination describeDestination(ArrayRef<TargetModule> targets) {
  Destination machine;
  for (const TargetModule &target : targets)
    if (kernel::TargetAttr attribute = kernel::getTarget(*target.module)) {
      machine.triple = Triple(attribute.getTriple());
      machine.cpu = attribute.getCpu().str();
      machine.vectorBits = std::max(machine.vectorBits, attribute.getVectorBits());
      machine.flags = targetFlags(attribute);
    }
  return machine;
}

/// The command for targets of another architecture or system, or the one that the user gives; empty where the model runs in this process.
static Expected<std::vector<std::string>> findRunner(const Destination &machine) {
  Triple host(sys::getProcessTriple());
  // The program around a model calls the system itself, and knows Linux' and Windows' calls.
  if (machine.triple.isOSDarwin() && !host.isOSDarwin())
    return findEmulator(machine);
  if (runner.getNumOccurrences()) {
    SmallVector<StringRef> words;
    StringRef(runner).split(words, ' ', -1, /*KeepEmpty=*/false);
    if (words.empty())
      return makeError("--runner: expected a command");
    return std::vector<std::string>(words.begin(), words.end());
  }
  if (machine.triple.getArch() == Triple::UnknownArch || (machine.triple.getArch() == host.getArch() && machine.triple.getOS() == host.getOS()))
    return std::vector<std::string>();
  return findEmulator(machine);
}

/// Whether KILN_CPU_WITHOUT lets this machine run a model for one target, whose library does not look at the environment.
static Error checkHiddenFeatures(ArrayRef<TargetModule> targets) {
  kernel::TargetAttr first = kernel::getTarget(*targets.front().module);
  if (!first || any_of(targets, [&](const TargetModule &target) { return kernel::getTarget(*target.module).getName() != first.getName(); }))
    return Error::success();
  for (const std::string &feature : neededFeatures(first))
    if (isHidden(feature))
      return makeError("the model is compiled for " + first.getName().str() + ", which needs " + feature + ", and this machine is used without " +
                       getHiddenFeatures() + " (KILN_CPU_WITHOUT)");
  return Error::success();
}

/// The command that runs code for the targets; empty where this process does.
static Expected<std::vector<std::string>> findMachine(ArrayRef<TargetModule> targets) {
  Expected<std::vector<std::string>> command = findRunner(describeDestination(targets));
  if (command && command->empty())
    if (Error error = checkHiddenFeatures(targets))
      return std::move(error);
  return command;
}

/// What this process has and another machine lacks.
static Error checkRunner(const Compilation &compilation) {
  if (!load.empty())
    return makeError("--load=" + load.front() + ": a model that another program runs calls no libraries");
  if (!compilation.libraries.empty())
    return makeError("a model that another program runs calls no libraries, but this one calls " + join(compilation.libraries, ", "));
  if (threads != 1)
    return makeError("--threads=" + Twine(int(threads)) + ": a model that another program runs has one thread");
  return Error::success();
}

/// Links the model as a program for the command.
static Error loadElsewhere(const CompileOptions &options, Compilation &compilation, std::vector<std::unique_ptr<MemoryBuffer>> objects,
                           std::unique_ptr<MemoryBuffer> weights, std::vector<std::string> command, RunnableModel &model) {
  if (Error error = checkRunner(compilation))
    return error;
  kernel::TargetAttr target = kernel::getTarget(*compilation.targets.front().module);
  mlir::FailureOr<Signature> signature = readSignature(*compilation.targets.front().module, compilation.name);
  if (mlir::failed(signature))
    return makeError("the model has no signature");
  signature->externalWeights = weights != nullptr;
  ModelSources runner;
  runner.units = printRunner(*signature, target);
  // Not by the model's compiler. Nothing of a model but its name is in them, so they are kept whenever parsed headers are.
  CacheOptions cache = options.cache;
  cache.keepsObjects = true;
  Expected<std::vector<ObjectFile>> around = compileObjects(runner, {"", 1, cache, nullptr});
  if (!around)
    return around.takeError();
  for (const ObjectFile &object : *around)
    objects.push_back(MemoryBuffer::getMemBufferCopy(StringRef(object.bytes.data(), object.bytes.size()), object.name));
  Expected<std::unique_ptr<Program>> program = Program::link(std::move(objects), describeDestination(compilation.targets), std::move(command));
  if (!program)
    return program.takeError();
  Expected<std::unique_ptr<LoadedModel>> loaded = LoadedModel::load(std::move(*program), std::move(weights));
  if (!loaded)
    return loaded.takeError();
  model.loaded = std::move(*loaded);
  return Error::success();
}

Error loadGivenFunctions() {
  for (const std::string &path : load)
    if (Error error = loadFunctions(path))
      return error;
  return Error::success();
}

/// Gives the other ranks of a launch what they need of the compile.
static Expected<std::shared_ptr<LaunchedModel>> shareModel(const Compilation &compilation, ArrayRef<std::unique_ptr<MemoryBuffer>> objects) {
  auto weights = [&](int32_t rank) { return compilation.rankWeights[size_t(rank)].toBuffer(); };
  return LaunchedModel::share(*getLaunch(), {compilation.name, compilation.libraries, objects, weights});
}

/// Its CPU can run the native target. Those of a launch's other ranks need not.
static CompileOptions formForThisMachine(CompileOptions options) {
  options.checksCpu = getLaunch() || options.targets != CompileOptions().targets;
  return options;
}

int loadOrReport(const CompileOptions &options, RunnableModel &model) {
  auto start = std::chrono::steady_clock::now();
  std::vector<std::unique_ptr<MemoryBuffer>> objects;
  std::vector<std::unique_ptr<MemoryBuffer>> weights;
  std::string name;
  std::vector<std::string> libraries, stages;
  std::shared_ptr<LaunchedModel> launched;
  {
    Compilation compilation;
    if (int status = compileOrReport(formForThisMachine(options), compilation))
      return status;
    model.libraryBytes = makeArchive(compilation).getSize() + compilation.weights.getSize();
    model.compileSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    name = compilation.name;
    libraries = compilation.libraries;
    for (const std::unique_ptr<Compilation> &graph : compilation.graphs)
      stages.push_back(graph->name);
    const std::vector<TargetModule> &targets = compilation.models().front()->targets;
    describeTargets(targets, model);
    Expected<std::vector<std::string>> command = findMachine(targets);
    if (!command)
      return report(command.takeError(), AtFault);
    // Nothing refers to the compilation afterwards: it goes before the linker makes its copy of the weights.
    for (const OutputFile &object : compilation.objects)
      objects.push_back(object.stream ? object.toBuffer() : MemoryBuffer::getMemBufferCopy(object.contents, object.path));
    if (!compilation.weights.path.empty())
      weights.push_back(compilation.weights.toBuffer());
    bool isLaunched = getLaunch() && !compilation.rankWeights.empty();
    for (const OutputFile &file : ArrayRef(compilation.rankWeights).take_front(isLaunched ? 1 : compilation.rankWeights.size()))
      weights.push_back(file.toBuffer());
    if (!command->empty() && !stages.empty())
      return report(makeError("--stages: a model in stages runs in this process, not by '" + command->front() + "'"), AtFault);
    if (!command->empty()) {
      if (!options.ranks.empty())
        return report(makeError("--ranks: a model that another program runs is not sharded"), AtFault);
      Error error = loadElsewhere(options, compilation, std::move(objects), weights.empty() ? nullptr : std::move(weights.front()), std::move(*command), model);
      return error ? report(std::move(error), AtFault) : int(Done);
    }
    if (isLaunched) {
      Expected<std::shared_ptr<LaunchedModel>> shared = shareModel(compilation, objects);
      if (!shared)
        return report(shared.takeError(), AtFault);
      launched = std::move(*shared);
    }
  }
  for (const std::string &library : libraries)
    if (Error error = loadLibrary(library))
      return report(std::move(error), AtFault);
  if (Error error = loadGivenFunctions())
    return report(std::move(error), AtFault);
  Expected<std::unique_ptr<LoadedModel>> loaded = stages.empty() ? LoadedModel::load(name, std::move(objects), std::move(weights))
                                                                 : LoadedModel::loadStages(name, stages, std::move(objects), std::move(weights));
  if (!loaded)
    return report(loaded.takeError(), AtFault);
  model.loaded = std::move(*loaded);
  if (launched)
    if (Error error = launched->confirm())
      return report(std::move(error), AtFault);
  model.loaded->setLaunched(std::move(launched));
  return Done;
}

/// False when the model has no input of that name.
static bool addSpec(const LoadedModel &model, StringRef name, StringRef value, InputSpecs &specs) {
  for (const LoadedModel::Slot &slot : model.getSlots(/*isOutput=*/false)) {
    if (slot.list && name == slot.list->name) {
      for (size_t i = 0; i < slot.count; ++i)
        specs[model.getInputs()[slot.first + i].name] = {value.str(), slot.list, i};
      if (slot.count == 0)
        specs[name.str()] = {value.str(), slot.list};
      return true;
    }
    for (const kiln_tensor_info &info : model.getInputs().slice(slot.first, slot.count))
      if (name == info.name) {
        specs[info.name] = {value.str()};
        return true;
      }
  }
  return false;
}

Expected<InputSpecs> getInputSpecs(const LoadedModel &model) {
  InputSpecs specs;
  StringSet<> names;
  // Wrong ones are told also where no input is a picture.
  if (Expected<ImageOptions> images = getImageOptions(); !images)
    return images.takeError();
  for (StringRef text : input) {
    bool found = false;
    for (size_t at = text.find('='); at != StringRef::npos && !found; at = text.find('=', at + 1)) {
      found = addSpec(model, text.take_front(at), text.drop_front(at + 1), specs);
      if (found && !names.insert(text.take_front(at)).second)
        return makeTwiceError("input", text, text.take_front(at));
    }
    if (!text.contains('='))
      return makeError("--input " + text + ": expected NAME=VALUE");
    if (!found)
      return makeError("--input " + text + ": the model has no input '" + text.split('=').first + "', but " +
                       join(map_range(model.getInputs(), [](const kiln_tensor_info &info) { return "'" + std::string(info.name) + "'"; }), ", "));
  }
  return specs;
}

Expected<std::vector<Tensor>> readListFile(StringRef path, const kiln_sequence_info &list) {
  Expected<std::unique_ptr<MemoryBuffer>> file = readInputFile(path, mostDataBytes);
  if (!file)
    return makeError(path + ": " + toString(file.takeError()));
  Expected<std::optional<std::vector<Tensor>>> tensors = readOnnxList((*file)->getBuffer(), list);
  if (!tensors)
    return makeError(path + ": " + toString(tensors.takeError()));
  auto describe = [](int64_t count) { return count < 0 ? std::string("no value") : std::to_string(count) + (count == 1 ? " element" : " elements"); };
  int64_t count = *tensors ? int64_t((*tensors)->size()) : -1;
  if (count != list.count)
    return makeError(path + ": '" + list.name + "' has " + describe(count) + ", but the model is compiled for " + describe(list.count) +
                     ": give --sequence or --absent");
  return *tensors ? std::move(**tensors) : std::vector<Tensor>();
}

/// Decodes a picture only when the input can take it.
static Expected<Tensor> readPicture(StringRef bytes, const kiln_tensor_info &info, const ImageOptions &options) {
  ElementType type = ElementType(info.element_type);
  ArrayRef<int64_t> dims(info.dims, info.rank);
  Expected<Image> size = readImageSize(bytes);
  if (!size)
    return size.takeError();
  if (Error error = checkImage(*size, type, dims, options))
    return std::move(error);
  // An input whose shape is fixed takes a picture of just this size, however large.
  Expected<Image> image = readImage(bytes, is_contained(dims, -1) || options.fit != "none" ? mostPixels : INT64_MAX);
  if (!image)
    return image.takeError();
  return makeTensor(*image, type, dims, options);
}

Expected<Tensor> readInput(const InputSpec &spec, const kiln_tensor_info &info) {
  StringRef path = spec.text;
  if (spec.list && (spec.list->is_sequence || path.ends_with(".pb"))) {
    if (!path.ends_with(".pb"))
      return makeError(path + ": a sequence needs a .pb file of ONNX test data; or give its elements, as in --input " + info.name + "=FILE");
    Expected<std::vector<Tensor>> tensors = readListFile(path, *spec.list);
    if (!tensors)
      return tensors.takeError();
    return std::move((*tensors)[spec.element]);
  }
  auto fail = [&](Error error) { return makeError(path + ": " + toString(std::move(error))); };
  Expected<std::unique_ptr<MemoryBuffer>> file = readInputFile(path, mostDataBytes);
  if (!file)
    return makeError(path + ": " + toString(file.takeError()) + " (expected a file, or values such as random:1, zeros or 0.5)");
  StringRef bytes = (*file)->getBuffer();
  Expected<Tensor> tensor = Tensor();
  bool isData = path.ends_with(".npy") || path.ends_with(".pb");
  if (!isData && info.element_type == KILN_ELEMENT_U8 && info.rank == 1) {
    // The model decodes it.
    tensor = Tensor::create(KILN_ELEMENT_U8, {int64_t(bytes.size())});
    if (tensor)
      llvm::copy(bytes, static_cast<char *>(tensor->getData()));
  } else if (isImage(bytes) || (!isData && isOtherImage(bytes))) {
    Expected<ImageOptions> options = getImageOptions();
    if (!options)
      return options.takeError();
    tensor = readPicture(bytes, info, *options);
  } else {
    tensor = path.ends_with(".pb") ? readOnnxTensor(bytes) : readNpy(bytes);
  }
  if (!tensor)
    return fail(tensor.takeError());
  return tensor;
}

static std::string suggestDim(StringRef name, ArrayRef<kiln_symbol_info> symbols) {
  std::vector<StringRef> names;
  for (const kiln_symbol_info &symbol : symbols)
    names.push_back(symbol.name);
  return suggest(name, names);
}

Expected<NamedSizes> readRunDims() {
  NamedSizes dims;
  for (StringRef text : runDim) {
    auto parsed = parseDimension("run-dim", text);
    if (!parsed)
      return parsed.takeError();
    if (!dims.insert(*parsed).second)
      return makeTwiceError("run-dim", text, parsed->first);
  }
  return dims;
}

static Expected<NamedSizes> getRunDims(const LoadedModel &model) {
  Expected<NamedSizes> dims = readRunDims();
  if (!dims)
    return dims;
  ArrayRef<kiln_symbol_info> symbols(model.getInfo().symbols, model.getInfo().num_symbols);
  for (const auto &[name, size] : *dims)
    if (none_of(symbols, [&name = name](const kiln_symbol_info &symbol) { return name == symbol.name; }))
      return makeError("--run-dim=" + name + "=" + Twine(size) + ": the model has no dynamic dimension '" + name + "'" + suggestDim(name, symbols) +
                       ", it has " +
                       (symbols.empty() ? "none" : join(map_range(symbols, [](auto &symbol) { return "'" + std::string(symbol.name) + "'"; }), ", ")));
  return dims;
}

Expected<Execution> prepareRun(const LoadedModel &model, ArrayRef<Tensor> inputs) {
  Expected<NamedSizes> dims = getRunDims(model);
  if (!dims)
    return dims.takeError();
  return Execution::prepare(model, inputs, *dims);
}

/// What is known of the dynamic dimensions before the inputs that need them are filled.
static Expected<NamedSizes> collectDims(const LoadedModel &model, ArrayRef<std::optional<Tensor>> given) {
  Expected<NamedSizes> found = getRunDims(model);
  if (!found)
    return found;
  NamedSizes dims = std::move(*found);
  for (auto [info, tensor] : zip_equal(model.getInputs(), given))
    for (int axis = 0; tensor && info.dim_symbols && axis < info.rank && size_t(axis) < tensor->getDims().size(); ++axis)
      if (info.dim_symbols[axis] >= 0)
        dims.emplace(model.getInfo().symbols[info.dim_symbols[axis]].name, tensor->getDims()[axis]);
  // A batch whose size nobody says is 1, where no other dimension is open.
  NamedSizes open = proposeSizes(model, dims);
  if (!areSingleBatches(model, open))
    return dims;
  for (const auto &[name, size] : open)
    errs() << "note: dimension '" << name << "' has no size, and is taken to be a batch of 1; --run-dim " << quoteForShell(name + "=N")
           << " gives another one\n";
  dims.insert(open.begin(), open.end());
  return dims;
}

/// What to type in place of this command line.
static std::string proposeCommand(const LoadedModel &model, const NamedSizes &dims, const std::string &open) {
  NamedSizes sizes = proposeSizes(model, dims);
  if (sizes.empty())
    return "give --run-dim " + open + "=N";
  std::string command = "kiln";
  for (const Command &each : getCommands())
    command += *each.subcommand ? " " + each.subcommand->getName().str() : "";
  for (const std::string &word : getArguments())
    command += " " + quoteForShell(word);
  for (const auto &[name, size] : sizes)
    command += " --run-dim " + quoteForShell(name + "=" + std::to_string(size));
  return "for example " + command + " (sizes that the model can take; it does not say for which it was made)";
}

static Expected<Tensor> fillInput(const LoadedModel &model, const kiln_tensor_info &info, const Fill &fill, const NamedSizes &dims) {
  if (Error error = checkFill(fill, ElementType(info.element_type)))
    return makeError("input '" + Twine(info.name) + "': " + toString(std::move(error)));
  std::vector<int64_t> values;
  for (int symbol = 0; symbol < model.getInfo().num_symbols; ++symbol) {
    auto found = dims.find(model.getInfo().symbols[symbol].name);
    bool used = info.dim_symbols && is_contained(ArrayRef(info.dim_symbols, info.rank), symbol);
    if (found == dims.end() && used)
      return makeError("input '" + Twine(info.name) + "': dimension '" + model.getInfo().symbols[symbol].name + "' has no size: " +
                       proposeCommand(model, dims, model.getInfo().symbols[symbol].name) + ", or --dim to make it static");
    values.push_back(found == dims.end() ? 1 : found->second);
  }
  auto shape = model.getShape(info, values);
  if (!shape)
    return shape.takeError();
  Expected<Tensor> tensor = Tensor::create(ElementType(info.element_type), *shape);
  if (tensor)
    fillTensor(*tensor, fill, seed, info.name);
  return tensor;
}

Error checkRanges(const LoadedModel &model, ArrayRef<Tensor> inputs, const CompileOptions &options) {
  for (auto [info, tensor] : zip_equal(model.getInputs(), inputs)) {
    auto range = options.inputRanges.find(info.name);
    for (int64_t i = 0; range != options.inputRanges.end() && i < tensor.getNumElements(); ++i) {
      double value = tensor.getValue(i);
      auto [low, high] = range->second;
      if (!(low <= value && value <= high))
        return createStringError(std::errc::invalid_argument, "input '%s': value %g at %lld lies outside of --input-range=%s=%g:%g", info.name, value,
                                 (long long)i, info.name, low, high);
    }
  }
  return Error::success();
}

/// A filled input keeps the promise about it.
static std::string chooseFill(StringRef fallback, const kiln_tensor_info &info, const CompileOptions &options) {
  auto range = options.inputRanges.find(info.name);
  bool isBounded = range != options.inputRanges.end() && std::isfinite(range->second.first) && std::isfinite(range->second.second);
  if (fallback.empty() || !isBounded)
    return fallback.str();
  auto [low, high] = range->second;
  return low == high ? formatv("{0}", low).str() : formatv("uniform:{0}:{1}", low, high).str();
}

Expected<std::vector<Tensor>> makeInputs(const LoadedModel &model, const InputSpecs &specs, StringRef fallback, const CompileOptions &options) {
  std::vector<std::optional<Tensor>> tensors(model.getInputs().size());
  std::vector<std::optional<Fill>> fills(tensors.size());
  std::vector<std::string> missing;
  for (auto [index, info] : enumerate(model.getInputs())) {
    auto found = specs.find(info.name);
    InputSpec spec = found == specs.end() ? InputSpec{chooseFill(fallback, info, options)} : found->second;
    if (spec.text.empty()) {
      missing.push_back("'" + std::string(info.name) + "'");
      continue;
    }
    Expected<std::optional<Fill>> fill = parseFill(spec.text);
    if (!fill)
      return makeError("input '" + Twine(info.name) + "': " + toString(fill.takeError()));
    fills[index] = *fill;
    if (*fill)
      continue;
    Expected<Tensor> tensor = readInput(spec, info);
    if (!tensor)
      return tensor.takeError();
    tensors[index] = std::move(*tensor);
  }
  for (const auto &[name, spec] : specs)
    if (spec.list && spec.list->count <= 0)
      if (auto nothing = readListFile(spec.text, *spec.list); !nothing)
        return nothing.takeError();
  if (!missing.empty())
    return makeError("no values for input " + join(missing, ", ") + ": give --input NAME=VALUE");
  Expected<NamedSizes> dims = collectDims(model, tensors);
  if (!dims)
    return dims.takeError();
  std::vector<Tensor> inputs;
  for (auto [index, info] : enumerate(model.getInputs())) {
    Expected<Tensor> tensor = fills[index] ? fillInput(model, info, *fills[index], *dims) : std::move(*tensors[index]);
    if (!tensor)
      return tensor.takeError();
    inputs.push_back(std::move(*tensor));
  }
  if (Error error = checkRanges(model, inputs, options))
    return std::move(error);
  return inputs;
}

kiln_context makePlainContext() {
  kiln_context context = KILN_CONTEXT_INIT;
  context.decode_image = kiln_images_decode;
  return context;
}

Expected<std::unique_ptr<ThreadPool>> ThreadPool::create() {
  auto result = std::make_unique<ThreadPool>();
  if (::kiln::threads != 1) {
    if (::kiln::threads < 0 || ::kiln::threads > KILN_POOL_MAX_THREADS)
      return makeError("--threads=" + Twine(::kiln::threads) + ": expected 0 to " + Twine(int(KILN_POOL_MAX_THREADS)));
    if (kiln_status status = kiln_pool_create(::kiln::threads, &result->pool))
      return makeError("--threads=" + Twine(::kiln::threads) + ": " + kiln_status_string(status));
    kiln_pool_context(result->pool, &result->context);
    result->threads = result->context.num_threads;
  }
  result->context.decode_image = kiln_images_decode;
  result->context.decode_user = &result->images;
  return std::move(result);
}

ThreadPool::~ThreadPool() { kiln_pool_destroy(pool); }

} // namespace kiln
