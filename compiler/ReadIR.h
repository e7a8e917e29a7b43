//===- ReadIR.h - Reading IR from untrusted files -----------------===//
#ifndef KILN_COMPILER_READIR_H
#define KILN_COMPILER_READIR_H

#include "compiler/Limits.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>
#include <vector>

namespace kiln {

/// Parses IR as text or bytecode, and checks what the passes assume of a module: its attributes, the types of @main, sizes within the limits. Null
/// after an error. The parser's errors go to the context's handlers, the others to `errors`, prefixed by the buffer's name.
mlir::OwningOpRef<mlir::ModuleOp> readIR(mlir::MLIRContext &context, std::unique_ptr<llvm::MemoryBuffer> buffer, const Limits &limits,
                                         std::vector<std::string> &errors);

} // namespace kiln

#endif // KILN_COMPILER_READIR_H
