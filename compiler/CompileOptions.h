//===- CompileOptions.h - The options of a compile -----------------===//
#ifndef KILN_COMPILER_COMPILEOPTIONS_H
#define KILN_COMPILER_COMPILEOPTIONS_H

#include "compiler/ImageOptions.h"
#include "compiler/Limits.h"
#include "compiler/Profile.h"
#include "compiler/emit/CacheOptions.h"
#include "compiler/emit/Guarantees.h"
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kiln {

struct Compilation;
struct WholeWork;

enum class Accuracy { Strict, Default, Fast };

/// The values inside a model that a compile exposes as additional outputs. `kiln verify` compares two compiles that expose the same values.
struct Observation {
  /// ONNX names of values that become outputs, after the model's own.
  std::vector<std::string> values;
  bool everything = false;
  /// Replace the uses of observed values by inputs, so that each part of the model computes from the caller's values.
  bool cut = false;
  /// A value to change on purpose, to test that the change is found.
  std::string fault;
  bool any() const { return everything || !values.empty() || !fault.empty(); }
};

/// How a model becomes a pipeline of stages.
struct StageRequest {
  /// 0: it does not.
  unsigned count = 0;
  /// ONNX nodes behind which the model is cut; empty: where the estimates say.
  std::vector<std::string> cutBehind = {};
  /// The most bytes of weights and of values at one time in a stage; -1: any.
  int64_t mostBytes = -1;
  /// The one stage that the library has, less than `count`; -1: all.
  int only = -1;
};

/// Every option of a compile. tools/kiln/CompileFlags.cpp has one line for each.
struct CompileOptions {
  /// The ONNX file, or IR (.mlir, .mlirbc), which enters the pipeline after the stage that produced it.
  std::string model;
  /// Prefix of all external symbols; empty: made from the file name.
  std::string name;
  /// Names of targets. With several, the library chooses one at run time.
  std::vector<std::string> targets = {"native"};
  /// Keep a level without tiles (AMX) in a library for one target that has them, because the system may refuse a process the registers for tiles.
  bool levelWithoutTiles = false;
  /// Whether a library for one target asks if the CPU can run it. A process that runs a model for its own machine knows.
  bool checksCpu = true;
  /// Libraries that are added to those of every target: NAME, NAME:all or NAME:OP,...
  std::vector<std::string> libraries;
  /// Named dimensions that become static.
  std::map<std::string, int64_t> dims;
  /// The lowest and highest size of named dimensions that stay dynamic.
  std::map<std::string, std::pair<int64_t, int64_t>> dimBounds;
  /// Other names for dimensions, which all other options use.
  std::map<std::string, std::string> renames;
  /// Sizes of named dimensions for which to compile special versions, one for each combination.
  std::map<std::string, std::vector<int64_t>> specialize;
  /// The grid of ranks that run the model together, "4" or "2x4"; empty: it is not sharded. And what is asked of the cut: TENSOR=DIM,...
  std::string ranks;
  std::vector<std::string> shardings;
  /// The one rank that is compiled, to see what it takes; -1: all.
  int64_t onlyRank = -1;
  /// Compile the code of each rank by itself, also where ranks differ in their weights only.
  bool separateRanks = false;
  /// Shapes of inputs; -1 leaves a dimension unchanged.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Inputs that become constants: a number, or all elements separated by commas. `?` leaves an input with a default to the caller.
  std::map<std::string, std::string> bindings;
  /// Inputs that are sequences: LENGTH, or LENGTH:SHAPE,... with one shape for all elements or one for each.
  std::map<std::string, std::string> sequences;
  /// Optional inputs without a value.
  std::set<std::string> absent;
  /// Files of ONNX functions, and of definitions of operators, for domains that the model imports.
  std::vector<std::string> functions, definitions;
  /// Operators that functions of the program's compute, in groups: NAME:OP,...
  std::vector<std::string> delegates;
  /// The lowest and highest values of inputs, as promised by the caller.
  std::map<std::string, std::pair<double, double>> inputRanges;
  /// Outputs that may be an input's own buffer: OUTPUT=INPUT, or OUTPUT=INPUT:ROWS for a cache; one * stands for the same text on both sides.
  std::vector<std::string> inPlace;
  /// The layouts in which the caller has inputs and outputs: TENSOR=LAYOUT, or LAYOUT for all of its rank.
  std::vector<std::string> ioLayouts;
  /// The model's functions are only for other objects of the same library: shared libraries hide them.
  bool isInternal = false;
  /// What becomes of pictures in programs that call the model, for the header.
  std::optional<ImageOptions> images;
  Accuracy accuracy = Accuracy::Default;
  /// The accuracy of exp in the nn operations of one name, which overrides `accuracy`: OP=exact, OP=ulp4, OP=half.
  std::vector<std::string> opAccuracy;
  /// The type that factors of f32 products and convolutions are rounded to: bf16, f16 or bf16x2; empty or f32: none.
  std::string compute;
  /// The same for one ONNX node, which overrides it: NODE=TYPE.
  std::vector<std::string> opCompute;
  /// The type in which constant f32 weights are stored: f16, bf16, int8 or int4; empty or f32: as they are.
  std::string weightsType;
  /// Kernels take subnormal numbers for zero.
  bool flushSubnormals = false;
  /// Whether less memory is better than less time.
  bool smallestMemory = false;
  /// The most bytes that the workspace may have; -1: any.
  int64_t mostWorkspace = -1;
  /// auto, all, none, or mnemonics of nn operations to decompose.
  std::vector<std::string> decompose = {"auto"};
  /// Report an error for a composite that must be split because the target has no kernel for it, and for a declared shape that contradicts the nodes.
  bool strict = false;
  /// Weights may lie behind links, from `--follow-links`.
  bool followLinks = false;
  Observation observation;
  /// Inputs and outputs that --shard cuts stay whole in the signature, so that a comparison sees all of them.
  bool wholeSignature = false;
  /// Assume that sizes that broadcast with each other are equal, instead of compiling a version for that case beside the general model.
  bool assumeEqual = false;
  /// Compile the simplest form instead of the fastest: one operation per kernel, and the most general kernels. It is the reference of `kiln verify`.
  bool plain = false;
  /// Whether to explain why better kernels were not chosen, and the ONNX node for which to explain it for all kernels.
  bool explain = false;
  std::string explainNode;
  /// A profile, and choices that override it.
  std::string profile;
  std::vector<ProfileEntry> choices;
  /// Write the weights to a separate file instead of into the object.
  bool externalWeights = false;
  /// What the objects are checked for.
  Guarantees guarantees;
  /// Write the C++ as one file.
  bool singleSource = false;
  /// Link each target, which must be one for WebAssembly, to a module for JavaScript.
  bool webModules = false;
  Limits limits;
  StageRequest stages;
  /// The C++ compiler for the objects; empty: Clang's libraries, in process.
  std::string cxx;
  /// Number of threads that compile translation units; 0: one per CPU.
  unsigned jobs = 0;
  CacheOptions cache;
  /// The last stage to run: import, graph, target, kernel, emit; empty: all.
  std::string stopAfter;
  /// Whether to write a reproducer to the crash folder (compiler/CrashFolder.h) when a pass fails.
  bool keepReproducer = false;
  /// A stage whose first pass crashes, to test crash handling.
  std::string crashIn;
  /// Called at the start of each step with its name, done and total counts; may be empty.
  std::function<void(const std::string &step, unsigned done, unsigned total)> progress;
  /// Called after import and each stage on IR, with its name and the modules as they are then; may be empty. Not for a library of several models.
  std::function<void(const std::string &stage, const Compilation &compilation)> afterStage;
  /// A compile that has stopped after a stage, import or graph, of the same model with the same options but for ranks; null: the model is imported. Both
  /// compiles share a context.
  std::shared_ptr<const Compilation> graph;
  std::string graphStage = "graph";
  /// Called when it is decided how the ranks cut the model, with what they do not cut; may be empty.
  std::function<void(const WholeWork &work)> onWholeWork;
};

} // namespace kiln

#endif // KILN_COMPILER_COMPILEOPTIONS_H
