//===- NodeComparison.h - A model's values against its plainest form -------===//
#ifndef KILN_TOOLS_KILN_NODECOMPARISON_H
#define KILN_TOOLS_KILN_NODECOMPARISON_H

#include "compiler/Observe.h"
#include "compiler/run/Compare.h"
#include "tools/kiln/ModelRun.h"
#include <set>

namespace kiln {

/// One value of the model, computed by the compiled form and by the reference from the same inputs.
struct NodeVerdict {
  ObservableValue value;
  /// The kernel that computes it, and all nodes in that; empty when no kernel ends here.
  std::string algorithm;
  std::set<std::string> kernelNodes;
  Comparison comparison;
};

/// What a comparison is asked to do, besides the options of the compile.
struct NodeRequest {
  /// Kernels end at every node, so that every value can be seen; otherwise they are the library's.
  bool everyNode = false;
  /// Relative and absolute bound; negative: by element type, the absolute one relative to the tensor's largest value.
  double rtol = -1, atol = -1;
  /// A value to falsify; behind a `+` only in the library's own kernels.
  std::string fault;
};

struct NodeReport {
  std::vector<NodeVerdict> verdicts;
  /// Values that exist in registers only, inside a kernel.
  std::vector<ObservableValue> hidden;
  /// Narrowed down: the values inside the first wrong kernel, computed by kernels of their own.
  std::vector<NodeVerdict> inside;
  /// The form that was compared, and its run, whose first outputs are the model's own.
  RunnableModel model;
  std::optional<Execution> execution;
};

/// Makes the inputs for a loaded model.
using MakeInputs = llvm::function_ref<llvm::Expected<std::vector<Tensor>>(const LoadedModel &)>;

/// Compiles the model so that the results of its kernels can be seen, and its plainest form with the model cut at these values: each part computes
/// from what the compiled form computed before it, so that an error shows where it arises and nowhere else. Reports errors and returns the
/// exit status.
int compareNodes(const CompileOptions &options, const NodeRequest &request, MakeInputs makeInputs, const kiln_context &context,
                 std::vector<Tensor> &inputs, NodeReport &report);

} // namespace kiln

#endif // KILN_TOOLS_KILN_NODECOMPARISON_H
