//===- Origin.cpp - What a library was made from ----------------------------------===//
#include "compiler/Origin.h"
#include "compiler/files/Hash.h"
#include "compiler/files/Printable.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <link.h>
#include <set>

using namespace llvm;

namespace kiln {

//===- The options -----------------------------------------------------------===//

namespace {
/// Collects options as they are written.
class OptionList {
public:
  void add(StringRef name, const Twine &value) { lines.push_back(("--" + name + "=" + value).str()); }
  void addFlag(StringRef name, bool isGiven) {
    if (isGiven)
      lines.push_back(("--" + name).str());
  }
  void addText(StringRef name, StringRef value, StringRef byDefault = "") {
    if (value != byDefault)
      add(name, value);
  }
  template <typename Values> void addAll(StringRef name, const Values &values) {
    for (const std::string &value : values)
      add(name, value);
  }
  /// Files, whose folders are not the same everywhere.
  template <typename Paths> void addFiles(StringRef name, const Paths &paths) {
    for (const std::string &path : paths)
      add(name, sys::path::filename(path));
  }
  template <typename Map, typename Print> void addMap(StringRef name, const Map &map, Print print) {
    for (auto &[key, value] : map)
      add(name, key + "=" + print(value));
  }
  std::vector<std::string> lines;
};
} // namespace

static std::string joinNumbers(ArrayRef<int64_t> numbers, StringRef separator) {
  return join(map_range(numbers, [](int64_t number) { return number < 0 ? std::string("?") : std::to_string(number); }), separator);
}

static void listLimits(const Limits &limits, OptionList &list) {
  Limits byDefault;
  for (auto [name, value, usual] : {std::tuple("rank", limits.rank, byDefault.rank),
                                    {"nodes", limits.nodes, byDefault.nodes},
                                    {"operands", limits.operands, byDefault.operands},
                                    {"depth", limits.depth, byDefault.depth},
                                    {"tensor-bytes", limits.tensorBytes, byDefault.tensorBytes},
                                    {"fold-bytes", limits.foldBytes, byDefault.foldBytes},
                                    {"string-bytes", limits.stringBytes, byDefault.stringBytes},
                                    {"string-parts", limits.stringParts, byDefault.stringParts},
                                    {"image-height", limits.imageHeight, byDefault.imageHeight},
                                    {"image-width", limits.imageWidth, byDefault.imageWidth}})
    if (value != usual)
      list.add("limit", name + ("=" + std::to_string(value)));
}

/// What is said of the model: its sizes and its tensors.
static void listModelOptions(const CompileOptions &options, OptionList &list) {
  auto number = [](int64_t value) { return std::to_string(value); };
  auto text = [](const std::string &value) { return value; };
  list.addMap("dim", options.dims, number);
  list.addMap("dim", options.dimBounds, [](auto &range) { return std::to_string(range.first) + ".." + std::to_string(range.second); });
  list.addMap("rename", options.renames, text);
  list.addMap("specialize", options.specialize, [](auto &sizes) { return joinNumbers(sizes, ","); });
  list.addMap("shape", options.shapes, [](auto &shape) { return joinNumbers(shape, "x"); });
  list.addMap("bind", options.bindings, text);
  list.addMap("sequence", options.sequences, text);
  list.addAll("absent", options.absent);
  list.addMap("input-range", options.inputRanges, [](auto &range) { return formatv("{0}:{1}", range.first, range.second).str(); });
  list.addAll("in-place", options.inPlace);
  list.addAll("io-layout", options.ioLayouts);
}

std::vector<std::string> listOptions(const CompileOptions &options) {
  OptionList list;
  list.addText("name", options.name);
  list.addFiles("target", options.targets);
  list.addAll("library", options.libraries);
  listModelOptions(options, list);
  list.addFiles("functions", options.functions);
  list.addFiles("ops", options.definitions);
  list.addAll("delegate", options.delegates);
  list.addFlag("hidden", options.isInternal);
  list.addFlag("follow-links", options.followLinks);
  list.addText("accuracy", options.accuracy == Accuracy::Strict ? "strict" : options.accuracy == Accuracy::Fast ? "fast" : "");
  list.addAll("op-accuracy", options.opAccuracy);
  list.addText("compute", options.compute);
  list.addAll("op-compute", options.opCompute);
  list.addText("weights-type", options.weightsType);
  list.addFlag("flush-subnormals", options.flushSubnormals);
  list.addFlag("memory=smallest", options.smallestMemory);
  if (options.decompose != std::vector<std::string>{"auto"})
    list.addAll("decompose", options.decompose);
  list.addText("profile", sys::path::filename(options.profile));
  list.addFlag("weights=file", options.externalWeights);
  list.addText(StringRef(options.ranks).contains('x') ? "grid" : "ranks", options.ranks);
  list.addAll("shard", options.shardings);
  list.addText("stages", options.stages.count ? std::to_string(options.stages.count) : "");
  list.addAll("cut", options.stages.cutBehind);
  list.addText("stage-memory", options.stages.mostBytes >= 0 ? std::to_string(options.stages.mostBytes) : "");
  list.addText("stage", options.stages.only >= 0 ? std::to_string(options.stages.only) : "");
  listLimits(options.limits, list);
  list.addText("cxx", options.cxx);
  return std::move(list.lines);
}

//===- The files -------------------------------------------------------------===//

static HashedFile hashNamed(StringRef path, StringRef folder) {
  StringRef name = path;
  bool isBelow = folder.empty() ? !sys::path::is_absolute(name) && !name.starts_with("..") : name.consume_front(folder) && name.consume_front("/");
  Expected<std::string> hash = hashFile(path);
  HashedFile file{(isBelow ? name : sys::path::filename(path)).str(), hash ? *hash : ""};
  consumeError(hash.takeError());
  return file;
}

Origin findOrigin(const CompileOptions &options, ArrayRef<std::string> models, ArrayRef<std::string> dependencies) {
  Origin origin{{}, {}, compilerVersion(), compilerBuild(), listOptions(options), {}};
  StringRef folder = sys::path::parent_path(models.front());
  std::set<std::string> known(models.begin(), models.end());
  for (const std::string &model : models) {
    origin.models.push_back(hashNamed(model, folder));
    origin.models.back().name = sys::path::filename(model).str();
  }
  std::vector<std::string> others = dependencies.vec();
  copy_if(options.targets, std::back_inserter(others), [](StringRef target) { return target.ends_with(".json") || target.ends_with(".mlir"); });
  for (const std::string &path : others)
    if (known.insert(path).second)
      origin.files.push_back(hashNamed(path, folder));
  return origin;
}

//===- The compiler ----------------------------------------------------------===//

/// Adds the identifier that the linker made of a program's or library's contents.
static int addBuildId(dl_phdr_info *info, size_t, void *result) {
  StringRef path = info->dlpi_name;
  if (!path.empty() && !path.contains("LLVM") && !path.contains("MLIR") && !path.contains("clang"))
    return 0;
  for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE)
      continue;
    const char *at = reinterpret_cast<const char *>(info->dlpi_addr + header.p_vaddr), *end = at + header.p_memsz;
    while (end - at > ptrdiff_t(sizeof(ElfW(Nhdr)))) {
      auto *note = reinterpret_cast<const ElfW(Nhdr) *>(at);
      const char *name = at + sizeof(*note), *value = name + alignTo(note->n_namesz, 4);
      if (note->n_type == NT_GNU_BUILD_ID && StringRef(name, note->n_namesz) == StringRef("GNU", 4))
        static_cast<std::string *>(result)->append(value, note->n_descsz);
      at = value + alignTo(note->n_descsz, 4);
    }
  }
  return 0;
}

