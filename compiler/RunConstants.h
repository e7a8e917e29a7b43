//===- RunConstants.h - Constants that a compiled part computes ------------===//
#ifndef KILN_COMPILER_RUNCONSTANTS_H
#define KILN_COMPILER_RUNCONSTANTS_H

#include "compiler/CompileOptions.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

namespace kiln {

/// Compiles a module of nn operations without inputs for `generic`, so that the numbers are the same on every machine, runs it in this process, and returns the
/// results of its @main in their actual shapes. Empty where it does not compile or run. Of the options, only the limits and the cache count.
std::vector<mlir::ElementsAttr> runConstants(const CompileOptions &options, mlir::ModuleOp module);

} // namespace kiln

#endif // KILN_COMPILER_RUNCONSTANTS_H
