//===- ReadIR.cpp - Reading IR from untrusted files -----------------------===//
#include "compiler/ReadIR.h"
#include "compiler/Recursion.h"
#include "compiler/import/Import.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/SignatureAttributeNames.h"
#include "dialects/nn/SymbolAttributeNames.h"
#include "dialects/nn/SymbolBounds.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace kiln {

/// What is wrong with the module's attributes, whose types the dialect has verified; empty if nothing is.
static std::string checkAttributes(ModuleOp module, size_t &symbols) {
  auto name = module->getAttrOfType<StringAttr>(nn::modelAttrName);
  if (name && makeModelName(name.getValue()) != name.getValue())
    return (nn::modelAttrName + " is not the name of a model").str();
  symbols = nn::listSymbols(module).size();
  for (StringRef attr : {nn::constraintsAttrName, nn::computedSymbolsAttrName})
    if (auto map = module->getAttrOfType<AffineMapAttr>(attr); map && map.getValue().getNumSymbols() > symbols)
      return (attr + " is not a list of expressions of the model's symbols").str();
  return "";
}

/// What is wrong with a tensor type; empty if nothing is.
static std::string checkType(Type type, size_t symbols, const Limits &limits) {
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor)
    return "";
  std::string text;
  llvm::raw_string_ostream(text) << type;
  if (!nn::hasDims(type))
    return text + " has no expression for each of its dimensions";
  if (nn::countSymbols(nn::getDims(type)) > symbols)
    return text + " has symbols that the model does not have";
  int64_t bytes = tensor.getElementType().isIntOrFloat() ? nn::elementBytes(tensor.getElementType()) : 1;
  for (int64_t size : cast<RankedTensorType>(type).getShape())
    if (size > 0 && (llvm::MulOverflow(bytes, size, bytes) || bytes > limits.tensorBytes))
      return text + " is over the limit of " + std::to_string(limits.tensorBytes) + " bytes";
  return "";
}

/// What is wrong with the symbols of an operation's own expressions; empty if nothing is.
static std::string checkSymbols(Operation *op, size_t symbols) {
  auto loop = dyn_cast<nn::LoopOp>(op);
  bool isFine = !loop || static_cast<size_t>(loop.getStep()) < symbols;
  for (NamedAttribute attribute : op->getAttrs())
    if (auto map = dyn_cast<AffineMapAttr>(attribute.getValue()))
      isFine &= nn::countSymbols(map.getValue().getResults()) <= symbols;
  return isFine ? "" : (op->getName().getStringRef() + " has symbols that the model does not have").str();
}

/// What is wrong with @main; empty if nothing is, or if the module has an entry instead.
static std::string checkMain(ModuleOp module) {
  Operation *main = module.lookupSymbol("main");
  auto function = dyn_cast_or_null<func::FuncOp>(main);
  if (main && (!function || function.isDeclaration()))
    return "@main is not a function with a body";
  if (!function && module.getOps<kernel::EntryOp>().empty())
    return "the module has no @main";
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  if (function && !(llvm::all_of(function.getArgumentTypes(), isTensor) && llvm::all_of(function.getResultTypes(), isTensor)))
    return "@main has arguments or results that are not tensors";
  return "";
}

static std::string checkModule(ModuleOp module, const Limits &limits) {
  size_t symbols = 0;
  std::string wrong = checkAttributes(module, symbols);
  if (wrong.empty())
    wrong = checkMain(module);
  auto check = [&](TypeRange types) {
    for (Type type : types)
      if (wrong.empty())
        wrong = checkType(type, symbols, limits);
  };
  module.walk([&](Operation *op) {
    check(op->getResultTypes());
    if (wrong.empty() && op != module)
      wrong = checkSymbols(op, symbols);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        check(block.getArgumentTypes());
    auto constant = dyn_cast<nn::ConstantOp>(op);
    auto resource = constant ? dyn_cast<DenseResourceElementsAttr>(constant.getValue()) : nullptr;
    AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
    if (wrong.empty() && blob && static_cast<int64_t>(blob->getData().size()) != resource.getNumElements() * nn::elementBytes(resource.getElementType()))
      wrong = "the data of constant '" + resource.getRawHandle().getKey().str() + "' do not have the size that its type says";
    return wrong.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return wrong;
}

OwningOpRef<ModuleOp> readIR(MLIRContext &context, std::unique_ptr<llvm::MemoryBuffer> buffer, const Limits &limits, std::vector<std::string> &errors) {
  std::string name = buffer->getBufferIdentifier().str();
  if (StringRef excess = findExcess(buffer->getBuffer()); !excess.empty()) {
    errors.push_back(name + ": " + excess.str());
    return nullptr;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), SMLoc());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  std::string wrong = module ? checkModule(*module, limits) : "";
  if (wrong.empty()) {
    // A version makes sense only beside the general module.
    for (StringRef attr : {nn::assumedAttrName, nn::specialSizesAttrName})
      if (module)
        (*module)->removeAttr(attr);
    return module;
  }
  errors.push_back(name + ": " + wrong);
  return nullptr;
}

} // namespace kiln
