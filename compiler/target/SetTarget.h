//===- SetTarget.h - A pass for tests: --kiln-set-target=name=NAME ---------===//
#ifndef KILN_COMPILER_TARGET_SETTARGET_H
#define KILN_COMPILER_TARGET_SETTARGET_H

namespace kiln {

/// Registers the pass `kiln-set-target`, which gives a module the target of a name, or of a file. A compile sets the module's target itself; tests of
/// single passes use this one.
void registerSetTarget();

} // namespace kiln

#endif // KILN_COMPILER_TARGET_SETTARGET_H
