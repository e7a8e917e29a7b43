//===- Library.cpp - A file of definitions, read and checked ----------------===//
#include "compiler/definitions/Library.h"
#include "compiler/definitions/Parser.h"
#include "compiler/files/InputFile.h"
#include "compiler/files/Printable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace kiln::definitions {

/// The most mistakes that are shown of one file.
static constexpr size_t mostFaults = 20;

std::unique_ptr<Library> Library::parse(std::string path, std::string text, std::vector<Fault> &faults) {
  std::unique_ptr<Library> library(new Library(std::move(path), std::move(text)));
  std::vector<Token> tokens;
  Fault fault;
  if (!splitTokens(library->source.getText(), tokens, fault)) {
    faults.push_back(fault);
    return library;
  }
  Parser(*library, std::move(tokens), sys::path::stem(library->source.getPath()).str()).parseFile(faults);
  return library;
}

std::unique_ptr<Library> Library::read(const std::string &path, std::vector<std::string> &errors) {
  constexpr uint64_t mostBytes = uint64_t(4) << 20;
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readInputFile(path, mostBytes);
  if (!buffer) {
    errors.push_back(printable(path) + ": " + toString(buffer.takeError()));
    return nullptr;
  }
  std::vector<Fault> faults;
  std::unique_ptr<Library> library = parse(path, (*buffer)->getBuffer().str(), faults);
  for (const Fault &fault : ArrayRef(faults).take_front(mostFaults))
    errors.push_back(library->source.describe(fault.place, fault.message));
  return faults.empty() ? std::move(library) : nullptr;
}

void Library::add(Definition definition) {
  const Definition &kept = definitions.emplace_back(std::move(definition));
  names[{kept.domain, kept.name}][kept.version].first = &kept;
}

void Library::add(Extern external) {
  const Extern &kept = externs.emplace_back(std::move(external));
  names[{kept.domain, kept.name}][kept.version].second = &kept;
}

/// The newest version that is not newer and has such an entry.
template <typename Names, typename Get> static auto findNewest(const Names &names, StringRef domain, StringRef name, int64_t version, Get get) {
  auto found = names.find({domain.str(), name.str()});
  decltype(get(found->second.begin()->second)) entry = nullptr;
  if (found != names.end())
    for (auto next = found->second.upper_bound(version); !entry && next != found->second.begin();)
      entry = get((--next)->second);
  return entry;
}

const Definition *Library::find(StringRef domain, StringRef name, int64_t version) const {
  return findNewest(names, domain, name, version, [](const auto &entry) { return entry.first; });
}

const Extern *Library::findExtern(StringRef domain, StringRef name, int64_t version) const {
  return findNewest(names, domain, name, version, [](const auto &entry) { return entry.second; });
}

const Definition *Library::findVersion(StringRef domain, StringRef name, int64_t version) const {
  const Definition *newest = find(domain, name, version);
  return newest && newest->version == version ? newest : nullptr;
}

bool Library::hasName(StringRef domain, StringRef name) const { return names.count({domain.str(), name.str()}); }

} // namespace kiln::definitions
