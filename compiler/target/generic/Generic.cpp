//===- Generic.cpp - Any CPU -----------------------------------------------===//
#include "compiler/target/ByteStep.h"
#include "compiler/target/Targets.h"

#include "mlir/IR/Builders.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;

namespace kiln {

kernel::TargetAttr describeGeneric(MLIRContext *context, StringRef name) {
  // The objects are for the host's architecture, at its baseline; the C++ text and the flags of its build are for any.
  return kernel::TargetAttr::get(context, name, llvm::sys::getDefaultTargetTriple(), "", 128, 16, 32 << 10, 512 << 10, 4 << 20,
                                 Builder(context).getStrArrayAttr({}), kernel::TuningAttr(), makeByteSteps(context, 128, false));
}

} // namespace kiln
