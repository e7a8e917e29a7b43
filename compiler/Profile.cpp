//===- Profile.cpp - Choices that were measured, in a file -----------------===//
//
//   {"kiln_profile": 1,
//    "entries": [{"target": "...", "work": "matmul ...", "algorithm": "gemm_tiled", "tile": [8, 3], "us": 12.5, "default_us": 14.0}]}
//
//===----------------------------------------------------------------------===//
#include "compiler/Profile.h"
#include "compiler/Recursion.h"
#include "compiler/files/InputFile.h"
#include "dialects/kernel/Kernel.h"
#include "passes/target/choice/CostModel.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <set>

using namespace llvm;

namespace kiln {

static constexpr int64_t profileVersion = 1;
/// More rows or vectors than any register file has.
static constexpr int64_t largestTile = 64;

static Error fail(const Twine &text) { return createStringError(std::make_error_code(std::errc::invalid_argument), text); }

static Error parseTile(const json::Object &object, ProfileEntry &entry) {
  const json::Value *value = object.get("tile");
  if (!value)
    return Error::success();
  const json::Array *tile = value->getAsArray();
  auto size = [&](size_t i) { return tile && tile->size() == 2 ? (*tile)[i].getAsInteger().value_or(0) : 0; };
  if (size(0) < 1 || size(0) > largestTile || size(1) < 1 || size(1) > largestTile)
    return fail("expected \"tile\" to be two numbers from 1 to " + Twine(largestTile));
  entry.tile = {size(0), size(1)};
  return Error::success();
}

static Expected<ProfileEntry> parseEntry(const json::Value &value) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return fail("expected an object");
  ProfileEntry entry;
  for (auto [key, text] : {std::pair("target", &entry.target), std::pair("work", &entry.work), std::pair("algorithm", &entry.algorithm)}) {
    std::optional<StringRef> found = object->getString(key);
    if (!found || found->empty())
      return fail("expected the text \"" + Twine(key) + "\"");
    *text = found->str();
  }
  if (Error error = parseTile(*object, entry))
    return std::move(error);
  if (object->get("chunk")) {
    entry.chunk = object->getInteger("chunk");
    if (entry.chunk.value_or(0) < 1)
      return fail("expected \"chunk\" to be a number of bytes");
  }
  entry.microseconds = object->getNumber("us").value_or(0);
  entry.defaultMicroseconds = object->getNumber("default_us").value_or(0);
  return entry;
}

Expected<std::vector<ProfileEntry>> parseProfile(StringRef text) {
  Expected<json::Value> whole = parseJson(text);
  if (!whole)
    return fail("no profile: " + toString(whole.takeError()));
  const json::Object *object = whole->getAsObject();
  std::optional<int64_t> version = object ? object->getInteger("kiln_profile") : std::nullopt;
  if (!version)
    return fail("no profile: it lacks \"kiln_profile\"");
  if (*version != profileVersion)
    return fail("a profile of version " + Twine(*version) + ", expected " + Twine(profileVersion) + ": measure again with kiln tune");
  const json::Array *list = object->getArray("entries");
  if (!list)
    return fail("no profile: it lacks \"entries\"");
  std::vector<ProfileEntry> entries;
  for (const json::Value &value : *list) {
    Expected<ProfileEntry> entry = parseEntry(value);
    if (!entry)
      return fail("entry " + Twine(entries.size()) + ": " + toString(entry.takeError()));
    entries.push_back(std::move(*entry));
  }
  return entries;
}

Expected<std::vector<ProfileEntry>> readProfile(StringRef path) {
  Expected<std::unique_ptr<MemoryBuffer>> file = readInputFile(path, mostTextBytes);
  if (!file)
    return fail(path + ": " + toString(file.takeError()));
  Expected<std::vector<ProfileEntry>> entries = parseProfile((*file)->getBuffer());
  return entries ? std::move(entries) : fail(path + ": " + toString(entries.takeError()));
}

