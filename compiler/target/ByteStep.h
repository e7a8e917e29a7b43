//===- ByteStep.h - The step of products of bytes --------------------------===//
#ifndef KILN_COMPILER_TARGET_BYTESTEP_H
#define KILN_COMPILER_TARGET_BYTESTEP_H

#include "dialects/kernel/Kernel.h"

namespace kiln {

/// Products of unsigned by signed bytes, summed in fours: one instruction, or the multiplication of pairs that every CPU has or can be given.
kernel::StepAttr makeByteStep(mlir::MLIRContext *context, int64_t vectorBits, bool isInstruction);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_BYTESTEP_H
