//===- BuildId.h - Which build of Kiln this is ------------------------------===//
#ifndef KILN_COMPILER_EMIT_BUILDID_H
#define KILN_COMPILER_EMIT_BUILDID_H

#include "llvm/ADT/StringRef.h"

namespace kiln {

/// The bytes by which the linker names this program (the ELF note NT_GNU_BUILD_ID): a hash of its contents. Empty if it was linked without one. Any thread may
/// call this.
llvm::StringRef buildId();

} // namespace kiln

#endif // KILN_COMPILER_EMIT_BUILDID_H
