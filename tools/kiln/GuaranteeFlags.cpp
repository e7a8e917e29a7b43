//===- GuaranteeFlags.cpp - What --guarantee asks for ---------------------------===//
#include "compiler/run/Tensor.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/CompileFlags.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace kiln {

static cl::list<std::string> guarantee("guarantee", cl::CommaSeparated,
    cl::desc("Check the objects, and write nothing where they do not keep one: no-malloc, no-libm, reentrant (no state), deterministic (nothing that differs "
             "from run to run), max-stack=SIZE, max-code=SIZE, no-symbols-but=NAME:... (the names that the library shares with a program, besides its own; "
             "may be empty); recorded in the library (docs/Guarantees.md)"),
    cl::value_desc("WHAT,..."), cl::sub(compileCommand));

static Error addLimit(StringRef text, StringRef value, std::optional<int64_t> &limit) {
  limit = parseBytes(value);
  return limit ? Error::success() : makeError("--guarantee=" + text + ": expected a number of bytes, such as 4096, 64K or 2M");
}

static Error addGuarantee(StringRef text, Guarantees &result) {
  auto [name, value] = text.split('=');
  if (name == "max-stack" && text.contains('='))
    return addLimit(text, value, result.mostStack);
  if (name == "max-code" && text.contains('='))
    return addLimit(text, value, result.mostCode);
  if (name == "no-symbols-but" && text.contains('=')) {
    if (!result.symbols)
      result.symbols.emplace();
    for (StringRef symbol : split(value, ':'))
      if (!symbol.empty())
        result.symbols->push_back(symbol.str());
    return Error::success();
  }
  bool *flag = StringSwitch<bool *>(text)
                   .Case("no-malloc", &result.noMalloc)
                   .Case("no-libm", &result.noLibm)
                   .Case("reentrant", &result.reentrant)
                   .Case("deterministic", &result.deterministic)
                   .Default(nullptr);
  if (!flag)
    return makeError("--guarantee=" + text +
                     ": expected no-malloc, no-libm, reentrant, deterministic, max-stack=SIZE, max-code=SIZE or no-symbols-but=NAME:...");
  *flag = true;
  return Error::success();
}

Expected<Guarantees> getGuarantees() {
  Guarantees result;
  for (StringRef text : guarantee)
    if (Error error = addGuarantee(text, result))
      return std::move(error);
  return result;
}

} // namespace kiln
