//===- HeaderPrinter.h - The generated header ------------------------------===//
#ifndef KILN_COMPILER_EMIT_HEADERPRINTER_H
#define KILN_COMPILER_EMIT_HEADERPRINTER_H

#include "compiler/emit/Signature.h"

namespace kiln {

/// NAME.h: the C ABI block, and of each model of the library the structs, the functions, and a C++17 class with checked arguments.
std::string printHeader(llvm::ArrayRef<Signature> models);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_HEADERPRINTER_H
