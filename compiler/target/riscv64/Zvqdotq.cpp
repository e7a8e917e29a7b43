//===- Zvqdotq.cpp - RISC-V that adds four products of bytes at once -------===//
#include "compiler/target/Targets.h"
#include "compiler/target/riscv64/Levels.h"

using namespace mlir;

namespace kiln {

// The instructions of the draft 0.0, as LLVM 22 has them. No system reports them yet, so a library has this target alone.
kernel::TargetAttr describeRiscV64Zvqdotq(MLIRContext *context, StringRef name) {
  return makeRiscV64Target(context, name, 256, 32 << 10, 512 << 10, 4 << 20, {"experimental-zvqdotq"});
}

} // namespace kiln
