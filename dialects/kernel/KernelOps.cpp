//===- KernelOps.cpp - Operations of the kernel dialect --------------------===//
#include "dialects/kernel/EntryAttributeNames.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/kernel/Libraries.h"
#include "dialects/kernel/Names.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace kiln::kernel;

#define GET_OP_CLASSES
#include "dialects/kernel/KernelOps.cpp.inc"

static bool isFlatBuffer(Type type) {
  auto buffer = dyn_cast<MemRefType>(type);
  return buffer && buffer.getRank() == 1;
}

/// Statuses and callees are copied into the C++ text.
static LogicalResult verifyStatus(Operation *op, StringRef status) {
  return isFailureStatus(status) ? success() : op->emitOpError("expects the name of a failure in kiln_status; got '") << status << "'";
}

LogicalResult CheckOp::verify() { return verifyStatus(*this, getStatus()); }

LogicalResult FailOp::verify() { return verifyStatus(*this, getCode()); }

/// The element types of buffers, and the types of numbers, that C has a name for.
static bool isCType(Type type) {
  return isa<IndexType>(type) || type.isInteger(8) || type.isInteger(16) || type.isInteger(32) || type.isInteger(64) || type.isF16() || type.isBF16() ||
         type.isF32() || type.isF64();
}

static LogicalResult verifyLibrary(ExternalOp op) {
  std::optional<StringRef> library = op.getLibrary(), header = op.getHeader();
  const kiln::kernel::Library *known = library ? findLibrary(*library) : nullptr;
  if (library && !known)
    return op.emitOpError("is of a library that Kiln does not know: '") << *library << "'";
  if (header && (!known || known->header != *header))
    return op.emitOpError("may only have the header of its library; got '") << *header << "'";
  return success();
}

LogicalResult ExternalOp::verify() {
  bool isUsers = !getLibrary() && cast<FunctionType>(getType()).getNumResults() > 0;
  if (!(isUsers ? isUserFunctionName(getSymName()) : isFunctionName(getSymName())))
    return emitOpError("must have a name that C allows") << (isUsers ? " for a function of a program" : "") << "; got '" << getSymName() << "'";
  if (failed(verifyLibrary(*this)))
    return failure();
  auto type = cast<FunctionType>(getType());
  for (auto [i, input] : llvm::enumerate(type.getInputs()))
    if (!(isFlatBuffer(input) ? isCType(getElementTypeOrSelf(input)) || getElementTypeOrSelf(input).isInteger(128) : isCType(input) || input.isInteger(1)))
      return emitOpError("takes flat buffers and numbers; argument ") << i << " is " << input;
  for (int64_t written : getWrites())
    if (written < 0 || written >= type.getNumInputs() || !isFlatBuffer(type.getInput(written)))
      return emitOpError("writes argument ") << written << ", which is not one of its buffers";
  if (type.getNumResults() > 1 || (type.getNumResults() == 1 && !type.getResult(0).isInteger(32)))
    return emitOpError("must return nothing or a status (i32)");
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<ExternalOp>(*this, getCalleeAttr());
  if (!callee)
    return emitOpError("calls '") << getCallee() << "', which is not a kernel.external";
  auto type = cast<FunctionType>(callee.getType());
  if (TypeRange(type.getInputs()) != TypeRange(getOperands_()))
    return emitOpError("passes operands that do not fit '") << getCallee() << "', which is " << type;
  if ((type.getNumResults() == 1) != bool(getStatus()))
    return emitOpError(getStatus() ? "reports the missing status of '" : "must report the status of '") << getCallee() << "'";
  return success();
}

LogicalResult StepOp::verify() {
  int64_t depth = getLhs().getType().getNumElements(), lanes = getSum().getType().getNumElements(), have = getRhs().getType().getNumElements();
  if (!isIdentifier(getFunction()))
    return emitOpError("expects an identifier as function; got '") << getFunction() << "'";
  bool hasOwn = depth == have && have % lanes == 0;
  if (hasOwn || have == depth * lanes)
    return success();
  return emitOpError("has ") << have << " elements on the right, expected " << depth << " for each of " << lanes << " sums";
}

