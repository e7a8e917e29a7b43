//===- StackUse.h - The stack size of a model's run ------------===//
#ifndef KILN_COMPILER_EMIT_STACKUSE_H
#define KILN_COMPILER_EMIT_STACKUSE_H

#include "compiler/emit/Objects.h"
#include <optional>

namespace kiln {

/// The largest number of bytes of stack that a call of a function in these objects takes, not counting functions of the C library and of the caller's
/// context. Nullopt if the objects do not contain this information, as those of other compilers or formats than ELF.
std::optional<int64_t> boundStackUse(llvm::ArrayRef<ObjectFile> objects, llvm::StringRef function);

/// Of the calls that take most, the function with the largest frame and its bytes, where boundStackUse() has a bound.
std::pair<std::string, int64_t> findLargestFrame(llvm::ArrayRef<ObjectFile> objects, llvm::StringRef function);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_STACKUSE_H
