//===- CompilerFlags.cpp - How emitted C++ is built ------------------------===//
#include "compiler/emit/CompilerFlags.h"
#include "compiler/emit/BuildText.h"
#include "kiln/cpu.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Process.h"
#include "llvm/TargetParser/AArch64TargetParser.h"
#include "llvm/TargetParser/ARMTargetParser.h"
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
    {"-O2", "-O2"},
    {"", "-vectorize-loops -vectorize-slp"},
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
    {"", "-funwind-tables=2"},
};

/// Flags for the built-in compiler only: its own freestanding headers, stack sizes, and messages in a form that can be read back. Nobody sees its warnings.
/// Names of LLVM's values and LLVM's checks of itself cost a twentieth of a compile; Clang's driver has them off, too.
static constexpr StringLiteral builtinFlags[] = {
    "-emit-obj", "-x", "c++", "-nostdsysteminc", "-nobuiltininc", "-fgnuc-version=4.2.1", "-fstack-size-section", "-fno-ident",
    "-w", "-fno-caret-diagnostics", "-discard-value-names", "-disable-llvm-verifier"};

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

static llvm::Triple parseTriple(kernel::TargetAttr target) { return llvm::Triple(tripleOf(target)); }

static bool isArm32(const llvm::Triple &triple) { return triple.isARM() || triple.isThumb(); }

/// Programs without an operating system, such as those for `none-eabi` and `unknown-elf`, are linked whole, and nothing unwinds their stack.
static bool isBareMetal(const llvm::Triple &triple) { return triple.isOSBinFormatELF() && triple.getOS() == llvm::Triple::UnknownOS; }

static bool passesFloatsInRegisters(const llvm::Triple &triple) {
  return triple.getEnvironment() == llvm::Triple::EABIHF || triple.getEnvironment() == llvm::Triple::GNUEABIHF;
}

/// Without it, compilers use only half of a 512-bit vector unit.
static bool isWide(kernel::TargetAttr target) { return target && parseTriple(target).isX86() && target.getVectorBits() >= 512; }

std::vector<std::string> instructionSets(kernel::TargetAttr target) {
  std::vector<std::string> names;
  for (auto feature : target.getFeatures().getAsRange<StringAttr>())
    if (!feature.getValue().starts_with("-"))
      names.push_back(feature.str());
  return names;
}

/// The features of a target for RISC-V. One that names none is for Linux, whose programs have rv64gc at least and pass doubles in registers.
static std::vector<std::string> riscVFeatures(kernel::TargetAttr target) {
  std::vector<std::string> features = instructionSets(target);
  return features.empty() && parseTriple(target).getArch() == llvm::Triple::riscv64 ? std::vector<std::string>{"m", "a", "f", "d", "c"} : features;
}

/// The rows of kiln/cpu.h's table for an architecture; none for those of which it knows nothing.
static ArrayRef<const char *> knownFeatures(llvm::Triple::ArchType arch) {
  switch (arch) {
  case llvm::Triple::x86_64:
    return cpu::feature_names;
  case llvm::Triple::aarch64:
    return cpu::aarch64_feature_names;
  case llvm::Triple::riscv64:
    return cpu::riscv64_feature_names;
  default:
    return {};
  }
}

/// What a CPU of this name has, as far as LLVM tells.
static std::vector<StringRef> listImplied(llvm::Triple::ArchType arch, StringRef name) {
  SmallVector<StringRef> ofX86;
  std::vector<StringRef> signedNames, names;
  if (arch == llvm::Triple::x86_64 && llvm::X86::parseArchX86(name) != llvm::X86::CK_None)
    llvm::X86::getFeaturesForCPU(name, ofX86);
  names.assign(ofX86.begin(), ofX86.end());
  if (arch != llvm::Triple::aarch64)
    return names;
  if (std::optional<llvm::AArch64::CpuInfo> info = llvm::AArch64::parseCpu(name)) {
    llvm::AArch64::ExtensionSet set;
    set.addCPUDefaults(*info);
    set.toLLVMFeatureList(signedNames);
  }
  for (StringRef feature : signedNames)
    if (feature.consume_front("+"))
      names.push_back(feature);
  return names;
}

std::vector<std::string> neededFeatures(kernel::TargetAttr target) {
  std::vector<std::string> needed;
  if (!target)
    return needed;
  llvm::Triple::ArchType arch = parseTriple(target).getArch();
  std::vector<std::string> features = instructionSets(target);
  for (StringRef feature : listImplied(arch, target.getCpu()))
    features.push_back(feature.str());
  // How long SVE's vectors are is no instruction set of LLVM's.
  if (arch == llvm::Triple::aarch64 && target.getVectorBits() > 128)
    features.push_back("sve" + std::to_string(target.getVectorBits()));
  for (const char *name : knownFeatures(arch))
    if (llvm::is_contained(features, name))
      needed.push_back(name);
  return needed;
}

