//===- RealNumber.h - The reader of real numbers -------------------------------===//
//
// StringRef::getAsDouble writes beyond an array on the stack for a number of some 16,000 digits, so that every text from outside is read here.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_NN_REALNUMBER_H
#define KILN_DIALECTS_NN_REALNUMBER_H

#include "llvm/ADT/StringExtras.h"

namespace kiln {

/// Reads a text that is a number, inf or nan and nothing else, with any number of digits. A number beyond the range becomes infinite or zero. Returns false for
/// another text.
inline bool parseReal(llvm::StringRef text, double &number) {
  // strtod leaves out blanks in front, ends at a zero byte and takes an empty text.
  bool isPlain = !text.empty() && !llvm::isSpace(text.front()) && !text.contains('\0');
  return isPlain && llvm::to_float(text, number);
}

} // namespace kiln

#endif // KILN_DIALECTS_NN_REALNUMBER_H
