//===- KernelBuilder.cpp - Writes the loops of one kernel ------------------===//
#include "passes/lowering/builder/KernelBuilder.h"
#include "dialects/kernel/KernelOps.h"

using namespace mlir;

namespace kiln {

KernelBuilder::KernelBuilder(nn::GroupOp group, func::FuncOp kernel)
    : KernelSignature(group, kernel), KernelLoops(OpBuilder(kernel.getBody()), group.getLoc(), symbolValues(), firstTaskValue(), endTaskValue()),
      GroupValues(group, *this, *this) {}

void KernelBuilder::failIf(Value condition, StringRef code) {
  assert(statusCell() && "the anchor must be one that checks values");
  branch(condition, [&] { kernel::FailOp::create(builder(), loc(), statusCell(), code); });
}

void KernelBuilder::callExternal(StringRef name, ValueRange operands, ArrayRef<int64_t> writes, StringRef header, StringRef library) {
  OpBuilder &b = builder();
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol<kernel::ExternalOp>(name)) {
    OpBuilder outside = OpBuilder::atBlockBegin(module.getBody());
    kernel::ExternalOp::create(outside, module.getLoc(), name, b.getFunctionType(operands.getTypes(), b.getI32Type()), writes,
                               outside.getStringAttr(header), outside.getStringAttr(library));
  }
  kernel::CallOp::create(b, loc(), name, operands, makeStatusCell());
}

} // namespace kiln
