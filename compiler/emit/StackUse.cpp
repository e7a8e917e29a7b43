//===- StackUse.cpp - How deep the stack of a model's run may get ----------===//
//
// Each function has its own section, and Clang records the size of its frame (.stack_sizes). A function may call whatever the relocations of its section
// name, and also the tasks whose address it passes to kiln::launch_shared. The bound is the heaviest path through that graph.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/StackUse.h"
#include "compiler/emit/ElfCheck.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/LEB128.h"

using namespace llvm;

namespace kiln {

/// The bytes that a call takes besides the frame: the return address and the padding that aligns the frame.
static constexpr int64_t callBytes = 8 + 64;

/// A larger frame is treated as invalid, so that the sum along a call path cannot exceed 64 bits.
static constexpr uint64_t maxFrameBytes = uint64_t(1) << 32;

namespace {
struct Function {
  std::string name;
  std::optional<int64_t> frame;
  std::vector<size_t> callees;
  /// Global functions of other objects, by name.
  std::vector<std::string> others;
  /// Whether it is kiln::launch_shared, which calls what its callers name.
  bool callsTasks = false;
  /// The bytes from here on, once they are known. A function on the current path is open.
  int64_t depth = 0;
  /// The callees that the depth comes from, once it is known.
  std::vector<size_t> deepest = {};
  enum { New, Open, Known } state = New;
};

class CallGraph {
public:
  bool add(const object::ObjectFile &object);
  bool addAll(ArrayRef<ObjectFile> files);
  std::optional<int64_t> depthOf(StringRef name);
  /// On the path that gives the depth.
  const Function &findLargestFrame(const Function &from) const;
  const Function *find(StringRef name) const {
    auto found = byName.find(name);
    return found == byName.end() ? nullptr : &functions[found->second];
  }

private:
  /// Frames and calls, from the relocations of one section.
  bool addRelocations(const object::SectionRef &target, const object::SectionRef &relocations);
  std::optional<int64_t> depthOf(Function &function);

