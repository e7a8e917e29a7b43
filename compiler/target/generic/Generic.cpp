//===- Generic.cpp - Any CPU -----------------------------------------------===//
#include "compiler/target/ByteStep.h"
#include "compiler/target/Targets.h"

#include "mlir/IR/Builders.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;

namespace kiln {

kernel::TargetAttr describeGeneric(MLIRContext *context, StringRef name) {
  // The objects are for the host's architecture, at its baseline; the C++ text is for any.
  std::string triple = llvm::sys::getDefaultTargetTriple();
  StringRef cpu = llvm::Triple(triple).getArch() == llvm::Triple::x86_64 ? "x86-64" : "";
  return kernel::TargetAttr::get(context, name, triple, cpu, 128, 16, 32 << 10, 512 << 10, 4 << 20, Builder(context).getStrArrayAttr({}),
                                 kernel::TuningAttr(), makeByteSteps(context, 128, false));
}

} // namespace kiln
