//===- Levels.cpp - 64-bit RISC-V, by the lengths of its vectors -----------===//
#include "compiler/target/riscv64/Levels.h"
#include "compiler/target/ByteStep.h"
#include "compiler/target/Targets.h"
#include "dialects/kernel/Tuning.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln {

/// Without Zicbop, there is no instruction to prefetch with. With vectors, a single row has 4 streams of 3 or 6 vectors, because 8 of 6 do not fit the
/// registers. Measured again by test/benchmark/inner-loops.
static kernel::TuningAttr tune(MLIRContext *context, bool hasVectors) {
  SmallVector<std::pair<kernel::Tuned, int64_t>> numbers{{kernel::Tuned::NearAhead, 0}, {kernel::Tuned::FarAhead, 0}, {kernel::Tuned::MostComingBlocks, 0}};
  if (hasVectors)
    numbers.emplace_back(kernel::Tuned::Streams, 4);
  return kernel::TuningAttr::get(context, numbers);
}

/// Without vectors, kernels compute one element at a time in 32 floating-point registers, of which addresses and loops need none.
kernel::TargetAttr makeRiscV64Target(MLIRContext *context, StringRef name, std::optional<int64_t> vectorBits, int64_t l1, int64_t l2, int64_t l3,
                                     ArrayRef<StringRef> extensions) {
  std::vector<std::string> features = {"m", "a", "f", "d", "c"};
  if (vectorBits) {
    features.push_back("v");
    features.push_back("zvl" + std::to_string(*vectorBits) + "b");
  }
  std::vector<StringRef> names(features.begin(), features.end());
  llvm::append_range(names, extensions);
  int64_t bits = vectorBits.value_or(32);
  bool addsFours = llvm::is_contained(extensions, "experimental-zvqdotq");
  return kernel::TargetAttr::get(context, name, "riscv64-unknown-linux-gnu", "generic-rv64", bits, 32, l1, l2, l3, Builder(context).getStrArrayAttr(names),
                                 tune(context, vectorBits.has_value()), makeByteSteps(context, bits, addsFours));
}

kernel::TargetAttr describeRiscV64Level(MLIRContext *context, StringRef name) {
  auto [architecture, length] = name.split("-v");
  int64_t bits;
  return makeRiscV64Target(context, name, length.getAsInteger(10, bits) ? std::nullopt : std::optional(bits));
}

} // namespace kiln
