//===- NarrowTypes.h - Element types without arithmetic -------------===//
//
// A tensor of one of ONNX's types of 8 bits and less that are no ordinary integers is held with one byte an element: the number itself of a
// narrow integer, the code of a narrow float. What a byte means is known by the name of the value (Node::narrowType), and conversions ask for it.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_IMPORT_NARROWTYPES_H
#define KILN_COMPILER_IMPORT_NARROWTYPES_H

#include "compiler/import/Node.h"

namespace kiln::import {

/// float8 of five kinds, float6 of two and float4: held as codes.
bool isNarrowFloat(int64_t dataType);
/// Bits of a 4- or 2-bit integer, 0 of anything else.
int narrowIntegerBits(int64_t dataType);

/// The numbers (f32) that codes of a narrow float mean.
Value decodeNarrowFloat(Node &node, Value codes, int64_t dataType);
/// The codes of numbers, rounded to nearest even; what is too large becomes the largest number, or infinity or NaN.
/// Powers of two (float8e8m0) are rounded `up`, `down` or to the `nearest`.
Value encodeNarrowFloat(Node &node, Value numbers, int64_t dataType, bool saturates, llvm::StringRef rounding = "up");
/// The low bits of numbers, which are truncated first.
Value wrapNarrowInteger(Node &node, Value numbers, int64_t dataType);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_NARROWTYPES_H
