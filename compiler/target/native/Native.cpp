//===- Native.cpp - The machine that compiles ------------------------------===//
#include "compiler/target/Targets.h"
#include "compiler/target/x86_64/Levels.h"
#include "kiln/cpu.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

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

kernel::TargetAttr describeNative(MLIRContext *context, StringRef name) {
  if (llvm::Triple(llvm::sys::getDefaultTargetTriple()).getArch() != llvm::Triple::x86_64)
    return describeGeneric(context, name);
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  std::vector<StringRef> features;
  for (const char *feature : cpu::feature_names)
    if (host.lookup(feature))
      features.push_back(feature);
  // The baseline CPU with the features one by one: a hypervisor may hide some that the CPU's name promises.
  return makeX86Target(context, name, "x86-64", features, cacheBytes(0, 32 << 10), cacheBytes(2, 1 << 20), cacheBytes(3, 32 << 20));
}

} // namespace kiln
