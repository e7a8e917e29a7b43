//===- Levels.cpp - 64-bit RISC-V, by the lengths of its vectors -----------===//
#include "compiler/target/riscv64/Levels.h"
#include "compiler/target/ByteStep.h"
#include "compiler/target/Targets.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln {

/// Without vectors, kernels compute one element at a time in 32 floating-point registers, of which addresses and loops need none.
kernel::TargetAttr makeRiscV64Target(MLIRContext *context, StringRef name, std::optional<int64_t> vectorBits, int64_t l1, int64_t l2, int64_t l3) {
  std::vector<std::string> features = {"m", "a", "f", "d", "c"};
  if (vectorBits) {
    features.push_back("v");
    features.push_back("zvl" + std::to_string(*vectorBits) + "b");
  }
  std::vector<StringRef> names(features.begin(), features.end());
  int64_t bits = vectorBits.value_or(32);
  return kernel::TargetAttr::get(context, name, "riscv64-unknown-linux-gnu", "generic-rv64", bits, 32, l1, l2, l3, Builder(context).getStrArrayAttr(names),
                                 kernel::TuningAttr(), makeByteSteps(context, bits, /*isInstruction=*/false));
}

kernel::TargetAttr describeRiscV64Level(MLIRContext *context, StringRef name) {
  auto [architecture, length] = name.split("-v");
  int64_t bits;
  return makeRiscV64Target(context, name, length.getAsInteger(10, bits) ? std::nullopt : std::optional(bits));
}

} // namespace kiln
