//===- MachineProbe.h - What the machine reaches at best -------------------===//
#ifndef KILN_COMPILER_RUN_MACHINEPROBE_H
#define KILN_COMPILER_RUN_MACHINEPROBE_H

#include "kiln/abi.h"
#include <vector>

namespace kiln {

/// A cache or the memory behind the caches.
struct MemoryLevel {
  const char *name;
  /// What it holds for one thread.
  int64_t bytes;
  /// Bytes a second that all threads together read from it.
  double bandwidth;
};

struct Machine {
  /// Floating-point operations a second of all threads together, f32, a multiplication and an addition counted as two.
  double peak = 0;
  /// The nearest first; the last one holds anything.
  std::vector<MemoryLevel> levels;
};

/// Floating-point operations that `spinFma` does in one step.
int64_t getFmaStep(unsigned vectorBits);

/// Does `steps` steps of independent fused multiplications and additions in vectors of at most so many bits; the widest the CPU has otherwise.
void spinFma(unsigned vectorBits, int64_t steps);

/// How many threads measure, and how much memory each of them reads.
struct ProbeSize {
  int64_t threads, bytesEach;
};

/// No more threads than CPUs, which more of them would only share, and no more memory in all than a gibibyte or a quarter of the machine's. The part of a
/// thread is larger than its caches where the memory is large enough.
ProbeSize chooseProbe(int64_t threads, int64_t cpus, int64_t memoryBytes);

/// Measures for about a tenth of a second, with the context's threads; as many as there are CPUs.
Machine probeMachine(const kiln_context &context, unsigned vectorBits);

/// The least number of seconds for this many operations and bytes: at the peak, or at the bandwidth of the nearest level that holds the bytes.
double getRoofline(const Machine &machine, double flops, double bytes);

} // namespace kiln

#endif // KILN_COMPILER_RUN_MACHINEPROBE_H
