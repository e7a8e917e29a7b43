//===- Rv32imc.cpp - RISC-V microcontrollers without floating point --------===//
#include "compiler/target/ByteStep.h"
#include "compiler/target/Targets.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln {

/// Operations on floats are calls of the compiler's library, so registers hold few of them; integers have 28 registers.
kernel::TargetAttr describeRv32imc(MLIRContext *context, StringRef name) {
  constexpr unsigned vectorBits = 32, registers = 16;
  return kernel::TargetAttr::get(context, name, "riscv32-unknown-elf", "generic-rv32", vectorBits, registers, 16 << 10, 64 << 10, 64 << 10,
                                 Builder(context).getStrArrayAttr({"m", "c"}), kernel::TuningAttr(), makeByteSteps(context, vectorBits, false));
}

} // namespace kiln
