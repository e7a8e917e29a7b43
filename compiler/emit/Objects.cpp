//===- Objects.cpp - The translation units of a model as objects -----------===//
#include "compiler/emit/Objects.h"
#include "compiler/emit/BuildId.h"
#include "compiler/emit/ClangCompiler.h"
#include "compiler/emit/CompilerFlags.h"
#include "compiler/emit/EmbeddedFiles.h"
#include "compiler/emit/ExternalCompiler.h"
#include "compiler/emit/HeaderCache.h"
#include "compiler/emit/ObjectCache.h"
#include "compiler/emit/SharedCache.h"

#include "clang/Basic/Version.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/thread.h"
#include <atomic>
#include <thread>

using namespace llvm;

namespace kiln {

/// The stack of a compile thread: Clang recurses deeply on long expressions.
static constexpr unsigned threadStackBytes = 64 << 20;

/// Kernel headers have one of so many parts of the cache's bytes.
static constexpr unsigned headersShare = 4;

/// Where they are in the cache's folder; empty if there is none.
static std::string folderOfHeaders(StringRef cache) {
  SmallString<128> path = cache;
  if (!path.empty())
    sys::path::append(path, "headers");
  return std::string(path);
}

namespace {

/// Compiles the units of one model.
class UnitCompiler {
public:
  UnitCompiler(const ModelSources &sources, const ObjectOptions &options)
      : sources(sources), headers(sources.headers()),
        cache(options.cache.keepsObjects ? options.cache.folder : "", options.cache.limit - options.cache.limit / headersShare,
              options.cache.shared.empty() ? nullptr : &SharedCache::at(options.cache.shared)),
        parsed(options.cxx.empty() && cache.getFault().empty() ? folderOfHeaders(options.cache.folder) : "", options.cache.limit / headersShare) {}
  Error prepare(const ObjectOptions &options);

  /// Any number of threads may call this at once.
  Expected<ObjectFile> compile(const TranslationUnit &unit) const;

  const ModelSources &sources;
  const std::vector<SourceFile> headers;
  const ObjectCache cache;
  const HeaderCache parsed;

private:
  std::string makeKey(const TranslationUnit &unit) const;

  std::optional<ExternalCompiler> external;
  /// The compiler and the headers that come with it, for the keys of the cache. Empty if its objects are not kept.
  std::string identity;
};

} // namespace

Error UnitCompiler::prepare(const ObjectOptions &options) {
  if (!options.cxx.empty()) {
    auto compiler = ExternalCompiler::create(options.cxx, headers);
    if (!compiler)
      return compiler.takeError();
    external.emplace(std::move(*compiler));
  }
  const std::string &fault = cache.getFault().empty() ? parsed.getFault() : cache.getFault();
  if (options.cacheUnusable && !fault.empty())
    options.cacheUnusable(fault);
  if (!cache.isEnabled() && !parsed.isEnabled())
    return Error::success();
  // How the built-in compiler makes code is up to the build of Kiln, not only to its version.
  std::string compiler = external ? external->identify() : "built in " + clang::getClangFullVersion() + buildId().str();
  if (compiler.empty())
    return Error::success();
  std::vector<StringRef> pieces = {"object 1", KILN_VERSION, compiler};
  for (const EmbeddedFile &file : embeddedFiles())
    if (file.path.starts_with("kiln/") || file.path.starts_with("builtin/"))
      pieces.insert(pieces.end(), {file.path, file.text});
  identity = ObjectCache::makeKey(pieces);
  return Error::success();
}

/// The text without the lines that are comments, such as those with the names of a kernel's nodes. The built-in compiler makes the same object of it, because
/// objects have no line numbers.
static std::string dropComments(StringRef text) {
  std::string kept;
  for (StringRef line : split(text, '\n'))
    if (!line.ltrim().starts_with("//"))
      (kept += line) += '\n';
  return kept;
}

std::string UnitCompiler::makeKey(const TranslationUnit &unit) const {
  std::vector<std::string> flags = external ? commonFlags() : frontendArguments(unit.target);
  if (external)
    append_range(flags, targetFlags(unit.target));
  std::string text = external ? unit.text : dropComments(unit.text);
  std::vector<StringRef> pieces = {identity, unit.name, text};
  pieces.insert(pieces.end(), flags.begin(), flags.end());
  for (const SourceFile &header : headers)
    if (is_contained(unit.headers, header.name))
      pieces.insert(pieces.end(), {header.name, header.text});
  return ObjectCache::makeKey(pieces);
}

Expected<ObjectFile> UnitCompiler::compile(const TranslationUnit &unit) const {
  std::string name = StringRef(unit.name).drop_back(3).str() + "o";
  std::string key = cache.isEnabled() && !identity.empty() ? makeKey(unit) : "";
  if (auto found = key.empty() ? std::nullopt : cache.find(key))
    return ObjectFile{std::move(name), std::move(*found), true};
  auto object = external ? external->compile(unit, unit.target) : parsed.compile(unit, headers, unit.target, identity);
  if (!object)
    return object.takeError();
  if (!key.empty())
    cache.insert(key, *object);
  return ObjectFile{std::move(name), std::move(*object), false};
}

/// What is wrong with the first unit is most often wrong with all of them.
static Error reportFaults(ArrayRef<std::string> faults) {
  std::string others = faults.size() == 1 ? "" : "\n" + std::to_string(faults.size() - 1) + " more of the files could not be compiled";
  return createStringError(inconvertibleErrorCode(), faults.front() + others);
}

Expected<std::vector<ObjectFile>> compileObjects(const ModelSources &sources, const ObjectOptions &options) {
  UnitCompiler compiler(sources, options);
  if (Error error = compiler.prepare(options))
    return std::move(error);
  size_t count = sources.units.size();
  std::vector<std::optional<Expected<ObjectFile>>> results(count);
  // The largest units come first, so that the last one to finish is small.
  std::vector<size_t> order(count);
  for (size_t i = 0; i < count; ++i)
    order[i] = i;
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::make_pair(sources.units[b].text.size(), a) < std::make_pair(sources.units[a].text.size(), b);
  });
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t turn; (turn = next++) < count;)
      results[order[turn]].emplace(compiler.compile(sources.units[order[turn]]));
  };
  unsigned threads = options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  std::vector<llvm::thread> workers;
  for (unsigned i = 0; i < std::min<size_t>(threads, count); ++i)
    workers.emplace_back(std::optional<unsigned>(threadStackBytes), work);
  for (llvm::thread &worker : workers)
    worker.join();

  std::vector<ObjectFile> objects;
  std::vector<std::string> faults;
  for (std::optional<Expected<ObjectFile>> &result : results) {
    if (!*result)
      faults.push_back(toString(result->takeError()));
    else
      objects.push_back(std::move(**result));
  }
  if (!faults.empty())
    return reportFaults(faults);
  compiler.cache.evict();
  compiler.parsed.evict();
  return objects;
}

} // namespace kiln
