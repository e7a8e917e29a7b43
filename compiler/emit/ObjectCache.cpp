//===- ObjectCache.cpp - Objects of earlier compiles -----------------------===//
//
// An entry is a line with the hash of the key and the object, then the object: neither a changed object is believed nor one under another's key.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/ObjectCache.h"
#include "compiler/emit/ElfCheck.h"
#include "compiler/emit/SharedCache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/SHA256.h"

using namespace llvm;

namespace kiln {

template <typename Hash> static std::string hashOf(ArrayRef<StringRef> pieces) {
  Hash hash;
  for (StringRef piece : pieces) {
    // Lengths are hashed, too, so that pieces that are divided differently have different keys.
    hash.update(std::to_string(piece.size()) + ":");
    hash.update(piece);
  }
  return toHex(hash.final(), /*LowerCase=*/true);
}

// Each compile hashes all kernel headers: LLVM's BLAKE3 takes a tenth of the time of its SHA-256.
std::string ObjectCache::makeKey(ArrayRef<StringRef> pieces) { return hashOf<TruncatedBLAKE3<32>>(pieces); }

/// The object of an entry; empty if the entry is not whole.
static StringRef readEntry(StringRef key, StringRef text) {
  auto [hash, object] = text.split('\n');
  bool isWhole = !object.empty() && hash == hashOf<SHA256>({key, object}) && (!isElf(object) || isSoundElf(object));
  return isWhole ? object : "";
}

ObjectCache::ObjectCache(StringRef folder, uint64_t limit, SharedCache *shared) : own(folder, CacheTrust::User), limit(limit), shared(shared) {}

std::optional<SmallVector<char, 0>> ObjectCache::findOwn(StringRef name, StringRef key) const {
  if (std::optional<std::string> text = own.read(name))
    if (StringRef object = readEntry(key, *text); !object.empty()) {
      own.touch(name);
      return SmallVector<char, 0>(object.begin(), object.end());
    }
  return std::nullopt;
}

std::optional<SmallVector<char, 0>> ObjectCache::find(StringRef key) const {
  if (auto object = findOwn(key, key); object || !shared)
    return object;
  // Somebody else made it: it has a name of its own in the folder, so that compiles without this shared cache never meet it.
  std::string copy = makeKey({key, shared->getLocation()});
  if (auto object = findOwn(copy, key))
    return object;
  std::optional<std::string> text = shared->read(key);
  if (!text)
    return std::nullopt;
  StringRef object = readEntry(key, *text);
  if (object.empty()) {
    shared->noteFault("an entry is damaged, or is none of Kiln's; its code was compiled again");
    return std::nullopt;
  }
  own.write(copy, *text);
  return SmallVector<char, 0>(object.begin(), object.end());
}

void ObjectCache::insert(StringRef key, ArrayRef<char> object) const {
  if (!isEnabled() || object.size() > maxCacheEntryBytes - 1024)
    return;
  StringRef bytes(object.data(), object.size());
  std::string text = hashOf<SHA256>({key, bytes}) + "\n" + bytes.str();
  own.write(key, text);
  if (shared)
    shared->write(key, text);
}

void ObjectCache::evict() const { own.evict(limit); }

} // namespace kiln
