//===- AppleM1.cpp - Apple's computers of 2020 -----------------------------===//
#include "compiler/target/Targets.h"
#include "compiler/target/aarch64/Levels.h"

using namespace mlir;

namespace kiln {

// The 12 MiB that four cores share count as a quarter for each, and the memory that all of the chip shares as the last cache.
kernel::TargetAttr describeAppleM1(MLIRContext *context, StringRef name) {
  return makeAArch64Target(context, name, {"fullfp16", "dotprod", "fp16fml"}, 128, 128 << 10, 3 << 20, 8 << 20);
}

} // namespace kiln
