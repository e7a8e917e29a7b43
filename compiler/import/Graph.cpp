//===- Graph.cpp - From a model's graph to a module -------------------------===//
//
// Three objects share the work: SymbolicSizes knows the dimensions, SignatureReader makes arguments and results of @main, and BodyImporter the operations
// between them.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Graph.h"
#include "compiler/import/BodyImporter.h"
#include "compiler/import/ModelCheck.h"
#include "compiler/import/onnx.pb.h"
#include "dialects/nn/Constraints.h"
#include "dialects/nn/SignatureAttributeNames.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace kiln::import {

/// Erases the operations without users, except those that are needed.
static void eraseDead(func::FuncOp function, llvm::function_ref<bool(Operation *)> isNeeded) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.front())))
    if (op.use_empty() && isPure(&op) && !op.hasTrait<OpTrait::IsTerminator>() && !isNeeded(&op))
      op.erase();
}

/// Makes composites of calls. Shape arithmetic that became part of types leaves dead operations behind.
static void makeComposites(func::FuncOp function, Calls &calls) {
  llvm::DenseSet<Value> borders = calls.listBorders();
  eraseDead(function, [&](Operation *op) { return llvm::any_of(op->getResults(), [&](Value result) { return borders.contains(result); }); });
  calls.makeComposites(function.front());
  eraseDead(function, [](Operation *) { return false; });
}

/// An error if the choice of dimensions that are 1 has turned out to contradict the constraints.
static LogicalResult checkSqueezed(SymbolicSizes &sizes, Diagnostics &diagnostics) {
  const SqueezedDims &squeezed = sizes.getSqueezed();
  for (AffineExpr dim : squeezed.asked)
    if (auto size = nn::getConstantDim(sizes.usePinned(dim)); size && (*size == 1) != llvm::is_contained(squeezed.ones, dim))
      return diagnostics.error("a Squeeze without axes and other nodes do not agree on whether dimension " + nn::formatDim(dim) + " is 1");
  return success();
}

/// The file's metadata_props for the library's table, which is no place for large values. Programs believe the keys that Kiln writes.
static std::vector<std::pair<std::string, std::string>> readMetadata(const onnx::ModelProto &model) {
  constexpr size_t mostBytes = size_t(1) << 16;
  std::vector<std::pair<std::string, std::string>> metadata;
  for (const auto &entry : model.metadata_props())
    if (entry.key().size() + entry.value().size() <= mostBytes && !llvm::StringRef(entry.key()).starts_with(nn::ownMetadata))
      metadata.push_back({entry.key(), entry.value()});
  return metadata;
}

static LogicalResult importInto(GraphResult &result, const ImportOptions &options, ModelFile &file, Diagnostics &diagnostics, SymbolicSizes &sizes) {
  const onnx::GraphProto &graph = file.model().graph();
  MLIRContext &context = *result.module->getContext();
  Calls calls;
  OpBuilder builder(&context, &calls);
  builder.setInsertionPointToEnd(result.module->getBody());
  auto function = func::FuncOp::create(builder, result.module->getLoc(), "main", builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  SignatureReader signature(function, builder, options, graph, diagnostics, sizes);
  BodyImporter body(builder, options, file, diagnostics, sizes, calls);
  // Verifiers speak through the context; their words become the node's error.
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    body.noteVerifierMessage(diagnostic.str());
    return success();
  });
  Scope scope;
  scope.opsets = readOpsets(file.model().opset_import());
  SmallVector<const onnx::NodeProto *> nodes;
  for (const auto &node : graph.node())
    nodes.push_back(&node);
  NamedValues::addInitializers(scope, graph);
  if (failed(signature.addInputs(scope)))
    return failure();
  sizes.assumeSigns();
  LogicalResult imported = failure(failed(body.importGraphNodes(scope, nodes)) || failed(signature.returnOutputs(scope, body)));
  if (succeeded(imported))
    imported = signature.checkFixed();
  result.hasUnsupported = body.hasUnsupported();
  result.outputs = signature.numOutputs();
  result.warnings = body.listWarnings().vec();
  result.contradictions = body.getValues().describeContradictions();
  if (failed(imported))
    return failure();
  for (const std::string &line : body.listUnsupported())
    (void)diagnostics.error(line);
  if (body.hasUnsupported() || failed(checkSqueezed(sizes, diagnostics)))
    return failure();
  if (std::string fault = sizes.findFaultInRenames(); !fault.empty())
    return diagnostics.error(fault);
  makeComposites(function, calls);
  signature.noteQuantization();
  signature.noteLabels();
  std::string name = options.name.empty() ? makeModelName(options.path) : options.name;
  (*result.module)->setAttr(nn::modelAttrName, builder.getStringAttr(name));
  sizes.record(*result.module);
  std::vector<std::pair<std::string, std::string>> metadata = readMetadata(file.model());
  llvm::append_range(metadata, sizes.describeRaised());
  nn::setMetadata(*result.module, metadata);
  nn::setSequences(*result.module, signature.listSequences());
  if (failed(mlir::verify(*result.module)))
    return diagnostics.error("internal error: the imported module is not valid: " + body.getVerifierMessage());
  return success();
}

GraphResult importGraph(MLIRContext &context, const ImportOptions &options, ModelFile &file, Diagnostics &diagnostics, SqueezedDims &squeezed,
                        Assumptions &assumptions) {
  GraphResult result;
  const onnx::GraphProto &graph = file.model().graph();
  if (failed(SignatureReader::checkOptions(options, graph, diagnostics)))
    return result;
  SymbolicSizes sizes(context, options, squeezed, assumptions);
  result.module = ModuleOp::create(NameLoc::get(StringAttr::get(&context, printable(graph.name().empty() ? "graph" : graph.name()))));
  if (failed(importInto(result, options, file, diagnostics, sizes)))
    result.module = nullptr;
  return result;
}

} // namespace kiln::import
