//===- ByteStep.h - The steps of products of bytes --------------------------===//
#ifndef KILN_COMPILER_TARGET_BYTESTEP_H
#define KILN_COMPILER_TARGET_BYTESTEP_H

#include "dialects/kernel/Kernel.h"

namespace kiln {

/// Products of unsigned by signed bytes and of signed by unsigned ones, summed in fours: one instruction, or the multiplication of pairs that every CPU has
/// or can be given.
llvm::SmallVector<kernel::StepAttr, 2> makeByteSteps(mlir::MLIRContext *context, int64_t vectorBits, bool isInstruction);

/// Sixteen or eight products of signed bytes for a single sum, which one instruction of MVE adds to a register.
llvm::SmallVector<kernel::StepAttr, 2> makeSingleSumSteps(mlir::MLIRContext *context);

/// A step of up to four rows, whose elements tasks put side by side (runtime/include/kiln/rows.h): fours of unsigned bytes by one column of weights for targets
/// that multiply pairs of words, or eights of signed ones by four columns for MVE.
kernel::StepAttr makeRowStep(mlir::MLIRContext *context, bool hasVectors);

/// Products of signed by signed bytes, summed in fours. Listed before the others, it has the left sides of products made signed.
kernel::StepAttr makeSignedByteStep(mlir::MLIRContext *context, int64_t vectorBits);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_BYTESTEP_H
