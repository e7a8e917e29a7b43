//===- CompilerFlags.h - Compiler options for the emitted C++ --------------------------===//
#ifndef KILN_COMPILER_EMIT_COMPILERFLAGS_H
#define KILN_COMPILER_EMIT_COMPILERFLAGS_H

#include "dialects/kernel/Kernel.h"
#include <string>
#include <vector>

namespace kiln {

/// The options of GCC's and Clang's drivers that the emitted code is written for, without those of the target.
std::vector<std::string> commonFlags();

/// The features that are instruction sets: all but the composites that the target lacks ("-nn.softmax").
std::vector<std::string> instructionSets(kernel::TargetAttr target);

/// The features, among those of kiln/cpu.h, that a CPU needs to run code for the target: its instruction sets and those that its `cpu` implies, by LLVM's
/// names, and the length of SVE's vectors. None for the baseline, and for architectures of which that header knows nothing.
std::vector<std::string> neededFeatures(kernel::TargetAttr target);

/// -march and the features of a target, for GCC and Clang; none for a module without one, and for a target that is any CPU.
std::vector<std::string> targetFlags(kernel::TargetAttr target);

/// Arguments of `clang -cc1` that build an object in the same way; `triple` is empty for the host's.
std::vector<std::string> frontendArguments(kernel::TargetAttr target);

/// What every CPU of the target's architecture has; for 32-bit Arm and RISC-V, of which no library has several, the target's own machine.
kernel::TargetAttr makeBaseline(kernel::TargetAttr target);

/// The target's triple, or the host's.
std::string tripleOf(kernel::TargetAttr target);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_COMPILERFLAGS_H
