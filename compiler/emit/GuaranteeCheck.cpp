//===- GuaranteeCheck.cpp - Whether objects keep guarantees -------------------===//
//
// What an object calls are its undefined symbols that no other object of the library defines. State is a section that a program may write to. The function
// behind a fault is the one that holds a relocation with the symbol; where a format does not tell it, the object is named alone.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/GuaranteeCheck.h"
#include "compiler/emit/CompilerFlags.h"
#include "compiler/emit/ElfCheck.h"
#include "compiler/emit/ForeignSymbols.h"
#include "compiler/emit/StackUse.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Object/COFF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/MachO.h"
#include "llvm/Object/Wasm.h"
#include "llvm/TargetParser/Triple.h"
#include <set>

using namespace llvm;

namespace kiln {

std::vector<std::string> Guarantees::list() const {
  std::vector<std::string> names;
  for (auto [isAsked, name] : {std::pair(deterministic, "deterministic"), {noLibm, "no-libm"}, {noMalloc, "no-malloc"}, {reentrant, "reentrant"}})
    if (isAsked)
      names.push_back(name);
  if (mostCode)
    names.push_back("max-code=" + std::to_string(*mostCode));
  if (mostStack)
    names.push_back("max-stack=" + std::to_string(*mostStack));
  if (symbols)
    names.push_back("no-symbols-but=" + join(*symbols, ":"));
  return names;
}

/// The value, or none where the object does not have it.
template <typename T> static std::optional<T> valueOf(Expected<T> from) {
  if (from)
    return std::move(*from);
  consumeError(from.takeError());
  return std::nullopt;
}

namespace {

/// A section that is written to at run time, or its part in WebAssembly.
struct Writable {
  std::string section;
  uint64_t bytes = 0;
  std::vector<std::string> symbols;
};

/// One object of the library.
class CheckedObject {
public:
  CheckedObject(const ObjectFile &file, StringRef prefix) : name(file.name), prefix(prefix) {
    StringRef bytes(file.bytes.data(), file.bytes.size());
    if (isElf(bytes) && !isSoundElf(bytes))
      return;
    if (auto read = valueOf(object::ObjectFile::createObjectFile(MemoryBufferRef(bytes, file.name))))
      object = std::move(*read);
  }
  bool isKnown() const { return object != nullptr; }
  /// The names in C of global symbols, defined or not.
  StringSet<> listSymbols(bool areDefined) const;
  /// The function that has a relocation with this symbol; empty: it is not known.
  std::string findUser(StringRef symbol) const;
  std::vector<Writable> listWritable() const;
  /// Bytes of machine code, and the function that has most.
  uint64_t countCode(std::string &largest, uint64_t &largestBytes) const;

  std::string name;

private:
  StringRef nameOf(const object::SymbolRef &symbol) const;
  std::string findFunction(const object::SectionRef &section, uint64_t address) const;
  bool isWritable(const object::SectionRef &section, StringRef name) const;

