//===- Levels.cpp - 64-bit Arm, by the revisions of its architecture -------===//
#include "compiler/target/aarch64/Levels.h"
#include "compiler/target/ByteStep.h"
#include "compiler/target/Targets.h"
#include "dialects/kernel/Tuning.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln {

static SmallVector<kernel::StepAttr, 2> listSteps(MLIRContext *context, ArrayRef<StringRef> features, int64_t vectorBits) {
  auto has = [&](StringRef feature) { return llvm::is_contained(features, feature); };
  // The instructions of NEON; those of SVE would need its own types.
  bool isNeon = vectorBits == 128;
  SmallVector<kernel::StepAttr, 2> steps;
  Builder b(context);
  Type bf16 = b.getBF16Type();
  // Two rows by two columns: twice as many products for an instruction.
  if (isNeon && has("i8mm"))
    steps.push_back(kernel::StepAttr::get(context, b.getIntegerType(8, /*isSigned=*/false), b.getI8Type(), b.getI32Type(), {2, 2, 8}, "pair_u8s8"));
  if (isNeon && has("bf16")) {
    steps.push_back(kernel::StepAttr::get(context, bf16, bf16, b.getF32Type(), {2, 2, 4}, "pair_bf16"));
    steps.push_back(kernel::StepAttr::get(context, bf16, bf16, b.getF32Type(), {1, 4, 2}, "dot_bf16"));
  }
  // Without an instruction for unsigned by signed bytes.
  if (isNeon && has("dotprod") && !has("i8mm"))
    steps.push_back(makeSignedByteStep(context, vectorBits));
  llvm::append_range(steps, makeByteSteps(context, vectorBits, isNeon && (has("dotprod") || has("i8mm"))));
  return steps;
}

/// NEON's multiplication by a lane takes the lane as it is: llvm-mca counts 3.97 of the 4 multiplications that a Neoverse V1 begins in a cycle, 3.6 with
/// elements of the left side one by one. A single row has 4 streams of 3 or 6 vectors, because 8 of 6 do not fit the registers. Both are measured again by
///   test/benchmark/inner-loops
/// With four exponentials of a row under way, a softmax of 40 elements in registers moves no vector to the stack, with all of them 26 in 376 instructions, and
/// llvm-mca counts up to 8 % fewer cycles for it on the cores of that test. Rows of 48 and more fill the registers themselves.
static kernel::TuningAttr tuneArm(MLIRContext *context, int64_t vectorBits) {
  if (vectorBits != 128)
    return {};
  return kernel::TuningAttr::get(
      context, {{kernel::Tuned::LeftLanes, 1}, {kernel::Tuned::Streams, 4}, {kernel::Tuned::ExpsAtOnce, 4}, {kernel::Tuned::WaitingSums, 1}});
}

// Features are given one by one, not as a CPU's name: compilers of different age know different CPUs, and all get the same flags.
kernel::TargetAttr makeAArch64Target(MLIRContext *context, StringRef name, ArrayRef<StringRef> features, int64_t vectorBits, int64_t l1, int64_t l2,
                                     int64_t l3) {
  return kernel::TargetAttr::get(context, name, "aarch64-unknown-linux-gnu", "generic", vectorBits, 32, l1, l2, l3,
                                 Builder(context).getStrArrayAttr(features), tuneArm(context, vectorBits), listSteps(context, features, vectorBits));
}

kernel::TargetAttr describeAArch64Level(MLIRContext *context, StringRef name) {
  if (name == "aarch64")
    return makeAArch64Target(context, name, {});
  if (name == "aarch64-v8.2")
    return makeAArch64Target(context, name, {"fullfp16", "dotprod"});
  if (name == "aarch64-v8.6")
    return makeAArch64Target(context, name, {"fullfp16", "dotprod", "i8mm", "bf16"}, 128, 64 << 10, 1 << 20, 8 << 20);
  return makeAArch64Target(context, name, {"fullfp16", "dotprod", "sve"}, name == "aarch64-sve512" ? 512 : 256, 64 << 10, 1 << 20, 8 << 20);
}

} // namespace kiln
