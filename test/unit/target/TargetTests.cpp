//===- TargetTests.cpp - The table of targets ------------------------------===//
#include "compiler/emit/CompilerFlags.h"
#include "compiler/emit/EmbeddedFiles.h"
#include "compiler/emit/Identifiers.h"
#include "compiler/target/Targets.h"
#include "compiler/target/x86_64/Levels.h"
#include "dialects/kernel/IndexWidth.h"
#include "dialects/kernel/Tuning.h"
#include "kiln/cpu.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/TargetParser/Host.h"
#include <gtest/gtest.h>
#include <set>

using namespace kiln;
using mlir::StringAttr;

namespace {

class Targets : public testing::Test {
protected:
  Targets() { context.loadDialect<kernel::KernelDialect>(); }
  std::vector<std::string> featuresOf(llvm::StringRef name) {
    std::vector<std::string> features;
    for (auto feature : makeTarget(&context, name).getFeatures().getAsRange<StringAttr>())
      features.push_back(feature.str());
    return features;
  }
  std::string errorOf(std::vector<std::string> names) {
    std::string error;
    EXPECT_TRUE(makeTargets(&context, names, error).empty());
    return error;
  }
  mlir::MLIRContext context;
};

TEST_F(Targets, EveryNameHasADescription) {
  std::vector<std::string> names;
  for (const Target &target : getTargets()) {
    names.push_back(target.name.str());
    EXPECT_FALSE(target.summary.empty());
    kernel::TargetAttr attr = makeTarget(&context, target.name);
    ASSERT_TRUE(attr) << names.back();
    EXPECT_EQ(attr.getName(), target.name);
    // Without vectors, a register holds one element.
    EXPECT_TRUE(llvm::is_contained({32u, 128u, 256u, 512u}, attr.getVectorBits())) << names.back();
    EXPECT_GE(attr.getRegisters(), 8u);
    EXPECT_GE(attr.getL1(), 16 << 10) << names.back();
    EXPECT_GT(attr.getL2(), attr.getL1()) << names.back();
    EXPECT_GE(attr.getL3(), attr.getL2()) << names.back();
    EXPECT_FALSE(attr.getTriple().empty());
  }
  EXPECT_EQ(names.front(), "native");
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  for (const TargetFamily &family : getTargetFamilies())
    for (llvm::StringRef member : llvm::split(family.members, ','))
      EXPECT_TRUE(llvm::is_contained(names, member.str())) << family.name.str() << ": " << member.str();
}

TEST_F(Targets, LevelsOfTheTableAreTheCompilers) {
  for (unsigned level = 2; level <= 4; ++level) {
    std::vector<std::string> features;
    for (int i = 0; i < cpu::num_features; ++i)
      if (cpu::feature_bits[i].level && cpu::feature_bits[i].level <= level)
        features.push_back(cpu::feature_names[i]);
    EXPECT_EQ(featuresOf("x86-64-v" + std::to_string(level)), features);
  }
}

TEST_F(Targets, BothCompilersGetTheSameFlags) {
  std::vector<std::string> arguments = frontendArguments(makeTarget(&context, "x86-64-v3"));
  // What the driver makes of them for the front end.
  for (const std::string &flag : commonFlags())
    if (flag != "-fPIC" && flag != "-fno-math-errno" && flag != "-fno-exceptions")
      EXPECT_TRUE(llvm::is_contained(arguments, flag)) << flag;
}

TEST_F(Targets, ClangMakesNoVectorsForMve) {
  auto vectorizes = [&](llvm::StringRef name) { return llvm::is_contained(frontendArguments(makeTarget(&context, name)), "-vectorize-loops"); };
  EXPECT_TRUE(vectorizes("x86-64-v3"));
  EXPECT_TRUE(vectorizes("cortex-m7"));
  EXPECT_FALSE(vectorizes("cortex-m55"));
  EXPECT_TRUE(llvm::is_contained(targetFlags(makeTarget(&context, "cortex-m55")), "-fno-tree-vectorize"));
}

TEST_F(Targets, LevelsContainEachOther) {
  std::vector<std::string> smaller = featuresOf("generic");
  EXPECT_TRUE(smaller.empty());
  for (const char *name : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "sapphirerapids"}) {
    std::vector<std::string> larger = featuresOf(name);
    EXPECT_GT(larger.size(), smaller.size()) << name;
    for (const std::string &feature : smaller)
      EXPECT_TRUE(llvm::is_contained(larger, feature)) << name << " lacks " << feature;
    smaller = larger;
  }
}

