//===- ByteStep.cpp - The step of products of bytes ------------------------===//
#include "compiler/target/ByteStep.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln {

kernel::StepAttr makeByteStep(MLIRContext *context, int64_t vectorBits, bool isInstruction) {
  Builder b(context);
  return kernel::StepAttr::get(context, b.getIntegerType(8, /*isSigned=*/false), b.getI8Type(), b.getI32Type(), {1, vectorBits / 32, 4},
                               isInstruction ? "dot_u8s8" : "dot_u8s8_pairs");
}

} // namespace kiln
