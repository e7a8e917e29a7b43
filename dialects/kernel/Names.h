//===- Names.h - Text of the IR that is copied into C++ --------------===//
//
// Most text of the IR reaches the emitted files as a generated identifier, a string literal or a comment. The names below are copied, so the IR may only
// contain names from a known list or of a known form.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_KERNEL_NAMES_H
#define KILN_DIALECTS_KERNEL_NAMES_H

#include "llvm/ADT/StringRef.h"

namespace kiln::kernel {

/// Whether the text consists of letters, digits and `_`, and does not begin with a digit.
bool isIdentifier(llvm::StringRef text);

/// Whether the name has a meaning in C, in C++, in a header that emitted text includes, or in the emitted text.
bool isReservedName(llvm::StringRef name);

/// Whether a user's C function may have this name.
bool isFunctionName(llvm::StringRef name);

/// Whether a function that a program provides, and that has a weak default in the library, may have this name: none of the C library's, nor of Kiln's.
bool isUserFunctionName(llvm::StringRef name);

/// Whether the text is an enumerator of kiln_status other than KILN_STATUS_OK.
bool isFailureStatus(llvm::StringRef name);

/// Whether the text is a function of the runtime's kernel headers that `kernel.runtime_call` may call.
bool isRuntimeFunction(llvm::StringRef name);

} // namespace kiln::kernel

#endif // KILN_DIALECTS_KERNEL_NAMES_H
