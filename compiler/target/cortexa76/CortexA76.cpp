//===- CortexA76.cpp - Arm's cores of phones and boards of 2018 ------------===//
#include "compiler/target/Targets.h"
#include "compiler/target/aarch64/Levels.h"

using namespace mlir;

namespace kiln {

kernel::TargetAttr describeCortexA76(MLIRContext *context, StringRef name) {
  return makeAArch64Target(context, name, {"fullfp16", "dotprod"}, 128, 64 << 10, 512 << 10, 2 << 20);
}

} // namespace kiln
