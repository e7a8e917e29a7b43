//===- CppTypes.h - Types in C++ -------------------------------------------===//
#ifndef KILN_COMPILER_EMIT_CPPTYPES_H
#define KILN_COMPILER_EMIT_CPPTYPES_H

#include "mlir/IR/Types.h"
#include <set>
#include <string>

namespace kiln {

/// The vector types that a text names, such as f32x8. Its translation unit takes them out of the namespace kiln.
class VectorNames {
public:
  /// Notes a type that the text is about to name; returns its text.
  std::string use(std::string type);
  const std::set<std::string> &get() const { return names; }

private:
  std::set<std::string> names;
};

/// Bits of the index type in the texts that this thread prints: 64, or 32 while a NarrowIndices lives. Kernels for machines whose addresses have 32 bits
/// compute with 32; the entry, which checks that no tensor is larger, with 64.
unsigned indexBits();

class NarrowIndices {
public:
  explicit NarrowIndices(bool isNarrow);
  ~NarrowIndices();
  NarrowIndices(const NarrowIndices &) = delete;
  NarrowIndices &operator=(const NarrowIndices &) = delete;

private:
  unsigned before;
};

/// The C++ type of a scalar or vector value; empty if there is none. Signless integers are signed, masks are int32 lanes, f16 and bf16 are
/// their bits.
std::string cppType(mlir::Type type);
/// The C++ type of an element of a buffer.
std::string cppElementType(mlir::Type type);
/// The unsigned integer type of the same shape.
std::string cppUnsignedType(mlir::Type type);
/// Whether a value of this type is a vector with more than one lane in C++ (a vector of one lane is a scalar there).
bool isCppVector(mlir::Type type);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_CPPTYPES_H
