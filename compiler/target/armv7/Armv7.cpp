//===- Armv7.cpp - 32-bit Arm under Linux ----------------------------------===//
#include "compiler/target/ByteStep.h"
#include "compiler/target/Targets.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln {

/// The first NEON has no fused multiplication and takes subnormal numbers for zero.
kernel::TargetAttr describeArmv7(MLIRContext *context, StringRef name) {
  constexpr unsigned vectorBits = 128, registers = 16;
  return kernel::TargetAttr::get(context, name, "armv7-unknown-linux-gnueabihf", "generic", vectorBits, registers, 32 << 10, 512 << 10, 512 << 10,
                                 Builder(context).getStrArrayAttr({"neon"}), kernel::TuningAttr(), makeByteSteps(context, vectorBits, false));
}

} // namespace kiln
