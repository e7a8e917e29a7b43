//===- Rv32imc.cpp - RISC-V microcontrollers without floating point --------===//
#include "compiler/target/ByteStep.h"
#include "compiler/target/Targets.h"
#include "dialects/kernel/Tuning.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln {

/// Operations on floats are calls of the compiler's library, so registers hold few of them; integers have 28 registers. There is no instruction to prefetch
/// with.
kernel::TargetAttr describeRv32imc(MLIRContext *context, StringRef name) {
  constexpr unsigned vectorBits = 32, registers = 16;
  auto tuning = kernel::TuningAttr::get(context, {{kernel::Tuned::NearAhead, 0}, {kernel::Tuned::FarAhead, 0}, {kernel::Tuned::MostComingBlocks, 0}});
  return kernel::TargetAttr::get(context, name, "riscv32-unknown-elf", "generic-rv32", vectorBits, registers, 16 << 10, 64 << 10, 64 << 10,
                                 Builder(context).getStrArrayAttr({"m", "c"}), tuning, makeByteSteps(context, vectorBits, false));
}

} // namespace kiln
