//===- Levels.cpp - The micro-architecture levels of x86-64 ----------------===//
#include "compiler/target/Targets.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln {

std::vector<StringRef> x86Features(unsigned level) {
  std::vector<StringRef> features;
  if (level >= 2)
    features = {"sse3", "ssse3", "sse4.1", "sse4.2", "popcnt"};
  if (level >= 3)
    features.insert(features.end(), {"avx", "avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe"});
  if (level >= 4)
    features.insert(features.end(), {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"});
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
  unsigned level = name.back() - '0';
  return makeX86Target(context, name, name, x86Features(level));
}

} // namespace kiln
