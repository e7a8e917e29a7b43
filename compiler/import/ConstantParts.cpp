//===- ConstantParts.cpp - Parts of a model that constants decide ----------===//
#include "compiler/import/ConstantParts.h"
#include "compiler/files/Hash.h"
#include "compiler/import/SymbolicSizes.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/SignatureAttributeNames.h"
#include "dialects/nn/SymbolAttributeNames.h"
#include "passes/graph/EvaluateOperation.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// Shape arithmetic has far fewer operations; a part of more is computed in the run.
static constexpr size_t mostOperations = 4096;

/// Elements up to which an operation is interpreted.
static constexpr int64_t mostInterpreted = 1 << 16;

/// The most multiplications and moved elements of a part that is run, the most elements of one of its tensors, and the most bytes of a result.
static constexpr double mostWork = 1 << 30;
static constexpr int64_t mostElements = 1 << 26, mostResultBytes = int64_t(64) << 20;

/// Adds the symbols that the operation mentions.
static void collectSymbols(Operation *op, llvm::DenseSet<unsigned> &symbols) {
  auto collect = [&](AffineExpr expr) {
    expr.walk([&](AffineExpr part) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        symbols.insert(symbol.getPosition());
    });
  };
  for (Type type : op->getResultTypes())
    llvm::for_each(getDims(type), collect);
  op->getAttrDictionary().walk([&](AffineMapAttr map) { llvm::for_each(map.getValue().getResults(), collect); });
}

/// Whether the operation computes the same numbers in every run with the same operands and sizes, with a tensor of numbers as each result.
static bool isComputation(Operation *op) {
  bool isNumeric = llvm::all_of(op->getResultTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !isString(tensor.getElementType());
  });
  return isNumeric && op->getNumRegions() == 0 && (isPure(op) || isa<DataSized>(op));
}

/// Whether the part itself counts every size that is no number.
static bool countsItsSizes(ArrayRef<Operation *> part) {
  llvm::DenseSet<unsigned> symbols;
  for (Operation *op : part)
    collectSymbols(op, symbols);
  for (Operation *op : part)
    if (auto counts = dyn_cast<DataSized>(op))
      symbols.erase(counts.getCountedSymbol());
  return symbols.empty();
}

/// The operations that compute the values, each after its operands; nullopt if constants alone do not decide them.
static std::optional<llvm::SetVector<Operation *>> collectPart(ArrayRef<Value> values) {
  llvm::SetVector<Operation *> part;
  SmallVector<std::pair<Operation *, bool>> stack;
  auto push = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && !part.contains(op))
      stack.push_back({op, false});
    return op != nullptr;
  };
  llvm::DenseSet<Operation *> seen;
  if (!llvm::all_of(values, push))
    return std::nullopt;
  while (!stack.empty()) {
    auto [op, isReady] = stack.pop_back_val();
    if (isReady) {
      part.insert(op);
      continue;
    }
    if (!seen.insert(op).second)
      continue;
    if (seen.size() > mostOperations || !isComputation(op))
      return std::nullopt;
    stack.push_back({op, true});
    if (!llvm::all_of(op->getOperands(), push))
      return std::nullopt;
  }
  return countsItsSizes(part.getArrayRef()) ? std::optional(std::move(part)) : std::nullopt;
}

static int64_t countElements(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.hasStaticShape() ? tensor.getNumElements() : 0;
}

/// About how many multiplications or moved elements an operation takes.
static double estimateWork(Operation *op) {
  double product = 1, most = 0;
  for (Type type : llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes()))) {
    auto elements = static_cast<double>(countElements(type));
    product *= elements;
    most = std::max(most, elements);
  }
  // A product of [m, k] and [k, n] has m * n * k multiplications, which is the root of the product of the three sizes.
  return isa<MatmulOp, ConvOp, ConvTransposeOp>(op) ? std::max(most, std::sqrt(product)) : most;
}

