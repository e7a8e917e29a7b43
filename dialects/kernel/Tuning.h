//===- Tuning.h - Numbers of a target that are measured --------------------===//
//
// Only sources include this, because each file that sees the list is compiled again when a number changes.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_KERNEL_TUNING_H
#define KILN_DIALECTS_KERNEL_TUNING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace kiln::kernel {

/// The numbers of #kernel.tuning.
enum class Tuned : unsigned {
#define KILN_TUNING(id, ...) id,
#include "dialects/kernel/Tuning.def"
#undef KILN_TUNING
};

struct TunedNumber {
  llvm::StringLiteral name;
  /// The value of targets that do not say it, and the bounds.
  int64_t usual, least, most;
  llvm::StringLiteral meaning;
};

/// In the order of Tuned.
llvm::ArrayRef<TunedNumber> getTunedNumbers();

/// What is wrong with the values of all numbers, in their order; empty when they are valid.
std::string findTuningFault(llvm::ArrayRef<int64_t> values);

} // namespace kiln::kernel

#endif // KILN_DIALECTS_KERNEL_TUNING_H
