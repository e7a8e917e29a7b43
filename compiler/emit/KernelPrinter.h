//===- KernelPrinter.h - Kernel functions as C++ ---------------------------===//
#ifndef KILN_COMPILER_EMIT_KERNELPRINTER_H
#define KILN_COMPILER_EMIT_KERNELPRINTER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <set>
#include <string>

namespace kiln {

/// One kernel function in C++.
struct KernelText {
  /// The C++ name, which contains the model's.
  std::string name;
  std::string declaration;
  /// The comment that describes the kernel, and the function.
  std::string definition;
  /// The definition without its name: two kernels with the same text compute the same.
  std::string body;
  /// The runtime's functions that the definition calls, and the vector types that it names.
  std::set<std::string> callees, vectorTypes;
};

mlir::FailureOr<KernelText> printKernel(mlir::func::FuncOp kernel, const std::string &name);

/// A function of index values with one index result, as a static C++ function.
mlir::FailureOr<std::string> printIndexFunction(mlir::func::FuncOp function, const std::string &name);

/// Includes or declarations of the external functions that the module's kernels call.
std::string declareExternals(mlir::ModuleOp module);

/// The C++ type of a kernel's parameter: a pointer to const unless the kernel writes there.
std::string parameterType(mlir::func::FuncOp kernel, unsigned argument);

/// An array of strings, or one string, as a list.
std::string joinStrings(mlir::Attribute attr, llvm::StringRef separator);

/// `head(parameters)` with as many parameters on a line as fit.
std::string printCall(const std::string &head, llvm::ArrayRef<std::string> parameters);

/// Lines of `//` comment: `label` and the text, broken between words.
std::string commentLines(llvm::StringRef label, llvm::StringRef text);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_KERNELPRINTER_H
