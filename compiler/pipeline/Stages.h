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

/// What a user can change about the passes.
struct PipelineOptions {
  /// auto, all, none, or mnemonics of nn operations to decompose.
  std::vector<std::string> decompose = {"auto"};
  /// Names of composites that some target of the library has a function for.
  std::vector<std::string> composites;
  /// The plainest form instead of the fastest: no rewriting beyond what later passes need, one operation a kernel, the least special kernels.
  bool plain = false;
  /// No rewriting that changes how results round.
  bool strict = false;
  /// A composite that the target cannot hold whole is an error.
  bool keepComposites = false;
  /// Bytes of constants that one operation may read and still be folded.
  int64_t foldBytes = Limits().foldBytes;
  /// Whether groups tell why better kernels do not compute them, and the ONNX node whose groups tell it of all kernels.
  bool explain = false;
  std::string explainNode;
  /// How well each exp is computed: `fast`, or OP=exact, OP=ulp4, OP=half. Empty: as the operations say.
  std::vector<std::string> accuracy;
};

/// A stage that works on IR. `--stop-after`, the pipelines of kiln-opt, the crash reproducer and docs/generated/Pipeline.md read this table.
struct Stage {
  llvm::StringLiteral name;
  /// Adds the stage's passes.
  void (*build)(mlir::OpPassManager &passes, const PipelineOptions &options);
  /// What holds of the IR afterwards.
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