std::string printProfile(std::vector<ProfileEntry> entries) {
  llvm::sort(entries, [](const ProfileEntry &a, const ProfileEntry &b) { return std::tie(a.target, a.work) < std::tie(b.target, b.work); });
  json::Array list;
  for (const ProfileEntry &entry : entries) {
    json::Object object{{"target", entry.target}, {"work", entry.work}, {"algorithm", entry.algorithm}};
    if (entry.tile)
      object["tile"] = json::Array{entry.tile->first, entry.tile->second};
    if (entry.chunk)
      object["chunk"] = *entry.chunk;
    object["us"] = entry.microseconds;
    object["default_us"] = entry.defaultMicroseconds;
    list.push_back(std::move(object));
  }
  return formatv("{0:2}\n", json::Value(json::Object{{"kiln_profile", profileVersion}, {"entries", std::move(list)}})).str();
}

void attachProfile(mlir::ModuleOp module, ArrayRef<ProfileEntry> entries) {
  mlir::Builder b(module.getContext());
  std::string target = describeTarget(kernel::getTarget(module));
  mlir::NamedAttrList choices;
  for (const ProfileEntry &entry : entries) {
    if (entry.target != target)
      continue;
    mlir::NamedAttrList choice;
    choice.set(algorithmChoiceName, b.getStringAttr(entry.algorithm));
    if (entry.tile)
      choice.set(tileChoiceName, b.getDenseI64ArrayAttr({entry.tile->first, entry.tile->second}));
    if (entry.chunk)
      choice.set(chunkChoiceName, b.getI64IntegerAttr(*entry.chunk));
    // Of several entries for the same work the last one counts.
    choices.set(entry.work, choice.getDictionary(b.getContext()));
  }
  if (!choices.empty())
    module->setAttr(profileAttrName, choices.getDictionary(b.getContext()));
}

ProfileUse takeProfileUse(ArrayRef<mlir::ModuleOp> modules, ArrayRef<ProfileEntry> entries) {
  ProfileUse result;
  result.entries = entries.size();
  // Whether the kernel fitted, by target and work.
  std::map<std::pair<std::string, std::string>, bool> uses;
  std::set<std::string> targets;
  for (mlir::ModuleOp module : modules) {
    std::string target = describeTarget(kernel::getTarget(module));
    if (targets.insert(target).second)
      result.targets += (result.targets.empty() ? "'" : ", '") + target + "'";
    if (auto use = module->getAttrOfType<mlir::DictionaryAttr>(profileUseAttrName))
      for (mlir::NamedAttribute work : use)
        uses[{target, work.getName().str()}] |= cast<mlir::BoolAttr>(work.getValue()).getValue();
    module->removeAttr(profileUseAttrName);
  }
  for (const ProfileEntry &entry : entries) {
    auto use = uses.find({entry.target, entry.work});
    bool isKnown = targets.count(entry.target);
    if (!isKnown)
      result.measuredTarget = entry.target;
    ++(!isKnown ? result.otherTarget : use == uses.end() ? result.otherWork : use->second ? result.used : result.unfit);
  }
  return result;
}

std::string ProfileUse::describe() const {
  std::string text = "none of its " + std::to_string(entries) + " entries is used";
  if (used)
    text = std::to_string(used) + " of its " + std::to_string(entries) + " entries " + (used == 1 ? "is" : "are") + " used";
  else if (entries == 1)
    text = "its one entry is not used";
  SmallVector<std::string> reasons;
  if (otherTarget)
    reasons.push_back(std::to_string(otherTarget) + " for another target ('" + measuredTarget + "', this is " + targets + ")");
  if (otherWork)
    reasons.push_back(std::to_string(otherWork) + " for work that the model does not have: another model, or other shapes");
  if (unfit)
    reasons.push_back(std::to_string(unfit) + " with a kernel or tile that does not fit the work here");
  return text + ": " + join(reasons, "; ");
}

} // namespace kiln
