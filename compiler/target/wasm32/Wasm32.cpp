//===- Wasm32.cpp - WebAssembly ---------------------------------------------===//
#include "compiler/target/ByteStep.h"
#include "compiler/target/Targets.h"
#include "dialects/kernel/Tuning.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln {

/// The registers are those that V8 can give a tile on x86-64: 15, of which an instruction without a fused form takes one for the product, and addresses and
/// masks some. Tiles of more than eight sums spill, which costs more there than anywhere else. A number is measured again by
///   test/benchmark/web MODEL... --option=--target=FILE
/// with a target file. Long chunks of weights, and so a large second-level cache, are read faster, since nothing but the machine itself prefetches.
/// Workers that wait for a kernel take it up within a microsecond, so kernels are shared that other targets' threads would not wake up for.
/// Blocks of Winograd's tiles are half as large as usual: their scratch stays in a second-level cache of 1 MiB beside the filters.
/// All forms have the same tiles, so they share one copy of the packed weights; engines without vectors split each in four.
kernel::TargetAttr describeWasm32(MLIRContext *context, StringRef name) {
  static constexpr StringLiteral features[] = {"simd128", "relaxed-simd"};
  constexpr unsigned vectorBits = 128, registers = 12;
  ArrayRef<StringLiteral> has(features);
  has = has.take_front(name == "wasm32-relaxed" ? 2 : name == "wasm32" ? 0 : 1);
  StringRef triple = name == "wasm32-wasi" ? "wasm32-unknown-wasip1" : "wasm32-unknown-unknown";
  return kernel::TargetAttr::get(context, name, triple, "generic", vectorBits, registers, 32 << 10, 1 << 20, 4 << 20,
                                 Builder(context).getStrArrayAttr(SmallVector<StringRef>(has.begin(), has.end())),
                                 kernel::TuningAttr::get(context, {{kernel::Tuned::ParallelWork, 500},
                                                                   {kernel::Tuned::ParallelBytes, 100000},
                                                                   {kernel::Tuned::WinogradBlock, 32}}),
                                 makeByteSteps(context, vectorBits, false));
}

} // namespace kiln
