//===- KernelSignature.cpp - The arguments of one kernel -------------------===//
#include "passes/lowering/builder/KernelSignature.h"
#include "dialects/kernel/KernelAttributeNames.h"
#include "dialects/nn/Scalar.h"

using namespace mlir;

namespace kiln {

using namespace nn;

KernelSignature::KernelSignature(GroupOp group, func::FuncOp kernel)
    : groupOp(group), kernel(kernel), inputs(group.getInputs().size()), argumentPacks(inputs) {
  for (BlockArgument argument : kernel.getArguments().drop_front(inputs + group.getNumResults()).drop_back(2))
    if (isa<IndexType>(argument.getType()))
      symbols.push_back(argument);
    else
      status = argument;
}

void KernelSignature::packConstant(unsigned argument, kernel::PackAttr pack) {
  assert(isConstant(argument) && "only constants can be packed");
  argumentPacks[argument] = pack;
}

/// Adds an argument before the symbols; a buffer is written to.
Value KernelSignature::addArgument(Extra kind, Type type, StringRef name) {
  Builder b(kernel.getContext());
  unsigned position = kernel.getNumArguments() - 2 - symbols.size();
  NamedAttrList attrs;
  attrs.set(kernel::nameAttrName, b.getStringAttr(name));
  if (isa<MemRefType>(type) && kind != Extra::Context)
    attrs.set(kernel::writtenAttrName, b.getUnitAttr());
  if (kind == Extra::Status)
    attrs.set(kernel::statusAttrName, b.getUnitAttr());
  bool inserted = succeeded(kernel.insertArgument(position, type, attrs.getDictionary(kernel.getContext()), groupOp.getLoc()));
  assert(inserted && "a private function takes any argument");
  (void)inserted;
  extraArguments.push_back(kind);
  return kernel.getArgument(position);
}

Value KernelSignature::scratch(Type elementType, AffineExpr elements) {
  assert(!scratchSize && "a kernel has at most one scratch buffer");
  scratchSize = elements;
  return addArgument(Extra::Scratch, MemRefType::get({ShapedType::kDynamic}, computeType(elementType)), "scratch");
}

Value KernelSignature::scratch(Type elementType, int64_t elements) {
  return scratch(elementType, getAffineConstantExpr(elements, kernel.getContext()));
}

Value KernelSignature::threads() { return addArgument(Extra::Threads, IndexType::get(kernel.getContext()), "threads"); }

/// A buffer of bytes whose size the kernel does not know.
static MemRefType getBytesType(MLIRContext *context) { return MemRefType::get({ShapedType::kDynamic}, IntegerType::get(context, 8)); }

Value KernelSignature::callerContext() { return addArgument(Extra::Context, getBytesType(kernel.getContext()), "context"); }

Value KernelSignature::state(int64_t bytes) {
  stateSize = bytes;
  return addArgument(Extra::State, getBytesType(kernel.getContext()), "state");
}

Value KernelSignature::makeStatusCell() {
  if (!status)
    status = addArgument(Extra::Status, MemRefType::get({1}, IntegerType::get(kernel.getContext(), 32)), "status");
  return status;
}

} // namespace kiln
