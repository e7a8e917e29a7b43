//===- StackUse.h - How deep the stack of a model's run may get ------------===//
#ifndef KILN_COMPILER_EMIT_STACKUSE_H
#define KILN_COMPILER_EMIT_STACKUSE_H

#include "compiler/emit/Objects.h"
#include <optional>

namespace kiln {

/// Bytes of stack that a call of a function in these objects takes at most, that of the functions of the C library and of the caller's context left
/// out. None when the objects do not tell: made by another compiler, or for another format than ELF.
std::optional<int64_t> boundStackUse(llvm::ArrayRef<ObjectFile> objects, llvm::StringRef function);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_STACKUSE_H
