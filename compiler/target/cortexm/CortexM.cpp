//===- CortexM.cpp - Arm's cores of microcontrollers -----------------------===//
#include "compiler/target/ByteStep.h"
#include "compiler/target/Targets.h"
#include "dialects/kernel/Tuning.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln {

namespace {
/// `vectorBits` 32: no vectors, so that tiles are of single elements. The sizes of the caches are those of memory that answers in a few cycles.
struct Core {
  StringLiteral name, triple;
  unsigned vectorBits, registers;
  int64_t l1, l2;
  SmallVector<StringRef, 2> features = {};
  /// Whether instructions multiply pairs of words.
  bool multipliesPairs = false;
};
} // namespace

static const Core cores[] = {
    {"cortex-m0plus", "thumbv6m-unknown-none-eabi", 32, 16, 16 << 10, 64 << 10},
    {"cortex-m4", "thumbv7em-unknown-none-eabihf", 32, 16, 16 << 10, 64 << 10, {}, true},
    {"cortex-m7", "thumbv7em-unknown-none-eabihf", 32, 16, 16 << 10, 64 << 10, {}, true},
    {"cortex-m55", "thumbv8.1m.main-unknown-none-eabihf", 128, 8, 16 << 10, 64 << 10, {"mve.fp"}},
};

kernel::TargetAttr describeCortexM(MLIRContext *context, StringRef name) {
  const Core &core = *llvm::find_if(cores, [&](const Core &core) { return core.name == name; });
  SmallVector<kernel::StepAttr, 2> steps = makeByteSteps(context, core.vectorBits, false);
  if (core.vectorBits > 32) {
    // MVE adds up products of bytes that are both signed.
    steps.insert(steps.begin(), makeSignedByteStep(context, core.vectorBits));
    steps.push_back(makeRowStep(context, /*hasVectors=*/true));
    llvm::append_range(steps, makeSingleSumSteps(context));
  } else if (core.multipliesPairs) {
    steps.insert(steps.begin(), makeRowStep(context, /*hasVectors=*/false));
  }
  // Flash answers as fast as it ever does: what is asked for ahead of its use has nowhere to wait.
  auto tuning = kernel::TuningAttr::get(context, {{kernel::Tuned::MostComingBlocks, 0}});
  return kernel::TargetAttr::get(context, name, core.triple, name, core.vectorBits, core.registers, core.l1, core.l2, core.l2,
                                 Builder(context).getStrArrayAttr(core.features), tuning, steps);
}

} // namespace kiln