/// armv8.2-a+dotprod+...: GCC and Clang know all of these names, whereas CPUs' names are known to the newer ones only.
static std::string architectureOfArm(kernel::TargetAttr target) {
  bool isNamed = !target.getCpu().empty() && target.getCpu() != "generic";
  // The assembler of GCC 12 wants the revision that these came with.
  std::string text = isNamed ? target.getCpu().str() : instructionSets(target).empty() ? "armv8-a" : "armv8.2-a";
  for (const std::string &feature : instructionSets(target)) {
    const auto *found = llvm::find(cpu::aarch64_feature_names, feature);
    bool isKnown = found != std::end(cpu::aarch64_feature_names);
    text += "+" + (isKnown ? std::string(cpu::aarch64_driver_names[found - std::begin(cpu::aarch64_feature_names)]) : feature);
  }
  return makeCompilerOption(isNamed ? "-mcpu=" : "-march=", text);
}

/// The CPU that compilers schedule code for, in the words of their drivers and of Clang's front end.
struct SchedulingCpu {
  StringLiteral driver, frontend;
};

static bool isForAnyArm64(kernel::TargetAttr target) {
  return parseTriple(target).getArch() == llvm::Triple::aarch64 && (target.getCpu().empty() || target.getCpu() == "generic");
}

/// Kernels fill the registers, so with some models LLVM loads too early: tiles spill, or move all sums from register to register. These are the CPUs with which
/// it does not, where that is not the target's own; test/benchmark/inner-loops shows it. Any CPU of 64-bit Arm would be one that runs instructions in order,
/// and GCC 12 does not know the one for which LLVM spills least. The baseline of x86-64 is Sandy Bridge for LLVM, which suits 32 registers and not 16.
static std::optional<SchedulingCpu> schedulingCpu(kernel::TargetAttr target) {
  if (isForAnyArm64(target))
    return SchedulingCpu{"neoverse-v1", "apple-m1"};
  if (isWide(target))
    return SchedulingCpu{"generic", "x86-64"};
  if (parseTriple(target).isX86() && llvm::is_contained(instructionSets(target), "avx2"))
    return SchedulingCpu{"haswell", "haswell"};
  return std::nullopt;
}

/// Without the option, GCC's atomic operations are calls of functions of its own library.
static constexpr StringLiteral atomicsInPlace = "-mno-outline-atomics";

static void addScheduling(kernel::TargetAttr target, std::vector<std::string> &flags) {
  if (std::optional<SchedulingCpu> cpu = schedulingCpu(target))
    flags.push_back("-mtune=" + cpu->driver.str());
}

static std::vector<std::string> flagsOfArm64(kernel::TargetAttr target) {
  std::vector<std::string> flags = {architectureOfArm(target), atomicsInPlace.str()};
  addScheduling(target, flags);
  return flags;
}

/// What Clang's driver calls the draft of an extension, whose version it wants to see: zvqdotq0p0. Empty: the feature is no draft.
static std::string nameDraft(StringRef feature) { return feature.consume_front("experimental-") ? feature.str() + "0p0" : ""; }

/// The letters of a RISC-V architecture, then its longer names: rv64imafdcv_zvl256b.
static std::string architectureOfRiscV(kernel::TargetAttr target) {
  std::string letters = parseTriple(target).isArch64Bit() ? "rv64i" : "rv32i", names;
  std::vector<std::string> features = riscVFeatures(target);
  for (char letter : StringRef("mafdcv"))
    if (llvm::is_contained(features, std::string(1, letter)))
      letters += letter;
  for (const std::string &feature : features)
    if (feature.size() > 1)
      names += "_" + (nameDraft(feature).empty() ? feature : nameDraft(feature));
  return makeCompilerOption("-march=", letters + names);
}

/// How RISC-V passes arguments: floats in registers where there are registers for them.
static StringRef bindingOfRiscV(kernel::TargetAttr target) {
  std::vector<std::string> features = riscVFeatures(target);
  bool hasDouble = llvm::is_contained(features, "d"), hasFloat = llvm::is_contained(features, "f");
  if (parseTriple(target).isArch64Bit())
    return "lp64d";
  return hasDouble ? "ilp32d" : hasFloat ? "ilp32f" : "ilp32";
}

