//===- AttributeRules.cpp - What the attributes of the dialect may be ------===//
#include "dialects/kernel/AttributeRules.h"
#include "dialects/kernel/EntryAttributeNames.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/KernelAttributeNames.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/kernel/ModuleAttributeNames.h"
#include "dialects/kernel/Work.h"

using namespace mlir;

namespace kiln::kernel {

LogicalResult verifyByRules(ArrayRef<AttributeRule> rules, Operation *op, NamedAttribute attr) {
  const AttributeRule *known = nullptr;
  for (const AttributeRule &rule : rules) {
    if (attr.getName() != rule.name)
      continue;
    known = &rule;
    if (!rule.op.empty() && op->getName().getStringRef() != rule.op)
      continue;
    return rule.holds(op, attr.getValue()) ? success() : op->emitOpError("expects ") << rule.expected << " in " << rule.name;
  }
  if (known)
    return op->emitOpError("has ") << known->name << ", which belongs to " << known->op;
  return op->emitOpError("has the attribute ") << attr.getName().getValue() << ", which its dialect does not define";
}

bool isCount(Operation *, Attribute value) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isInteger(64) && number.getInt() >= 0;
}

bool isPairs(Operation *, Attribute value) {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
  return numbers && numbers.size() % 2 == 0 && llvm::none_of(numbers.asArrayRef(), [](int64_t number) { return number < 0; });
}

/// The comment above an emitted function has a text, or a list of texts.
static bool isText(Operation *op, Attribute value) { return isa<StringAttr>(value) || isListOf<StringAttr>(op, value); }

/// Operands of the launch, an input and the result that may overwrite it.
static bool areOverwrites(Operation *op, Attribute value) {
  // The last operand is the number of tasks.
  auto isOperand = [&](int64_t number) { return number + 1 < static_cast<int64_t>(op->getNumOperands()); };
  return isPairs(op, value) && llvm::all_of(cast<DenseI64ArrayAttr>(value).asArrayRef(), isOperand);
}

static bool isWork(Operation *op, Attribute) { return op->getNumOperands() > 0 && getWork(cast<LaunchOp>(op)).has_value(); }

/// What a composite became: {nodes, composite, form, reason}, and two numbers of bytes if they are known.
static bool isCompositeForm(Attribute entry) {
  auto fields = dyn_cast<DictionaryAttr>(entry);
  bool hasTexts = fields && llvm::all_of(ArrayRef<StringRef>{"nodes", "composite", "form", "reason"},
                                         [&](StringRef name) { return static_cast<bool>(fields.getAs<StringAttr>(name)); });
  return hasTexts && llvm::all_of(fields, [](NamedAttribute field) { return isa<StringAttr, IntegerAttr>(field.getValue()); });
}

static bool areCompositeForms(Operation *, Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  return list && llvm::all_of(list, isCompositeForm);
}

static bool areRounds(Operation *, Attribute value) {
  constexpr int64_t most = 64;
  auto rounds = dyn_cast<IntegerAttr>(value);
  return rounds && rounds.getType().isInteger(64) && rounds.getInt() >= 2 && rounds.getInt() <= most;
}

static constexpr llvm::StringLiteral text = "a string or a list of strings", count = "a number that is not negative (i64)", mark = "unit";

static constexpr AttributeRule operationRules[] = {
    {targetAttrName, "builtin.module", "#kernel.target", isKind<TargetAttr>},
    {profileAttrName, "builtin.module", "a dictionary of #kernel.plan", isDictionaryOf<PlanAttr>},
    {profileUseAttrName, "builtin.module", "a dictionary of bools", isDictionaryOf<BoolAttr>},
    {compositesAttrName, "builtin.module", "a list of dictionaries with the strings nodes, composite, form and reason", areCompositeForms},
    {workspaceBytesAttrName, "builtin.module", count, isCount},
    {workspaceLowerBoundAttrName, "builtin.module", count, isCount},
    {nodesAttrName, "func.func", text, isText},
    {nodesAttrName, "kernel.launch", text, isText},
    {algorithmAttrName, "func.func", text, isText},
    {reasonAttrName, "func.func", text, isText},
    {reasonAttrName, "kernel.launch", text, isText},
    {shapesAttrName, "func.func", text, isText},
    {refusalsAttrName, "func.func", "a list of #kernel.refusal", isListOf<RefusalAttr>},
    {inPlaceAttrName, "kernel.entry", "pairs of an input and an output", isKind<DenseI64ArrayAttr>},
    {overwritesAttrName, "kernel.launch", "pairs of its operands", areOverwrites},
    {workAttrName, "kernel.launch", "two expressions of the symbols that are its last operands", isWork},
    {accuracyAttrName, "math.exp", "#kernel.accuracy", isKind<AccuracyAttr>},
    {normalAttrName, "math.exp", mark, isKind<UnitAttr>},
    {unrollAttrName, "scf.for", "a number from 2 to 64 (i64)", areRounds},
    {statusAttrName, "memref.alloc", mark, isKind<UnitAttr>},
    {mostBytesAttrName, "memref.alloc", count, isCount},
};

static constexpr AttributeRule argumentRules[] = {
    {nameAttrName, "func.func", "a string", isKind<StringAttr>},
    {writtenAttrName, "func.func", mark, isKind<UnitAttr>},
    {statusAttrName, "func.func", mark, isKind<UnitAttr>},
};

LogicalResult KernelDialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) { return verifyByRules(operationRules, op, attr); }

LogicalResult KernelDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned, NamedAttribute attr) {
  return verifyByRules(argumentRules, op, attr);
}

} // namespace kiln::kernel
