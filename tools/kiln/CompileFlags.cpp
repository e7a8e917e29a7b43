//===- CompileFlags.cpp - The command-line options of a compile -----===//
#include "tools/kiln/CompileFlags.h"
#include "compiler/emit/Identifiers.h"
#include "compiler/emit/SharedCache.h"
#include "compiler/files/InputFile.h"
#include "compiler/pipeline/Ranks.h"
#include "compiler/import/Import.h"
#include "compiler/run/Tensor.h"
#include "compiler/target/System.h"
#include "compiler/target/Targets.h"
#include "dialects/nn/RealNumber.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/StageFlags.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace llvm;

namespace kiln {

static cl::list<std::string> models(cl::Positional, cl::OneOrMore, cl::desc("[GRAPH=]MODEL.onnx..."), cl::sub(compileCommand));
// A list, so that a second one is refused in our own words.
static cl::SubCommandGroup modelCommands{&runCommand, &verifyCommand, &benchCommand, &tuneCommand, &quantizeCommand, &reportCommand, &inspectCommand};
static cl::list<std::string> model(cl::Positional, cl::OneOrMore, cl::desc("MODEL.onnx"), cl::sub(modelCommands));
// None with --measure.
static cl::list<std::string> plannedModel(cl::Positional, cl::ZeroOrMore, cl::desc("MODEL.onnx"), cl::sub(planCommand));
static cl::opt<std::string> name("name", cl::desc("Prefix of all external symbols (default: made from the file name)"), cl::value_desc("NAME"),
    cl::sub(codeCommands));
static std::string describeTargetOption() {
  std::string text = "CPU to compile for: ";
  for (const Target &known : getTargets())
    text += known.name.str() + (known.name == "native" ? " (default), " : ", ");
  return text + "or a .json or .mlir file that describes one. With several, the library chooses at run time; --target=list shows what each has";
}
static const std::string targetOption = describeTargetOption();

static cl::list<std::string> target("target", cl::CommaSeparated,
    cl::desc(targetOption),
    cl::value_desc("CPU,..."), cl::sub(codeCommands));
static cl::opt<std::string> system("system",
    cl::desc("Operating system to compile for, on 64-bit x86 and Arm: linux, windows (mingw), windows-msvc or macos (default: the target's)"),
    cl::value_desc("NAME"), cl::sub(codeCommands));
static cl::list<std::string> library("library",
    cl::desc("Map operations to a library: onednn for those it was measured to be faster at, onednn:all for all it supports, or onednn:conv,matmul,..."),
    cl::value_desc("NAME[:OP,...]"), cl::sub(compilingCommands));
static cl::list<std::string> dim("dim", cl::desc("Make a named dimension static, or give it bounds, which every run checks"),
                                 cl::value_desc("NAME=SIZE|NAME=LO..HI"), cl::sub(codeCommands));
static cl::list<std::string> renames("rename", cl::desc("Give a named dimension another name, which the header, all messages and all other options then use"),
                                     cl::value_desc("DIM=NAME"), cl::sub(compilingCommands));
static cl::list<std::string> specialize("specialize",
    cl::desc("Also compile versions for these sizes of a dynamic dimension; a run uses the version that fits, or the general one"),
    cl::value_desc("NAME=SIZE,..."), cl::sub(codeCommands));
static cl::opt<std::string> ranks("ranks", cl::desc("Cut the model into parts for this many processes, which run it together (docs/Ranks.md)"),
                                  cl::value_desc("N"), cl::sub(compilingCommands));
static cl::opt<std::string> grid("grid", cl::desc("The same for processes in a grid: one axis cuts tensors, the other what is left of them"),
                                 cl::value_desc("NxM"), cl::sub(compilingCommands));
static cl::list<std::string> shard("shard",
    cl::desc("How --ranks cuts an input, an output or the result of a node (* in its name stands for any text): the dimension for each axis of the grid, - for "
             "none; auto (default) decides by cost; FILE has such lines"),
    cl::value_desc("auto|FILE|NAME=DIM,..."), cl::sub(compilingCommands));
static cl::list<std::string> shape("shape", cl::desc("Make the shape of an input static; ? leaves a dimension dynamic"), cl::value_desc("INPUT=1x3x224x224"),
    cl::sub(compilingCommands));
static cl::list<std::string> bind("bind", cl::desc("Make an input a constant, or give one that has a default another value (?: each call gives it)"),
    cl::value_desc("INPUT=NUMBER,...|?"), cl::sub(compilingCommands));
static cl::list<std::string> sequence("sequence",
    cl::desc("Length of an input that is a sequence, and shapes of its elements if the model does not declare them: one for all or one for each"),
    cl::value_desc("INPUT=LENGTH[:2x3,...]"), cl::sub(compilingCommands));
static cl::list<std::string> absent("absent", cl::desc("Compile for an optional input without a value (default: with a value)"), cl::value_desc("INPUT"),
    cl::sub(compilingCommands));
static cl::list<std::string> inputRange("input-range",
                                        cl::desc("Promise that the values of an input are in a range, which lets the compiler remove clamps and maxima. kiln "
                                                 "run, verify and bench check the range and fill the input from it; compiled models do not check it"),
                                        cl::value_desc("INPUT=LO:HI"), cl::sub(compilingCommands));
static cl::list<std::string> inPlace("in-place",
    cl::desc("Allow an output to be the buffer of an input, which a run then updates; an error if that is impossible. For a cache that a Concat "
             "extends, both tensors get room for ROWS rows. A * in both names stands for the same text"),
    cl::value_desc("OUTPUT=INPUT[:ROWS]"), cl::sub(compilingCommands));
static cl::list<std::string> ioLayout("io-layout",
    cl::desc("Layout in which the caller gives an input or takes an output: nhwc, nwc or ndhwc. Without TENSOR=, that of every input and output of its rank"),
    cl::value_desc("[TENSOR=]LAYOUT"), cl::sub(compilingCommands));
static cl::opt<Accuracy> accuracy("accuracy", cl::value_desc("LEVEL"),
    cl::desc("How far results may differ in rounding: strict (no folding of factors and biases into weights, no Winograd convolution), default (folding that "
             "stays within a few units in the last place) or fast (exp within 4 ulp, or 2^-12 if rounded to f16 or bf16, in softmax, sigmoid and similar "
             "operations); recorded in the library"),
    cl::init(Accuracy::Default), cl::sub(codeCommands),
    cl::values(clEnumValN(Accuracy::Strict, "strict", ""), clEnumValN(Accuracy::Default, "default", ""), clEnumValN(Accuracy::Fast, "fast", "")));
static cl::list<std::string> opAccuracy("op-accuracy", cl::CommaSeparated,
    cl::desc("Accuracy of the exp in operations of one name: exact, ulp4 or half, as in softmax=ulp4"), cl::value_desc("OP=HOW,..."),
    cl::sub(codeCommands));
static cl::list<std::string> functions("functions",
    cl::desc("Take the functions that the model calls and does not have from this ONNX file (.onnx, .onnxtxt, .textproto); its domains must have the "
             "versions that the model imports"),
    cl::value_desc("FILE"), cl::sub(compilingCommands));
static cl::list<std::string> ops("ops",
    cl::desc("Take the operators that the model calls and nobody else has from this file of definitions (docs/Operators.md)"),
    cl::value_desc("FILE"), cl::sub(codeCommands));
static cl::list<std::string> delegate("delegate",
    cl::desc("Have functions of the program's compute these operators, in groups as large as possible, and write each group as an ONNX file for the "
             "delegate's own compiler (docs/Delegates.md)"),
    cl::value_desc("NAME:OP,..."), cl::sub(compilingCommands));
static cl::opt<std::string> compute("compute",
    cl::desc("Round both factors of f32 products and convolutions to bf16, f16 or bf16x2 (two terms of bf16), with sums of f32, where the target has an "
             "instruction that makes it faster; recorded in the library"),
    cl::value_desc("TYPE"), cl::sub(compilingCommands));
static cl::list<std::string> opCompute("op-compute", cl::CommaSeparated,
    cl::desc("The same for the products and convolutions of one ONNX node, which overrides --compute; f32 leaves them as they are"),
    cl::value_desc("NODE=TYPE,..."), cl::sub(compilingCommands));
static cl::opt<std::string> weightsType("weights-type",
    cl::desc("Store constant f32 weights of products, convolutions and embeddings as f16, bf16, int8 (a scale for each channel) or int4 (products: a scale "
             "for each block of 32); what computes with them stays f32"),
    cl::value_desc("TYPE"), cl::sub(compilingCommands));
static cl::opt<bool> flushSubnormals("flush-subnormals",
    cl::desc("Let kernels take subnormal numbers for zero, on CPUs that have a mode for it; recorded in the library"), cl::sub(codeCommands));
static cl::opt<std::string> memory("memory",
    cl::desc("What comes first: fastest (default), or smallest: kernels in the order that needs least memory, cheap values computed again"),
                                   cl::value_desc("GOAL"), cl::init("fastest"), cl::sub(compilingCommands));
static cl::opt<std::string> maxWorkspace("max-workspace",
    cl::desc("Bytes of the workspace, such as 65536, 64K or 2M, beyond which the compile is an error that names the operations that need most"),
                                         cl::value_desc("SIZE"), cl::sub(compilingCommands));
static cl::list<std::string> decompose("decompose", cl::CommaSeparated,
    cl::desc("Composites to split into simpler operations: auto (default), all, none, or names such as softmax"), cl::value_desc("OP,..."),
    cl::sub(compilingCommands));
static cl::opt<bool> strict("strict",
    cl::desc("Report an error instead of splitting a composite for which the target has no fused kernel, and for a declared shape that is not what the nodes "
             "compute"),
    cl::sub(compilingCommands));
static cl::opt<bool> followLinks("follow-links",
    cl::desc("Read weights in files of their own through symbolic links, and from files with several hard links, as caches of models have them. They may "
             "then lie anywhere"),
    cl::sub(compilingCommands));
static cl::opt<std::string> weights("weights", cl::desc("Where to put the weights: embed (default) or file"), cl::value_desc("PLACE"), cl::init("embed"),
    cl::sub(packagingCommands));
static cl::list<std::string> limit("limit", cl::CommaSeparated,
    cl::desc("Change a limit, here with its default. On the model: rank (32), nodes (400000, after inlining of functions), operands (16384 inputs or outputs "
             "of a node), depth (100, of functions and branches), tensor-bytes (8 GiB), fold-bytes (64 MiB of constants that an operation folded at "
             "compile time may read). On a run: string-bytes (65536, of the text that an operator creates, with a 64th more for each string), "
             "string-parts (256, that StringSplit and Tokenizer find in a string), image-height and image-width (4096, that ImageDecoder decodes)"),
    cl::value_desc("NAME=NUMBER,..."), cl::sub(compilingCommands));
static cl::opt<std::string> cxx("cxx", cl::desc("C++ compiler for the objects (default: built in)"), cl::value_desc("COMPILER"),
    cl::sub(codeCommands));
static cl::opt<bool> hidden("hidden", cl::desc("Let shared libraries and plugins that the model is linked into hide its functions"),
    cl::sub(compileCommand), cl::sub(inspectCommand));
static cl::opt<unsigned> jobs("jobs", cl::desc("Number of translation units to compile at once (default: one per CPU)"), cl::value_desc("N"), cl::init(0),
    cl::sub(codeCommands));
static cl::opt<std::string> profileFile("profile",
    cl::desc("Use the measured choices of kernels in a profile from kiln tune"), cl::value_desc("FILE"), cl::sub(compilingCommands));
static cl::opt<bool> noCache("no-cache", cl::desc("Do not use the kernel cache"), cl::sub(codeCommands));
static cl::opt<std::string> crash("debug-crash", cl::desc("Crash immediately or in a stage, to test crash handling"), cl::Hidden, cl::ValueOptional,
                                  cl::value_desc("STAGE"), cl::sub(codeCommands));

static Error wrong(StringRef option, StringRef text, const Twine &expected) {
  return makeError("--" + option + "=" + text + ": expected " + expected);
}

Error makeTwiceError(StringRef option, StringRef text, StringRef name) { return makeError("--" + option + "=" + text + ": '" + name + "' is given twice"); }

/// Keeps a value of an option that has one for each name.
template <typename Value> static Error keep(StringRef option, StringRef text, std::map<std::string, Value> &entries, StringRef name, Value value) {
  bool isNew = entries.emplace(name.str(), std::move(value)).second;
  return isNew ? Error::success() : makeTwiceError(option, text, name);
}

Expected<std::pair<std::string, int64_t>> parseDimension(StringRef option, StringRef text) {
  auto [key, value] = text.rsplit('=');
  int64_t number;
  if (key.empty() || value.getAsInteger(10, number) || number < 0)
    return wrong(option, text, "NAME=SIZE");
  return std::make_pair(key.str(), number);
}

/// NAME=SIZE, or NAME=LO..HI, which leaves the dimension dynamic.
static Error parseDim(StringRef text, CompileOptions &options) {
  auto [key, value] = text.rsplit('=');
  auto [low, high] = value.split("..");
  int64_t first, last;
  if (key.empty() || low.getAsInteger(10, first) || first < 0)
    return wrong("dim", text, "NAME=SIZE or NAME=LO..HI");
  bool bounded = value.contains("..");
  if (bounded && (high.getAsInteger(10, last) || last < first))
    return wrong("dim", text, "NAME=LO..HI with 0 <= LO <= HI");
  if (bounded ? options.dims.count(key.str()) : options.dimBounds.count(key.str()))
    return makeError("--dim=" + text + ": '" + key + "' cannot be static and have bounds");
  return bounded ? keep("dim", text, options.dimBounds, key, {first, last}) : keep("dim", text, options.dims, key, first);
}

static Error parseRename(StringRef text, CompileOptions &options) {
  auto [key, name] = text.rsplit('=');
  bool isName = !name.empty() && !isDigit(name.front()) && all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
  if (key.empty() || !isName)
    return wrong("rename", text, "DIM=NAME, where NAME has letters, digits and _");
  return keep("rename", text, options.renames, key, name.str());
}

static Error parseSpecialize(StringRef text, CompileOptions &options) {
  auto [key, list] = text.rsplit('=');
  SmallVector<StringRef> parts;
  list.split(parts, ',');
  std::vector<int64_t> &sizes = options.specialize[key.str()];
  for (StringRef part : parts) {
    int64_t size;
    if (key.empty() || part.getAsInteger(10, size) || size < 0)
      return wrong("specialize", text, "NAME=SIZE,...");
    if (is_contained(sizes, size))
      return makeError("--specialize=" + text + ": " + part + " is given twice");
    sizes.push_back(size);
  }
  return Error::success();
}

static Error parseShape(StringRef text, CompileOptions &options) {
  auto [input, sizes] = text.rsplit('=');
  SmallVector<StringRef> parts;
  sizes.split(parts, 'x', -1, /*KeepEmpty=*/!sizes.empty());
  std::vector<int64_t> shape;
  for (StringRef part : parts) {
    int64_t size = -1;
    if (part != "?" && (part.getAsInteger(10, size) || size < 0))
      return wrong("shape", text, "INPUT=1x3x224x224");
    shape.push_back(size);
  }
  return input.empty() ? wrong("shape", text, "INPUT=1x3x224x224") : keep("shape", text, options.shapes, input, std::move(shape));
}

static Error parseRange(StringRef text, CompileOptions &options) {
  auto [input, range] = text.rsplit('=');
  auto [low, high] = range.split(':');
  std::pair<double, double> bounds;
  if (input.empty() || !parseReal(low, bounds.first) || !parseReal(high, bounds.second) || !(bounds.first <= bounds.second))
    return wrong("input-range", text, "INPUT=LO:HI with LO <= HI");
  return keep("input-range", text, options.inputRanges, input, bounds);
}

static Error parseLimit(StringRef text, Limits &limits) {
  auto [key, value] = text.split('=');
  int64_t *limit = StringSwitch<int64_t *>(key)
                       .Case("rank", &limits.rank)
                       .Case("nodes", &limits.nodes)
                       .Case("operands", &limits.operands)
                       .Case("depth", &limits.depth)
                       .Case("tensor-bytes", &limits.tensorBytes)
                       .Case("fold-bytes", &limits.foldBytes)
                       .Case("string-bytes", &limits.stringBytes)
                       .Case("string-parts", &limits.stringParts)
                       .Case("image-height", &limits.imageHeight)
                       .Case("image-width", &limits.imageWidth)
                       .Default(nullptr);
  if (!limit || value.getAsInteger(10, *limit) || *limit < 0)
    return wrong("limit", text,
                 "NAME=NUMBER; the names are rank, nodes, operands, depth, tensor-bytes, fold-bytes, string-bytes, string-parts, image-height and image-width");
  return Error::success();
}

static bool isComputeType(StringRef text) { return is_contained({"f32", "bf16", "f16", "bf16x2"}, text); }

std::optional<int64_t> parseBytes(StringRef text) {
  unsigned shift = text.consume_back("K") ? 10 : text.consume_back("M") ? 20 : 0;
  int64_t number;
  if (text.getAsInteger(10, number) || number < 0 || number > INT64_MAX >> shift)
    return std::nullopt;
  return number << shift;
}

static Error setMemory(CompileOptions &options) {
  if (memory != "fastest" && memory != "smallest")
    return wrong("memory", memory, "fastest or smallest");
  options.smallestMemory = memory == "smallest";
  if (!maxWorkspace.getNumOccurrences())
    return Error::success();
  std::optional<int64_t> bytes = parseBytes(maxWorkspace);
  if (!bytes)
    return wrong("max-workspace", maxWorkspace, "a number of bytes, such as 65536, 64K or 2M");
  options.mostWorkspace = *bytes;
  return Error::success();
}

static Error setRounding(CompileOptions &options) {
  if (compute.getNumOccurrences() && !isComputeType(compute))
    return wrong("compute", compute, "bf16, f16, bf16x2 or f32");
  for (StringRef text : opCompute)
    if (auto [node, type] = text.rsplit('='); node.empty() || !text.contains('=') || !isComputeType(type))
      return wrong("op-compute", text, "NODE=TYPE, where TYPE is bf16, f16, bf16x2 or f32");
  if (weightsType.getNumOccurrences() && !is_contained({"f32", "f16", "bf16", "int8", "int4"}, StringRef(weightsType)))
    return wrong("weights-type", weightsType, "f16, bf16, int8, int4 or f32");
  options.accuracy = accuracy;
  options.opAccuracy.assign(opAccuracy.begin(), opAccuracy.end());
  options.compute = compute;
  options.opCompute.assign(opCompute.begin(), opCompute.end());
  options.weightsType = weightsType;
  options.flushSubnormals = flushSubnormals;
  return Error::success();
}

/// What a compile aims at.
static Error setGoals(CompileOptions &options) {
  if (Error error = setRounding(options))
    return error;
  return setMemory(options);
}

/// The targets, each with the system behind an @ where one is given.
static Error readTargets(CompileOptions &options) {
  if (!target.empty())
    options.targets.assign(target.begin(), target.end());
  if (system.empty())
    return Error::success();
  std::string suffix = "@" + system;
  for (std::string &name : options.targets) {
    StringRef whole = name += suffix;
    if (takeSystem(whole).empty())
      return wrong("system", system, "linux, windows, windows-msvc or macos");
  }
  return Error::success();
}

/// $KILN_CACHE_DIR, or the user's folder for caches; empty when there is none.
static std::string findCacheFolder() {
  if (std::optional<std::string> folder = sys::Process::GetEnv("KILN_CACHE_DIR"))
    return *folder;
  SmallString<128> path;
  if (!sys::path::cache_directory(path))
    return "";
  sys::path::append(path, "kiln");
  return std::string(path);
}

/// Sets the cache from the environment: KILN_CACHE=off, headers or the address of a shared one, KILN_CACHE_DIR, KILN_CACHE_LIMIT in MB.
static Error setCache(CompileOptions &options) {
  constexpr uint64_t defaultLimit = 512;
  std::string state = sys::Process::GetEnv("KILN_CACHE").value_or("on"), limit = sys::Process::GetEnv("KILN_CACHE_LIMIT").value_or("");
  bool isShared = state != "on" && state != "off" && state != "headers";
  if (isShared)
    if (auto address = readSharedCacheAddress(state); !address)
      return makeError("KILN_CACHE=" + state + ": " + toString(address.takeError()));
  uint64_t megabytes = defaultLimit;
  if (!limit.empty() && (StringRef(limit).getAsInteger(10, megabytes) || megabytes > UINT64_MAX >> 20))
    return makeError("KILN_CACHE_LIMIT=" + limit + ": expected a number of megabytes");
  options.cache.limit = megabytes << 20;
  if (state == "off" || noCache)
    return Error::success();
  options.cache.folder = findCacheFolder();
  options.cache.keepsObjects = state != "headers";
  options.cache.shared = isShared ? state : "";
  return Error::success();
}

/// The name as C and the IR have it, so that the IR can be read back; empty: none is given.
static Error readName(CompileOptions &options) {
  std::string identifier = name.empty() ? "" : makeIdentifier(name);
  if (isSystemHeader(identifier))
    return makeError("--name=" + name + ": the header would be called " + identifier + ".h, which hides the system's: choose another name");
  if (identifier.size() > longestModelName)
    return makeError("--name: has " + std::to_string(identifier.size()) + " characters, the limit is " + std::to_string(longestModelName));
  options.name = identifier;
  return Error::success();
}

/// Which outputs are where inputs were, and the layouts of both. Operands of `kiln kernels` may be packed, too, but nobody can ask for that here.
static Error readTensorRequests(CompileOptions &options) {
  for (StringRef text : inPlace) {
    auto [output, input] = text.split('=');
    if (output.empty() || input.empty() || output.count('*') > 1 || output.count('*') != input.count('*'))
      return wrong("in-place", text, "OUTPUT=INPUT or OUTPUT=INPUT:ROWS, with at most one * on both sides");
    options.inPlace.push_back(text.str());
  }
  options.ioLayouts.assign(ioLayout.begin(), ioLayout.end());
  for (StringRef text : options.ioLayouts)
    if (text.ends_with("=packed"))
      return wrong("io-layout", text, "nwc, nhwc or ndhwc, alone or behind TENSOR=");
  return Error::success();
}

/// The dimensions, their names and their sizes.
static Error readSizes(CompileOptions &options) {
  auto readAll = [&](const cl::list<std::string> &texts, Error (*parse)(StringRef, CompileOptions &)) -> Error {
    for (StringRef text : texts)
      if (Error error = parse(text, options))
        return error;
    return Error::success();
  };
  if (Error error = readAll(dim, parseDim))
    return error;
  if (Error error = readAll(renames, parseRename))
    return error;
  if (Error error = readAll(specialize, parseSpecialize))
    return error;
  return readAll(shape, parseShape);
}

static Error readShardings(CompileOptions &options) {
  for (StringRef text : shard) {
    if (text == "auto")
      continue;
    if (text.contains('=')) {
      options.shardings.push_back(text.str());
      continue;
    }
    Expected<std::unique_ptr<MemoryBuffer>> file = readInputFile(text, mostTextBytes);
    if (!file)
      return makeError("--shard=" + text + ": " + toString(file.takeError()));
    for (StringRef line : split((*file)->getBuffer(), '\n'))
      if (line = line.split('#').first.trim(); !line.empty())
        options.shardings.push_back(line.str());
  }
  return Error::success();
}

StringRef getRanksText() { return ranks; }
bool hasRanks() { return !ranks.empty() || !grid.empty(); }

/// The ranks, and what is asked of the cut.
static Error readRanks(CompileOptions &options) {
  // Which tries several numbers of them.
  if (planCommand)
    return readShardings(options);
  if (!ranks.empty() && !grid.empty())
    return makeError("--ranks and --grid both say how many processes there are");
  options.ranks = ranks.empty() ? grid : ranks;
  int64_t count = 0;
  if (!ranks.empty() && (StringRef(ranks).getAsInteger(10, count) || count < 2))
    return wrong("ranks", ranks, "a number of at least 2");
  if (options.ranks.empty())
    return shard.empty() ? Error::success() : makeError("--shard needs --ranks or --grid");
  if (countRanks(options) < 2)
    return wrong(ranks.empty() ? "grid" : "ranks", options.ranks, "2 to 256 processes, in up to three axes");
  return readShardings(options);
}

/// What comes from outside of the model.
static void setLibraries(CompileOptions &options) {
  options.libraries.assign(library.begin(), library.end());
  options.functions.assign(functions.begin(), functions.end());
  options.definitions.assign(ops.begin(), ops.end());
  options.delegates.assign(delegate.begin(), delegate.end());
}

ArrayRef<std::string> getModels() {
  if (planCommand)
    return plannedModel;
  if (models.empty())
    return model;
  return models;
}

Expected<CompileOptions> getCompileOptions() {
  if (ArrayRef<std::string> given = getModels(); given.size() > 1)
    return makeError("several models, " + given[0] + " and " + given[1] + ": only kiln compile takes more than one; name the one that is meant");
  return getLibraryOptions();
}

Expected<CompileOptions> getLibraryOptions() {
  if (crash.getNumOccurrences() && crash.empty())
    abort();
  CompileOptions options;
  if (Error error = readName(options))
    return std::move(error);
  options.crashIn = crash;
  options.model = getModels().empty() ? "" : getModels().front(); // kernels have none
  if (Error error = readTargets(options))
    return std::move(error);
  setLibraries(options);
  if (Error error = readRanks(options))
    return std::move(error);
  if (!decompose.empty())
    options.decompose.assign(decompose.begin(), decompose.end());
  options.strict = strict;
  options.followLinks = followLinks;
  if (Error error = setGoals(options))
    return std::move(error);
  options.cxx = cxx;
  options.profile = profileFile;
  options.jobs = jobs;
  if (Error error = setCache(options))
    return std::move(error);
  Expected<StageRequest> stages = getStageRequest();
  if (!stages)
    return stages.takeError();
  options.stages = std::move(*stages);
  if (weights != "embed" && weights != "file")
    return wrong("weights", weights, "embed or file");
  options.externalWeights = weights == "file";
  options.isInternal = hidden;
  if (Error error = readSizes(options))
    return std::move(error);
  for (StringRef text : bind) {
    auto [input, value] = text.split('=');
    // `INPUT=` binds an input without elements.
    if (input.empty() || !text.contains('='))
      return wrong("bind", text, "INPUT=NUMBER,...");
    if (Error error = keep("bind", text, options.bindings, input, value.str()))
      return std::move(error);
  }
  for (StringRef text : sequence) {
    auto [input, value] = text.rsplit('=');
    if (input.empty() || value.empty())
      return wrong("sequence", text, "INPUT=LENGTH or INPUT=LENGTH:2x3,...");
    if (Error error = keep("sequence", text, options.sequences, input, value.str()))
      return std::move(error);
  }
  options.absent.insert(absent.begin(), absent.end());
  for (StringRef text : inputRange)
    if (Error error = parseRange(text, options))
      return std::move(error);
  if (Error error = readTensorRequests(options))
    return std::move(error);
  for (StringRef text : limit)
    if (Error error = parseLimit(text, options.limits))
      return std::move(error);
  return options;
}

} // namespace kiln
