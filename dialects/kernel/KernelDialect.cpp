//===- KernelDialect.cpp - The kernel dialect ------------------------------===//
#include "dialects/kernel/EntryAttributeNames.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/kernel/ModuleAttributeNames.h"
#include "dialects/kernel/TargetFaults.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
using namespace kiln::kernel;

#include "dialects/kernel/KernelDialect.cpp.inc"
#include "dialects/kernel/KernelEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/kernel/KernelAttributes.cpp.inc"

void KernelDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/kernel/KernelAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/kernel/KernelOps.cpp.inc"
      >();
}

static LogicalResult report(function_ref<InFlightDiagnostic()> emitError, const std::string &fault) {
  return fault.empty() ? success() : LogicalResult(emitError() << fault);
}

/// No list, or one of so many numbers, none of them negative.
static bool isList(DenseI64ArrayAttr list, int64_t size) {
  return !list || (list.size() == size && llvm::all_of(list.asArrayRef(), [](int64_t number) { return number >= 0; }));
}

/// Rows, vectors and lanes: no more than any register file has, and a power of two.
static bool isTile(DenseI64ArrayAttr tile) {
  constexpr int64_t most = 64;
  auto isWithin = [](int64_t number) { return number >= 1 && number <= most; };
  return !tile || (tile.size() == 3 && llvm::all_of(tile.asArrayRef(), isWithin) && llvm::isPowerOf2_64(static_cast<uint64_t>(tile[2])));
}

LogicalResult PlanAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef kernel, DenseI64ArrayAttr tile, DenseI64ArrayAttr projection,
                               int64_t chunk, int64_t streams, int64_t strip, int64_t lines, int64_t pixels, int64_t bands, int64_t rows, int64_t keys,
                               int64_t piece, int64_t near, DenseI64ArrayAttr ahead, DenseI64ArrayAttr coming, int64_t blocks, bool, int64_t columns,
                               int64_t block, int64_t stride, int64_t depth, int64_t winograd, bool, int64_t dots, DenseI64ArrayAttr squares,
                               DenseI64ArrayAttr border, StringRef, bool measured) {
  if (kernel.empty())
    return emitError() << "expected the name of a kernel";
  for (DenseI64ArrayAttr each : {tile, projection})
    if (!isTile(each))
      return emitError() << "expected rows, vectors and lanes of a tile, from 1 to 64, the lanes a power of two; got [" << each.asArrayRef() << "]";
  if (std::min({chunk, streams, strip, lines, pixels, bands, rows, keys, piece, near, blocks, columns, block, stride, depth, dots}) < 0)
    return emitError() << "expected no number of a plan to be negative";
  if (!isList(ahead, 2) || !isList(coming, 3))
    return emitError() << "expected two numbers 'ahead' and three numbers 'coming', none of them negative";
  if (coming && coming[2] == 0)
    return emitError() << "expected 'coming' to end in at least one step for each line";
  if (squares && (squares.size() != 2 || std::min(squares[0], squares[1]) < 1))
    return emitError() << "expected two positive numbers 'squares', got [" << squares.asArrayRef() << "]";
  if (border && (border.size() % 2 != 0 || llvm::any_of(border.asArrayRef(), [](int64_t number) { return number < 0; })))
    return emitError() << "expected two numbers 'border' for each dimension, none of them negative; got [" << border.asArrayRef() << "]";
  // Halves of them are added to each other.
  if (streams && !llvm::isPowerOf2_64(static_cast<uint64_t>(streams)))
    return emitError() << "expected 'streams' to be a power of two, got " << streams;
  if (lines > 2 || pixels > 64)
    return emitError() << "expected 'lines' to be 1 or 2, and 'pixels' at most 64, got " << lines << " and " << pixels;
  if (winograd != 0 && winograd != 2 && winograd != 4)
    return emitError() << "expected 'winograd' to be 2 or 4, got " << winograd;
  if (block && (!tile || block % tile[0] != 0))
    return emitError() << "expected a 'block' of whole tiles, got " << block;
  if (strip && (!tile || strip % (tile[1] * tile[2]) != 0))
    return emitError() << "expected a 'strip' of whole tiles, got " << strip;
  if (measured && !tile)
    return emitError() << "expected a tile that was measured";
  return success();
}

LogicalResult CompositeAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef name, int64_t version, StringRef function,
                                    ArrayRef<StringAttr>) {
  return report(emitError, findCompositeFault(name, version, function));
}

