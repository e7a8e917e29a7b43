//===- Levels.cpp - The micro-architecture levels of x86-64 ----------------===//
#include "compiler/target/x86_64/Levels.h"
#include "compiler/target/ByteStep.h"
#include "compiler/target/Targets.h"
#include "dialects/kernel/Tuning.h"
#include "kiln/cpu.h"

#include "mlir/IR/Builders.h"
#include "llvm/TargetParser/X86TargetParser.h"

using namespace mlir;

namespace kiln {

std::vector<StringRef> x86Features(StringRef cpu) {
  SmallVector<StringRef> listed;
  llvm::X86::getFeaturesForCPU(cpu, listed);
  // The list leaves out what its features imply.
  llvm::StringMap<bool> all;
  for (StringRef feature : listed) {
    all[feature] = true;
    llvm::X86::updateImpliedFeatures(feature, true, all);
  }
  std::vector<StringRef> features;
  for (const char *name : cpu::feature_names)
    if (all.lookup(name))
      features.push_back(name);
  return features;
}

/// Numbers of the vector unit, measured on servers with AVX-512 (Intel of 2023, AMD of 2022), where the units of 16 registers ran as well. A number is measured
/// again by changing it here, or under "tuning" in a target file, and running
///   test/benchmark/models --gate HEAD
/// which races the two builds on whole models. `kiln tune` tries tiles of single products. The other numbers are the usual ones of dialects/kernel/Tuning.def,
/// which the same command has shown to hold for all levels.
///
/// With AVX-512 BF16, one instruction turns two vectors of f32 into bf16, and one test finds the results that it flushed to zero:
///   test/benchmark/kernels --elements bf16 --repetitions 9 "softmax 1536 128 1" "layernorm 128 768"
///
/// Zen 5 reads weights from memory faster in four streams, where Zen 4 loses to one:
///   test/benchmark/models gpt2_decode_dynamic_int8
///
/// Without AVX-512, a line of the right side meets half as many multiplications, and to ask for it in the first-level cache, too, takes 12 % of a product's
/// time (Zen 3). Sums of 1,024 products and more go by parts, which takes 0.8 to 0.95 of the time of up to 512 rows, and as much for 1,024:
///   test/benchmark/models --gate HEAD minilm_l6 bert_base
///   test/benchmark/kernels "matmul 1 128 1024 1024" "matmul 1 197 768 3072" "matmul 1 1024 1024 1024"
/// With AVX2, a tile's counter, addresses and prefetches are a fourth of its instructions. Written out four steps at a time, transformers take 0.8 to 0.95 of
/// the time while another thread of the core competes for them, and as much as before while none does. Without its three operands, the copies spill:
///   test/benchmark/models --gate HEAD minilm_l6 bert_base resnet50
///   test/benchmark/inner-loops MODEL --target=x86-64-v2
static kernel::TuningAttr tuneX86(MLIRContext *context, unsigned bits, ArrayRef<StringRef> features, StringRef core) {
  if (bits < 512) {
    int64_t steps = bits < 256 ? 1 : 4;
    return kernel::TuningAttr::get(context, {{kernel::Tuned::NearAhead, 0}, {kernel::Tuned::PartsFrom, 1024}, {kernel::Tuned::UnrolledSteps, steps}});
  }
  int64_t narrowed = llvm::is_contained(features, "avx512bf16") ? 2 : 1, stepStreams = core == "znver5" ? 4 : 1;
  return kernel::TuningAttr::get(context, {{kernel::Tuned::TallRows, 28},
                                           {kernel::Tuned::DepthwiseLines, 2},
                                           {kernel::Tuned::Bf16Vectors, narrowed},
                                           {kernel::Tuned::StepStreams, stepStreams}});
}

/// Instructions on tiles, of 16 rows of 64 bytes by 16 columns.
static void listTileSteps(MLIRContext *context, ArrayRef<StringRef> features, SmallVectorImpl<kernel::StepAttr> &steps) {
  // All of them or none: kiln/tiles.h is compiled for all.
  for (StringRef feature : {"amx-tile", "amx-int8", "amx-bf16"})
    if (!llvm::is_contained(features, feature))
      return;
  Builder b(context);
  steps.push_back(kernel::StepAttr::get(context, b.getIntegerType(8, /*isSigned=*/false), b.getI8Type(), b.getI32Type(), {16, 16, 64}, "tile_u8s8"));
  steps.push_back(kernel::StepAttr::get(context, b.getBF16Type(), b.getBF16Type(), b.getF32Type(), {16, 16, 32}, "tile_bf16"));
  if (llvm::is_contained(features, "amx-fp16"))
    steps.push_back(kernel::StepAttr::get(context, b.getF16Type(), b.getF16Type(), b.getF32Type(), {16, 16, 32}, "tile_f16"));
}

/// Dot instructions. vdpbf16ps multiplies twice as many numbers as an FMA in its time on AMD's cores, and half as many on Intel's that have AMX for bf16:
///   test/benchmark/kernels --elements bf16 "matmul 1 128 768 768"
static SmallVector<kernel::StepAttr, 2> listSteps(MLIRContext *context, ArrayRef<StringRef> features, unsigned bits) {
  auto has = [&](StringRef feature) { return llvm::is_contained(features, feature); };
  SmallVector<kernel::StepAttr, 2> steps;
  listTileSteps(context, features, steps);
  steps.append(makeByteSteps(context, bits, has(bits == 512 ? "avx512vnni" : "avxvnni")));
  Builder b(context);
  if (bits == 512 && has("avx512bf16") && !has("amx-bf16"))
    steps.push_back(kernel::StepAttr::get(context, b.getBF16Type(), b.getBF16Type(), b.getF32Type(), {1, 16, 2}, "dot_bf16"));
  return steps;
}

kernel::TargetAttr makeX86Target(MLIRContext *context, StringRef name, StringRef cpu, ArrayRef<StringRef> features, int64_t l1, int64_t l2, int64_t l3,
                                   StringRef core) {
  bool avx512 = llvm::is_contained(features, "avx512f") && llvm::is_contained(features, "avx512vl");
  bool avx2 = llvm::is_contained(features, "avx2") && llvm::is_contained(features, "fma");
  unsigned bits = avx512 ? 512 : avx2 ? 256 : 128;
  return kernel::TargetAttr::get(context, name, "x86_64-unknown-linux-gnu", cpu, bits, avx512 ? 32 : 16, l1, l2, l3,
                                 Builder(context).getStrArrayAttr(features), tuneX86(context, bits, features, core), listSteps(context, features, bits));
}

kernel::TargetAttr describeX86Level(MLIRContext *context, StringRef name) {
  return makeX86Target(context, name, name, x86Features(name));
}

} // namespace kiln
