//===- StepGraph.h - Where a model can be cut into stages ------------------===//
//
// After the target stage, @main is a straight line of groups and choices, the steps, if it has no loops. A cut in front of a step divides them into two stages,
// if the values that cross it are whole buffers of their own.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_CUT_STEPGRAPH_H
#define KILN_COMPILER_CUT_STEPGRAPH_H

#include "dialects/nn/NN.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>
#include <vector>

namespace kiln::cut {

/// What a symbol counts as in estimates, as in those of the lowering.
inline constexpr int64_t typicalSymbol = 64;

/// The bytes of a tensor, at typical sizes where they depend on dimensions.
int64_t estimateBytes(mlir::Type type);

/// The ONNX nodes of a step, `relu_1(Relu)`, in their order.
std::vector<std::string> listStepNodes(mlir::Operation *op);

struct Step {
  mlir::Operation *op;
  /// Whether it becomes a kernel; a view does not.
  bool hasKernel = true;
  /// The constants that it reads.
  llvm::SmallVector<mlir::Value, 2> weights = {};
  int64_t weightsBytes = 0;
  /// In microseconds of one core; measureSteps (StepCosts.h) sets it.
  double time = 0;
};

/// A result of a step that later steps read, reshapes seen through.
struct CrossingValue {
  mlir::Value value;
  unsigned first, last;
  int64_t bytes;
};

class StepGraph {
public:
  /// Puts the operations of @main into the order of a run. Fails where there is none, as the lowering would.
  static mlir::FailureOr<StepGraph> make(mlir::func::FuncOp main);

  std::vector<Step> steps;
  std::vector<CrossingValue> values;
  /// For each step why the model cannot be cut in front of it; empty: it can. The first has no cut.
  std::vector<std::string> obstacles;
  /// The bytes that cross a cut in front of each step, and those of all values that live while it runs.
  std::vector<int64_t> crossingBytes, liveBytes;

  /// The steps that the model may be cut in front of with kernels on both sides, as many as there can be.
  std::vector<unsigned> listCuts() const;

private:
  void addSteps(mlir::func::FuncOp main);
  void addValues();
  void forEachUse(llvm::function_ref<void(CrossingValue &, unsigned, mlir::OpOperand &)> call);
  void addObstacle(unsigned first, unsigned last, llvm::StringRef text);
};

} // namespace kiln::cut

#endif // KILN_COMPILER_CUT_STEPGRAPH_H