TEST_F(Targets, ImpliedFeaturesAreListed) {
  std::vector<std::string> rapids = featuresOf("sapphirerapids");
  for (const char *feature : {"sse3", "avx", "avx512f", "avx512vnni", "avx512fp16", "amx-tile", "amx-int8"})
    EXPECT_TRUE(llvm::is_contained(rapids, feature)) << feature;
}

TEST_F(Targets, AlderLakeMultipliesBytesInVectorsOf256Bits) {
  std::vector<std::string> features = featuresOf("alderlake");
  for (const std::string &feature : featuresOf("x86-64-v3"))
    EXPECT_TRUE(llvm::is_contained(features, feature)) << feature;
  EXPECT_TRUE(llvm::is_contained(features, "avxvnni"));
  EXPECT_FALSE(llvm::is_contained(features, "avx512f"));
  kernel::TargetAttr target = makeTarget(&context, "alderlake");
  EXPECT_EQ(target.getVectorBits(), 256u);
  EXPECT_EQ(target.getRegisters(), 16u);
  mlir::Builder b(&context);
  kernel::StepAttr step = target.findStep(b.getIntegerType(8, false), b.getI8Type(), b.getI32Type());
  ASSERT_TRUE(step);
  EXPECT_EQ(step.getFunction(), "dot_u8s8");
  EXPECT_EQ(step.getShape(), (llvm::ArrayRef<int64_t>{1, 8, 4}));
}

TEST_F(Targets, Znver4IsLevel4WithItsOwnInstructions) {
  std::vector<std::string> features = featuresOf("znver4");
  for (const std::string &feature : featuresOf("x86-64-v4"))
    EXPECT_TRUE(llvm::is_contained(features, feature)) << feature;
  for (const char *feature : {"avx512vnni", "avx512bf16", "avx512vbmi", "gfni"})
    EXPECT_TRUE(llvm::is_contained(features, feature)) << feature;
  for (const char *feature : {"avx512fp16", "amx-tile", "avxvnni"})
    EXPECT_FALSE(llvm::is_contained(features, feature)) << feature;
  kernel::TargetAttr target = makeTarget(&context, "znver4");
  EXPECT_EQ(target.getVectorBits(), 512u);
  kernel::TargetAttr level = makeTarget(&context, "x86-64-v4");
  for (kernel::Tuned number : {kernel::Tuned::TallRows, kernel::Tuned::DepthwiseLines})
    EXPECT_EQ(target.tuned(number), level.tuned(number));
  EXPECT_EQ(target.tuned(kernel::Tuned::Bf16Vectors), 2);
  EXPECT_EQ(level.tuned(kernel::Tuned::Bf16Vectors), 1);
  // A name that every compiler of AVX-512 knows.
  EXPECT_EQ(targetFlags(target).front(), "-march=x86-64-v4");
}

TEST_F(Targets, Znver5ReadsWeightsInMoreStreams) {
  std::vector<std::string> features = featuresOf("znver5");
  for (const std::string &feature : featuresOf("znver4"))
    EXPECT_TRUE(llvm::is_contained(features, feature)) << feature;
  EXPECT_TRUE(llvm::is_contained(features, "avxvnni"));
  kernel::TargetAttr target = makeTarget(&context, "znver5"), earlier = makeTarget(&context, "znver4");
  EXPECT_EQ(target.getSteps().size(), earlier.getSteps().size());
  EXPECT_EQ(target.tuned(kernel::Tuned::StepStreams), 4);
  EXPECT_EQ(earlier.tuned(kernel::Tuned::StepStreams), 1);
  kernel::TargetAttr native = makeTarget(&context, "native");
  EXPECT_EQ(native.tuned(kernel::Tuned::StepStreams), llvm::sys::getHostCPUName() == "znver5" && native.getVectorBits() == 512 ? 4 : 1);
}

TEST_F(Targets, VectorUnitsFollowFromTheFeatures) {
  auto unit = [&](llvm::StringRef name) {
    kernel::TargetAttr attr = makeTarget(&context, name);
    return std::make_pair(attr.getVectorBits(), attr.getRegisters());
  };
  EXPECT_EQ(unit("generic"), std::make_pair(128u, 16u));
  EXPECT_EQ(unit("x86-64-v2"), std::make_pair(128u, 16u));
  EXPECT_EQ(unit("x86-64-v3"), std::make_pair(256u, 16u));
  EXPECT_EQ(unit("x86-64-v4"), std::make_pair(512u, 32u));
  EXPECT_EQ(unit("sapphirerapids"), std::make_pair(512u, 32u));
  EXPECT_TRUE(makeTarget(&context, "x86-64-v3").hasFeature("fma"));
  EXPECT_FALSE(makeTarget(&context, "x86-64-v3").hasFeature("avx512f"));
  EXPECT_TRUE(makeTarget(&context, "sapphirerapids").hasFeature("amx-bf16"));
}

