//===- GraphFlags.cpp - The options of each model of a library of several -----===//
#include "compiler/emit/Identifiers.h"
#include "compiler/import/Import.h"
#include "compiler/run/Tensor.h"
#include "tools/kiln/CompileFlags.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace kiln {

namespace {
/// What options say for one graph.
class OptionsOfGraph {
public:
  OptionsOfGraph(StringRef graph, const StringMap<std::string> &graphs) : graph(graph), graphs(graphs) {}
  CompileOptions take(const CompileOptions &library) const;

private:
  /// The key without the graph's name and a dot in front. Nullopt if another graph's name is there; without any it is for all graphs.
  std::optional<std::string> takeKey(StringRef key) const {
    auto [prefix, rest] = key.split('.');
    if (rest.empty() || !graphs.contains(prefix))
      return key.str();
    return prefix == graph ? std::optional(rest.str()) : std::nullopt;
  }
  /// What is for this graph only has precedence.
  template <typename Value> void keep(std::map<std::string, Value> &entries) const {
    std::map<std::string, Value> own, all;
    for (auto &[key, value] : entries)
      if (std::optional<std::string> name = takeKey(key))
        (*name == key ? all : own).emplace(*name, value);
    own.merge(all);
    entries = std::move(own);
  }
  void keep(std::vector<std::string> &texts) const {
    std::vector<std::string> kept;
    for (const std::string &text : texts)
      if (std::optional<std::string> own = takeKey(text))
        kept.push_back(std::move(*own));
    texts = std::move(kept);
  }

  StringRef graph;
  const StringMap<std::string> &graphs;
};
} // namespace

CompileOptions OptionsOfGraph::take(const CompileOptions &library) const {
  CompileOptions own = library;
  // A dimension may be static in one graph and have bounds in all others.
  for (auto &[key, size] : library.dims)
    if (std::optional<std::string> name = takeKey(key); name && *name != key)
      own.dimBounds.erase(*name);
  for (auto &[key, bounds] : library.dimBounds)
    if (std::optional<std::string> name = takeKey(key); name && *name != key)
      own.dims.erase(*name);
  keep(own.dims);
  keep(own.dimBounds);
  keep(own.renames);
  keep(own.specialize);
  keep(own.shapes);
  keep(own.bindings);
  keep(own.sequences);
  keep(own.inputRanges);
  keep(own.inPlace);
  keep(own.ioLayouts);
  keep(own.opAccuracy);
  keep(own.opCompute);
  std::vector<std::string> absent(own.absent.begin(), own.absent.end());
  keep(absent);
  own.absent = {absent.begin(), absent.end()};
  if (std::optional<std::string> node = takeKey(own.explainNode))
    own.explainNode = *node;
  return own;
}

/// FILE, which is then called like the file, or GRAPH=FILE. A file whose own name has an `=` is a file.
static std::pair<std::string, std::string> splitModel(StringRef text) {
  auto [name, path] = text.split('=');
  if (!path.empty() && makeIdentifier(name) == name && !sys::fs::exists(text))
    return {name.str(), path.str()};
  return {makeIdentifier(sys::path::stem(text)), text.str()};
}

Expected<std::vector<GraphOptions>> getGraphOptions(CompileOptions &library) {
  std::vector<GraphOptions> graphs;
  if (getModels().size() == 1 && splitModel(getModels().front()).second == getModels().front())
    return graphs;
  if (library.name.empty())
    return makeError("a library of graphs needs a name of its own: give --name=NAME");
  StringMap<std::string> paths, folded;
  for (const std::string &text : getModels()) {
    auto [name, path] = splitModel(text);
    // Macros are in upper case.
    if (auto [known, isNew] = folded.try_emplace(StringRef(name).lower(), path); !isNew)
      return makeError(known->second + " and " + path + " would both be the graph '" + name + "': give one another name, GRAPH=" + path);
    std::string full = makeLibraryName(library.name + "_" + name);
    if (full.size() > longestModelName)
      return makeError("the graph '" + name + "' is called " + full + ", which has " + Twine(full.size()) + " characters; the limit is " +
                       Twine(longestModelName));
    paths[name] = path;
    graphs.push_back({name, {}});
    graphs.back().options.name = full;
  }
  for (GraphOptions &graph : graphs) {
    std::string full = std::move(graph.options.name);
    graph.options = OptionsOfGraph(graph.name, paths).take(library);
    graph.options.name = full;
    graph.options.model = paths[graph.name];
  }
  library.model = graphs.front().options.model;
  return graphs;
}

} // namespace kiln
