//===- ByteStep.cpp - The steps of products of bytes ------------------------===//
#include "compiler/target/ByteStep.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln {

SmallVector<kernel::StepAttr, 2> makeByteSteps(MLIRContext *context, int64_t vectorBits, bool isInstruction) {
  Builder b(context);
  Type isUnsigned = b.getIntegerType(8, /*isSigned=*/false), isSigned = b.getI8Type();
  auto step = [&](Type lhs, Type rhs, StringRef function) {
    return kernel::StepAttr::get(context, lhs, rhs, b.getI32Type(), {1, vectorBits / 32, 4}, function);
  };
  return {step(isUnsigned, isSigned, isInstruction ? "dot_u8s8" : "dot_u8s8_pairs"), step(isSigned, isUnsigned, isInstruction ? "dot_s8u8" : "dot_s8u8_pairs")};
}

SmallVector<kernel::StepAttr, 2> makeSingleSumSteps(MLIRContext *context) {
  Builder b(context);
  Type isSigned = b.getI8Type();
  auto step = [&](int64_t products, StringRef function) {
    return kernel::StepAttr::get(context, isSigned, isSigned, b.getI32Type(), {1, 1, products}, function);
  };
  return {step(16, "dot_s8s8_sixteens"), step(8, "dot_s8s8_eights")};
}

kernel::StepAttr makeRowStep(MLIRContext *context, bool hasVectors) {
  constexpr int64_t rows = 4;
  Builder b(context);
  Type lhs = hasVectors ? b.getI8Type() : b.getIntegerType(8, /*isSigned=*/false);
  int64_t lanes = hasVectors ? 4 : 1, depth = hasVectors ? 8 : 4;
  return kernel::StepAttr::get(context, lhs, b.getI8Type(), b.getI32Type(), {rows, lanes, depth}, hasVectors ? "rows_s8s8" : "rows_u8s8");
}

kernel::StepAttr makeSignedByteStep(MLIRContext *context, int64_t vectorBits) {
  Builder b(context);
  return kernel::StepAttr::get(context, b.getI8Type(), b.getI8Type(), b.getI32Type(), {1, vectorBits / 32, 4}, "dot_s8s8");
}

} // namespace kiln
