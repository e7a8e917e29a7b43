//===- KernelOps.cpp - Operations of the kernel dialect --------------------===//
#include "dialects/kernel/Kernel.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace kiln::kernel;

#define GET_OP_CLASSES
#include "dialects/kernel/KernelOps.cpp.inc"
