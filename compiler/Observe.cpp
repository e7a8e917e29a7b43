//===- Observe.cpp - Values inside a model as outputs ----------------------===//
#include "compiler/Observe.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace kiln {

static std::string getText(func::FuncOp main, unsigned result, StringRef attr) {
  auto text = main.getResultAttrOfType<StringAttr>(result, attr);
  return text ? text.str() : "";
}

std::vector<ObservableValue> listValues(ModuleOp module, unsigned outputs) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  std::vector<ObservableValue> values;
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    values.push_back({getText(main, i, nn::nameAttrName), getText(main, i, nn::nodeAttrName), i < outputs});
  return values;
}

/// Adds 1 to the value wherever it is used: what a wrong kernel would do.
static LogicalResult falsify(Value value, OpBuilder &b) {
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  auto real = dyn_cast<FloatType>(element);
  if (element.isInteger(1))
    return failure();
  b.setInsertionPointAfterValue(value);
  TypedAttr one = real ? TypedAttr(FloatAttr::get(real, 1.0)) : TypedAttr(IntegerAttr::get(element, 1));
  Value ones = nn::SplatOp::create(b, value.getLoc(), type, one);
  auto sum = nn::AddOp::create(b, value.getLoc(), type, value, ones);
  value.replaceAllUsesExcept(sum, sum);
  return success();
}

/// Whoever uses `value` gets it from the caller. The result that shows it stays.
static void cutValue(func::FuncOp main, Value value, StringRef name, Operation *terminator) {
  OpBuilder b(main.getContext());
  unsigned index = main.getNumArguments();
  auto attrs = b.getDictionaryAttr(b.getNamedAttr(nn::nameAttrName, b.getStringAttr(name)));
  (void)main.insertArgument(index, value.getType(), attrs, value.getLoc());
  value.replaceUsesWithIf(main.getArgument(index), [&](OpOperand &use) { return use.getOwner() != terminator; });
}

static void eraseDead(func::FuncOp main) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(main.getBody().front())))
    if (op.use_empty() && isPure(&op) && !op.hasTrait<OpTrait::IsTerminator>())
      op.erase();
}

LogicalResult observeValues(ModuleOp module, unsigned outputs, const Observation &observation, std::vector<std::string> &errors) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  Operation *terminator = main.getBody().front().getTerminator();
  OpBuilder b(module.getContext());
  std::vector<ObservableValue> values = listValues(module, outputs);
  llvm::BitVector dropped(values.size());
  bool found = observation.fault.empty();
  for (auto [i, value] : llvm::enumerate(values)) {
    bool isWanted = observation.everything || llvm::is_contained(observation.values, value.name);
    if (value.name == observation.fault) {
      found = true;
      if (failed(falsify(terminator->getOperand(i), b))) {
        errors.push_back("the value '" + value.name + "' cannot be made wrong: its elements are bools");
        return failure();
      }
    }
    Value result = terminator->getOperand(i);
    if (isWanted && observation.cut && !isa<BlockArgument>(result))
      cutValue(main, result, value.name, terminator);
    if (!isWanted && !value.isOutput)
      dropped.set(i);
  }
  if (!found) {
    errors.push_back("no node computes a value '" + observation.fault + "'");
    return failure();
  }
  terminator->eraseOperands(dropped);
  (void)main.eraseResults(dropped);
  eraseDead(main);
  return success();
}

} // namespace kiln