TEST_F(Targets, StepsAreFoundByTheirTypes) {
  mlir::Builder b(&context);
  mlir::Type u8 = b.getIntegerType(8, false), i8 = b.getIntegerType(8), i32 = b.getI32Type(), f32 = b.getF32Type(), f16 = b.getF16Type();
  auto tiles = kernel::StepAttr::get(&context, u8, i8, i32, {16, 16, 64}, "tile_u8s8");
  auto dots = kernel::StepAttr::get(&context, u8, i8, i32, {1, 4, 4}, "dot_u8s8");
  auto target = kernel::TargetAttr::get(&context, "t", "", "", 128, 16, 1 << 15, 1 << 20, 1 << 25, b.getStrArrayAttr({}), {}, {tiles, dots});
  EXPECT_EQ(target.findStep(u8, i8, i32), dots);
  EXPECT_EQ(target.findStep(u8, i8, i32, /*mostRows=*/16), tiles);
  EXPECT_FALSE(target.findStep(i8, i8, i32));
  EXPECT_FALSE(target.findStep(f16, f16, f16));
  // The expression a * b + c needs no row.
  kernel::StepAttr plain = target.findStep(f32, f32, f32);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain.getShape(), (llvm::ArrayRef<int64_t>{1, 4, 1}));
  EXPECT_EQ(plain.getFunction(), "");
  EXPECT_EQ(target.findStep(b.getF64Type(), b.getF64Type(), b.getF64Type()).getLanes(), 2);
}

// What a row of a target names is in the kernel headers.
TEST_F(Targets, TheRuntimeHasTheFunctionOfEveryStep) {
  std::string headers;
  for (const EmbeddedFile &file : embeddedFiles())
    headers += file.text;
  for (const Target &target : getTargets())
    for (kernel::StepAttr step : makeTarget(&context, target.name).getSteps())
      EXPECT_TRUE(step.getFunction().empty() || headers.find(" " + step.getFunction().str() + "(") != std::string::npos) << step.getFunction().str();
}

TEST_F(Targets, NativeHasWhatTheMachineHas) {
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  for (const std::string &feature : featuresOf("native"))
    EXPECT_TRUE(host.lookup(feature)) << feature;
}

// The choice at run time asks for each feature under its name there.
TEST_F(Targets, TheRuntimeKnowsEveryFeature) {
  std::string text = embeddedFile("kiln/cpu.h").str();
  // The baseline of RISC-V's Linux, which no program asks for.
  std::vector<std::string> baseline = {"m", "a", "f", "d", "c"};
  for (const Target &target : getTargets())
    for (const std::string &feature : featuresOf(target.name))
      // Engines of WebAssembly are asked by other means, no library has several targets with 32 bits, and nothing reports drafts.
      EXPECT_TRUE(target.name.starts_with("wasm") || kernel::hasNarrowIndices(makeTarget(&context, target.name)) || llvm::is_contained(baseline, feature) ||
                  llvm::StringRef(feature).starts_with("experimental-") || text.find("F(" + makeIdentifier(feature) + ", \"" + feature + "\"") != std::string::npos) << feature;
}

TEST_F(Targets, LibrariesAskForWhatTheTargetNeeds) {
  auto needed = [&](llvm::StringRef name) { return neededFeatures(makeTarget(&context, name)); };
  using Names = std::vector<std::string>;
  EXPECT_EQ(needed("aarch64"), Names());
  EXPECT_EQ(needed("aarch64-v8.2"), (Names{"fullfp16", "dotprod"}));
  EXPECT_EQ(needed("aarch64-v8.6"), (Names{"fullfp16", "dotprod", "i8mm", "bf16"}));
  EXPECT_EQ(needed("aarch64-sve256"), (Names{"fullfp16", "dotprod", "sve", "sve256"}));
  EXPECT_EQ(needed("riscv64"), Names());
  EXPECT_EQ(needed("riscv64-v256"), (Names{"v", "zvl256b"}));
  // What a CPU's name implies.
  auto named = kernel::TargetAttr::get(&context, "t", "aarch64-unknown-linux-gnu", "neoverse-n1", 128, 32, 1 << 15, 1 << 20, 1 << 25,
                                       mlir::Builder(&context).getStrArrayAttr({}));
  EXPECT_EQ(neededFeatures(named), (Names{"fullfp16", "dotprod"}));
  EXPECT_EQ(targetFlags(named).front(), "-mcpu=neoverse-n1");
}

