//===- AttributeRules.h - What the attributes of a dialect may be ----------===//
#ifndef KILN_DIALECTS_KERNEL_ATTRIBUTERULES_H
#define KILN_DIALECTS_KERNEL_ATTRIBUTERULES_H

#include "mlir/IR/Operation.h"

namespace kiln::kernel {

/// A discardable attribute of a dialect. Passes hand each other what the verifier knows: an attribute that no rule names is refused.
struct AttributeRule {
  llvm::StringLiteral name;
  /// The operation that has it; empty if any may. Arguments and results of functions have attributes of their own.
  llvm::StringLiteral op;
  /// What `holds` accepts, in words: "expects ... in NAME".
  llvm::StringLiteral expected;
  bool (*holds)(mlir::Operation *op, mlir::Attribute value);
};

/// Whether a rule of that name fits the operation and the value; if not, reports the fault.
mlir::LogicalResult verifyByRules(llvm::ArrayRef<AttributeRule> rules, mlir::Operation *op, mlir::NamedAttribute attr);

/// @name Predicates of rules
/// @{
template <typename... Kinds> bool isKind(mlir::Operation *, mlir::Attribute value) { return llvm::isa<Kinds...>(value); }
/// A list of attributes of that kind.
template <typename Kind> bool isListOf(mlir::Operation *, mlir::Attribute value) {
  auto list = llvm::dyn_cast<mlir::ArrayAttr>(value);
  return list && llvm::all_of(list, llvm::IsaPred<Kind>);
}
/// A dictionary of attributes of that kind.
template <typename Kind> bool isDictionaryOf(mlir::Operation *, mlir::Attribute value) {
  auto fields = llvm::dyn_cast<mlir::DictionaryAttr>(value);
  return fields && llvm::all_of(fields, [](mlir::NamedAttribute field) { return llvm::isa<Kind>(field.getValue()); });
}
/// An integer of 64 bits that is not negative.
bool isCount(mlir::Operation *op, mlir::Attribute value);
/// Pairs of numbers that are not negative.
bool isPairs(mlir::Operation *op, mlir::Attribute value);
/// @}

} // namespace kiln::kernel

#endif // KILN_DIALECTS_KERNEL_ATTRIBUTERULES_H