std::string compilerVersion() { return KILN_VERSION; }

std::string compilerBuild() {
  static const std::string build = [] {
    std::string identifiers;
    dl_iterate_phdr(addBuildId, &identifiers);
    if (!identifiers.empty())
      return hashText(identifiers);
    // A linker that makes none.
    Expected<std::string> whole = hashFile("/proc/self/exe");
    consumeError(whole.takeError());
    return whole ? *whole : std::string();
  }();
  return build;
}

std::string hashOutput(const OutputFile &file) {
  HashStream stream;
  file.write(stream);
  return stream.finish();
}

//===- JSON ------------------------------------------------------------------===//

static json::Array toJson(ArrayRef<HashedFile> files) {
  json::Array list;
  for (const HashedFile &file : files)
    list.push_back(json::Object{{"name", jsonText(file.name)}, {"sha256", jsonText(file.sha256)}});
  return list;
}

json::Object toJson(const Origin &origin) {
  return json::Object{{"models", toJson(origin.models)},
                      {"files", toJson(origin.files)},
                      {"compiler", json::Object{{"version", jsonText(origin.version)}, {"build", jsonText(origin.build)}}},
                      {"options", json::Array(map_range(origin.options, jsonText))},
                      {"options_sha256", hashText(join(origin.options, "\n"))},
                      {"objects", toJson(origin.objects)}};
}

static std::vector<HashedFile> readFiles(const json::Object &object, StringRef key) {
  std::vector<HashedFile> files;
  if (const json::Array *list = object.getArray(key))
    for (const json::Value &row : *list)
      if (const json::Object *file = row.getAsObject())
        files.push_back({file->getString("name").value_or("").str(), file->getString("sha256").value_or("").str()});
  return files;
}

std::optional<Origin> originFromJson(const json::Object &object) {
  const json::Object *compiler = object.getObject("compiler");
  if (!compiler)
    return std::nullopt;
  Origin origin{readFiles(object, "models"),
                readFiles(object, "files"),
                compiler->getString("version").value_or("").str(),
                compiler->getString("build").value_or("").str(),
                {},
                readFiles(object, "objects")};
  if (const json::Array *options = object.getArray("options"))
    for (const json::Value &option : *options)
      origin.options.push_back(option.getAsString().value_or("").str());
  return origin;
}

} // namespace kiln
