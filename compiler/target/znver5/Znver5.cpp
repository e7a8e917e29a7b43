//===- Znver5.cpp - AMD EPYC and Ryzen of 2024 -----------------------------===//
#include "compiler/target/Targets.h"
#include "compiler/target/x86_64/Levels.h"

using namespace mlir;

namespace kiln {

// The features go to compilers one by one: GCC knows this CPU by name from 14 on only. The L3 cache is that of the eight cores that share one.
kernel::TargetAttr describeZnver5(MLIRContext *context, StringRef name) {
  return makeX86Target(context, name, "x86-64-v4", x86Features(name), 48 << 10, 1 << 20, 32 << 20, /*core=*/name);
}

} // namespace kiln
