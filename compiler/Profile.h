//===- Profile.h - Choices that were measured, in a file -------------------===//
#ifndef KILN_COMPILER_PROFILE_H
#define KILN_COMPILER_PROFILE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace kiln {

/// The fastest way to do one piece of work on one target. `target` and `work` are what describeTarget and describeWork say
/// (passes/lowering/CostModel.h).
struct ProfileEntry {
  std::string target, work, algorithm;
  /// Rows and vectors of the register tile.
  std::optional<std::pair<int64_t, int64_t>> tile;
  /// Bytes of a product's right side that a task holds in the cache.
  std::optional<int64_t> chunk;
  /// What was measured, for readers: microseconds of this choice and of the model's own.
  double microseconds = 0, defaultMicroseconds = 0;
};

/// Reads the text of a profile; the error says what is wrong with it.
llvm::Expected<std::vector<ProfileEntry>> parseProfile(llvm::StringRef text);
llvm::Expected<std::vector<ProfileEntry>> readProfile(llvm::StringRef path);

/// The text of a profile, the same for the same entries.
std::string printProfile(std::vector<ProfileEntry> entries);

/// Gives a module the entries for its target, for the pass that chooses kernels.
void attachProfile(mlir::ModuleOp module, llvm::ArrayRef<ProfileEntry> entries);

} // namespace kiln

#endif // KILN_COMPILER_PROFILE_H
