//===- Definition.h - Operators in the user's words -------------------------===//
//
//   gate(x, w; alpha = 1.0)[...] = x[...] * sigmoid(alpha * w[...])
//
// What the parser makes of a file of definitions, and the checker completes. docs/Operators.md has the grammar.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_DEFINITIONS_DEFINITION_H
#define KILN_COMPILER_DEFINITIONS_DEFINITION_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kiln::definitions {

/// A position in a file of definitions, both counted from 1.
struct Place {
  unsigned line = 1, column = 1;
};

/// The element type of an expression. Positive values are ONNX's data types.
enum class Element : int {
  /// A number without a type of its own takes that of what it meets.
  AnyReal = -2,
  AnyInteger = -1,
  /// The type of all parameters that declare none: any that a call gives.
  Generic = 0,
  F32 = 1,
  U8 = 2,
  I8 = 3,
  U16 = 4,
  I16 = 5,
  I32 = 6,
  I64 = 7,
  Bool = 9,
  F16 = 10,
  F64 = 11,
  U32 = 12,
  U64 = 13,
  BF16 = 16
};

/// The type of that name, such as int8, float (float32), double (float64); nullopt for other words.
std::optional<Element> findElement(llvm::StringRef name);
std::string nameElement(Element element);
inline bool isFloatElement(Element element) {
  return element == Element::F32 || element == Element::F16 || element == Element::F64 || element == Element::BF16;
}
inline bool isLiteralElement(Element element) { return element == Element::AnyReal || element == Element::AnyInteger; }

/// An integer that is known for a call: indices, sizes.
struct IndexExpr {
  enum class Kind { Number, Variable, Attribute, Dim, Add, Sub, Mul, FloorDiv, Mod, Min, Max };
  Kind kind = Kind::Number;
  Place place;
  int64_t number = 0;
  /// Of a variable or attribute; of the tensor whose dimension `number` it is (negative: counted from the end).
  std::string name;
  std::vector<IndexExpr> operands;

  static IndexExpr constant(int64_t number, Place place = {}) { return {Kind::Number, place, number, "", {}}; }
  static IndexExpr dim(std::string tensor, int64_t axis, Place place = {}) { return {Kind::Dim, place, axis, std::move(tensor), {}}; }
  static IndexExpr make(Kind kind, IndexExpr lhs, IndexExpr rhs);
  bool isConstant(int64_t value) const { return kind == Kind::Number && number == value; }
};

/// An item between the brackets of a read: an index, or `...` for any number of dimensions.
struct IndexItem {
  bool isEllipsis = false;
  IndexExpr expr;
};

/// The value of an attribute, or a number in an expression.
struct Literal {
  Place place;
  bool isInteger = false;
  int64_t integer = 0;
  double real = 0;
};

struct NamedLiteral {
  std::string name;
  Literal value;
};

struct Definition;

struct Expr {
  enum class Kind {
    Number,
    /// An attribute, or an index as a number; for an operand of a Call that is a tensor, a parameter.
    Name,
    /// `x[i, j]`, or `f(x)[i, j]`: then the only operand is a Call of tensors.
    Read,
    /// An operator or a function of the language, by the name of its row in Functions.def.
    Builtin,
    /// An earlier definition, applied to numbers; inside of a Read to whole tensors.
    Call,
    /// Conversion to `element`.
    Convert
  };
  Kind kind = Kind::Number;
  Place place;
  std::string name;
  Literal number;
  std::vector<Expr> operands;
  /// The attributes of a call.
  std::vector<NamedLiteral> attributes;
  std::vector<IndexItem> indices;
  /// What a read gives outside of the tensor: nothing, or one number.
  std::vector<Expr> otherwise;
  /// Set by the checker.
  Element element = Element::Generic;
  const Definition *callee = nullptr;
  /// Set by the checker for a read: the name of its tensor in index expressions.
  std::string tensor;
};

struct Parameter {
  std::string name;
  Place place;
  /// Generic if it declares none.
  Element element = Element::Generic;
  /// Set by the checker: the number of dimensions, or the least number if `isOpen`; -1: not read.
  int64_t rank = -1;
  bool isOpen = false;
  /// Only for externs: the declared dimensions.
  std::vector<IndexItem> dims = {};
};

struct Attribute {
  std::string name;
  Literal value;
};

/// An index on the left, or the `...` there.
struct Index {
  std::string name;
  Place place;
  bool isEllipsis = false;
  /// `i < SIZE`.
  std::optional<IndexExpr> extent;
};

enum class Reduction { None, Sum, Product, Max, Min };

/// What a use has to keep to, where the definition alone does not tell.
struct Requirement {
  enum class Kind { Float, Integer, Number };
  Kind kind;
  Place place;
  std::string what;
};

struct Definition {
  std::string name, domain;
  int64_t version = 1;
  Place place;
  std::vector<Parameter> parameters;
  std::vector<Attribute> attributes;
  /// The indices of the result.
  std::vector<Index> indices;
  Reduction reduction = Reduction::None;
  Expr body;
  /// The indices that are reduced over, with the sizes that `for` gives; the checker adds those that reads give.
  std::vector<Index> reduced;
  /// Set by the checker.
  Element result = Element::Generic;
  std::vector<Requirement> requirements;
  /// The file, for messages about uses.
  const class SourceText *source = nullptr;

  /// Where `...` stands among the indices; nullopt without.
  std::optional<size_t> findEllipsis() const;
  /// Whether it has the form f(x, ...)[...] = of reads x[...] only, so that it can be applied to numbers.
  bool isPointwise() const;
  const Parameter *findParameter(llvm::StringRef name) const;
  const Attribute *findAttribute(llvm::StringRef name) const;
};

/// `extern f(x: float[b, i]) -> float[b, j] = symbol`: a C function that the program provides.
struct Extern {
  std::string name, domain;
  int64_t version = 1;
  Place place;
  std::vector<Parameter> parameters, results;
  std::string symbol;
  const class SourceText *source = nullptr;
};

} // namespace kiln::definitions

#endif // KILN_COMPILER_DEFINITIONS_DEFINITION_H
