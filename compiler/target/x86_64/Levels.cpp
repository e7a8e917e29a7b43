//===- Levels.cpp - The micro-architecture levels of x86-64 ----------------===//
#include "compiler/target/x86_64/Levels.h"
#include "compiler/target/Targets.h"
#include "kiln/cpu.h"

#include "mlir/IR/Builders.h"
#include "llvm/TargetParser/X86TargetParser.h"

using namespace mlir;

namespace kiln {

std::vector<StringRef> x86Features(StringRef cpu) {
  SmallVector<StringRef> listed;
  llvm::X86::getFeaturesForCPU(cpu, listed);
  // The list leaves out what its features imply.
  llvm::StringMap<bool> all;
  for (StringRef feature : listed) {
    all[feature] = true;
    llvm::X86::updateImpliedFeatures(feature, true, all);
  }
  std::vector<StringRef> features;
  for (const char *name : cpu::feature_names)
    if (all.lookup(name))
      features.push_back(name);
  return features;
}

kernel::TargetAttr makeX86Target(MLIRContext *context, StringRef name, StringRef cpu, ArrayRef<StringRef> features, int64_t l1, int64_t l2, int64_t l3) {
  bool avx512 = llvm::is_contained(features, "avx512f") && llvm::is_contained(features, "avx512vl");
  bool avx2 = llvm::is_contained(features, "avx2") && llvm::is_contained(features, "fma");
  unsigned bits = avx512 ? 512 : avx2 ? 256 : 128;
  return kernel::TargetAttr::get(context, name, "x86_64-unknown-linux-gnu", cpu, bits, avx512 ? 32 : 16, l1, l2, l3,
                                 Builder(context).getStrArrayAttr(features), ArrayAttr());
}

kernel::TargetAttr describeX86Level(MLIRContext *context, StringRef name) {
  return makeX86Target(context, name, name, x86Features(name));
}

} // namespace kiln
