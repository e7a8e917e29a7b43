//===- Strings.h - What operators do with strings beside numbers --------------===//
#ifndef KILN_COMPILER_IMPORT_OPS_STRINGS_H
#define KILN_COMPILER_IMPORT_OPS_STRINGS_H

#include "compiler/import/Node.h"

namespace kiln::import {

/// Parses strings as numbers of type `element`.
Value parseStrings(Node &node, Value x, Type element);
/// Numbers as text.
Value printNumbers(Node &node, Value x);

/// Strings as the numbers of their places in a table, so that operators that move numbers move them. Other values stay what they are.
class StringPlaces {
public:
  /// `values` become places when all are strings (absent ones do not count).
  StringPlaces(Node &node, llvm::ArrayRef<Value *> values);
  bool isActive() const { return static_cast<bool>(table); }
  /// What fills new elements, of the type that the values have now: the empty string, or zero.
  Value fill(Type element);
  /// The strings at places.
  Value restore(Value places);

private:
  Node &node;
  Value table;
};

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_OPS_STRINGS_H
