//===- ReadIR.h - IR from a file, which nobody has checked -----------------===//
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

/// Parses IR as text or bytecode, and checks what the passes take for granted of a module: its attributes, the types of @main, sizes within the
/// limits. Null after an error; the parser's own go to the context's handlers, the others to `errors`, headed by the buffer's name.
mlir::OwningOpRef<mlir::ModuleOp> readIR(mlir::MLIRContext &context, std::unique_ptr<llvm::MemoryBuffer> buffer, const Limits &limits,
                                         std::vector<std::string> &errors);

} // namespace kiln

#endif // KILN_COMPILER_READIR_H
