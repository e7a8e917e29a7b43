//===- NodeComparison.h - Comparison of a model's values with its simplest form -------===//
#ifndef KILN_TOOLS_KILN_NODECOMPARISON_H
#define KILN_TOOLS_KILN_NODECOMPARISON_H

#include "compiler/run/Compare.h"
#include "passes/graph/ObserveValues.h"
#include "tools/kiln/ModelRun.h"
#include <map>
#include <set>

namespace kiln {

/// One value of the model, computed by the compiled form and by the reference from the same inputs.
struct NodeVerdict {
  ObservableValue value;
  /// The kernel that computes it, and all its nodes; empty if no kernel ends here.
  std::string algorithm;
  std::set<std::string> kernelNodes;
  Comparison comparison;
};

/// How far a product of rounded factors or weights may be from that of the given ones, as a part of the sum of the products' magnitudes: the larger of what
/// --compute, --op-compute and --weights-type ask for, together. 0: nothing is rounded.
double getRoundingBound(const CompileOptions &options);

/// By how much a model's values are rounded because they have 16 bits, each as a part of itself; 0 without such values. The execution shows them.
double getUnitOfValues(const Execution &execution);

/// The options of a comparison, in addition to those of the compile.
struct NodeRequest {
  /// End a kernel at every node, so that every value is visible. Otherwise use the library's kernels.
  bool everyNode = false;
  /// Relative and absolute error bounds. Negative: defaults by element type, with the absolute one relative to the tensor's largest value.
  double rtol = -1, atol = -1;
  /// How much a quantised value may differ in steps.
  StepBounds steps = {};
  /// A value to falsify; after a `+`, only in the library's kernels.
  std::string fault;
};

struct NodeReport {
  std::vector<NodeVerdict> verdicts;
  /// Values that exist only in registers inside a kernel.
  std::vector<ObservableValue> hidden;
  /// The values inside the first wrong kernel, computed by separate kernels.
  std::vector<NodeVerdict> inside;
  /// The compared form and its run, whose first outputs are the model's.
  RunnableModel model;
  std::optional<Execution> execution;
};

/// What the compile's values stand for, by their names: those that are quantised, or dequantised, with constants. Reports errors and returns the exit status.
int listQuantized(const CompileOptions &options, std::map<std::string, nn::TensorQuantization> &quantized);

/// compareInSteps() for a value that is quantised, else compare().
Comparison compareQuantized(const Tensor &got, const Tensor &want, double rtol, double atol, const nn::TensorQuantization *quantization, StepBounds bounds);

/// Makes the inputs for a loaded model.
using MakeInputs = llvm::function_ref<llvm::Expected<std::vector<Tensor>>(const LoadedModel &)>;

/// Compiles the model with visible kernel results, and its simplest form, cut at these values: each part reads the values that the compiled form has
/// computed, so an error shows only where it arises. Reports errors and returns the exit status.
int compareNodes(const CompileOptions &options, const NodeRequest &request, MakeInputs makeInputs, const kiln_context &context,
                 std::vector<Tensor> &inputs, NodeReport &report);

} // namespace kiln

#endif // KILN_TOOLS_KILN_NODECOMPARISON_H
