//===- GraphRows.h - The ONNX graph, as a report has it ----------------------===//
#ifndef KILN_COMPILER_REPORT_GRAPHROWS_H
#define KILN_COMPILER_REPORT_GRAPHROWS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include <set>
#include <string>
#include <vector>

namespace kiln {

/// The inputs, outputs and nodes of a model, with numbers for the rest of the report to refer to.
class GraphRows {
public:
  /// Reads a module after import: nodes in the order of the graph, and which of them use the results of others.
  void read(mlir::ModuleOp module);
  /// The number of a node; one that the graph does not have gets a row of its own.
  int64_t find(llvm::StringRef node);
  /// The numbers of all nodes of a location, or of a list of names.
  llvm::json::Array find(mlir::Location location);
  llvm::json::Array find(mlir::ArrayAttr names);
  /// {nodes, edges}.
  llvm::json::Object toJson() const;

private:
  struct Row {
    std::string name, kind, op, type;
    int64_t weightBytes = 0;
  };
  int64_t add(llvm::StringRef name, llvm::StringRef kind);
  /// The row that a value comes from; -1: it is a constant.
  int64_t findSource(mlir::Value value);
  void connect(mlir::Operation *op, int64_t row);

  std::vector<Row> rows;
  llvm::StringMap<int64_t> numbers;
  std::vector<int64_t> inputs;
  /// From row to row; a set in the order in which they were found.
  llvm::MapVector<std::pair<int64_t, int64_t>, std::string> edges;
  mlir::ArrayAttr symbols;
};

/// f32[1,64,seq].
std::string describeType(mlir::Type type, mlir::ArrayAttr symbols);

/// What is known of the values of each operation after the graph stage, other than that they are of their type: {node, op, type, low, high, nan}. An end
/// without a bound is null.
llvm::json::Array listRanges(mlir::ModuleOp module, GraphRows &graph);

} // namespace kiln

#endif // KILN_COMPILER_REPORT_GRAPHROWS_H
