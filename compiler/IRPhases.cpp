//===- IRPhases.cpp - The part of a compile that works on IR ---------------===//
#include "compiler/IRPhases.h"
#include "compiler/import/Import.h"
#include "compiler/pipeline/Stages.h"
#include "compiler/target/Targets.h"
#include "dialects/nn/NN.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace kiln {

/// The innermost ONNX node of a location: a name with the operator in parentheses.
static std::string nodeOf(Location loc) {
  std::string node;
  loc->walk([&](Location part) {
    auto name = dyn_cast<NameLoc>(part);
    StringRef text = name ? name.getName().getValue() : StringRef();
    if (!text.ends_with(")"))
      return WalkResult::advance();
    auto [stem, op] = text.drop_back(1).rsplit('(');
    node = ("node '" + stem + "' (" + op + "): ").str();
    return WalkResult::interrupt();
  });
  return node;
}

DiagnosticCollector::DiagnosticCollector(MLIRContext &context, std::vector<std::string> &errors)
    : errors(errors), handler(&context, [this](Diagnostic &diagnostic) { return handle(diagnostic); }) {}

LogicalResult DiagnosticCollector::handle(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return success();
  std::string text = diagnostic.str();
  StringRef message = text;
  // emitOpError begins with the operation, as in "'nn.conv' op expects ...": a model's fault is told in ONNX's words.
  bug |= message.contains("internal error") || (message.starts_with("'") && message.contains("' op "));
  std::string place = nodeOf(diagnostic.getLocation());
  if (auto file = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>(); file && place.empty())
    place = (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" + Twine(file.getColumn()) + ": ").str();
  errors.push_back(place + text);
  return success();
}

static void loadDialects(MLIRContext &context) {
  context.loadDialect<nn::NNDialect, kernel::KernelDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect, memref::MemRefDialect,
                      scf::SCFDialect, vector::VectorDialect>();
}

static bool readIR(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors) {
  DiagnosticCollector diagnostics(*result.context, errors);
  result.module = parseSourceFile<ModuleOp>(options.model, ParserConfig(result.context.get()));
  return bool(result.module);
}

static bool importONNX(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors) {
  ImportOptions import;
  import.path = options.model;
  import.name = options.name;
  import.dims = options.dims;
  import.shapes = options.shapes;
  import.bindings = options.bindings;
  auto imported = importModel(*result.context, import, errors);
  if (failed(imported))
    return false;
  result.storage = imported->storage;
  result.module = std::move(imported->module);
  result.dependencies = imported->externalFiles;
  return true;
}

/// The stages that IR from a file has behind it: what it holds tells.
static unsigned stagesDone(ModuleOp module) {
  if (!module.getOps<kernel::EntryOp>().empty())
    return getStages().size();
  bool grouped = module.walk([](nn::GroupOp) { return WalkResult::interrupt(); }).wasInterrupted();
  return grouped ? 2 : 0;
}

static CompileStatus runStage(const Stage &stage, const CompileOptions &options, Compilation &result, std::vector<std::string> &errors) {
  PassManager passes(result.context.get());
  PipelineOptions pipeline;
  pipeline.decompose = options.decompose;
  stage.build(passes, pipeline);
  if (!options.reproducer.empty())
    passes.enableCrashReproducerGeneration(options.reproducer);
  DiagnosticCollector diagnostics(*result.context, errors);
  if (succeeded(passes.run(*result.module)))
    return CompileStatus::Done;
  return errors.empty() || diagnostics.sawBug() ? CompileStatus::Bug : CompileStatus::AtFault;
}

CompileStatus makeKernels(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors,
                          llvm::function_ref<void(const std::string &)> begin) {
  result.context = std::make_unique<MLIRContext>();
  loadDialects(*result.context);
  begin("import");
  bool isIR = StringRef(options.model).ends_with(".mlir") || StringRef(options.model).ends_with(".mlirbc");
  if (isIR ? !readIR(options, result, errors) : !importONNX(options, result, errors))
    return CompileStatus::AtFault;
  ModuleOp module = *result.module;
  if (auto name = module->getAttrOfType<StringAttr>("nn.model"))
    result.name = options.name.empty() ? name.str() : options.name;
  kernel::TargetAttr target = makeTarget(result.context.get(), options.targets.front());
  if (!target) {
    std::string names;
    for (const Target &known : getTargets())
      names += (names.empty() ? "" : ", ") + known.name.str();
    errors.push_back("unknown target '" + options.targets.front() + "', expected one of: " + names);
    return CompileStatus::AtFault;
  }
  // IR that carries its target keeps it: a test writes its own.
  if (!module->hasAttr(kernel::targetAttrName))
    module->setAttr(kernel::targetAttrName, target);
  result.target = kernel::getTarget(module).getName().str();
  std::string stage = "import";
  for (const Stage &next : getStages().drop_front(isIR ? stagesDone(module) : 0)) {
    if (options.stopAfter == stage)
      return CompileStatus::Done;
    begin(next.name.str());
    CompileStatus status = runStage(next, options, result, errors);
    if (status != CompileStatus::Done)
      return status;
    stage = next.name.str();
  }
  return CompileStatus::Done;
}

} // namespace kiln
