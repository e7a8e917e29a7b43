//===- RunConstants.cpp - Constants that a compiled part computes ----------===//
#include "compiler/RunConstants.h"
#include "compiler/Compile.h"
#include "compiler/run/LoadedModel.h"
#include "dialects/nn/ConstantData.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace kiln {

/// The compile of the module, which has been imported already.
static CompileOptions makeOptions(const CompileOptions &options, ModuleOp module, MLIRContext &context) {
  auto graph = std::make_shared<Compilation>();
  graph->context = std::shared_ptr<MLIRContext>(&context, [](MLIRContext *) {});
  graph->name = "constants";
  graph->outputs = module.lookupSymbol<func::FuncOp>("main").getNumResults();
  graph->targets.push_back({"", cast<ModuleOp>(module->clone())});
  CompileOptions own;
  own.name = graph->name;
  own.targets = {"generic"};
  own.accuracy = Accuracy::Strict;
  own.limits = options.limits;
  own.cache = options.cache;
  own.jobs = 1;
  own.graph = std::move(graph);
  own.graphStage = "import";
  return own;
}

/// No dimension that the caller gives is part of the module; any size does.
static NamedSizes giveSizes(const LoadedModel &model) {
  NamedSizes sizes;
  const kiln_model_info &info = model.getInfo();
  for (int i = 0; i < info.num_symbols - info.num_computed; ++i)
    sizes[info.symbols[i].name] = 1;
  return sizes;
}

static llvm::Expected<std::vector<Tensor>> runModel(Compilation &compilation) {
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects;
  for (const OutputFile &object : compilation.objects)
    objects.push_back(object.toBuffer());
  auto model = LoadedModel::load(compilation.name, std::move(objects));
  if (!model)
    return model.takeError();
  auto execution = Execution::prepare(**model, {}, giveSizes(**model));
  if (!execution)
    return execution.takeError();
  if (llvm::Error error = execution->run(nullptr))
    return std::move(error);
  std::vector<Tensor> results;
  for (const Tensor &output : execution->getOutputs()) {
    auto copy = output.copy();
    if (!copy)
      return copy.takeError();
    results.push_back(std::move(*copy));
  }
  return results;
}

std::vector<ElementsAttr> runConstants(const CompileOptions &options, ModuleOp module) {
  Compilation compilation;
  std::vector<std::string> errors;
  if (compileModel(makeOptions(options, module, *module.getContext()), compilation, errors) != CompileStatus::Done)
    return {};
  llvm::Expected<std::vector<Tensor>> results = runModel(compilation);
  if (!results) {
    llvm::consumeError(results.takeError());
    return {};
  }
  std::vector<ElementsAttr> constants;
  for (auto [type, result] : llvm::zip_equal(module.lookupSymbol<func::FuncOp>("main").getResultTypes(), *results)) {
    std::vector<char> bytes(result.getData(), result.getData() + result.getByteSize());
    constants.push_back(nn::makeConstant(RankedTensorType::get(result.getDims(), getElementTypeOrSelf(type)), std::move(bytes)));
  }
  return constants;
}

} // namespace kiln
