//===- HeaderCache.cpp - Kernel headers that were parsed before ------------===//
//
// An entry is a line with a hash of its key and the AST, then the AST. The hash is one against damage: it is nearly free for half a megabyte.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/HeaderCache.h"
#include "compiler/emit/CompilerFlags.h"
#include "compiler/emit/ObjectCache.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace kiln {

/// The name that an `#include "NAME"` has; empty for another line.
static StringRef takeIncluded(StringRef line) { return line.consume_front("#include \"") && line.consume_back("\"") ? line : ""; }

std::string listKernelHeaders(const SourceFile &unit, ArrayRef<SourceFile> headers) {
  std::string includes;
  auto add = [&](StringRef line) {
    if (takeIncluded(line).starts_with("kiln/"))
      includes += (line + "\n").str();
  };
  for (StringRef line : split(unit.text, '\n')) {
    StringRef name = takeIncluded(line);
    // Whatever else comes first may change what a header means.
    if (name.empty() && !line.empty() && !line.starts_with("//"))
      break;
    const auto *own = find_if(headers, [&](const SourceFile &header) { return header.name == name; });
    if (own == headers.end())
      add(line);
    else
      for_each(split(own->text, '\n'), add);
  }
  return includes;
}

static std::string hashOf(StringRef key, StringRef ast) { return utohexstr(xxh3_64bits(key) ^ xxh3_64bits(ast), /*LowerCase=*/true, /*Width=*/16); }

std::shared_ptr<const PrecompiledHeaders> HeaderCache::find(StringRef key, StringRef includes) const {
  std::optional<std::string> text = folder.read(key);
  if (!text)
    return nullptr;
  auto [hash, ast] = StringRef(*text).split('\n');
  if (ast.empty() || hash != hashOf(key, ast))
    return nullptr;
  folder.touch(key);
  return std::make_shared<PrecompiledHeaders>(PrecompiledHeaders{includes.str(), {ast.begin(), ast.end()}});
}

void HeaderCache::insert(StringRef key, const PrecompiledHeaders &headers) const {
  StringRef ast(headers.ast.data(), headers.ast.size());
  folder.write(key, hashOf(key, ast) + "\n" + ast.str());
}

std::string HeaderCache::makeKey(StringRef includes, kernel::TargetAttr target, StringRef identity) {
  std::vector<std::string> arguments = frontendArguments(target);
  SmallVector<StringRef> pieces = {"headers 1", identity, includes};
  append_range(pieces, arguments);
  return ObjectCache::makeKey(pieces);
}

std::shared_ptr<const PrecompiledHeaders> HeaderCache::get(StringRef includes, kernel::TargetAttr target, StringRef identity) const {
  std::string key = makeKey(includes, target, identity);
  std::shared_ptr<Entry> entry;
  {
    std::lock_guard<std::mutex> lock(mutex);
    std::shared_ptr<Entry> &place = entries[key];
    if (!place)
      place = std::make_shared<Entry>();
    entry = place;
  }
  // Threads that want the same headers wait for the first.
  std::call_once(entry->once, [&] {
    entry->headers = find(key, includes);
    if (entry->headers)
      return;
    Expected<PrecompiledHeaders> made = precompileHeaders(includes, target);
    if (!made)
      return consumeError(made.takeError()); // the unit will say what is wrong
    insert(key, *made);
    entry->headers = std::make_shared<PrecompiledHeaders>(std::move(*made));
  });
  return entry->headers;
}

Expected<SmallVector<char, 0>> HeaderCache::compile(const SourceFile &unit, ArrayRef<SourceFile> headers, kernel::TargetAttr target,
                                                    StringRef identity) const {
  std::string includes = isEnabled() ? listKernelHeaders(unit, headers) : "";
  if (!includes.empty())
    if (auto parsed = get(includes, target, identity)) {
      auto object = compileInProcess(unit, headers, target, parsed.get());
      if (object)
        return object;
      // Whether the unit or what was kept is wrong, the text of the headers shows.
      consumeError(object.takeError());
    }
  return compileInProcess(unit, headers, target);
}

} // namespace kiln
