//===- CompilerFlags.cpp - How emitted C++ is built ------------------------===//
#include "compiler/emit/CompilerFlags.h"
#include "compiler/emit/BuildText.h"
#include "kiln/cpu.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/TargetParser/X86TargetParser.h"

using namespace mlir;

namespace kiln {

namespace {
/// An option of the compilers' drivers, and what it is for `clang -cc1`. Words of one option are separated by blanks.
struct Flag {
  StringLiteral driver, frontend;
};
} // namespace

/// The flags for emitted code, for every compiler. Loops are unrolled already, and contraction makes a * b + c one instruction. Never -ffast-math: it
/// breaks exp and NaN.
static constexpr Flag flags[] = {
    {"-std=c++17", "-std=c++17"},
    {"-O2", "-O2 -vectorize-loops -vectorize-slp"},
    {"-fno-unroll-loops", "-fno-unroll-loops"},
    {"-ffp-contract=fast", "-ffp-contract=fast"},
    // Defaults of the drivers that the front end must be told.
    {"-fno-math-errno", ""},
    {"-fno-exceptions", ""},
    {"-fno-rtti", "-fno-rtti"},
    {"-fPIC", "-mrelocation-model pic -pic-level 2"},
    {"-fvisibility=hidden", "-fvisibility=hidden"},
    {"-fvisibility-inlines-hidden", "-fvisibility-inlines-hidden"},
    {"-ffunction-sections", "-ffunction-sections"},
    // Drivers choose this depending on the system.
    {"", "-mframe-pointer=none -funwind-tables=2"},
};

/// Flags for the built-in compiler only: its own freestanding headers, stack sizes, and messages in a form that can be read back.
static constexpr StringLiteral builtinFlags[] = {"-emit-obj",       "-x",          "c++",
                                                 "-nostdsysteminc", "-nobuiltininc", "-fgnuc-version=4.2.1", "-fstack-size-section", "-fno-ident",
                                                 "-Wall",           "-Wextra",     "-fno-caret-diagnostics"};

std::vector<std::string> commonFlags() {
  std::vector<std::string> options;
  for (const Flag &flag : flags)
    if (!flag.driver.empty())
      options.push_back(flag.driver.str());
  return options;
}

std::string tripleOf(kernel::TargetAttr target) {
  return target && !target.getTriple().empty() ? makeCompilerOption("", target.getTriple()) : llvm::sys::getDefaultTargetTriple();
}

static bool isX86(kernel::TargetAttr target) { return llvm::Triple(tripleOf(target)).isX86(); }

static bool isWasm(kernel::TargetAttr target) { return llvm::Triple(tripleOf(target)).isWasm(); }

/// Without it, compilers use only half of a 512-bit vector unit.
static bool isWide(kernel::TargetAttr target) { return target && isX86(target) && target.getVectorBits() >= 512; }

std::vector<std::string> instructionSets(kernel::TargetAttr target) {
  std::vector<std::string> names;
  for (auto feature : target.getFeatures().getAsRange<StringAttr>())
    if (!feature.getValue().starts_with("-"))
      names.push_back(feature.str());
  return names;
}

std::vector<std::string> neededFeatures(kernel::TargetAttr target) {
  std::vector<std::string> needed;
  if (!target || llvm::Triple(tripleOf(target)).getArch() != llvm::Triple::x86_64)
    return needed;
  std::vector<std::string> own = instructionSets(target);
  SmallVector<StringRef> features(own.begin(), own.end());
  if (llvm::X86::parseArchX86(target.getCpu()) != llvm::X86::CK_None)
    llvm::X86::getFeaturesForCPU(target.getCpu(), features);
  for (const char *name : cpu::feature_names)
    if (llvm::is_contained(features, name))
      needed.push_back(name);
  return needed;
}

std::vector<std::string> targetFlags(kernel::TargetAttr target) {
  std::vector<std::string> flags;
  if (!target)
    return flags;
  if (!target.getCpu().empty())
    flags.push_back(makeCompilerOption(isX86(target) ? "-march=" : "-mcpu=", target.getCpu()));
  if (isX86(target) || isWasm(target))
    for (const std::string &feature : instructionSets(target))
      flags.push_back(makeCompilerOption("-m", feature));
  if (isWasm(target))
    flags.push_back("-fno-PIC"); // a module is linked whole
  if (isWide(target))
    flags.push_back("-mprefer-vector-width=512");
  return flags;
}

std::vector<std::string> frontendArguments(kernel::TargetAttr target) {
  std::vector<std::string> arguments = {"-triple", tripleOf(target)};
  for (StringRef flag : builtinFlags)
    arguments.push_back(flag.str());
  for (const Flag &flag : flags) {
    if (flag.driver == "-fPIC" && isWasm(target))
      continue; // a module is linked whole
    for (StringRef word : llvm::split(flag.frontend, ' '))
      if (!word.empty())
        arguments.push_back(word.str());
  }
  if (!target)
    return arguments;
  if (!target.getCpu().empty())
    arguments.insert(arguments.end(), {"-target-cpu", makeCompilerOption("", target.getCpu())});
  for (const std::string &feature : instructionSets(target))
    arguments.insert(arguments.end(), {"-target-feature", makeCompilerOption("+", feature)});
  if (isWide(target))
    arguments.push_back("-mprefer-vector-width=512");
  return arguments;
}

} // namespace kiln