/// What kernel.quantize and kernel.quantized_steps expect alike; `to` is the integer type.
static LogicalResult verifyQuantized(Operation *op, Type to, bool isInteger, FloatAttr divisor) {
  Type from = getElementTypeOrSelf(op->getOperand(0)), zero = getElementTypeOrSelf(op->getOperand(1));
  if (!from.isF32() || !zero.isSignlessInteger(32) || !isInteger)
    return op->emitOpError("makes integers of 8 or 16 bits from f32 and a zero point of i32; got ") << from << ", " << zero << " and " << to;
  auto lanes = [](Value value) { return isa<VectorType>(value.getType()) ? cast<VectorType>(value.getType()).getNumElements() : 0; };
  if (lanes(op->getOperand(0)) != lanes(op->getResult(0)) || lanes(op->getOperand(1)) != lanes(op->getResult(0)))
    return op->emitOpError("expects operands and a result of one shape");
  if (divisor && (!divisor.getValue().isNormal() || divisor.getValue().isNegative()))
    return op->emitOpError("expects a positive normal number as divisor; got ") << divisor;
  return success();
}

LogicalResult QuantizeOp::verify() {
  Type to = getElementTypeOrSelf(getType());
  return verifyQuantized(*this, to, to.isSignlessInteger(8) || to.isSignlessInteger(16), getDivisorAttr());
}

LogicalResult QuantizedStepsOp::verify() {
  Type to = getInteger();
  bool isInteger = (to.isSignedInteger() || to.isUnsignedInteger()) && (to.getIntOrFloatBitWidth() == 8 || to.getIntOrFloatBitWidth() == 16);
  return verifyQuantized(*this, to, isInteger, getDivisorAttr());
}

LogicalResult LookupOp::verify() {
  if (!getElementTypeOrSelf(getType()).isSignlessInteger(8))
    return emitOpError("looks up bytes; got ") << getType();
  return getTable().size() == 256 ? success() : emitOpError("has a table of ") << getTable().size() << " bytes, expected 256";
}

LogicalResult QuadsOp::verify() {
  int64_t part = getPart(), bytes = getType().getNumElements();
  return bytes % 4 == 0 && part >= 0 && part < 4 ? success() : emitOpError("expects vectors in four parts; got part ") << part << " of " << bytes << " bytes";
}

LogicalResult NumbersOp::verify() {
  int64_t size = getType().getDimSize(0), count = getValues().size();
  return size == count && count > 0 ? success() : emitOpError("has ") << count << " values for a buffer of " << size;
}

LogicalResult StateOp::verify() {
  return getType().hasStaticShape() && getType().getNumElements() > 0 ? success() : emitOpError("must have a static size");
}

/// A tensor of the signature, {name = "x", type = tensor<4xf32>}.
static bool isSignatureTensor(Attribute entry) {
  auto fields = dyn_cast<DictionaryAttr>(entry);
  auto type = fields ? fields.getAs<TypeAttr>("type") : TypeAttr();
  return type && fields.getAs<StringAttr>("name") && isa<RankedTensorType>(type.getValue());
}

LogicalResult EntryOp::verify() {
  if (!llvm::all_of(getInputs(), isSignatureTensor) || !llvm::all_of(getOutputs(), isSignatureTensor))
    return emitOpError("expects a name and a ranked tensor type for each input and output");
  auto pairs = (*this)->getAttrOfType<DenseI64ArrayAttr>(inPlaceAttrName);
  for (int64_t i = 0; pairs && i < pairs.size(); ++i) {
    int64_t count = i % 2 ? getOutputs().size() : getInputs().size();
    if (pairs.size() % 2 || pairs[i] < 0 || pairs[i] >= count)
      return emitOpError("expects pairs of an input and an output in ") << inPlaceAttrName << "; got [" << pairs.asArrayRef() << "]";
  }
  return success();
}

/// A number, a string, or a list of strings or 32-bit integers.
static bool isLiteral(Attribute literal) {
  if (auto list = dyn_cast<ArrayAttr>(literal))
    return llvm::all_of(list, llvm::IsaPred<StringAttr>);
  if (auto number = dyn_cast<TypedAttr>(literal); isa<IntegerAttr, FloatAttr>(literal))
    return number.getType().isInteger(1) || isCType(number.getType());
  return isa<StringAttr, DenseI32ArrayAttr>(literal);
}

LogicalResult RuntimeCallOp::verify() {
  if (!isRuntimeFunction(getCallee()))
    return emitOpError("calls '") << getCallee() << "', which is not a function of the runtime";
  for (Attribute literal : getLiterals())
    if (!isLiteral(literal))
      return emitOpError("expects numbers, strings and lists of strings or 32-bit integers as literals; got ") << literal;
  return success();
}
