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

/// The newest entry that is not newer than the version.
template <typename List> static auto findNewest(const List &list, StringRef domain, StringRef name, int64_t version) -> decltype(&list.front()) {
  decltype(&list.front()) found = nullptr;
  for (const auto &entry : list)
    if (entry.domain == domain && entry.name == name && entry.version <= version && (!found || entry.version > found->version))
      found = &entry;
  return found;
}

const Definition *Library::find(StringRef domain, StringRef name, int64_t version) const { return findNewest(definitions, domain, name, version); }
const Extern *Library::findExtern(StringRef domain, StringRef name, int64_t version) const { return findNewest(externs, domain, name, version); }

bool Library::hasName(StringRef domain, StringRef name) const {
  auto isNamed = [&](const auto &entry) { return entry.domain == domain && entry.name == name; };
  return any_of(definitions, isNamed) || any_of(externs, isNamed);
}

} // namespace kiln::definitions
