//===- SapphireRapids.cpp - Intel Xeon of 2023 -----------------------------===//
#include "compiler/target/Targets.h"

using namespace mlir;

namespace kiln {

kernel::TargetAttr describeSapphireRapids(MLIRContext *context, StringRef name) {
  std::vector<StringRef> features = x86Features(4);
  features.insert(features.end(), {"avx512vnni", "avx512bf16", "avx512fp16", "avx512vbmi", "avx512vbmi2",
                                   "avx512ifma", "avx512bitalg", "avx512vpopcntdq", "gfni", "avxvnni", "amx-tile", "amx-bf16", "amx-int8"});
  return makeX86Target(context, name, name, features, 48 << 10, 2 << 20, 64 << 20);
}

} // namespace kiln
