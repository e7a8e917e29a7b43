//===- TargetFile.h - A target that a user describes -----------------------===//
#ifndef KILN_COMPILER_TARGET_TARGETFILE_H
#define KILN_COMPILER_TARGET_TARGETFILE_H

#include "dialects/kernel/Kernel.h"
#include <string>

namespace kiln {

/// Whether a value of `--target` is a .json or .mlir file and not a name.
bool isTargetFile(llvm::StringRef name);

/// The target that a file describes. Null with `error` set if the file cannot be read or is invalid.
kernel::TargetAttr readTargetFile(mlir::MLIRContext *context, llvm::StringRef path, std::string &error);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_TARGETFILE_H
