//===- TargetFaults.h - What every target must fulfil -----------------------===//
//
// A target comes from a file of the user's or stands in the IR. What is wrong is told in one sentence that names the field; an empty text says that nothing is.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_KERNEL_TARGETFAULTS_H
#define KILN_DIALECTS_KERNEL_TARGETFAULTS_H

#include "dialects/kernel/Kernel.h"
#include <string>

namespace kiln::kernel {

/// The text of a target, which reaches options of compilers, CMake and comments.
struct TargetNames {
  llvm::StringRef name, triple, cpu;
  mlir::ArrayAttr features, libraries;
};

std::string findNameFault(const TargetNames &names);
std::string findSizeFault(int64_t vectorBits, int64_t registers);
std::string findCompositeFault(llvm::StringRef name, int64_t version, llvm::StringRef function);
std::string findRepeatedComposite(llvm::ArrayRef<CompositeAttr> composites);

} // namespace kiln::kernel

#endif // KILN_DIALECTS_KERNEL_TARGETFAULTS_H
