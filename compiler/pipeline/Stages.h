//===- Stages.h - The stages of a compile, in one table --------------------===//
#ifndef KILN_COMPILER_PIPELINE_STAGES_H
#define KILN_COMPILER_PIPELINE_STAGES_H

#include "compiler/Limits.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace kiln {

/// The options of the passes.
struct PipelineOptions {
  /// auto, all, none, or mnemonics of nn operations to decompose.
  std::vector<std::string> decompose = {"auto"};
  /// Names of composites for which a target of the library has a function.
  std::vector<std::string> composites;
  /// The simplest form instead of the fastest: only the rewriting that later passes need, one operation per kernel, the most general kernels.
  bool plain = false;
  /// No rewriting that changes how results round.
  bool strict = false;
  /// Whether less memory is better than less time.
  bool smallest = false;
  /// Bytes of the workspace beyond which the compile ends; -1: any.
  int64_t mostWorkspace = -1;
  /// A composite that the target cannot keep whole is an error.
  bool keepComposites = false;
  /// Bytes of constants that a folded operation may read.
  int64_t foldBytes = Limits().foldBytes;
  /// Whether groups record why better kernels do not compute them, and the ONNX node whose groups record it for all kernels.
  bool explain = false;
  std::string explainNode;
  /// The accuracy of exp: `fast`, or OP=exact, OP=ulp4, OP=half. Empty: that of the operations.
  std::vector<std::string> accuracy;
  /// The types of factors: TYPE, NODE=TYPE. Empty: those of the model. In the plainest form, the types that are emulated: NODE=TYPE.
  std::vector<std::string> factors;
  /// The type of stored weights; empty: that of the model.
  std::string weightsType;
};

/// A stage that works on IR. `--stop-after`, the pipelines of kiln-opt, and the crash reproducer read this table.
struct Stage {
  llvm::StringLiteral name;
  /// Adds the stage's passes.
  void (*build)(mlir::OpPassManager &passes, const PipelineOptions &options);
  /// A description of the IR after the stage.
  llvm::StringLiteral promise;
  /// Whether the result depends on the target: a compile for several targets runs the stage for each.
  bool forTarget;
};

/// graph, target, kernel: the stages between import and emission.
llvm::ArrayRef<Stage> getStages();

/// Registers every stage as a pipeline `kiln-<name>`.
void registerStagePipelines();

} // namespace kiln

#endif // KILN_COMPILER_PIPELINE_STAGES_H
