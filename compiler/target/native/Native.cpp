//===- Native.cpp - The machine that compiles ------------------------------===//
#include "compiler/target/Targets.h"
#include "compiler/target/aarch64/Levels.h"
#include "compiler/target/native/HiddenFeatures.h"
#include "compiler/target/riscv64/Levels.h"
#include "compiler/target/x86_64/Levels.h"
#include "kiln/choice.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/TargetParser/X86TargetParser.h"

using namespace mlir;

namespace kiln {

/// Bytes of a cache of the first CPU, as the kernel tells ("2048K"); `fallback` where it does not.
static int64_t cacheBytes(unsigned index, int64_t fallback) {
  auto text = llvm::MemoryBuffer::getFileAsStream("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
  int64_t kilobytes;
  if (!text || (*text)->getBuffer().trim().rtrim('K').getAsInteger(10, kilobytes) || kilobytes <= 0)
    return fallback;
  return kilobytes << 10;
}

/// Of a host of 64-bit Arm: all but the lengths of SVE's vectors, because NEON's kernels run on every one.
static std::vector<StringRef> listInstructionSets() {
  std::vector<StringRef> features;
  for (auto [i, feature] : llvm::enumerate(cpu::aarch64_feature_names))
    if (read_features() >> i & 1 && *cpu::aarch64_driver_names[i])
      features.push_back(feature);
  return features;
}

/// Of a host of RISC-V; none without vectors.
static std::optional<int64_t> findVectorBits() {
  std::optional<int64_t> most;
  if (!(read_features() >> cpu::v & 1))
    return most;
  for (auto [feature, bits] : {std::pair(cpu::zvl128b, 128), {cpu::zvl256b, 256}, {cpu::zvl512b, 512}, {cpu::zvl1024b, 1024}, {cpu::zvl2048b, 2048}})
    if (read_features() >> feature & 1)
      most = bits;
  return most;
}

/// Of a host of x86-64: those that LLVM reports, without the hidden ones and what needs them.
static std::vector<StringRef> listX86Features() {
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  for (const char *feature : cpu::feature_names)
    if (isHidden(feature))
      llvm::X86::updateImpliedFeatures(feature, /*Enabled=*/false, host);
  std::vector<StringRef> features;
  for (const char *feature : cpu::feature_names)
    if (host.lookup(feature) && !isHidden(feature))
      features.push_back(feature);
  return features;
}

kernel::TargetAttr describeNative(MLIRContext *context, StringRef name) {
  llvm::Triple::ArchType arch = llvm::Triple(llvm::sys::getDefaultTargetTriple()).getArch();
  if (arch == llvm::Triple::aarch64)
    return makeAArch64Target(context, name, listInstructionSets(), 128, cacheBytes(0, 32 << 10), cacheBytes(2, 512 << 10), cacheBytes(3, 4 << 20));
  if (arch == llvm::Triple::riscv64)
    return makeRiscV64Target(context, name, findVectorBits(), cacheBytes(0, 32 << 10), cacheBytes(2, 512 << 10), cacheBytes(3, 4 << 20));
  if (arch != llvm::Triple::x86_64)
    return describeGeneric(context, name);
  // The baseline CPU with the features one by one: a hypervisor may hide some that the CPU's name promises.
  return makeX86Target(context, name, "x86-64", listX86Features(), cacheBytes(0, 32 << 10), cacheBytes(2, 1 << 20), cacheBytes(3, 32 << 20),
                       llvm::sys::getHostCPUName());
}

} // namespace kiln