/// The result of an operation whose operands are known, if it is small enough to be interpreted.
static ElementsAttr interpret(Operation *op, const llvm::DenseMap<Value, ElementsAttr> &values) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (ElementsAttr constant = getConstant(op->getResult(0)))
    return constant;
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 || !type.hasStaticShape() || type.getNumElements() > mostInterpreted)
    return {};
  SmallVector<ConstantData> operands;
  for (Value operand : op->getOperands()) {
    ElementsAttr constant = values.lookup(operand);
    if (!constant || constant.getNumElements() > mostInterpreted)
      return {};
    operands.emplace_back(constant);
  }
  FailureOr<std::vector<char>> bytes = evaluateOperation(op, operands);
  return failed(bytes) ? ElementsAttr() : makeConstant(type, std::move(*bytes));
}

bool ConstantParts::decide(Value value) { return isa<RankedTensorType>(value.getType()) && collectPart({value}); }

bool ConstantParts::readsInputs(Value value) {
  SmallVector<Value> values = {value};
  llvm::DenseSet<Value> seen;
  while (!values.empty()) {
    Value next = values.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    if (!op || op->getNumRegions() != 0)
      return true;
    llvm::append_range(values, op->getOperands());
  }
  return false;
}

ElementsAttr ConstantParts::compute(Value value) {
  if (ElementsAttr constant = value ? getConstant(value) : ElementsAttr())
    return constant;
  std::vector<ElementsAttr> all = value && isa<RankedTensorType>(value.getType()) ? computeAll({value}) : std::vector<ElementsAttr>();
  return all.empty() ? ElementsAttr() : all.front();
}

std::vector<ElementsAttr> ConstantParts::computeAll(ArrayRef<Value> values) {
  std::optional<llvm::SetVector<Operation *>> part = collectPart(values);
  if (!part)
    return {};
  llvm::DenseMap<Value, ElementsAttr> results;
  for (Operation *op : *part)
    if (ElementsAttr result = interpret(op, results))
      results[op->getResult(0)] = result;
  std::vector<ElementsAttr> all;
  for (Value value : values)
    if (ElementsAttr result = results.lookup(value))
      all.push_back(result);
  return all.size() == values.size() ? all : run(part->getArrayRef(), values);
}

/// A module of @main with the part in it, which returns the values.
static OwningOpRef<ModuleOp> makeModule(ArrayRef<Operation *> part, ArrayRef<Value> values, const SymbolicSizes &sizes) {
  MLIRContext *context = values.front().getContext();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(builder, module->getLoc(), "main", builder.getFunctionType({}, ValueRange(values).getTypes()));
  builder.setInsertionPointToStart(function.addEntryBlock());
  IRMapping mapping;
  for (Operation *op : part)
    builder.clone(*op, mapping)->setLoc(module->getLoc());
  SmallVector<Value> results = llvm::map_to_vector(values, [&](Value value) { return mapping.lookup(value); });
  func::ReturnOp::create(builder, module->getLoc(), results);
  for (size_t i = 0; i < values.size(); ++i) {
    StringAttr name = builder.getStringAttr("value" + Twine(i));
    function.setResultAttr(i, nameAttrName, name);
  }
  (*module)->setAttr(modelAttrName, builder.getStringAttr("constants"));
  sizes.recordSymbols(*module);
  return module;
}

/// A hash of all that the part is made of, the bytes of its constants too.
static std::string hashPart(ModuleOp module) {
  HashStream stream;
  OpPrintingFlags flags;
  module.print(stream, flags.elideLargeElementsAttrs().elideLargeResourceString());
  module.walk([&](ConstantOp constant) {
    ConstantData data(constant.getValue());
    stream << StringRef(data.bytes().data(), data.bytes().size());
  });
  return stream.finish();
}

std::vector<ElementsAttr> ConstantParts::run(ArrayRef<Operation *> part, ArrayRef<Value> values) {
  double work = 0;
  bool isHuge = false;
  for (Operation *op : part) {
    work += estimateWork(op);
    isHuge |= llvm::any_of(op->getResultTypes(), [](Type type) { return countElements(type) > mostElements; });
  }
  auto isLarge = [](Value value) { return countElements(value.getType()) * elementBytes(getElementTypeOrSelf(value)) > mostResultBytes; };
  if (!options.runConstants || isHuge || work > mostWork || llvm::any_of(values, isLarge))
    return {};
  OwningOpRef<ModuleOp> module = makeModule(part, values, sizes);
  auto [entry, isNew] = known.try_emplace(hashPart(*module));
  if (isNew)
    entry->second = options.runConstants(*module);
  return entry->second;
}

} // namespace kiln::import
