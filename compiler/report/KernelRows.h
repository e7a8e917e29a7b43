//===- KernelRows.h - The kernels, weights and machine of a report -----------===//
#ifndef KILN_COMPILER_REPORT_KERNELROWS_H
#define KILN_COMPILER_REPORT_KERNELROWS_H

#include "compiler/emit/Signature.h"
#include "compiler/report/GraphRows.h"
#include "llvm/Support/Error.h"

namespace kiln {

struct KernelList {
  llvm::json::Array rows;
  /// By symbol.
  llvm::StringMap<int64_t> numbers;
};

/// Which peak operations on such elements are measured against, as `kiln bench` has it: real, bytes or bf16.
llvm::StringRef nameOperands(mlir::Type element);

/// The kernels of a module, each with its decision and its C++.
llvm::Expected<KernelList> listKernels(const Signature &signature, GraphRows &graph);

/// The weights in the order of their places, each with its type, its bytes and how it is stored.
llvm::json::Array listWeights(mlir::ModuleOp module);

/// The target: its vectors, caches and features; and its peaks, in operations (or bytes) in the time of one vector multiply-add.
llvm::json::Object describeMachine(mlir::ModuleOp module);

} // namespace kiln

#endif // KILN_COMPILER_REPORT_KERNELROWS_H