  /// What the format puts in front of names in C.
  StringRef prefix;
  std::unique_ptr<object::ObjectFile> object;
};

} // namespace

StringRef CheckedObject::nameOf(const object::SymbolRef &symbol) const {
  StringRef text = valueOf(symbol.getName()).value_or("");
  text.consume_front(prefix);
  return text;
}

StringSet<> CheckedObject::listSymbols(bool areDefined) const {
  StringSet<> names;
  for (const object::SymbolRef &symbol : object->symbols()) {
    uint32_t flags = valueOf(symbol.getFlags()).value_or(object::SymbolRef::SF_None);
    bool isUndefined = flags & object::SymbolRef::SF_Undefined;
    bool isGlobal = (flags & object::SymbolRef::SF_Global) || isUndefined, isReal = !(flags & object::SymbolRef::SF_FormatSpecific);
    if (isGlobal && isReal && isUndefined != areDefined && !nameOf(symbol).empty())
      names.insert(nameOf(symbol));
  }
  return names;
}

std::string CheckedObject::findFunction(const object::SectionRef &section, uint64_t address) const {
  std::string found;
  uint64_t highest = 0;
  for (const object::SymbolRef &symbol : object->symbols()) {
    auto in = valueOf(symbol.getSection());
    auto type = valueOf(symbol.getType());
    auto begin = valueOf(symbol.getAddress());
    bool isThere = in && *in != object->section_end() && **in == section && type == object::SymbolRef::ST_Function;
    if (!isThere || !begin || *begin > address || (!found.empty() && *begin < highest))
      continue;
    highest = *begin;
    found = nameOf(symbol).str();
  }
  return found;
}

std::string CheckedObject::findUser(StringRef name) const {
  for (const object::SectionRef &section : object->sections()) {
    auto target = valueOf(section.getRelocatedSection());
    if (!target || *target == object->section_end())
      continue;
    for (const object::RelocationRef &relocation : section.relocations()) {
      object::symbol_iterator symbol = relocation.getSymbol();
      if (symbol == object->symbol_end() || nameOf(*symbol) != name)
        continue;
      if (std::string function = findFunction(**target, (*target)->getAddress() + relocation.getOffset()); !function.empty())
        return function;
    }
  }
  return "";
}

bool CheckedObject::isWritable(const object::SectionRef &section, StringRef name) const {
  // Constants with addresses are writable only until a program is loaded.
  if (object->isELF())
    return (object::ELFSectionRef(section).getFlags() & ELF::SHF_WRITE) && !name.starts_with(".data.rel.ro");
  if (auto *coff = dyn_cast<object::COFFObjectFile>(object.get()))
    return coff->getCOFFSection(section)->Characteristics & COFF::IMAGE_SCN_MEM_WRITE;
  if (auto *macho = dyn_cast<object::MachOObjectFile>(object.get()))
    return macho->getSectionFinalSegmentName(section.getRawDataRefImpl()) == "__DATA" && name != "__const";
  return false;
}

/// Arm's symbols that say where data begin, and those that assemblers make for sections.
static bool isMark(StringRef name) { return name.starts_with("$") || name.starts_with("ltmp"); }

std::vector<Writable> CheckedObject::listWritable() const {
  std::vector<Writable> found;
  if (auto *wasm = dyn_cast<object::WasmObjectFile>(object.get())) {
    for (const object::WasmSegment &segment : wasm->dataSegments()) {
      StringRef name = segment.Data.Name;
      bool isState = (name.starts_with(".data") && !name.starts_with(".data.rel.ro")) || name.starts_with(".bss") || name.starts_with(".tdata");
      if (isState)
        found.push_back({name.str(), segment.Data.Content.size(), {name.rsplit('.').second.str()}});
    }
    return found;
  }
  for (const object::SectionRef &section : object->sections()) {
    StringRef sectionName = valueOf(section.getName()).value_or("");
    if (section.getSize() == 0 || !isWritable(section, sectionName))
      continue;
    Writable data{sectionName.str(), section.getSize(), {}};
    for (const object::SymbolRef &symbol : object->symbols()) {
      auto in = valueOf(symbol.getSection());
      auto type = valueOf(symbol.getType());
      bool isData = type && *type != object::SymbolRef::ST_Debug && *type != object::SymbolRef::ST_File && !isMark(nameOf(symbol));
      if (isData && in && *in != object->section_end() && **in == section && !nameOf(symbol).empty() && nameOf(symbol) != sectionName)
        data.symbols.push_back(nameOf(symbol).str());
    }
    found.push_back(std::move(data));
  }
  return found;
}

uint64_t CheckedObject::countCode(std::string &largest, uint64_t &largestBytes) const {
  uint64_t sum = 0;
  for (const object::SectionRef &section : object->sections()) {
    if (!section.isText() || section.isVirtual())
      continue;
    sum += section.getSize();
    // Functions have sections of their own, but for Mach-O and WebAssembly.
    if (section.getSize() <= largestBytes)
      continue;
    largestBytes = section.getSize();
    largest = findFunction(section, section.getAddress());
  }
  return sum;
}

namespace {

/// The objects of a library, and what breaks the guarantees.
class GuaranteeChecker {
public:
  GuaranteeChecker(const Guarantees &guarantees, const ModelSources &sources, ArrayRef<ObjectFile> files)
      : guarantees(guarantees), sources(sources), files(files) {}
  std::vector<std::string> check();

private:
  void checkCalls(const CheckedObject &object, StringRef symbol);
  void checkState(const CheckedObject &object);
  void checkNames(const CheckedObject &object, StringRef symbol, bool isDefined);
  void checkStack();
  void checkCode();
  /// "m_kernel_softmax_0 (y(Softmax)) in m_kernels_0.o".
  std::string describe(const CheckedObject &object, const std::string &function) const;
  void add(StringRef guarantee, const Twine &text) { faults.push_back(("--guarantee=" + guarantee + ": " + text).str()); }

