//===- NeoverseV1.cpp - Arm's servers of 2021 ------------------------------===//
#include "compiler/target/Targets.h"
#include "compiler/target/aarch64/Levels.h"

using namespace mlir;

namespace kiln {

// It computes as fast by four units of 128 bits as by two of 256, and those are not tied to one length.
kernel::TargetAttr describeNeoverseV1(MLIRContext *context, StringRef name) {
  return makeAArch64Target(context, name, {"fullfp16", "dotprod", "fp16fml", "sve", "i8mm", "bf16"}, 128, 64 << 10, 1 << 20, 32 << 20);
}

} // namespace kiln