TEST_F(Targets, StepsOfArmFollowFromTheFeatures) {
  mlir::Builder b(&context);
  mlir::Type u8 = b.getIntegerType(8, false), i8 = b.getIntegerType(8), i32 = b.getI32Type(), bf16 = b.getBF16Type();
  auto functionFor = [&](llvm::StringRef name) { return makeTarget(&context, name).findStep(u8, i8, i32).getFunction().str(); };
  EXPECT_EQ(functionFor("aarch64"), "dot_u8s8_pairs");
  EXPECT_EQ(functionFor("aarch64-v8.2"), "dot_u8s8");
  EXPECT_EQ(functionFor("aarch64-v8.6"), "dot_u8s8");
  // The first step of bytes decides what left sides are.
  EXPECT_EQ(makeTarget(&context, "aarch64-v8.2").getSteps().front().getFunction(), "dot_s8s8");
  EXPECT_FALSE(makeTarget(&context, "aarch64-v8.6").findStep(i8, i8, i32));
  EXPECT_EQ(functionFor("aarch64-sve256"), "dot_u8s8_pairs");
  EXPECT_FALSE(makeTarget(&context, "aarch64-v8.2").findStep(bf16, bf16, b.getF32Type()));
  EXPECT_TRUE(makeTarget(&context, "aarch64-v8.6").findStep(bf16, bf16, b.getF32Type()));
  EXPECT_EQ(makeTarget(&context, "aarch64").tuned(kernel::Tuned::LeftLanes), 1);
  EXPECT_EQ(makeTarget(&context, "aarch64-sve256").tuned(kernel::Tuned::LeftLanes), 0);
  EXPECT_EQ(makeTarget(&context, "riscv64-v256").tuned(kernel::Tuned::LeftLanes), 0);
}

TEST_F(Targets, FlagsOfArmAndRiscV) {
  using Flags = std::vector<std::string>;
  auto flagsOf = [&](llvm::StringRef name) { return targetFlags(makeTarget(&context, name)); };
  EXPECT_EQ(flagsOf("aarch64"), (Flags{"-march=armv8-a", "-mno-outline-atomics", "-mtune=neoverse-v1"}));
  EXPECT_EQ(flagsOf("aarch64-v8.6"), (Flags{"-march=armv8.2-a+fp16+dotprod+i8mm+bf16", "-mno-outline-atomics", "-mtune=neoverse-v1"}));
  // What chooses among targets is for any CPU, and must not call GCC's library either.
  EXPECT_EQ(targetFlags(makeBaseline(makeTarget(&context, "aarch64-v8.2"))), (Flags{"-mno-outline-atomics"}));
  EXPECT_EQ(targetFlags(makeBaseline(makeTarget(&context, "x86-64-v3"))), Flags{});
  EXPECT_EQ(flagsOf("generic"), Flags{});
  EXPECT_EQ(flagsOf("riscv64"), (Flags{"-march=rv64imafdc", "-mabi=lp64d"}));
  EXPECT_EQ(flagsOf("riscv64-v256"), (Flags{"-march=rv64imafdcv_zvl256b", "-mabi=lp64d"}));
  EXPECT_EQ(flagsOf("riscv64-v256-zvqdotq"), (Flags{"-march=rv64imafdcv_zvl256b_zvqdotq0p0", "-mabi=lp64d", "-menable-experimental-extensions"}));
  // The built-in compiler gets the same, in its own words.
  std::string arguments = llvm::join(frontendArguments(makeTarget(&context, "riscv64-v256")), " ");
  for (const char *words : {"-target-abi lp64d", "-target-feature +d", "-target-feature +v", "-target-feature +zvl256b"})
    EXPECT_NE(arguments.find(words), std::string::npos) << words;
  EXPECT_NE(llvm::join(frontendArguments(makeTarget(&context, "aarch64-sve512")), " ").find("-mvscale-min=4"), std::string::npos);
  EXPECT_NE(llvm::join(frontendArguments(makeTarget(&context, "aarch64")), " ").find("-tune-cpu apple-m1"), std::string::npos);
  // Without features, it is for Linux all the same, where doubles are passed in registers.
  auto plain = kernel::TargetAttr::get(&context, "t", "riscv64-unknown-linux-gnu", "generic-rv64", 128, 32, 1 << 15, 1 << 20, 1 << 25,
                                       mlir::Builder(&context).getStrArrayAttr({}));
  EXPECT_EQ(targetFlags(plain).front(), "-march=rv64imafdc");
  EXPECT_NE(llvm::join(frontendArguments(plain), " ").find("-target-feature +d"), std::string::npos);
}

