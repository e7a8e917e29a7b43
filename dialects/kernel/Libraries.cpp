//===- Libraries.cpp - Libraries that a target may list --------------------===//
#include "dialects/kernel/Libraries.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace kiln::kernel {

static constexpr StringLiteral oneDnnOperations[] = {"conv", "layer_norm", "log_softmax", "matmul", "softmax"};
static constexpr StringLiteral oneDnnLinks[] = {"dnnl"};

static const Library libraries[] = {{"onednn", "kiln/onednn.h", oneDnnOperations, oneDnnLinks}};

const Library *findLibrary(StringRef name) {
  const auto *found = find_if(libraries, [&](const Library &library) { return library.name == name; });
  return found == std::end(libraries) ? nullptr : found;
}

std::vector<std::string> parseLibrary(StringRef text, std::string &fault) {
  auto [name, list] = text.split(':');
  const Library *library = findLibrary(name);
  if (!library) {
    fault = "unknown library '" + name.str() + "', expected one of: " + join(map_range(libraries, [](const Library &known) { return known.name.str(); }), ", ");
    return {};
  }
  if (!text.contains(':'))
    return {name.str()};
  SmallVector<StringRef> operations;
  list.split(operations, ',');
  std::vector<std::string> entries;
  for (StringRef operation : operations) {
    if (operation != "all" && !is_contained(library->operations, operation)) {
      fault = "library '" + name.str() + "' has no '" + operation.str() + "', expected all or names among: " + join(library->operations, ", ");
      return {};
    }
    entries.push_back((name + ":" + operation).str());
  }
  return entries;
}

} // namespace kiln::kernel
