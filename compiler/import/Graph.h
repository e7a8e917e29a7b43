//===- Graph.h - From a model's graph to a module ---------------------------===//
#ifndef KILN_COMPILER_IMPORT_GRAPH_H
#define KILN_COMPILER_IMPORT_GRAPH_H

#include "compiler/import/SignatureReader.h"
#include "mlir/IR/OwningOpRef.h"

namespace kiln::import {

class ModelFile;

/// A module, and what an import that failed leaves to know.
struct GraphResult {
  /// Null after an error.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// The results of @main that are the model's outputs.
  unsigned outputs = 0;
  bool hasUnsupported = false;
  /// Empty or a sentence on declared shapes that are not what the nodes compute.
  std::string contradictions;
  /// Sentences on what has been left out (BodyImporter::listWarnings).
  std::vector<std::string> warnings;
};

/// Imports the main graph of a model once, under these assumptions.
GraphResult importGraph(mlir::MLIRContext &context, const ImportOptions &options, ModelFile &file, Diagnostics &diagnostics, SqueezedDims &squeezed,
                        Assumptions &assumptions);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_GRAPH_H
