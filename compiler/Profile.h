//===- Profile.h - Measured choices of kernels, in a file -------------------===//
#ifndef KILN_COMPILER_PROFILE_H
#define KILN_COMPILER_PROFILE_H

#include "dialects/kernel/Kernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace kiln {

/// The fastest way to do one piece of work on one target. `target` and `work` are the texts of TargetAttr::describeUnit and describeWork
/// (passes/target/choice/CostModel.h).
struct ProfileEntry {
  std::string target, work;
  /// A part of a plan (#kernel.plan): the kernel, and the numbers that are not the cost model's. A tile is rows, vectors, lanes; 0 and empty: as the cost
  /// model says.
  std::string kernel;
  std::vector<int64_t> tile = {};
  int64_t chunk = 0, winograd = 0;
  /// The function of a step; empty: as the cost model says.
  std::string step = {};
  /// For readers: the measured microseconds of this choice and of the cost model's.
  double microseconds = 0, defaultMicroseconds = 0;
};

/// An entry with this plan.
ProfileEntry makeEntry(const std::string &target, const std::string &work, kernel::PlanAttr plan);

/// Parses a profile.
llvm::Expected<std::vector<ProfileEntry>> parseProfile(llvm::StringRef text);
llvm::Expected<std::vector<ProfileEntry>> readProfile(llvm::StringRef path);

/// Prints a profile, deterministically.
std::string printProfile(std::vector<ProfileEntry> entries);

/// Adds the entries for a module's target to the module, for the pass that chooses kernels.
void attachProfile(mlir::ModuleOp module, llvm::ArrayRef<ProfileEntry> entries);

/// How many entries of a profile a compile has used.
struct ProfileUse {
  size_t entries = 0, used = 0;
  /// Why the others were not used: they have another target, no group does their work, or their kernel does not fit the group.
  size_t otherTarget = 0, otherWork = 0, unfit = 0;
  /// The targets of the compile, and another one that the profile has.
  std::string targets, measuredTarget;

  /// "2 of 7 entries used: ...", with the reasons for the others.
  std::string describe() const;
};

/// Collects the use of entries from a module after the target stage.
ProfileUse takeProfileUse(llvm::ArrayRef<mlir::ModuleOp> modules, llvm::ArrayRef<ProfileEntry> entries);

} // namespace kiln

#endif // KILN_COMPILER_PROFILE_H
