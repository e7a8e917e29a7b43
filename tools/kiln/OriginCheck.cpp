//===- OriginCheck.cpp - Whether a library is what its record says --------------===//
#include "tools/kiln/OriginCheck.h"
#include "compiler/files/Hash.h"
#include "tools/kiln/RecordSection.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace llvm;

namespace kiln {

/// The hash of a member as it was before an archive for macOS filled it up to a multiple of 8 bytes; that of the member where the record has none of these.
static std::string hashMember(StringRef member, const Origin &origin) {
  auto isRecorded = [&](StringRef hash) { return any_of(origin.objects, [&](const HashedFile &object) { return object.sha256 == hash; }); };
  std::string whole = hashText(member);
  for (unsigned filled = 0; filled < 8 && identify_magic(member) == file_magic::macho_object; ++filled) {
    if (std::string hash = hashText(member); isRecorded(hash))
      return hash;
    if (!member.consume_back("\n"))
      break;
  }
  return whole;
}

std::vector<std::string> findChangedObjects(const Origin &origin, ArrayRef<StringRef> members) {
  std::multiset<std::string> hashes;
  for (StringRef member : members) {
    file_magic magic = identify_magic(member);
    bool isObject = magic == file_magic::elf_relocatable || magic == file_magic::coff_object || magic == file_magic::macho_object ||
                    magic == file_magic::wasm_object;
    // The index of an archive begins with zeros, as COFF of an unknown machine would.
    isObject &= !member.starts_with(StringRef("\0\0", 2));
    if (isObject && !findRecordSection(member, recordSection))
      hashes.insert(hashMember(member, origin));
  }
  std::vector<std::string> faults;
  for (const HashedFile &object : origin.objects) {
    auto found = hashes.find(object.sha256);
    if (found == hashes.end())
      faults.push_back(object.name + " is not there as it was made: it was changed or removed");
    else
      hashes.erase(found);
  }
  if (!hashes.empty())
    faults.push_back(std::to_string(hashes.size()) + (hashes.size() == 1 ? " object is" : " objects are") + " in the archive that Kiln did not make");
  return faults;
}

namespace {
/// Notes what was compared.
class Comparer {
public:
  explicit Comparer(OriginComparison &result) : result(result) {}
  void add(StringRef kind, const std::string &what, const std::string &fault) {
    result.lines.push_back(left_justify(kind, column) + what + ": " + (fault.empty() ? "the same" : fault));
    if (!fault.empty())
      result.faults.push_back(kind.str() + " " + what + ": " + fault);
  }
  void addFile(StringRef kind, const HashedFile &recorded, StringRef path) {
    Expected<std::string> hash = hashFile(path);
    std::string fault = !hash                       ? path.str() + ": " + toString(hash.takeError())
                        : *hash != recorded.sha256 ? "the library was made from another file than " + path.str()
                                                   : "";
    add(kind, recorded.name, fault);
  }

private:
  static std::string left_justify(StringRef text, size_t width) {
    std::string padded = text.str();
    padded.resize(std::max(width, padded.size() + 1), ' ');
    return padded;
  }
  static constexpr size_t column = 11;
  OriginComparison &result;
};
} // namespace

/// The file of this name among those of the options; otherwise it lies where the model does.
static std::string findFile(StringRef name, StringRef model, const CompileOptions &options) {
  std::vector<std::string> given = options.functions;
  append_range(given, options.definitions);
  append_range(given, options.targets);
  given.push_back(options.profile);
  for (StringRef path : given)
    if (sys::path::filename(path) == name)
      return path.str();
  SmallString<128> path(sys::path::parent_path(model));
  sys::path::append(path, name);
  return std::string(path);
}

/// The options on one side only.
static std::string compareOptions(ArrayRef<std::string> recorded, ArrayRef<std::string> given) {
  std::string text;
  auto listMissing = [&](ArrayRef<std::string> from, ArrayRef<std::string> in, StringRef prefix) {
    for (const std::string &option : from)
      if (!is_contained(in, option))
        text += (text.empty() ? "" : ", ") + (prefix + option).str();
  };
  listMissing(recorded, given, "the library was made with ");
  listMissing(given, recorded, "and not with ");
  return text.empty() && recorded != given ? "they were given in another order" : text;
}

OriginComparison compareOrigin(const Origin &origin, ArrayRef<std::string> models, const CompileOptions &options) {
  OriginComparison result;
  Comparer comparer(result);
  if (models.size() != origin.models.size())
    comparer.add("models", std::to_string(models.size()) + " given", "the library was made from " + std::to_string(origin.models.size()));
  else
    for (auto [recorded, path] : zip_equal(origin.models, models))
      comparer.addFile("model", recorded, path);
  for (const HashedFile &file : origin.files)
    comparer.addFile("file", file, findFile(file.name, models.front(), options));
  std::string made = origin.version + ", build " + origin.build.substr(0, 16);
  bool isSame = origin.version == compilerVersion() && origin.build == compilerBuild();
  comparer.add("compiler", made, isSame ? "" : "this one is " + compilerVersion() + ", build " + compilerBuild().substr(0, 16));
  comparer.add("options", join(origin.options, " "), compareOptions(origin.options, listOptions(options)));
  return result;
}

} // namespace kiln
