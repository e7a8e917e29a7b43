//===- KeySlots.h - Hash tables that kernels read --------------------------===//
#ifndef KILN_DIALECTS_KERNEL_KEYSLOTS_H
#define KILN_DIALECTS_KERNEL_KEYSLOTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace kiln::kernel {

/// Returns the slots in which `find_key` of kiln/keys.h finds these keys; a third of them or more are free. Of equal keys, the first has a slot.
llvm::SmallVector<int32_t> makeKeySlots(llvm::ArrayRef<llvm::StringRef> keys, bool caseSensitive);

} // namespace kiln::kernel

#endif // KILN_DIALECTS_KERNEL_KEYSLOTS_H
