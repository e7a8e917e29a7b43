//===- System.h - The operating systems that targets are compiled for --------===//
#ifndef KILN_COMPILER_TARGET_SYSTEM_H
#define KILN_COMPILER_TARGET_SYSTEM_H

#include "dialects/kernel/Kernel.h"

namespace kiln {

/// A system by the name that --system takes, and its triples for the architectures that it has. A triple decides the format of objects, calls, the names
/// of symbols and how the CPU is asked for its features.
struct System {
  llvm::StringLiteral name, x86, arm;
};
llvm::ArrayRef<System> getSystems();

/// Takes `@SYSTEM` off the end of a target's name. Empty where it ends otherwise.
llvm::StringRef takeSystem(llvm::StringRef &targetName);

/// The target without tiles (AMX), under another name, for a CPU or a process that has no registers for them; the target itself if it has no tiles.
kernel::TargetAttr dropTiles(kernel::TargetAttr target, llvm::StringRef name);

/// The target for another system; null with `error` set where that system does not run on its architecture.
kernel::TargetAttr setSystem(kernel::TargetAttr target, llvm::StringRef system, std::string &error);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_SYSTEM_H