  std::vector<Function> functions;
  StringMap<size_t> byName;
  /// Of the object that is being added.
  DenseMap<uint64_t, size_t> bySection;
};
} // namespace

template <typename T> static bool take(Expected<T> from, T &to) {
  if (!from) {
    consumeError(from.takeError());
    return false;
  }
  to = std::move(*from);
  return true;
}

/// The section of a symbol; false when it has none, such as one of another object.
static bool findSection(const object::SymbolRef &symbol, const object::ObjectFile &object, object::SectionRef &section) {
  object::section_iterator found = object.section_end();
  if (!take(symbol.getSection(), found) || found == object.section_end())
    return false;
  section = *found;
  return true;
}

bool CallGraph::addRelocations(const object::SectionRef &target, const object::SectionRef &relocations) {
  StringRef name, contents;
  if (!take(target.getName(), name) || !take(target.getContents(), contents))
    return false;
  bool tellsFrames = name == ".stack_sizes";
  auto from = bySection.find(target.getIndex());
  if (!tellsFrames && from == bySection.end())
    return true;
  for (const object::RelocationRef &relocation : relocations.relocations()) {
    object::symbol_iterator symbol = relocation.getSymbol();
    if (symbol == target.getObject()->symbol_end())
      continue; // a number without a symbol
    object::SectionRef section;
    StringRef symbolName;
    bool isHere = findSection(*symbol, *target.getObject(), section);
    // A place in the function itself, as RISC-V's pairs of relocations name; one that names the function is a call.
    object::SymbolRef::Type type = object::SymbolRef::ST_Unknown;
    if (!tellsFrames && isHere && section == target && take(symbol->getType(), type) && type != object::SymbolRef::ST_Function)
      continue;
    auto to = isHere ? bySection.find(section.getIndex()) : bySection.end();
    if (tellsFrames && to != bySection.end()) {
      uint64_t place = relocation.getOffset(), address = target.getObject()->getBytesInAddress();
      if (contents.size() <= address || place >= contents.size() - address)
        return false;
      uint64_t frame = decodeULEB128(contents.bytes_begin() + place + address, nullptr, contents.bytes_end());
      if (frame > maxFrameBytes)
        return false;
      functions[to->second].frame = static_cast<int64_t>(frame);
    } else if (!tellsFrames && to != bySection.end()) {
      functions[from->second].callees.push_back(to->second);
    } else if (!tellsFrames && !isHere && take(symbol->getName(), symbolName)) {
      functions[from->second].others.push_back(symbolName.str());
    }
  }
  return true;
}

bool CallGraph::add(const object::ObjectFile &object) {
  bySection.clear();
  for (const object::SymbolRef &symbol : object.symbols()) {
    object::SymbolRef::Type type;
    object::SectionRef section;
    StringRef name;
    if (!take(symbol.getType(), type) || type != object::SymbolRef::ST_Function || !findSection(symbol, object, section) || !take(symbol.getName(), name))
      continue;
    // Two functions in one section cannot be told apart.
    if (!bySection.try_emplace(section.getIndex(), functions.size()).second)
      return false;
    uint32_t flags = 0;
    if (take(symbol.getFlags(), flags) && (flags & object::SymbolRef::SF_Global))
      byName.try_emplace(name, functions.size());
    functions.emplace_back();
    functions.back().name = name.str();
    functions.back().callsTasks = name.contains("launch_shared");
  }
  for (const object::SectionRef &section : object.sections()) {
    object::section_iterator target = object.section_end();
    if (take(section.getRelocatedSection(), target) && target != object.section_end() && !addRelocations(*target, section))
      return false;
  }
  return true;
}

std::optional<int64_t> CallGraph::depthOf(Function &function) {
  if (function.state == Function::Known)
    return function.depth;
  if (function.state == Function::Open || !function.frame)
    return std::nullopt;
  function.state = Function::Open;
  int64_t deepest = 0, launch = 0;
  std::optional<size_t> deepestCallee, launchCallee;
  std::vector<size_t> callees = function.callees;
  for (const std::string &name : function.others)
    if (auto found = byName.find(name); found != byName.end())
      callees.push_back(found->second);
  for (size_t callee : callees) {
    std::optional<int64_t> depth = depthOf(functions[callee]);
    if (!depth)
      return std::nullopt;
    bool isLaunch = functions[callee].callsTasks;
    int64_t &most = isLaunch ? launch : deepest;
    if (*depth > most)
      (isLaunch ? launchCallee : deepestCallee) = callee;
    most = std::max(most, *depth);
  }
  for (std::optional<size_t> callee : {deepestCallee, launchCallee})
    if (callee)
      function.deepest.push_back(*callee);
  function.depth = *function.frame + callBytes + launch + deepest;
  function.state = Function::Known;
  return function.depth;
}

std::optional<int64_t> CallGraph::depthOf(StringRef name) {
  auto found = byName.find(name);
  return found == byName.end() ? std::nullopt : depthOf(functions[found->second]);
}

const Function &CallGraph::findLargestFrame(const Function &from) const {
  const Function *largest = &from;
  for (size_t callee : from.deepest)
    if (const Function &other = findLargestFrame(functions[callee]); *other.frame > *largest->frame)
      largest = &other;
  return *largest;
}

bool CallGraph::addAll(ArrayRef<ObjectFile> files) {
  for (const ObjectFile &file : files) {
    StringRef bytes(file.bytes.data(), file.bytes.size());
    if (!isSoundElf(bytes))
      return false;
    auto object = object::ObjectFile::createObjectFile(MemoryBufferRef(bytes, file.name));
    if (!object) {
      consumeError(object.takeError());
      return false;
    }
    if (!add(**object))
      return false;
  }
  return true;
}

std::optional<int64_t> boundStackUse(ArrayRef<ObjectFile> objects, StringRef function) {
  CallGraph graph;
  return graph.addAll(objects) ? graph.depthOf(function) : std::nullopt;
}

std::pair<std::string, int64_t> findLargestFrame(ArrayRef<ObjectFile> objects, StringRef function) {
  CallGraph graph;
  if (!graph.addAll(objects) || !graph.depthOf(function))
    return {"", 0};
  const Function &largest = graph.findLargestFrame(*graph.find(function));
  return {largest.name, *largest.frame};
}

} // namespace kiln