TEST_F(Targets, TheBuildOfAnyCpuNamesNone) { EXPECT_TRUE(targetFlags(makeTarget(&context, "generic")).empty()); }

TEST_F(Targets, FamiliesAreSeveralTargets) {
  auto namesOf = [&](llvm::StringRef family) {
    std::string error, names;
    for (kernel::TargetAttr attr : makeTargets(&context, {family.str()}, error))
      names += (names.empty() ? "" : " ") + attr.getName().str();
    return names + error;
  };
  EXPECT_EQ(namesOf("portable-aarch64"), "aarch64 aarch64-v8.2 aarch64-v8.6");
  EXPECT_EQ(namesOf("portable-riscv64"), "riscv64 riscv64-v128 riscv64-v256");
  EXPECT_EQ(namesOf("portable-x86_64"), "generic x86-64-v2 x86-64-v3 x86-64-v4");
#if defined(__x86_64__)
  EXPECT_EQ(namesOf("portable"), namesOf("portable-x86_64"));
#endif
}

TEST_F(Targets, ASystemIsPartOfAName) {
  std::string error;
  auto tripleOf = [&](llvm::StringRef name) {
    std::vector<kernel::TargetAttr> targets = makeTargets(&context, {name.str()}, error);
    return targets.empty() ? std::string() : targets.back().getTriple().str();
  };
  EXPECT_EQ(tripleOf("x86-64-v3@windows"), "x86_64-w64-windows-gnu");
  EXPECT_EQ(tripleOf("x86-64-v3@windows-msvc"), "x86_64-pc-windows-msvc");
  EXPECT_EQ(tripleOf("apple-m1@macos"), "arm64-apple-macosx11.0");
  EXPECT_EQ(tripleOf("portable-aarch64@windows"), "aarch64-w64-windows-gnu");
  EXPECT_EQ(tripleOf("aarch64@linux"), "aarch64-unknown-linux-gnu");
  EXPECT_EQ(error, "");
  EXPECT_EQ(tripleOf("riscv64@macos"), "");
  EXPECT_EQ(error, "target 'riscv64' has no other system: --system is for 64-bit x86 and Arm");
  EXPECT_TRUE(llvm::StringRef(errorOf({"x86-64-v3@os2"})).starts_with("unknown target 'x86-64-v3@os2', expected one of: "));
  EXPECT_EQ(errorOf({"x86-64-v3@windows", "x86-64-v2"}), "targets 'x86-64-v3' and 'x86-64-v2' are for different systems: compile them one by one");
  error.clear();
  // Tiles are left out, and with them a name of a CPU that would imply them.
  kernel::TargetAttr rapids = makeTargets(&context, {"sapphirerapids@windows"}, error).front();
  EXPECT_TRUE(llvm::all_of(rapids.getSteps(), [](kernel::StepAttr step) { return step.getShape().front() == 1; }));
  std::vector<std::string> needed = neededFeatures(rapids);
  EXPECT_TRUE(llvm::is_contained(needed, "avx512bf16"));
  EXPECT_FALSE(llvm::is_contained(needed, "amx-tile"));
}

TEST_F(Targets, FlagsNameTheCpuAndTheFeatures) {
  std::vector<std::string> flags = targetFlags(makeTarget(&context, "x86-64-v3"));
  EXPECT_EQ(flags.front(), "-march=x86-64-v3");
  EXPECT_TRUE(llvm::is_contained(flags, "-mavx2"));
  EXPECT_FALSE(llvm::is_contained(flags, "-mprefer-vector-width=512"));
  EXPECT_TRUE(llvm::is_contained(targetFlags(makeTarget(&context, "x86-64-v4")), "-mprefer-vector-width=512"));
}

