//===- TargetFaults.h - The validity of targets -----------------------===//
//
// A target comes from a user's file or from the IR. A function returns the fault of a target as a text that names the field, or an empty text.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_KERNEL_TARGETFAULTS_H
#define KILN_DIALECTS_KERNEL_TARGETFAULTS_H

#include "dialects/kernel/Kernel.h"
#include <string>

namespace kiln::kernel {

/// Checks the texts of a target, which reach compiler options, CMake and comments.
struct TargetNames {
  llvm::StringRef name, triple, cpu;
  mlir::ArrayAttr features, libraries;
};

std::string findNameFault(const TargetNames &names);
std::string findSizeFault(int64_t vectorBits, int64_t registers);
std::string findStepFault(mlir::Type lhs, mlir::Type rhs, mlir::Type sum, llvm::ArrayRef<int64_t> shape, llvm::StringRef function);
/// What is wrong with the steps of a target with vectors of so many bits.
std::string findStepsFault(llvm::ArrayRef<StepAttr> steps, int64_t vectorBits);
std::string findCompositeFault(llvm::StringRef name, int64_t version, llvm::StringRef function);
std::string findRepeatedComposite(llvm::ArrayRef<CompositeAttr> composites);

} // namespace kiln::kernel

#endif // KILN_DIALECTS_KERNEL_TARGETFAULTS_H
