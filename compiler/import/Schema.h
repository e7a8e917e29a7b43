//===- Schema.h - What the standard says of operators -----------------------===//
#ifndef KILN_COMPILER_IMPORT_SCHEMA_H
#define KILN_COMPILER_IMPORT_SCHEMA_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <limits>
#include <string>

namespace kiln::onnx {
class AttributeProto;
class NodeProto;
} // namespace kiln::onnx

namespace kiln::import {

/// A set of data types by their numbers in the format, and of kinds of values that are no tensors.
using DataTypes = uint64_t;
constexpr DataTypes sequenceType = DataTypes(1) << 60, optionalType = DataTypes(1) << 61, mapType = DataTypes(1) << 62;

/// One parameter of an operator.
struct ParameterFact {
  enum Kind { Required, Optional, Variadic, Heterogeneous };
  llvm::StringRef name;
  Kind kind = Required;
  /// Of a variadic one: how many there are at least.
  unsigned least = 0;
  /// The name of its type's variable; inputs with the same have one type. Empty when it stands for itself.
  llvm::StringRef variable;
  DataTypes types = 0;
  /// The ranks that a tensor may have.
  int64_t leastRank = 0, mostRank = std::numeric_limits<int64_t>::max();
};

/// One attribute of an operator.
struct AttributeFact {
  llvm::StringRef name;
  /// The kind's number in the format.
  int kind = 0;
  /// Which values are allowed, as the table has it; empty for all.
  llvm::StringRef range;
  bool isRequired = false;
};

/// One operator from one opset on.
struct Schema {
  llvm::SmallVector<ParameterFact> inputs, outputs;
  llvm::SmallVector<AttributeFact> attributes;

  /// The parameter of place `i`; null behind the last.
  const ParameterFact *input(unsigned i) const;
  const AttributeFact *findAttribute(llvm::StringRef name) const;
};

/// The table of Schemas.def. Rows are read when they are first asked for.
class Schemas {
public:
  /// Null when the table has no such operator of that opset.
  const Schema *find(llvm::StringRef domain, llvm::StringRef name, int64_t opset);

private:
  llvm::DenseMap<const void *, Schema> read;
};

/// The value of an attribute, where a function's body names one of the call; null when it is not known or not given.
using ResolveAttribute = llvm::function_ref<const onnx::AttributeProto *(const onnx::AttributeProto &)>;

/// @name What a node does that its operator does not allow, or an empty text
/// @{
std::string findFaultInCounts(const Schema &schema, const onnx::NodeProto &node);
std::string findFaultInAttributes(const Schema &schema, const onnx::NodeProto &node, ResolveAttribute resolve);
/// @}

/// What is wrong with an attribute by itself, whatever operator it belongs to, or an empty text.
std::string findFaultInAttribute(const onnx::AttributeProto &attribute, bool isInFunction);

/// The kind of an attribute, which old files do not say; 0 when nothing shows it.
int getAttributeKind(const onnx::AttributeProto &attribute);
/// What messages call a kind of attribute.
llvm::StringRef getAttributeKindName(int kind);
/// Names of the data types and kinds of values.
std::string describeTypes(DataTypes types);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_SCHEMA_H
