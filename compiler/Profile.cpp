//===- Profile.cpp - Choices that were measured, in a file -----------------===//
//
//   {"kiln_profile": 2,
//    "entries": [{"target": "...", "work": "matmul ...", "plan": {"kernel": "gemm_tiled", "tile": [8, 3, 16]}, "us": 12.5, "default_us": 14.0}]}
//
//===----------------------------------------------------------------------===//
#include "compiler/Profile.h"
#include "compiler/Recursion.h"
#include "compiler/files/InputFile.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/ModuleAttributeNames.h"
#include "passes/target/choice/CostModel.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <set>

using namespace llvm;

namespace kiln {

static constexpr int64_t profileVersion = 2;
/// More rows or vectors than any register file can hold.
static constexpr int64_t largestTile = 64;

static Error fail(const Twine &text) { return createStringError(std::make_error_code(std::errc::invalid_argument), text); }

static Error parseTile(const json::Object &plan, ProfileEntry &entry) {
  const json::Value *value = plan.get("tile");
  if (!value)
    return Error::success();
  if (const json::Array *tile = value->getAsArray())
    for (const json::Value &number : *tile)
      entry.tile.push_back(number.getAsInteger().value_or(0));
  auto isSize = [](int64_t size) { return size >= 1 && size <= largestTile; };
  if (entry.tile.size() != 3 || !all_of(entry.tile, isSize) || !isPowerOf2_64(static_cast<uint64_t>(entry.tile[2])))
    return fail("expected \"tile\" to be three numbers from 1 to " + Twine(largestTile) + ", the last one a power of two");
  return Error::success();
}

static Error parsePlan(const json::Object &plan, ProfileEntry &entry) {
  std::optional<StringRef> kernel = plan.getString("kernel");
  if (!kernel || kernel->empty())
    return fail("expected the text \"kernel\" in \"plan\"");
  entry.kernel = kernel->str();
  if (plan.get("chunk") && (entry.chunk = plan.getInteger("chunk").value_or(0)) < 1)
    return fail("expected \"chunk\" to be a number of bytes");
  entry.winograd = plan.get("winograd") ? plan.getInteger("winograd").value_or(-1) : 0;
  if (entry.winograd != 0 && entry.winograd != 2 && entry.winograd != 4)
    return fail("expected \"winograd\" to be 2 or 4");
  std::optional<StringRef> step = plan.getString("step");
  if (plan.get("step") && (!step || step->empty()))
    return fail("expected \"step\" to be the name of a function");
  entry.step = step.value_or("").str();
  return parseTile(plan, entry);
}

static Expected<ProfileEntry> parseEntry(const json::Value &value) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return fail("expected an object");
  ProfileEntry entry;
  for (auto [key, text] : {std::pair("target", &entry.target), std::pair("work", &entry.work)}) {
    std::optional<StringRef> found = object->getString(key);
    if (!found || found->empty())
      return fail("expected the text \"" + Twine(key) + "\"");
    *text = found->str();
  }
  const json::Object *plan = object->getObject("plan");
  if (!plan)
    return fail("expected the object \"plan\"");
  if (Error error = parsePlan(*plan, entry))
    return std::move(error);
  entry.microseconds = object->getNumber("us").value_or(0);
  entry.defaultMicroseconds = object->getNumber("default_us").value_or(0);
  return entry;
}

ProfileEntry makeEntry(const std::string &target, const std::string &work, kernel::PlanAttr plan) {
  ProfileEntry entry{target, work, plan.getKernel().str()};
  if (mlir::DenseI64ArrayAttr tile = plan.getTile())
    entry.tile.assign(tile.asArrayRef().begin(), tile.asArrayRef().end());
  entry.chunk = plan.getChunk();
  entry.winograd = plan.getWinograd();
  entry.step = plan.getStep().str();
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
    json::Object plan{{"kernel", entry.kernel}};
    if (!entry.tile.empty())
      plan["tile"] = json::Array(entry.tile);
    if (entry.chunk)
      plan["chunk"] = entry.chunk;
    if (entry.winograd)
      plan["winograd"] = entry.winograd;
    if (!entry.step.empty())
      plan["step"] = entry.step;
    json::Object object{{"target", entry.target}, {"work", entry.work}, {"plan", std::move(plan)}};
    object["us"] = entry.microseconds;
    object["default_us"] = entry.defaultMicroseconds;
    list.push_back(std::move(object));
  }
  return formatv("{0:2}\n", json::Value(json::Object{{"kiln_profile", profileVersion}, {"entries", std::move(list)}})).str();
}

void attachProfile(mlir::ModuleOp module, ArrayRef<ProfileEntry> entries) {
  mlir::Builder b(module.getContext());
  std::string target = kernel::getTarget(module).describeUnit();
  mlir::NamedAttrList choices;
  for (const ProfileEntry &entry : entries) {
    if (entry.target != target)
      continue;
    // The other numbers are the rules'.
    PlanNumbers numbers{SmallVector<int64_t, 3>(entry.tile.begin(), entry.tile.end()), {}, entry.chunk};
    numbers.winograd = entry.winograd;
    numbers.step = entry.step;
    auto plan = makePlan(b.getContext(), entry.kernel, numbers, /*measured=*/!entry.tile.empty());
    // If several entries are for the same work, the last one counts.
    choices.set(entry.work, plan);
  }
  if (!choices.empty())
    module->setAttr(kernel::profileAttrName, choices.getDictionary(b.getContext()));
}

ProfileUse takeProfileUse(ArrayRef<mlir::ModuleOp> modules, ArrayRef<ProfileEntry> entries) {
  ProfileUse result;
  result.entries = entries.size();
  // Whether the plan fitted, by target and work.
  std::map<std::pair<std::string, std::string>, bool> uses;
  std::set<std::string> targets;
  for (mlir::ModuleOp module : modules) {
    std::string target = kernel::getTarget(module).describeUnit();
    if (targets.insert(target).second)
      result.targets += (result.targets.empty() ? "'" : ", '") + target + "'";
    if (auto use = module->getAttrOfType<mlir::DictionaryAttr>(kernel::profileUseAttrName))
      for (mlir::NamedAttribute work : use)
        uses[{target, work.getName().str()}] |= cast<mlir::BoolAttr>(work.getValue()).getValue();
    module->removeAttr(kernel::profileUseAttrName);
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
  std::string text = std::to_string(used) + " of " + std::to_string(entries) + " entries used";
  if (used == entries)
    return text;
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