// Whatever CPU a target of x86-64 names, code is scheduled for one with which LLVM keeps tiles in registers.
TEST_F(Targets, CodeOfX86IsScheduledByTheLengthOfVectors) {
  auto schedule = [&](kernel::TargetAttr target) {
    std::string driver, frontend;
    for (llvm::StringRef flag : targetFlags(target))
      if (flag.consume_front("-mtune="))
        driver = flag.str();
    std::vector<std::string> arguments = frontendArguments(target);
    if (auto tune = llvm::find(arguments, "-tune-cpu"); tune != arguments.end())
      frontend = *std::next(tune);
    return driver + "/" + frontend;
  };
  for (const char *name : {"x86-64-v4", "znver4", "znver5", "sapphirerapids", "graniterapids"})
    EXPECT_EQ(schedule(makeTarget(&context, name)), "generic/x86-64") << name;
  for (const char *name : {"x86-64-v3", "alderlake"})
    EXPECT_EQ(schedule(makeTarget(&context, name)), "haswell/haswell") << name;
  EXPECT_EQ(schedule(makeX86Target(&context, "host", "x86-64", x86Features("x86-64-v3"))), "haswell/haswell");
  EXPECT_EQ(schedule(makeX86Target(&context, "host", "x86-64", x86Features("x86-64-v4"))), "generic/x86-64");
  for (const char *name : {"x86-64-v2", "generic"})
    EXPECT_EQ(schedule(makeTarget(&context, name)), "/") << name;
}

// WebAssembly's forms share their weights, so they have the same tiles; no code is relocated.
TEST_F(Targets, FormsOfWebAssembly) {
  kernel::TargetAttr plain = makeTarget(&context, "wasm32"), relaxed = makeTarget(&context, "wasm32-relaxed");
  EXPECT_EQ(plain.getRegisters(), relaxed.getRegisters());
  EXPECT_EQ(plain.getVectorBits(), relaxed.getVectorBits());
  EXPECT_TRUE(featuresOf("wasm32").empty());
  EXPECT_EQ(featuresOf("wasm32-relaxed"), (std::vector<std::string>{"simd128", "relaxed-simd"}));
  EXPECT_TRUE(neededFeatures(relaxed).empty());
  std::vector<std::string> flags = targetFlags(relaxed), arguments = frontendArguments(relaxed);
  EXPECT_TRUE(llvm::is_contained(flags, "-msimd128") && llvm::is_contained(flags, "-mrelaxed-simd") && llvm::is_contained(flags, "-fno-PIC"));
  EXPECT_TRUE(llvm::is_contained(arguments, "+relaxed-simd"));
  EXPECT_FALSE(llvm::is_contained(arguments, "-pic-level"));
}

TEST_F(Targets, SeveralInOrder) {
  std::string error;
  std::vector<kernel::TargetAttr> attrs = makeTargets(&context, {"x86-64-v3", "generic"}, error);
  ASSERT_EQ(attrs.size(), 2u) << error;
  EXPECT_EQ(attrs[0].getName(), "x86-64-v3");
  EXPECT_EQ(attrs[1].getName(), "generic");
}

TEST_F(Targets, WrongNamesAreErrors) {
  EXPECT_FALSE(makeTarget(&context, "vax"));
  EXPECT_FALSE(makeTarget(&context, ""));
  EXPECT_FALSE(makeTarget(&context, "X86-64-V3"));
  std::string unknown = errorOf({"generic", "vax"});
  EXPECT_TRUE(llvm::StringRef(unknown).starts_with("unknown target 'vax', expected one of: native, generic, x86-64-v2, x86-64-v3,")) << unknown;
  EXPECT_EQ(errorOf({"generic", "x86-64-v2", "generic"}), "target 'generic' is named twice");
  EXPECT_EQ(errorOf({}), "no target is named");
}

TEST_F(Targets, OneLibraryIsForOneArchitecture) {
  auto make = [&](llvm::StringRef name, llvm::StringRef triple) {
    return kernel::TargetAttr::get(&context, name, triple, "", 128, 16, 1 << 15, 1 << 20, 1 << 25, mlir::Builder(&context).getStrArrayAttr({}));
  };
  std::string error;
  EXPECT_TRUE(canShareLibrary({make("a", "x86_64-pc-linux-gnu"), make("b", "x86_64-unknown-linux-gnu")}, error));
  EXPECT_FALSE(canShareLibrary({make("a", "x86_64-unknown-linux-gnu"), make("b", "aarch64-unknown-linux-gnu")}, error));
  EXPECT_EQ(error, "targets 'a' and 'b' are for CPUs of different architectures: compile them one by one");
}

} // namespace
