//===- Cases.cpp - Samples of a model's inputs in a folder -----------------===//
#include "tools/kiln/quantize/Cases.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace kiln {

static const StringRef endings[] = {".pb", ".npy", ".png", ".ppm", ".pgm"};

static bool hasEnding(StringRef name) {
  return any_of(endings, [&](StringRef ending) { return name.ends_with(ending); });
}

/// As `kiln run` names the files of outputs.
static std::string makeFileStem(StringRef name) {
  std::string stem = name.str();
  for (char &c : stem)
    if (!isAlnum(c) && c != '_' && c != '.' && c != '-')
      c = '_';
  return stem;
}

/// The file of an input; empty if there is none.
static std::string findFile(StringRef folder, size_t input, StringRef name) {
  for (const std::string &stem : {"input_" + std::to_string(input), makeFileStem(name)})
    for (StringRef ending : endings) {
      SmallString<128> path(folder);
      sys::path::append(path, stem + ending);
      if (sys::fs::exists(path))
        return std::string(path);
    }
  return "";
}

/// A sample if the folder has a file for each input; nullopt if it has none at all.
static Expected<std::optional<SampleCase>> findCase(StringRef folder, const LoadedModel &model) {
  SampleCase sample{folder.str(), {}};
  std::vector<std::string> missing;
  for (auto [i, info] : enumerate(model.getInputs())) {
    sample.files.push_back(findFile(folder, i, info.name));
    if (sample.files.back().empty())
      missing.push_back("input_" + std::to_string(i) + " or " + makeFileStem(info.name));
  }
  if (missing.size() == sample.files.size())
    return std::nullopt;
  if (!missing.empty())
    return makeError(folder + ": no file " + join(missing, ", no file ") + " (.npy, .pb, or a picture)");
  return sample;
}

Expected<std::vector<SampleCase>> findCases(StringRef folder, const LoadedModel &model) {
  for (const LoadedModel::Slot &slot : model.getSlots(/*isOutput=*/false))
    if (slot.list)
      return makeError("input '" + Twine(slot.list->name) + "' is a sequence or an optional, of which kiln quantize reads no samples");
  std::vector<std::pair<bool, std::string>> entries;
  std::error_code error;
  for (sys::fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    entries.emplace_back(sys::fs::is_directory(entry->path()), entry->path());
  if (error)
    return makeError(folder + ": " + error.message());
  llvm::sort(entries, [](const auto &a, const auto &b) { return StringRef(a.second).compare_numeric(b.second) < 0; });
  Expected<std::optional<SampleCase>> whole = findCase(folder, model);
  if (!whole)
    return whole.takeError();
  std::vector<SampleCase> cases;
  // A single input's files may have any names, that of the input among them.
  if (*whole && model.getInputs().size() > 1)
    return std::vector<SampleCase>{**whole};
  for (const auto &[isFolder, path] : entries) {
    if (!isFolder && model.getInputs().size() == 1 && hasEnding(path) && !sys::path::filename(path).starts_with("output_"))
      cases.push_back({path, {path}});
    if (!isFolder)
      continue;
    Expected<std::optional<SampleCase>> inside = findCase(path, model);
    if (!inside)
      return inside.takeError();
    if (*inside)
      cases.push_back(std::move(**inside));
  }
  if (cases.empty())
    return makeError(folder + ": no samples in it: expected folders with a file for each input (input_0.npy, input_0.pb or a picture), or such files");
  return cases;
}

Expected<std::vector<Tensor>> readCase(const SampleCase &sample, const LoadedModel &model) {
  std::vector<Tensor> inputs;
  for (auto [path, info] : zip_equal(sample.files, model.getInputs())) {
    Expected<Tensor> tensor = readInput(InputSpec{path}, info);
    if (!tensor)
      return tensor.takeError();
    inputs.push_back(std::move(*tensor));
  }
  return inputs;
}

} // namespace kiln
