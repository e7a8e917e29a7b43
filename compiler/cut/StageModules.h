//===- StageModules.h - One module for each stage --------------------------===//
//
//   func.func @main(%x) {                func.func @main(%x) {        func.func @main(%b, %y) {
//     %a = nn.group(%x)            =>      %a = nn.group(%x)     ,      %c = nn.group(%b, %y)
//     %c = nn.group(%a, %y)                return %a }                  return %c }
//     return %c }
//
// A border has the same name where it is an output and where it is an input. The metadata of each module says which stage it is (`kiln.stage` of
// `kiln.stages`), and of each input and output where it comes from and goes to: `kiln.input.NAME` is "given 2", the third input of the model, or "from 0";
// `kiln.output.NAME` is "to 1 3", "result 0", or "result 0 to 2". In a sharded model, `kiln.border.NAME` is "whole" or "part".
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_CUT_STAGEMODULES_H
#define KILN_COMPILER_CUT_STAGEMODULES_H

#include "compiler/cut/StepGraph.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseSet.h"

namespace kiln::cut {

/// A value that goes from a stage to later ones.
struct Border {
  std::string name;
  mlir::Type type;
  int64_t bytes;
  unsigned from;
  std::vector<unsigned> to;
  /// In a sharded model: "whole", or "part" if each rank has another part.
  llvm::StringRef form = {};
};

struct StageModule {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string name;
  /// Of the weights that the stage reads, each once.
  int64_t weightsBytes = 0;
};

/// The module cut in front of these steps. `name` is the model's; stages are called NAME_stage0 and so on. `parts` are the values of which each rank has a
/// part; null if the model is not sharded. False, with lines in `errors`, where buffers that were asked to be one would be in different stages.
bool makeStageModules(mlir::ModuleOp module, const StepGraph &graph, const llvm::DenseSet<mlir::Value> *parts, llvm::ArrayRef<unsigned> cuts,
                      llvm::StringRef name, std::vector<StageModule> &stages, std::vector<Border> &borders, std::vector<std::string> &errors);

} // namespace kiln::cut

#endif // KILN_COMPILER_CUT_STAGEMODULES_H
