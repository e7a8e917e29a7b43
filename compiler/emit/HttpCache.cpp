//===- HttpCache.cpp - A shared cache behind HTTP --------------------------===//
//
// A cache must never be in the way of a compile. So each request has a time limit, and a server that does not answer in time, answers with an error, or takes
// longer than it can be worth is not asked again by this process. `noteFault` keeps the reason.
//
// libcurl is not linked: its many libraries would take longer to load than a small model takes to compile, and few need it.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/HttpCache.h"
#include "compiler/emit/CacheFolder.h"

#include "llvm/ADT/ScopeExit.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <curl/curl.h>
#include <dlfcn.h>
#include <vector>

using namespace llvm;

namespace kiln {

/// How long connecting may take, and how long an answer may take before it counts as late.
static constexpr long connectMs = 1000, lateMs = 250;

namespace {

/// The functions of libcurl.
struct Curl {
  Curl();
  template <typename Function> void load(void *library, const char *name, Function &function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    isWhole = isWhole && function;
  }

  bool isWhole = false;
  decltype(&::curl_global_init) globalInit;
  decltype(&::curl_easy_init) init;
  decltype(&::curl_easy_setopt) set;
  decltype(&::curl_easy_perform) perform;
  decltype(&::curl_easy_getinfo) getInfo;
  decltype(&::curl_easy_reset) reset;
  decltype(&::curl_easy_cleanup) cleanup;
  decltype(&::curl_easy_strerror) describe;
  decltype(&::curl_slist_append) append;
  decltype(&::curl_slist_free_all) freeList;
};

struct Answer {
  CURLcode code = CURLE_OK;
  long status = 0;
  std::string text;
  /// What libcurl says to a failure.
  std::string fault;
};

/// While it lives, a connection that is closed by the other side ends no program; libcurl cannot do that itself where there are threads.
class BrokenPipesIgnored {
public:
  BrokenPipesIgnored() {
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
  }
  ~BrokenPipesIgnored() {
    timespec none = {};
    if (!sigismember(&before, SIGPIPE))
      sigtimedwait(&pipe, nullptr, &none);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

private:
  sigset_t pipe, before;
};

class HttpCache : public SharedCache {
public:
  explicit HttpCache(const SharedCacheAddress &address) : SharedCache(address) {}
  ~HttpCache() override;
  std::optional<std::string> read(StringRef key) override;

private:
  void writeEntry(StringRef key, StringRef text) override;
  Answer ask(StringRef key, const StringRef *sent);
  CURL *takeHandle();
  void giveUp(const Twine &fault) {
    isGone = true;
    noteFault((fault + "; it was not asked again").str());
  }
  void giveUp(const Answer &answer);

