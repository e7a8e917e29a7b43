//===- Decisions.h - What the compiler chose, and why ----------------------===//
#ifndef KILN_COMPILER_DECISIONS_H
#define KILN_COMPILER_DECISIONS_H

#include "compiler/Compile.h"
#include "dialects/nn/NN.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <string>
#include <vector>

namespace kiln {

/// A group or kernel: the ONNX nodes it computes, the algorithm and the reason.
struct Decision {
  /// Empty when there is one target.
  std::string target;
  std::string nodes, algorithm, reason, shapes;
  /// The least accurate form of exp in it, as the kernel headers name it; empty when it has none, or only in f64.
  std::string exponential = {};
  /// Kernels that do not compute it, and why: those that were asked for.
  std::vector<std::pair<std::string, std::string>> refusals = {};
};

/// The ONNX nodes behind a location, without repetition.
llvm::SetVector<llvm::StringRef> listNodes(mlir::Location location);

/// What the target stage decided for a group.
Decision describeGroup(nn::GroupOp group);

/// Groups after the target stage, kernels after the kernel stage, in order, target by target; nothing before.
std::vector<Decision> collectDecisions(const Compilation &compilation);

/// What a compiled model moves and needs; -1 where the stages have not come to that, or where dimensions decide.
struct MemoryUse {
  /// Transposes that move data at run time, at the graph's inputs and outputs or inside.
  int64_t layoutConversions = -1;
  /// The arena, and the most bytes alive at one time: no arena is smaller.
  int64_t workspaceBytes = -1, workspaceLowerBound = -1;
};
MemoryUse describeMemory(const Compilation &compilation);

/// One line for each composite and decision on stderr, and one for the memory.
void printDecisions(const Compilation &compilation);

/// On stderr, the kernels that compute an ONNX node, and why others do not. False: there is none.
bool printDecisionsFor(const Compilation &compilation, llvm::StringRef node);

/// `nodes: algorithm - reason; exp within N ulp`, behind the target when there are several.
std::string toLine(const Decision &decision);

/// What became of each composite: fused or split, what decided, and the bytes that either form moves.
llvm::json::Array compositesToJson(const Compilation &compilation);

llvm::json::Array decisionsToJson(llvm::ArrayRef<Decision> decisions);

/// The ONNX operators of a module after import, with the number of nodes each.
std::map<std::string, int64_t> countOperators(mlir::ModuleOp module);

} // namespace kiln

#endif // KILN_COMPILER_DECISIONS_H
