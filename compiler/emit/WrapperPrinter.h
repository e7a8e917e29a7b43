//===- WrapperPrinter.h - The C++ part of the generated header -------------===//
#ifndef KILN_COMPILER_EMIT_WRAPPERPRINTER_H
#define KILN_COMPILER_EMIT_WRAPPERPRINTER_H

#include "compiler/emit/Signature.h"

namespace kiln {

/// The C++17 section of NAME.h: a class with checked arguments.
std::string printWrapper(const Signature &signature);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_WRAPPERPRINTER_H
