//===- ChoicePrinter.h - The choice among targets, as C++ ------------------===//
#ifndef KILN_COMPILER_EMIT_CHOICEPRINTER_H
#define KILN_COMPILER_EMIT_CHOICEPRINTER_H

#include "compiler/emit/Signature.h"

namespace kiln {

/// The translation unit with the functions that programs call in a library for several targets. It queries the CPU once and chooses a target.
std::string printChoiceSource(const Signature &whole, llvm::ArrayRef<Signature> targets);

/// The target of that translation unit: any CPU of the targets' architecture.
kernel::TargetAttr baselineOf(const Signature &target);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_CHOICEPRINTER_H
