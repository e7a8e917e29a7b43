//===- KernelOps.cpp - Operations of the kernel dialect --------------------===//
#include "dialects/kernel/Kernel.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace kiln::kernel;

#define GET_OP_CLASSES
#include "dialects/kernel/KernelOps.cpp.inc"

static bool isCName(StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) && llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

static bool isFlatBuffer(Type type) {
  auto buffer = dyn_cast<MemRefType>(type);
  return buffer && buffer.getRank() == 1;
}

LogicalResult ExternalOp::verify() {
  if (!isCName(getSymName()))
    return emitOpError("must have a name that C allows; got '") << getSymName() << "'";
  auto type = cast<FunctionType>(getType());
  for (auto [i, input] : llvm::enumerate(type.getInputs()))
    if (!isFlatBuffer(input) && !isa<IndexType, IntegerType, FloatType>(input))
      return emitOpError("takes flat buffers and numbers; argument ") << i << " is " << input;
  for (int64_t written : getWrites())
    if (written < 0 || written >= type.getNumInputs() || !isFlatBuffer(type.getInput(written)))
      return emitOpError("writes argument ") << written << ", which is no buffer of it";
  if (type.getNumResults() > 1 || (type.getNumResults() == 1 && !type.getResult(0).isInteger(32)))
    return emitOpError("must return nothing or a status (i32)");
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<ExternalOp>(*this, getCalleeAttr());
  if (!callee)
    return emitOpError("calls '") << getCallee() << "', which is no kernel.external";
  auto type = cast<FunctionType>(callee.getType());
  if (TypeRange(type.getInputs()) != TypeRange(getOperands_()))
    return emitOpError("passes operands that do not fit '") << getCallee() << "', which is " << type;
  if ((type.getNumResults() == 1) != bool(getStatus()))
    return emitOpError(getStatus() ? "reports a status, but there is none of '" : "must report the status of '") << getCallee() << "'";
  return success();
}

LogicalResult NumbersOp::verify() {
  int64_t size = getType().getDimSize(0), count = getValues().size();
  return size == count && count > 0 ? success() : emitOpError("has ") << count << " values for a buffer of " << size;
}

LogicalResult StateOp::verify() {
  return getType().hasStaticShape() && getType().getNumElements() > 0 ? success() : emitOpError("must have a static size");
}
