//===- KernelDialect.cpp - The kernel dialect ------------------------------===//
#include "dialects/kernel/Kernel.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

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

bool TargetAttr::hasFeature(StringRef feature) const {
  return llvm::any_of(getFeatures(), [&](Attribute have) { return cast<StringAttr>(have) == feature; });
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
             getComposites());
}

CompositeAttr TargetAttr::findComposite(StringRef name) const {
  const auto *found = llvm::find_if(getComposites(), [&](CompositeAttr composite) { return composite.getName() == name; });
  return found == getComposites().end() ? CompositeAttr() : *found;
}

TargetAttr kiln::kernel::getTarget(Operation *op) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  return module ? module->getAttrOfType<TargetAttr>(targetAttrName) : TargetAttr();
}
