//===- Names.h - Text of the IR that C++ text has as it stands --------------===//
//
// Most text of the IR reaches the emitted files as a made identifier, a string literal or a comment. What is here must keep its own name, so only names from
// a known list, or of a known form, may stand in the IR.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_KERNEL_NAMES_H
#define KILN_DIALECTS_KERNEL_NAMES_H

#include "llvm/ADT/StringRef.h"

namespace kiln::kernel {

/// Whether the text is made of letters, digits and `_`, and begins with no digit.
bool isIdentifier(llvm::StringRef text);

/// Whether C, C++, a header that emitted text includes or the emitted text itself gives the name a meaning.
bool isReservedName(llvm::StringRef name);

/// Whether a function of the user's may have this name in C.
bool isFunctionName(llvm::StringRef name);

/// Whether the text is an enumerator of kiln_status other than KILN_STATUS_OK.
bool isFailureStatus(llvm::StringRef name);

/// Whether the text is a function of the runtime's kernel headers that `kernel.runtime_call` may call.
bool isRuntimeFunction(llvm::StringRef name);

} // namespace kiln::kernel

#endif // KILN_DIALECTS_KERNEL_NAMES_H
