//===- KeySlots.cpp - Hash tables that kernels read ------------------------===//
#include "dialects/kernel/KeySlots.h"

#include "kiln/keys.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace kiln::kernel {

SmallVector<int32_t> makeKeySlots(ArrayRef<StringRef> keys, bool caseSensitive) {
  auto texts = map_to_vector(keys, [](StringRef key) { return kiln_string{key.data(), static_cast<int64_t>(key.size())}; });
  SmallVector<int32_t> slots(keys.empty() ? 0 : bit_ceil(keys.size() * 3 / 2 + 1));
  for (auto [number, text] : enumerate(texts)) {
    if (find_key(text, texts.data(), slots.data(), static_cast<int64_t>(slots.size()), caseSensitive) >= 0)
      continue;
    size_t at = hash_key(text, caseSensitive) % slots.size();
    while (slots[at] != 0)
      at = (at + 1) % slots.size();
    slots[at] = static_cast<int32_t>(number) + 1;
  }
  return slots;
}

} // namespace kiln::kernel