  Curl curl;
  std::atomic<bool> isGone = false, takesObjects = true;
  /// The time by which answers were late, in all.
  std::atomic<long> lostMs = 0;
  std::mutex mutex;
  /// Handles that no thread uses, with their open connections.
  std::vector<CURL *> idle;
};

} // namespace

Curl::Curl() {
  for (const char *name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      continue;
    isWhole = true;
    load(library, "curl_global_init", globalInit);
    load(library, "curl_easy_init", init);
    load(library, "curl_easy_setopt", set);
    load(library, "curl_easy_perform", perform);
    load(library, "curl_easy_getinfo", getInfo);
    load(library, "curl_easy_reset", reset);
    load(library, "curl_easy_cleanup", cleanup);
    load(library, "curl_easy_strerror", describe);
    load(library, "curl_slist_append", append);
    load(library, "curl_slist_free_all", freeList);
    isWhole = isWhole && globalInit(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    return;
  }
}

HttpCache::~HttpCache() {
  for (CURL *handle : idle)
    curl.cleanup(handle);
}

CURL *HttpCache::takeHandle() {
  std::lock_guard lock(mutex);
  if (idle.empty())
    return curl.init();
  CURL *handle = idle.back();
  idle.pop_back();
  curl.reset(handle);
  return handle;
}

/// Takes what arrives, up to the size of the largest entry; a longer answer ends the request.
static size_t receive(char *bytes, size_t, size_t count, void *answer) {
  std::string &text = static_cast<Answer *>(answer)->text;
  if (text.size() + count > maxCacheEntryBytes)
    return 0;
  text.append(bytes, count);
  return count;
}

static size_t send(char *bytes, size_t, size_t room, void *rest) {
  StringRef &text = *static_cast<StringRef *>(rest);
  size_t count = std::min(room, text.size());
  std::copy_n(text.begin(), count, bytes);
  text = text.drop_front(count);
  return count;
}

/// One request; with `sent` a PUT.
Answer HttpCache::ask(StringRef key, const StringRef *sent) {
  Answer answer;
  CURL *handle = takeHandle();
  if (!handle) {
    answer.code = CURLE_FAILED_INIT;
    return answer;
  }
  char message[CURL_ERROR_SIZE] = "";
  StringRef rest = sent ? *sent : "";
  // Servers that do not know `Expect` would keep libcurl waiting.
  curl_slist *headers = curl.append(curl.append(nullptr, "Expect:"), "Content-Type: application/octet-stream");
  curl.set(handle, CURLOPT_URL, (address.location + "/" + key + ".kiln").str().c_str());
  curl.set(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl.set(handle, CURLOPT_USERAGENT, "kiln");
  curl.set(handle, CURLOPT_HTTPHEADER, headers);
  curl.set(handle, CURLOPT_ERRORBUFFER, message);
  curl.set(handle, CURLOPT_NOSIGNAL, 1L);
  curl.set(handle, CURLOPT_QUICK_EXIT, 1L);
  curl.set(handle, CURLOPT_TIMEOUT_MS, long(address.timeoutMs));
  curl.set(handle, CURLOPT_CONNECTTIMEOUT_MS, std::min(long(address.timeoutMs), connectMs));
  curl.set(handle, CURLOPT_WRITEFUNCTION, receive);
  curl.set(handle, CURLOPT_WRITEDATA, &answer);
  if (sent) {
    curl.set(handle, CURLOPT_UPLOAD, 1L);
    curl.set(handle, CURLOPT_READFUNCTION, send);
    curl.set(handle, CURLOPT_READDATA, &rest);
    curl.set(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(sent->size()));
  }
  auto start = std::chrono::steady_clock::now();
  {
    BrokenPipesIgnored ignored;
    answer.code = curl.perform(handle);
  }
  long ms = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start).count();
  if (ms > lateMs && (lostMs += ms - lateMs) > long(address.timeoutMs) && answer.code == CURLE_OK)
    giveUp("its answers are late, by " + Twine(lostMs.load()) + " ms in all");
  curl.getInfo(handle, CURLINFO_RESPONSE_CODE, &answer.status);
  answer.fault = *message ? message : curl.describe(answer.code);
  curl.freeList(headers);
  // The handle must not keep the address of what is gone.
  curl.reset(handle);
  std::lock_guard lock(mutex);
  idle.push_back(handle);
  return answer;
}

void HttpCache::giveUp(const Answer &answer) {
  if (answer.code == CURLE_OPERATION_TIMEDOUT)
    giveUp("no answer within " + Twine(address.timeoutMs) + " ms");
  else if (answer.code != CURLE_OK)
    giveUp(answer.code == CURLE_WRITE_ERROR ? "an answer is too long for an object" : answer.fault);
  else
    giveUp("it answered " + Twine(answer.status));
}

std::optional<std::string> HttpCache::read(StringRef key) {
  if (!curl.isWhole && !isGone)
    giveUp("libcurl.so.4 cannot be loaded (Debian: libcurl4)");
  if (isGone)
    return std::nullopt;
  Answer answer = ask(key, nullptr);
  if (answer.code == CURLE_OK && answer.status == 200)
    return std::move(answer.text);
  if (answer.code != CURLE_OK || (answer.status != 404 && answer.status != 410))
    giveUp(answer);
  return std::nullopt;
}

void HttpCache::writeEntry(StringRef key, StringRef text) {
  if (isGone || !takesObjects || !curl.isWhole)
    return;
  Answer answer = ask(key, &text);
  if (answer.code == CURLE_OK && answer.status >= 200 && answer.status < 300)
    return;
  // A server may answer everybody and take from some.
  bool isRefusal = answer.code == CURLE_OK && (answer.status == 401 || answer.status == 403 || answer.status == 405 || answer.status == 501);
  if (!isRefusal)
    return giveUp(answer);
  takesObjects = false;
  noteFault("it takes no objects from here (" + std::to_string(answer.status) + "); |read-only behind the address says so beforehand");
}

std::unique_ptr<SharedCache> makeHttpCache(const SharedCacheAddress &address) { return std::make_unique<HttpCache>(address); }

} // namespace kiln
