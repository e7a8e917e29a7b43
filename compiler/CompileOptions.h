//===- CompileOptions.h - What a user can ask of a compile -----------------===//
#ifndef KILN_COMPILER_COMPILEOPTIONS_H
#define KILN_COMPILER_COMPILEOPTIONS_H

#include "compiler/Limits.h"
#include "compiler/Profile.h"
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kiln {

enum class Accuracy { Strict, Default, Fast };

/// What a compile shows of the values inside the model, besides its outputs. `kiln verify` compares two compiles that show the same.
struct Observation {
  /// ONNX names of values that become outputs, behind the model's own.
  std::vector<std::string> values;
  bool everything = false;
  /// Where an observed value is used, it is an input: each part of the model computes from what the caller gives it.
  bool cut = false;
  /// A value that is made wrong on purpose, to test that this is found.
  std::string fault;
  bool any() const { return everything || !values.empty() || !fault.empty(); }
};

/// Every option of a compile. tools/kiln/CompileFlags.cpp has one line for each.
struct CompileOptions {
  /// The ONNX file; or IR (.mlir, .mlirbc), which enters after the stage that it shows.
  std::string model;
  /// Prefix of all external symbols; empty: made from the file name.
  std::string name;
  /// Names of targets; several give one library with a choice at run time.
  std::vector<std::string> targets = {"native"};
  /// Libraries that every target lists besides its own: NAME, NAME:all or NAME:OP,...
  std::vector<std::string> libraries;
  /// Named dimensions that become static.
  std::map<std::string, int64_t> dims;
  /// The lowest and highest size of named dimensions that stay dynamic.
  std::map<std::string, std::pair<int64_t, int64_t>> dimBounds;
  /// Sizes of named dimensions that have versions of the model for them alone, one for each combination.
  std::map<std::string, std::vector<int64_t>> specialize;
  /// Inputs' shapes; -1 leaves a dimension as the model has it.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Inputs that become constants: a number, or all elements separated by commas.
  std::map<std::string, std::string> bindings;
  /// Inputs that are sequences: LENGTH, or LENGTH:SHAPE,... with one shape for all elements or one for each.
  std::map<std::string, std::string> sequences;
  /// Optional inputs without a value.
  std::set<std::string> absent;
  /// What the caller promises about the values of inputs: lowest and highest.
  std::map<std::string, std::pair<double, double>> inputRanges;
  /// Outputs that may be an input's own buffer: OUTPUT=INPUT, or OUTPUT=INPUT:ROWS for a cache; one * stands for the same text on both sides.
  std::vector<std::string> inPlace;
  Accuracy accuracy = Accuracy::Default;
  /// The accuracy of exp in the nn operations of one name, before what `accuracy` says: OP=exact, OP=ulp4, OP=half.
  std::vector<std::string> opAccuracy;
  /// auto, all, none, or mnemonics of nn operations to decompose.
  std::vector<std::string> decompose = {"auto"};
  /// A composite that the target must split, though nobody asked for it, is an error.
  bool strict = false;
  Observation observation;
  /// Sizes that broadcast with each other are equal, instead of a version for that beside the model as ONNX has it.
  bool assumeEqual = false;
  /// The plainest form instead of the fastest: one operation a kernel, the least special kernels. What a compile is compared with.
  bool plain = false;
  /// Whether to tell why better kernels were not chosen, and the ONNX node for which to tell it of all kernels.
  bool explain = false;
  std::string explainNode;
  /// A file of measured choices, and choices that go before those of the file.
  std::string profile;
  std::vector<ProfileEntry> choices;
  /// Weights go to a file of their own instead of into the object.
  bool externalWeights = false;
  Limits limits;
  /// A C++ compiler to make the objects with; empty: Clang's libraries, in process.
  std::string cxx;
  /// Threads that compile translation units; 0: one for each CPU.
  unsigned jobs = 0;
  /// Where objects are kept for later compiles, and the bytes that it may hold; empty: nowhere.
  std::string cacheFolder;
  uint64_t cacheLimit = 0;
  /// The last stage to run: import, graph, target, kernel, emit; empty: all.
  std::string stopAfter;
  /// Whether the IR and the failing passes are kept when a pass fails: in a file of the folder for crashes (compiler/CrashFolder.h).
  bool keepReproducer = false;
  /// A stage whose first pass crashes, to test what a crash does.
  std::string crashIn;
  /// Called at the start of each step with its name, done and total counts; may be empty.
  std::function<void(const std::string &step, unsigned done, unsigned total)> progress;
};

} // namespace kiln

#endif // KILN_COMPILER_COMPILEOPTIONS_H