  const Guarantees &guarantees;
  const ModelSources &sources;
  ArrayRef<ObjectFile> files;
  std::vector<CheckedObject> objects;
  /// A function outside whose use of the stack is not known.
  std::string unbounded;
  std::vector<std::string> faults;
};

} // namespace

std::string GuaranteeChecker::describe(const CheckedObject &object, const std::string &function) const {
  if (function.empty())
    return object.name;
  auto nodes = sources.kernelNodes.find(function);
  return demangle(function) + (nodes == sources.kernelNodes.end() ? "" : " (" + nodes->second + ")") + " in " + object.name;
}

void GuaranteeChecker::checkCalls(const CheckedObject &object, StringRef symbol) {
  ForeignKind kind = classifyForeign(symbol);
  if (kind != ForeignKind::Support)
    unbounded = symbol.str();
  std::string calls = describe(object, object.findUser(symbol)) + " calls " + symbol.str();
  bool isUnknown = kind == ForeignKind::Unknown, isEnvironment = symbol.ends_with("getenv");
  if (guarantees.noMalloc && (isUnknown || kind == ForeignKind::Allocation))
    add("no-malloc", calls + (isUnknown ? ", of which it is not known whether it allocates" : ""));
  if (guarantees.noLibm && kind == ForeignKind::Math)
    add("no-libm", calls);
  if (guarantees.reentrant && (isUnknown || (kind == ForeignKind::Varying && !isEnvironment)))
    add("reentrant", calls + (isUnknown ? ", of which it is not known whether it has state" : ", which has state"));
  if (guarantees.deterministic && (isUnknown || kind == ForeignKind::Varying))
    add("deterministic", calls + (isUnknown       ? ", of which it is not known whether its results are always the same"
                                  : isEnvironment ? ": the environment may choose among its targets; compile for one"
                                                  : ", whose results differ from run to run"));
}

void GuaranteeChecker::checkState(const CheckedObject &object) {
  for (const Writable &data : object.listWritable()) {
    // The choice among targets, which every thread finds the same (kiln/choice.h).
    bool isChoice = !data.symbols.empty() && data.bytes <= 8 &&
                    all_of(data.symbols, [](StringRef symbol) { return symbol.contains("kept_choice"); });
    if (isChoice)
      continue;
    std::string names;
    for (const std::string &symbol : data.symbols)
      names += demangle(symbol) + ", ";
    add("reentrant", object.name + " has writable data: " + names + Twine(data.bytes) + " bytes in " + data.section);
  }
}

void GuaranteeChecker::checkNames(const CheckedObject &object, StringRef symbol, bool isDefined) {
  bool isAllowed = any_of(*guarantees.symbols, [&](StringRef allowed) { return allowed.consume_back("*") ? symbol.starts_with(allowed) : symbol == allowed; });
  bool isOwn = isDefined && symbol.starts_with(sources.signature.name + "_");
  if (isAllowed || isOwn)
    return;
  std::string guarantee = "no-symbols-but=" + join(*guarantees.symbols, ":");
  if (isDefined)
    add(guarantee, object.name + " defines " + symbol);
  else
    add(guarantee, describe(object, object.findUser(symbol)) + " needs " + symbol);
}

void GuaranteeChecker::checkStack() {
  std::string guarantee = "max-stack=" + std::to_string(*guarantees.mostStack);
  for (const Signature &model : sources.models) {
    std::string function = model.name + "_run";
    std::optional<int64_t> bytes = unbounded.empty() ? boundStackUse(files, function) : std::nullopt;
    if (!bytes) {
      add(guarantee, "the stack of " + function + " has no known bound: " +
                         (unbounded.empty() ? "the compiler or the format of the objects records no frames" : unbounded + " is not of the library"));
      continue;
    }
    if (*bytes <= *guarantees.mostStack)
      continue;
    auto [largest, frame] = findLargestFrame(files, function);
    auto nodes = sources.kernelNodes.find(largest);
    add(guarantee, function + " takes up to " + Twine(*bytes) + " bytes of stack, " + Twine(frame) + " of them in " + largest +
                       (nodes == sources.kernelNodes.end() ? "" : " (" + nodes->second + ")"));
  }
}

void GuaranteeChecker::checkCode() {
  uint64_t sum = 0, largestBytes = 0;
  std::string largest;
  for (const CheckedObject &object : objects)
    sum += object.countCode(largest, largestBytes);
  if (sum <= uint64_t(*guarantees.mostCode))
    return;
  auto nodes = sources.kernelNodes.find(largest);
  add("max-code=" + std::to_string(*guarantees.mostCode),
      "the objects have " + Twine(sum) + " bytes of code" +
          (largest.empty() ? "" : ", " + Twine(largestBytes) + " of them in " + largest) +
          (nodes == sources.kernelNodes.end() ? "" : " (" + nodes->second + ")"));
}

std::vector<std::string> GuaranteeChecker::check() {
  Triple triple(tripleOf(sources.units.front().target));
  StringRef prefix = triple.isOSDarwin() || (triple.isOSWindows() && triple.getArch() == Triple::x86) ? "_" : "";
  for (const ObjectFile &file : files) {
    objects.emplace_back(file, prefix);
    if (!objects.back().isKnown())
      return {"--guarantee: " + file.name + " is no object that can be read"};
  }
  // The weights are an object of their own, or a file.
  StringSet<> defined;
  defined.insert(sources.signature.name + "_weights");
  for (const CheckedObject &object : objects)
    for (const auto &symbol : object.listSymbols(/*areDefined=*/true))
      defined.insert(symbol.getKey());
  for (const CheckedObject &object : objects) {
    StringSet<> undefined = object.listSymbols(/*areDefined=*/false), own = object.listSymbols(/*areDefined=*/true);
    std::set<StringRef> outside(undefined.keys().begin(), undefined.keys().end()), inside(own.keys().begin(), own.keys().end());
    for (StringRef symbol : outside)
      if (!defined.contains(symbol) && classifyForeign(symbol) != ForeignKind::Linker) {
        checkCalls(object, symbol);
        if (guarantees.symbols)
          checkNames(object, symbol, /*isDefined=*/false);
      }
    for (StringRef symbol : inside)
      if (guarantees.symbols)
        checkNames(object, symbol, /*isDefined=*/true);
    if (guarantees.reentrant)
      checkState(object);
  }
  if (guarantees.mostStack)
    checkStack();
  if (guarantees.mostCode)
    checkCode();
  return std::move(faults);
}

std::vector<std::string> findBrokenGuarantees(const Guarantees &guarantees, const ModelSources &sources, ArrayRef<ObjectFile> objects) {
  return guarantees.any() ? GuaranteeChecker(guarantees, sources, objects).check() : std::vector<std::string>();
}

} // namespace kiln
