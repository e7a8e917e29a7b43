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

/// One way to read the model. `isOpen` when it failed for want of support alone, so that the way may be right.
static FailureOr<ImportedModel> importOnce(MLIRContext &context, const ImportOptions &options, import::ModelFile &file, import::SqueezedDims &squeezed,
                                           std::vector<std::string> &errors, bool &isOpen) {
  import::Diagnostics diagnostics(options.path, errors);
  import::GraphImporter importer(context, options, file, diagnostics, squeezed);
  FailureOr<OwningOpRef<ModuleOp>> module = importer.run();
  isOpen = failed(module) && importer.hasUnsupported() && !squeezed.isContradicted;
  if (failed(module))
    return failure();
  ImportedModel model;
  model.outputs = importer.numOutputs();
  model.module = std::move(*module);
  return std::move(model);
}

/// The ways to say which dimensions are 1 grow with the power of two.
static constexpr unsigned mostSqueezed = 4;

/// The model with those dimensions taken to be 1 for Squeeze with which alone it holds together; `errors` says so when there is no such choice.
static FailureOr<ImportedModel> importWithOnes(MLIRContext &context, const ImportOptions &options, import::ModelFile &file, llvm::SetVector<AffineExpr> asked,
                                               std::vector<std::string> &errors) {
  FailureOr<ImportedModel> found = failure();
  std::vector<std::string> ignored;
  bool isOpen = asked.size() > mostSqueezed;
  // A choice may lead to a Squeeze that asks for more.
  for (unsigned choice = 1; !isOpen && choice < 1u << asked.size(); ++choice) {
    import::SqueezedDims squeezed;
    for (auto [i, dim] : llvm::enumerate(asked))
      if (choice >> i & 1)
        squeezed.ones.push_back(dim);
    ignored.clear();
    auto model = importOnce(context, options, file, squeezed, ignored, isOpen);
    asked.insert(squeezed.asked.begin(), squeezed.asked.end());
    isOpen |= asked.size() > mostSqueezed || (succeeded(model) && succeeded(found));
    if (succeeded(model))
      found = std::move(model);
  }
  if (!isOpen)
    return found;
  import::SqueezedDims refused;
  refused.isRefused = true;
  errors.clear();
  return importOnce(context, options, file, refused, errors, isOpen);
}

FailureOr<ImportedModel> importModel(MLIRContext &context, const ImportOptions &options, std::vector<std::string> &errors) {
  context.loadDialect<nn::NNDialect, func::FuncDialect>();
  import::Diagnostics diagnostics(options.path, errors);
  auto file = std::make_shared<import::ModelFile>(options.path);
  if (failed(file->load(diagnostics)))
    return failure();
  import::SqueezedDims squeezed;
  bool isOpen = false;
  auto model = importOnce(context, options, *file, squeezed, errors, isOpen);
  if (failed(model) && !isOpen && !squeezed.asked.empty())
    model = importWithOnes(context, options, *file, squeezed.asked, errors);
  if (failed(model))
    return failure();
  errors.clear();
  model->externalFiles = file->externalPaths();
  model->storage = std::move(file);
  return model;
}

} // namespace kiln
