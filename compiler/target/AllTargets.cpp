//===- AllTargets.cpp - The targets that Kiln knows by name ----------------===//
#include "compiler/target/Targets.h"

using namespace mlir;

namespace kiln {

static constexpr Target targets[] = {
    {"native", "this machine's CPU, with all its instructions", describeNative},
    {"generic", "any CPU: portable C++ with vectors of 128 bits", describeGeneric},
    {"x86-64-v2", "x86-64 with SSE 4.2 (2008)", describeX86Level},
    {"x86-64-v3", "x86-64 with AVX2 and FMA (2013)", describeX86Level},
    {"x86-64-v4", "x86-64 with AVX-512 (2017)", describeX86Level},
    {"sapphirerapids", "Intel Xeon with AVX-512, VNNI, bf16 and AMX (2023)", describeSapphireRapids},
};

ArrayRef<Target> getTargets() { return targets; }

kernel::TargetAttr makeTarget(MLIRContext *context, StringRef name) {
  context->loadDialect<kernel::KernelDialect>();
  const auto *found = llvm::find_if(targets, [&](const Target &target) { return target.name == name; });
  return found == std::end(targets) ? kernel::TargetAttr() : found->describe(context, name);
}

} // namespace kiln
