//===- Reduce.cpp - Smaller modules that still show a fault ----------------===//
//
// Ranges of operations are simplified at a time, first long ones, then shorter ones down to single operations:
//
//   %1 = nn.exp %0 : tensor<2x4xf32>      what uses %1 uses %0 instead, where the types are the same
//   %1 = nn.matmul %x, %w : ...           what uses %1 uses a constant 0 instead
//   memref.store %1, %buffer[%i] : ...    is erased, as are functions and whatever nobody uses then
//
// A simplification stays when the module is valid and still interesting.
//
//===----------------------------------------------------------------------===//
#include "tools/kiln-reduce/Reduce.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNStructureOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {
namespace {
enum class Replacement { Operand, Zero };
} // namespace

/// All operations inside, each before those that it holds.
static SmallVector<Operation *> collectOperations(ModuleOp module) {
  SmallVector<Operation *> operations;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != module && !op->hasTrait<OpTrait::IsTerminator>())
      operations.push_back(op);
  });
  return operations;
}

static Value makeZero(OpBuilder &builder, Location loc, Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.hasStaticShape() && tensor.getElementType().isIntOrFloat())
    return nn::ConstantOp::create(builder, loc, DenseElementsAttr::get(tensor, builder.getZeroAttr(tensor.getElementType())));
  if (type.isSignlessIntOrIndexOrFloat())
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  return {};
}

/// False when there is nothing to simplify.
static bool simplify(Operation *op, Replacement replacement) {
  if (op->use_empty()) {
    op->erase();
    return true;
  }
  if (op->getNumResults() != 1 || op->hasTrait<OpTrait::ConstantLike>())
    return false;
  Type type = op->getResult(0).getType();
  Value other;
  if (replacement == Replacement::Operand) {
    auto operand = llvm::find_if(op->getOperands(), [&](Value value) { return value.getType() == type; });
    other = operand == op->operand_end() ? Value() : *operand;
  } else {
    OpBuilder builder(op);
    other = makeZero(builder, op->getLoc(), type);
  }
  if (!other)
    return false;
  op->getResult(0).replaceAllUsesWith(other);
  op->erase();
  return true;
}

static void eraseDead(ModuleOp module) {
  for (bool changed = true; changed;) {
    changed = false;
    SmallVector<Operation *> operations = collectOperations(module);
    for (Operation *op : llvm::reverse(operations))
      if (isOpTriviallyDead(op)) {
        op->erase();
        changed = true;
      }
  }
}

/// A copy with the operations [begin, end) simplified; null when none of them can be, or what comes out is not valid.
static OwningOpRef<ModuleOp> simplifyRange(ModuleOp module, size_t begin, size_t end, Replacement replacement) {
  OwningOpRef<ModuleOp> copy = module.clone();
  SmallVector<Operation *> operations = collectOperations(*copy);
  bool changed = false;
  // From the back: users come before what they use, and the operations inside of one before it.
  for (Operation *op : llvm::reverse(ArrayRef(operations).slice(begin, end - begin)))
    changed |= simplify(op, replacement);
  if (!changed)
    return nullptr;
  eraseDead(*copy);
  return succeeded(verify(*copy)) ? std::move(copy) : nullptr;
}

OwningOpRef<ModuleOp> reduce(OwningOpRef<ModuleOp> module, llvm::function_ref<bool(ModuleOp)> isInteresting) {
  ScopedDiagnosticHandler silent(module->getContext(), [](Diagnostic &) { return success(); });
  for (bool changed = true; changed;) {
    changed = false;
    for (Replacement replacement : {Replacement::Operand, Replacement::Zero})
      for (size_t length = collectOperations(*module).size(); length > 0; length /= 2)
        for (size_t end = collectOperations(*module).size(); end > 0;) {
          size_t begin = end - std::min(length, end);
          if (OwningOpRef<ModuleOp> smaller = simplifyRange(*module, begin, end, replacement); smaller && isInteresting(*smaller)) {
            module = std::move(smaller);
            changed = true;
          }
          end = std::min(begin, collectOperations(*module).size());
        }
  }
  return module;
}

} // namespace kiln
