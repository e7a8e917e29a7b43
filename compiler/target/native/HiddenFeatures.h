//===- HiddenFeatures.h - Features that this machine shall not have ---------===//
#ifndef KILN_COMPILER_TARGET_NATIVE_HIDDENFEATURES_H
#define KILN_COMPILER_TARGET_NATIVE_HIDDENFEATURES_H

#include "mlir/Support/LLVM.h"

#include <string>

namespace kiln {

/// The value of KILN_CPU_WITHOUT, which takes features away from the machine for tests and reports of bugs; empty: none.
llvm::StringRef getHiddenFeatures();

/// Whether KILN_CPU_WITHOUT takes a feature away from this machine.
bool isHidden(const std::string &feature);

/// The first item of KILN_CPU_WITHOUT that no feature of any CPU begins with; empty: there is none.
std::string findUnknownHiddenFeature();

} // namespace kiln

#endif // KILN_COMPILER_TARGET_NATIVE_HIDDENFEATURES_H
