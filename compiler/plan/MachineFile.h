//===- MachineFile.h - The machines that a plan is for ----------------------===//
#ifndef KILN_COMPILER_PLAN_MACHINEFILE_H
#define KILN_COMPILER_PLAN_MACHINEFILE_H

#include "compiler/plan/Network.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>

namespace kiln {

/// A machine that runs some of the ranks. All are alike.
struct PlanMachine {
  std::string name;
  int64_t cores = 1, ranksPerMachine = 1;
  /// How many times as fast its cores are as those of the machine that measures the kernels; and, of one that computes alone, how fast they are when all do.
  double speed = 1, busySpeed = 1;
  /// Of the last cache, which all cores share.
  double cacheBytes = 0;
  /// Bytes per second that one core reads from memory, and all at one time; 0: not known.
  double memoryOfOne = 0, memoryOfAll = 0;
  /// Seconds that a step of an exchange takes in addition if ranks take turns on the cores.
  double turn = 0;
  /// What connects ranks of one machine, and of several.
  std::optional<Link> inside, between;

  /// Bytes per second that so many cores together read from memory; 0: not known.
  double getMemory(double running) const;
  /// How fast a core is while so many compute, of one of `own` that compute alone.
  double getSpeed(double running, double own) const;
};

/// The file's text, and back. Times are in microseconds there, and rates in 10^9 bytes per second.
/// @{
llvm::json::Object toJson(const PlanMachine &machine);
llvm::Expected<PlanMachine> readMachine(llvm::StringRef text);
/// @}

} // namespace kiln

#endif // KILN_COMPILER_PLAN_MACHINEFILE_H