LogicalResult StepAttr::verify(function_ref<InFlightDiagnostic()> emitError, Type lhs, Type rhs, Type sum, ArrayRef<int64_t> shape, StringRef function) {
  return report(emitError, findStepFault(lhs, rhs, sum, shape, function));
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef name, StringRef triple, StringRef cpu, unsigned vectorBits,
                                 unsigned registers, int64_t l1, int64_t l2, int64_t l3, ArrayAttr features, ArrayAttr libraries,
                                 ArrayRef<StepAttr> steps, TuningAttr, ArrayRef<CompositeAttr> composites) {
  TargetNames names = {name, triple, cpu, features, libraries};
  std::string fault = findNameFault(names);
  if (fault.empty())
    fault = findSizeFault(vectorBits, registers);
  if (fault.empty() && std::min({l1, l2, l3}) <= 0)
    fault = "'l1', 'l2' and 'l3' must be positive";
  if (fault.empty())
    fault = findStepsFault(steps, vectorBits);
  if (fault.empty())
    fault = findRepeatedComposite(composites);
  return report(emitError, fault);
}

bool TargetAttr::hasFeature(StringRef feature) const {
  return llvm::any_of(getFeatures(), [&](Attribute have) { return cast<StringAttr>(have) == feature; });
}

/// The product of `extents`.
static int64_t multiply(ArrayRef<int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies<>());
}

LogicalResult PackAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, AffineMap, ArrayRef<int64_t> tail) {
  if (tail.empty())
    return success();
  int64_t inner = static_cast<int64_t>(shape.size()) - 1;
  if (tail.size() == 2 && tail[0] >= 0 && tail[0] < inner && shape[tail[0]] > 0 && tail[1] > 0 && tail[1] <= shape.back())
    return success();
  return emitError() << "expected a tail [dimension, extent] with a dimension before the innermost one and at most its extent; got [" << tail << "]";
}

int64_t PackAttr::getNumElements() const {
  int64_t all = multiply(getShape());
  if (getTail().empty())
    return all;
  int64_t dimension = getTail()[0], missing = getShape().back() - getTail()[1];
  return all - all / getShape()[dimension] / getShape().back() * missing;
}

int64_t PackAttr::getRowElements(ArrayRef<int64_t> index) const {
  bool isLast = !getTail().empty() && index[getTail()[0]] == getShape()[getTail()[0]] - 1;
  return isLast ? getTail()[1] : getShape().back();
}

Accuracy kiln::kernel::getExpAccuracy(Operation *exp) {
  auto accuracy = exp->getAttrOfType<AccuracyAttr>(accuracyAttrName);
  return accuracy ? accuracy.getValue() : Accuracy::Exact;
}

std::string kiln::kernel::getExpFunction(Accuracy accuracy) {
  return accuracy == Accuracy::Exact ? "exp" : "exp_" + stringifyAccuracy(accuracy).str();
}

bool TargetAttr::hasLibrary(StringRef entry) const {
  return getLibraries() && llvm::any_of(getLibraries(), [&](Attribute have) { return have == StringAttr::get(getContext(), entry); });
}

TargetAttr TargetAttr::withLibraries(ArrayRef<std::string> entries) const {
  llvm::SetVector<Attribute> list;
  if (getLibraries())
    list.insert(getLibraries().begin(), getLibraries().end());
  for (const std::string &entry : entries)
    list.insert(StringAttr::get(getContext(), entry));
  ArrayAttr libraries = list.empty() ? ArrayAttr() : ArrayAttr::get(getContext(), list.getArrayRef());
  return get(getContext(), getName(), getTriple(), getCpu(), getVectorBits(), getRegisters(), getL1(), getL2(), getL3(), getFeatures(), libraries,
             getSteps(), getTuning(), getComposites());
}

std::string TargetAttr::describeUnit() const {
  return (getCpu() + " " + Twine(getVectorBits()) + " bits, " + Twine(getRegisters()) + " registers").str();
}

StepAttr TargetAttr::getPlainStep(Type type) const {
  bool isWideInteger = type.isInteger(32) || type.isInteger(64);
  if (!type.isF32() && !type.isF64() && !isWideInteger)
    return {};
  int64_t lanes = std::max(1u, this->lanes(type.getIntOrFloatBitWidth()));
  return StepAttr::get(getContext(), type, type, type, {1, lanes, 1}, "");
}

StepAttr TargetAttr::findStep(Type lhs, Type rhs, Type sum, int64_t mostRows) const {
  for (StepAttr step : getSteps())
    if (step.takes(lhs, rhs, sum) && step.getRows() <= mostRows)
      return step;
  return lhs == sum && rhs == sum ? getPlainStep(sum) : StepAttr();
}

CompositeAttr TargetAttr::findComposite(StringRef name) const {
  const auto *found = llvm::find_if(getComposites(), [&](CompositeAttr composite) { return composite.getName() == name; });
  return found == getComposites().end() ? CompositeAttr() : *found;
}

TargetAttr kiln::kernel::getTarget(Operation *op) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  return module ? module->getAttrOfType<TargetAttr>(targetAttrName) : TargetAttr();
}
