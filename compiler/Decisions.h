//===- Decisions.h - The compiler's choices, with their reasons ----------------------===//
#ifndef KILN_COMPILER_DECISIONS_H
#define KILN_COMPILER_DECISIONS_H

#include "compiler/Compile.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/NodeNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <string>
#include <vector>

namespace kiln {

/// The choice for a group or kernel: the ONNX nodes that it computes, the algorithm and the reason.
struct Decision {
  /// Empty if there is only one target.
  std::string target;
  std::string nodes, algorithm, reason, shapes;
  /// The name of the least accurate form of exp that it uses; empty if it uses none, or only f64.
  std::string exponential = {};
  /// Kernels that do not compute it, and why: those that were asked for.
  std::vector<std::pair<std::string, std::string>> refusals = {};
};

using nn::listNodes;

/// The target stage's choice for a group.
Decision describeGroup(nn::GroupOp group);

/// The kernel stage's record of the choice for a kernel.
Decision describeKernel(mlir::func::FuncOp kernel);

/// Groups after the target stage, kernels after the kernel stage, in order, target by target; nothing before.
std::vector<Decision> collectDecisions(const Compilation &compilation);

/// A product or convolution of some size that only the general loops compute.
struct LoopFallback {
  std::string target, nodes, algorithm;
  /// The best kernel that is written for such work, and why it does not compute this.
  std::string refused, reason;
  /// Its operations in a run, and those of all kernels; -1 if they depend on dimensions.
  int64_t flops = -1, allFlops = -1;
};

/// After the kernel stage, those that take more operations than loops are right for, the largest first.
std::vector<LoopFallback> findLoopFallbacks(const Compilation &compilation);

/// One warning for all of them, with the names of a few; empty if there are none.
std::string describeFallbacks(llvm::ArrayRef<LoopFallback> fallbacks);

llvm::json::Array fallbacksToJson(llvm::ArrayRef<LoopFallback> fallbacks);

/// Memory use of a compiled model. Values are -1 if their stage has not run or if they depend on dimensions.
struct MemoryUse {
  /// Transposes that move data at run time, at the graph's inputs and outputs or inside.
  int64_t layoutConversions = -1;
  /// The size of the arena, and its lower bound: the largest number of bytes that are alive at the same time.
  int64_t workspaceBytes = -1, workspaceLowerBound = -1;
  /// Copies that only put slices of an exchange in order. Models that are not sharded have none.
  int64_t sliceCopies = -1;
};
MemoryUse describeMemory(const Compilation &compilation);
MemoryUse describeMemory(const TargetModule &target);

/// Prints one line for each composite and decision to stderr, and one for the memory.
void printDecisions(const Compilation &compilation);

/// Prints the kernels that compute an ONNX node, why others do not, and the composite that it is nearly a part of, to stderr. Returns false if no kernel does.
bool printDecisionsFor(const Compilation &compilation, llvm::StringRef node);

/// `nodes: algorithm - reason; exp within N ulp`, preceded by the target if there are several.
std::string toLine(const Decision &decision);

/// The form of each composite (fused or split), the reason, and the bytes that each form moves.
llvm::json::Array compositesToJson(const Compilation &compilation);
llvm::json::Array compositesToJson(const TargetModule &target);

llvm::json::Array decisionsToJson(llvm::ArrayRef<Decision> decisions);

/// The ONNX operators of a module after import, with the number of nodes each.
std::map<std::string, int64_t> countOperators(mlir::ModuleOp module);

} // namespace kiln

#endif // KILN_COMPILER_DECISIONS_H