static std::vector<std::string> flagsOfRiscV(kernel::TargetAttr target) {
  std::vector<std::string> flags = {architectureOfRiscV(target), "-mabi=" + bindingOfRiscV(target).str()};
  if (llvm::any_of(riscVFeatures(target), [](const std::string &feature) { return !nameDraft(feature).empty(); }))
    flags.push_back("-menable-experimental-extensions");
  return flags;
}

/// cortex-m7+nofp.dp: what the named CPU may have and the target does not. The unit for doubles of the Cortex-M7 is an option of its makers.
static std::string cpuOfArm(kernel::TargetAttr target) {
  StringRef cpu = target.getCpu();
  auto lacks = [&](StringRef feature) { return !llvm::is_contained(instructionSets(target), feature); };
  if (cpu == "cortex-m7" && lacks("fp64"))
    return "cortex-m7+nofp.dp";
  return cpu == "cortex-m55" && lacks("mve.fp") ? "cortex-m55+nomve" : cpu.str();
}

/// Clang 22 takes an "or" of comparisons for MVE as if no operand was NaN. The kernel headers hide theirs, but not those of loops that it vectorizes itself.
static bool isVectorizedByKilnAlone(kernel::TargetAttr target) { return target && llvm::is_contained(instructionSets(target), "mve.fp"); }

static std::vector<std::string> flagsOfArm(kernel::TargetAttr target, const llvm::Triple &triple) {
  std::vector<std::string> flags;
  if (target.getCpu().empty() || target.getCpu() == "generic")
    flags.push_back(makeCompilerOption("-march=", llvm::ARM::getArchName(llvm::ARM::parseArch(triple.getArchName()))));
  else
    flags.push_back(makeCompilerOption("-mcpu=", cpuOfArm(target)));
  if (llvm::is_contained(instructionSets(target), "neon"))
    flags.push_back("-mfpu=neon");
  if (triple.isThumb())
    flags.push_back("-mthumb");
  flags.push_back(passesFloatsInRegisters(triple) ? "-mfloat-abi=hard" : "-mfloat-abi=soft");
  if (isVectorizedByKilnAlone(target))
    flags.insert(flags.end(), {"-fno-tree-vectorize", "-fno-tree-slp-vectorize"});
  return flags;
}

/// -march and the like.
static std::vector<std::string> machineFlags(kernel::TargetAttr target, const llvm::Triple &triple) {
  bool isArm64 = triple.getArch() == llvm::Triple::aarch64, isNamed = !target.getTriple().empty();
  // The portable target's text is for any CPU, so its build file names none, and the text that chooses a target is for any CPU of the architecture.
  if (target.getCpu().empty() && instructionSets(target).empty() && !triple.isWasm())
    return isArm64 && isNamed ? std::vector<std::string>{atomicsInPlace.str()} : std::vector<std::string>();
  if (isArm64)
    return flagsOfArm64(target);
  if (triple.isRISCV())
    return flagsOfRiscV(target);
  if (isArm32(triple))
    return flagsOfArm(target, triple);
  std::vector<std::string> flags;
  if (!target.getCpu().empty())
    flags.push_back(makeCompilerOption(triple.isX86() ? "-march=" : "-mcpu=", target.getCpu()));
  if (triple.isX86() || triple.isWasm())
    for (const std::string &feature : instructionSets(target))
      flags.push_back(makeCompilerOption("-m", feature));
  if (isWide(target))
    flags.push_back("-mprefer-vector-width=512");
  addScheduling(target, flags);
  return flags;
}

/// What is linked whole lies where it was linked to.
static bool isFixed(const llvm::Triple &triple) { return triple.isWasm() || isBareMetal(triple); }

std::vector<std::string> targetFlags(kernel::TargetAttr target) {
  if (!target)
    return {};
  llvm::Triple triple = parseTriple(target);
  std::vector<std::string> flags = machineFlags(target, triple);
  if (isFixed(triple))
    flags.push_back("-fno-PIC");
  return flags;
}

/// The same for 32-bit Arm, as its drivers make it of the system and the CPU.
static std::vector<std::string> describeArm(kernel::TargetAttr target, const llvm::Triple &triple) {
  bool isHard = passesFloatsInRegisters(triple);
  std::vector<std::string> arguments = {"-target-abi", isBareMetal(triple) ? "aapcs" : "aapcs-linux", "-mfloat-abi", isHard ? "hard" : "soft"};
  std::vector<StringRef> features;
  if (!isHard) {
    arguments.push_back("-msoft-float");
    features = {"+soft-float", "+soft-float-abi"};
  }
  if (isBareMetal(triple))
    arguments.push_back("-fshort-enums");
  if (triple.getArchName().starts_with("thumbv6m"))
    features.push_back("+strict-align");
  std::string cpu = cpuOfArm(target);
  if (StringRef(cpu).ends_with("+nofp.dp"))
    features.push_back("-fp64");
  if (StringRef(cpu).ends_with("+nomve"))
    features.insert(features.end(), {"-mve.fp", "-mve"});
  for (StringRef feature : features)
    arguments.insert(arguments.end(), {"-target-feature", feature.str()});
  return arguments;
}

