//===- SharedCache.cpp - A cache of several users and machines -------------===//
#include "compiler/emit/SharedCache.h"
#include "compiler/emit/CacheFolder.h"
#include "compiler/emit/HttpCache.h"

#include "llvm/ADT/StringExtras.h"
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>

using namespace llvm;

namespace kiln {

static constexpr StringLiteral folderScheme = "file://";

bool SharedCacheAddress::isFolder() const { return StringRef(location).starts_with(folderScheme); }

std::string SharedCacheAddress::describe() const {
  auto [scheme, rest] = StringRef(location).split("://");
  StringRef host = rest.take_until([](char c) { return c == '/'; });
  if (isFolder() || !host.contains('@'))
    return location;
  return (scheme + "://" + host.rsplit('@').second + rest.drop_front(host.size())).str();
}

Expected<SharedCacheAddress> readSharedCacheAddress(StringRef text) {
  SharedCacheAddress address;
  SmallVector<StringRef> parts;
  text.split(parts, '|');
  address.location = parts.front().rtrim('/').str();
  auto [scheme, rest] = StringRef(address.location).split("://");
  bool isServer = (scheme == "http" || scheme == "https") && !rest.empty() && rest.front() != '/';
  if (!isServer && !(address.isFolder() && rest.starts_with("/")))
    return createStringError("expected on, off, headers, http://HOST/PATH, https://HOST/PATH or file:///FOLDER");
  for (StringRef part : ArrayRef(parts).drop_front()) {
    if (part == "read-only")
      address.isReadOnly = true;
    else if (!part.consume_front("timeout=") || part.getAsInteger(10, address.timeoutMs) || !address.timeoutMs || address.timeoutMs > 600000)
      return createStringError("behind the address: expected |read-only or |timeout=MILLISECONDS, 1 to 600000");
  }
  return address;
}

void SharedCache::write(StringRef key, StringRef text) {
  if (!address.isReadOnly)
    writeEntry(key, text);
}

void SharedCache::noteFault(StringRef text) {
  std::lock_guard lock(mutex);
  if (fault.empty())
    fault = text;
}

std::string SharedCache::takeFault() {
  std::lock_guard lock(mutex);
  if (fault.empty() || isFaultTaken)
    return "";
  isFaultTaken = true;
  return "the shared kernel cache " + address.describe() + ": " + fault;
}

namespace {
/// A folder, for example of a network file system. It is emptied by whoever keeps it, because looking at all files over a network takes long.
class FolderCache : public SharedCache {
public:
  explicit FolderCache(const SharedCacheAddress &address)
      : SharedCache(address), folder(StringRef(address.location).drop_front(folderScheme.size()), CacheTrust::Anybody) {
    if (!folder.getFault().empty())
      noteFault("it is not used: " + folder.getFault());
  }

  std::optional<std::string> read(StringRef key) override {
    std::optional<std::string> text = folder.read(key);
    if (text && !address.isReadOnly)
      folder.touch(key);
    return text;
  }

private:
  void writeEntry(StringRef key, StringRef text) override {
    if (folder.isOpen() && !isFull && !folder.write(key, text)) {
      noteFault(std::string("it does not take objects: ") + std::strerror(errno));
      isFull = true;
    }
  }

  const CacheFolder folder;
  /// After a write that failed, none is tried.
  std::atomic<bool> isFull = false;
};
} // namespace

SharedCache &SharedCache::at(StringRef text) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<SharedCache>, std::less<>> caches;
  std::lock_guard lock(mutex);
  std::unique_ptr<SharedCache> &cache = caches[text.str()];
  if (!cache) {
    SharedCacheAddress address = cantFail(readSharedCacheAddress(text));
    cache = address.isFolder() ? std::make_unique<FolderCache>(address) : makeHttpCache(address);
  }
  return *cache;
}

} // namespace kiln
