//===- ObserveValues.cpp - Values inside a model as outputs ----------------===//
//
// Import has made every value a result of @main, behind the model's own outputs. Those that nobody asked for are dropped:
//
//   func.func @main(%x) {                           func.func @main(%x) {
//     %a = nn.relu %x                        =>       %a = nn.relu %x
//     %y = nn.tanh %a                                 %y = nn.tanh %a
//     return %y, %a, %y  // y, "a", "y"               return %y, %a
//   }                                               }
//
// With `cut`, the uses of %a read a new argument instead, so that each part of the model computes from the caller's values.
//
//===----------------------------------------------------------------------===//
#include "passes/graph/ObserveValues.h"
#include "dialects/kernel/Refusal.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/SignatureAttributeNames.h"
#include "passes/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_OBSERVEVALUES
#include "passes/Passes.h.inc"

static std::string getText(func::FuncOp main, unsigned result, StringRef attr) {
  auto text = main.getResultAttrOfType<StringAttr>(result, attr);
  return text ? text.str() : "";
}

/// That of the value, or of what is only moved or reshaped to it and has one scale.
static std::optional<nn::TensorQuantization> findQuantization(Value value) {
  bool isMoved = false;
  for (; isa_and_nonnull<nn::ReshapeOp, nn::TransposeOp>(value.getDefiningOp()); isMoved = true)
    value = value.getDefiningOp()->getOperand(0);
  auto found = nn::describeQuantization(value.getDefiningOp());
  return found && isMoved && found->axis >= 0 ? std::nullopt : found;
}

std::vector<ObservableValue> listValues(ModuleOp module, unsigned outputs) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  std::vector<ObservableValue> values;
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    values.push_back({getText(main, i, nn::nameAttrName), getText(main, i, nn::nodeAttrName), i < outputs,
                      findQuantization(main.getBody().front().getTerminator()->getOperand(i))});
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

namespace {
struct ObserveValues : impl::ObserveValuesBase<ObserveValues> {
  using ObserveValuesBase::ObserveValuesBase;

  LogicalResult refuse(const Twine &why) { return kernel::emitRefusal(UnknownLoc::get(&getContext())) << why; }

  /// Makes the value that `fault` names wrong.
  LogicalResult placeFault(ArrayRef<ObservableValue> known, Operation *terminator) {
    const std::string &wrong = fault;
    OpBuilder b(&getContext());
    bool found = wrong.empty();
    for (auto [i, value] : llvm::enumerate(known))
      if (!wrong.empty() && value.name == wrong) {
        found = true;
        if (failed(falsify(terminator->getOperand(i), b)))
          return refuse("the value '" + wrong + "' cannot be made wrong: its elements are bools");
      }
    return found ? success() : refuse("no node computes a value '" + wrong + "'");
  }

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    Operation *terminator = main.getBody().front().getTerminator();
    std::vector<ObservableValue> known = listValues(getOperation(), outputs);
    if (failed(placeFault(known, terminator)))
      return signalPassFailure();
    llvm::BitVector dropped(known.size());
    for (auto [i, value] : llvm::enumerate(known)) {
      bool isWanted = everything || llvm::is_contained(values, value.name);
      Value result = terminator->getOperand(i);
      if (isWanted && cut && !isa<BlockArgument>(result))
        cutValue(main, result, value.name, terminator);
      if (!isWanted && !value.isOutput)
        dropped.set(i);
    }
    terminator->eraseOperands(dropped);
    (void)main.eraseResults(dropped);
    eraseDead(main);
  }
};
} // namespace

} // namespace kiln
