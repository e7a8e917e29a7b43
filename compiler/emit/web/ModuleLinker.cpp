//===- ModuleLinker.cpp - Objects to a module of WebAssembly ------------------===//
#include "compiler/emit/web/ModuleLinker.h"
#include "compiler/emit/ExternalCompiler.h"

#include "llvm/Support/Program.h"

using namespace llvm;

namespace kiln {

/// A run's stack: attention takes the most, up to 300 KB. It lies at the lowest addresses, so what would go beyond it traps.
static constexpr unsigned stackBytes = 1 << 20;

/// Debian's packages of LLVM have the major version in the names of programs.
static std::string findLinker() {
  for (StringRef name : {"wasm-ld-22", "wasm-ld"})
    if (ErrorOr<std::string> found = sys::findProgramByName(name))
      return *found;
  return "";
}

Expected<std::string> linkWasmModule(ArrayRef<ObjectFile> objects, ArrayRef<std::string> functions) {
  std::string linker = findLinker();
  if (linker.empty())
    return createStringError(inconvertibleErrorCode(), "cannot find wasm-ld, which links modules of WebAssembly: install LLVM's lld");
  std::vector<std::string> options = {"--no-entry", "--gc-sections", "--strip-all", "--stack-first", "--export=__heap_base", "-z",
                                      "stack-size=" + std::to_string(stackBytes)};
  // Workers have stacks of their own, and hooks places in the table.
  for (StringRef option : {"--export=__stack_pointer", "--export-table", "--growable-table"})
    options.push_back(option.str());
  for (const std::string &function : functions)
    options.push_back("--export=" + function);
  std::vector<ArchiveMember> members;
  for (const ObjectFile &object : objects)
    members.push_back({object.name, object.bytes.size(), {}, [&object](raw_ostream &out) { out.write(object.bytes.data(), object.bytes.size()); }});
  auto linked = linkObjects(linker, members, options);
  if (!linked)
    return linked.takeError();
  return (*linked)->getBuffer().str();
}

} // namespace kiln
