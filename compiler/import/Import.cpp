//===- Import.cpp - From an ONNX file to a module of nn operations ----------===//
#include "compiler/import/Import.h"
#include "compiler/import/Graph.h"
#include "compiler/import/onnx.pb.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace kiln {

std::string makeModelName(StringRef text) {
  std::string name;
  for (char c : llvm::sys::path::stem(text))
    name += llvm::isAlnum(c) ? c : '_';
  if (name.empty() || llvm::isDigit(name.front()))
    name = "model_" + name;
  return name.substr(0, 128);
}

FailureOr<ImportedModel> importModel(MLIRContext &context, const ImportOptions &options, std::vector<std::string> &errors) {
  context.loadDialect<nn::NNDialect, func::FuncDialect>();
  import::Diagnostics diagnostics(options.path, errors);
  auto file = std::make_shared<import::ModelFile>(options.path);
  if (failed(file->load(diagnostics)))
    return failure();
  import::GraphImporter importer(context, options, *file, diagnostics);
  FailureOr<OwningOpRef<ModuleOp>> module = importer.run();
  if (failed(module))
    return failure();
  ImportedModel model;
  model.outputs = importer.numOutputs();
  model.externalFiles = file->externalPaths();
  model.storage = std::move(file);
  model.module = std::move(*module);
  return std::move(model);
}

} // namespace kiln