/// What `clang -cc1` is told of vectors, floating-point arguments and features beyond a CPU's name.
static std::vector<std::string> describeMachine(kernel::TargetAttr target) {
  std::vector<std::string> arguments;
  llvm::Triple triple = parseTriple(target);
  llvm::Triple::ArchType arch = triple.getArch();
  if (triple.isRISCV())
    arguments = {"-target-abi", bindingOfRiscV(target).str()};
  if (isArm32(triple))
    arguments = describeArm(target, triple);
  // What drivers make of every AArch64: the others build on it.
  if (arch == llvm::Triple::aarch64)
    arguments = {"-target-feature", "+neon", "-target-feature", "+fp-armv8"};
  for (const std::string &feature : triple.isRISCV() ? riscVFeatures(target) : instructionSets(target))
    arguments.insert(arguments.end(), {"-target-feature", makeCompilerOption("+", feature)});
  // SVE's vectors have a multiple of 128 bits.
  if (arch == llvm::Triple::aarch64 && target.getVectorBits() > 128)
    arguments.push_back("-mvscale-min=" + std::to_string(target.getVectorBits() / 128));
  if (isWide(target))
    arguments.push_back("-mprefer-vector-width=512");
  return arguments;
}

kernel::TargetAttr makeBaseline(kernel::TargetAttr target) {
  llvm::Triple triple = parseTriple(target);
  bool isOne = isArm32(triple) || triple.getArch() == llvm::Triple::riscv32;
  MLIRContext *context = target.getContext();
  if (isOne)
    return kernel::TargetAttr::get(context, "baseline", target.getTriple(), target.getCpu(), target.getVectorBits(), target.getRegisters(), target.getL1(),
                                   target.getL2(), target.getL3(), target.getFeatures());
  return kernel::TargetAttr::get(context, "baseline", target.getTriple(), "", 128, 16, target.getL1(), target.getL2(), target.getL3(),
                                 ArrayAttr::get(context, {}));
}

/// KILN_OPTIMIZE=0 turns Clang's optimizer off. Tests set it where they do not depend on the machine code.
static bool isOptimized() { return llvm::sys::Process::GetEnv("KILN_OPTIMIZE").value_or("") != "0"; }

std::vector<std::string> frontendArguments(kernel::TargetAttr target) {
  llvm::Triple triple = parseTriple(target);
  bool optimized = isOptimized();
  std::vector<std::string> arguments = {"-triple", tripleOf(target)};
  for (StringRef flag : builtinFlags)
    arguments.push_back(flag.str());
  for (const Flag &flag : flags) {
    bool isDropped = (flag.driver == "-fPIC" && isFixed(triple)) || (flag.frontend.starts_with("-funwind-tables") && isBareMetal(triple)) ||
                     (flag.frontend.starts_with("-vectorize") && isVectorizedByKilnAlone(target));
    if (isDropped)
      continue;
    for (StringRef word : llvm::split(flag.frontend, ' '))
      if (!word.empty())
        arguments.push_back(word == "-O2" && !optimized ? "-O0" : word.str());
  }
  if (isBareMetal(triple))
    arguments.insert(arguments.end(), {"-mrelocation-model", "static"});
  // macOS wants the frames of 64-bit Arm to be a list, but for functions that call none.
  bool keepsFrames = parseTriple(target).isMacOSX() && parseTriple(target).isAArch64();
  arguments.push_back(keepsFrames ? "-mframe-pointer=non-leaf" : "-mframe-pointer=none");
  if (!target)
    return arguments;
  if (!target.getCpu().empty())
    arguments.insert(arguments.end(), {"-target-cpu", makeCompilerOption("", target.getCpu())});
  if (std::optional<SchedulingCpu> cpu = schedulingCpu(target))
    arguments.insert(arguments.end(), {"-tune-cpu", cpu->frontend.str()});
  // CPUs with products of two rows by two columns take as long for a load of two vectors as for two loads, or by llvm-mca's model of Neoverse V2 for three.
  if (isForAnyArm64(target) && llvm::is_contained(instructionSets(target), "i8mm"))
    arguments.insert(arguments.end(), {"-target-feature", "+disable-ldp"});
  llvm::append_range(arguments, describeMachine(target));
  return arguments;
}

} // namespace kiln
