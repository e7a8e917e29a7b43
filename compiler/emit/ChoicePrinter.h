//===- ChoicePrinter.h - The choice among targets, as C++ ------------------===//
#ifndef KILN_COMPILER_EMIT_CHOICEPRINTER_H
#define KILN_COMPILER_EMIT_CHOICEPRINTER_H

#include "compiler/emit/Signature.h"

namespace kiln {

/// The translation unit of a library for several targets that programs call: it asks the CPU once which of them runs.
std::string printChoiceSource(const Signature &whole, llvm::ArrayRef<Signature> targets);

/// What that translation unit is compiled for: any CPU of the targets' architecture.
kernel::TargetAttr baselineOf(const Signature &target);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_CHOICEPRINTER_H
