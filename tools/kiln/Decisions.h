//===- Decisions.h - What the compiler chose, and why ----------------------===//
#ifndef KILN_TOOLS_KILN_DECISIONS_H
#define KILN_TOOLS_KILN_DECISIONS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <string>
#include <vector>

namespace kiln {

/// A group or kernel: the ONNX nodes it computes, the algorithm and the reason.
struct Decision {
  std::string nodes, algorithm, reason, shapes;
};

/// Groups after the target stage, kernels after the kernel stage, in order; nothing before.
std::vector<Decision> collectDecisions(mlir::ModuleOp module);

/// One line for each decision on stderr.
void printDecisions(mlir::ModuleOp module);

llvm::json::Array decisionsToJson(llvm::ArrayRef<Decision> decisions);

/// The ONNX operators of a module after import, with the number of nodes each.
std::map<std::string, unsigned> countOperators(mlir::ModuleOp module);

} // namespace kiln

#endif // KILN_TOOLS_KILN_DECISIONS_H
