//===- Objects.cpp - The translation units of a model as objects -----------===//
#include "compiler/emit/Objects.h"
#include "compiler/emit/ClangCompiler.h"
#include "compiler/emit/ExternalCompiler.h"

#include "llvm/Support/CrashRecoveryContext.h"
#include <atomic>
#include <thread>

using namespace llvm;

namespace kiln {

using ObjectBytes = SmallVector<char, 0>;

/// The stack of a compile thread: Clang recurses deeply on long expressions.
static constexpr unsigned threadStackBytes = 64 << 20;

Expected<std::vector<ObjectFile>> compileObjects(const ModelSources &sources, const ObjectOptions &options) {
  std::vector<SourceFile> headers = sources.headers();
  std::optional<ExternalCompiler> external;
  if (!options.cxx.empty()) {
    auto compiler = ExternalCompiler::create(options.cxx, headers);
    if (!compiler)
      return compiler.takeError();
    external.emplace(std::move(*compiler));
  }
  size_t count = sources.units.size();
  std::vector<std::optional<Expected<ObjectBytes>>> results(count);
  // The largest units first: the last one to finish is then a small one.
  std::vector<size_t> order(count);
  for (size_t i = 0; i < count; ++i)
    order[i] = i;
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::make_pair(sources.units[b].text.size(), a) < std::make_pair(sources.units[a].text.size(), b);
  });
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t turn; (turn = next++) < count;) {
      const TranslationUnit &unit = sources.units[order[turn]];
      results[order[turn]].emplace(external ? external->compile(unit, unit.target) : compileInProcess(unit, headers, unit.target));
    }
  };
  unsigned threads = options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < std::min<size_t>(threads, count); ++i)
    workers.emplace_back([&] { CrashRecoveryContext().RunSafelyOnThread(work, threadStackBytes); });
  for (std::thread &worker : workers)
    worker.join();

  std::vector<ObjectFile> objects;
  Error errors = Error::success();
  for (size_t i = 0; i < count; ++i) {
    if (!*results[i])
      errors = joinErrors(std::move(errors), results[i]->takeError());
    else
      objects.push_back({StringRef(sources.units[i].name).drop_back(3).str() + "o", std::move(**results[i])});
  }
  if (errors)
    return std::move(errors);
  return objects;
}

} // namespace kiln
