//===- MachineProbe.h - The machine's peak performance and bandwidths -------------------===//
#ifndef KILN_COMPILER_RUN_MACHINEPROBE_H
#define KILN_COMPILER_RUN_MACHINEPROBE_H

#include "kiln/abi.h"
#include <string>
#include <vector>

namespace kiln {

/// A cache or the memory behind the caches.
struct MemoryLevel {
  const char *name;
  /// Its capacity for one thread.
  int64_t bytes;
  /// Bytes per second that all threads together read from it.
  double bandwidth;
};

struct Machine {
  /// f32 operations per second of all threads together. A multiply-add counts as two.
  double peak = 0;
  /// The same for kernels that multiply bytes, and bf16, by the target's steps for them; 0: not measured.
  double bytePeak = 0, brainPeak = 0;
  /// The nearest first. The last one has unlimited capacity.
  std::vector<MemoryLevel> levels;
};

/// Floating-point operations that `spinFma` does in one step.
int64_t getFmaStep(unsigned vectorBits);

/// Runs `steps` steps of independent fused multiply-adds in vectors of at most this many bits, or in the CPU's widest vectors.
void spinFma(unsigned vectorBits, int64_t steps);

/// The number of measuring threads, and the memory that each of them reads.
struct ProbeSize {
  int64_t threads, bytesEach;
};

/// At most one thread per CPU, and at most a gibibyte or a quarter of the machine's memory in total. A thread's part is larger than its caches if there
/// is enough memory.
ProbeSize chooseProbe(int64_t threads, int64_t cpus, int64_t memoryBytes);

/// The functions of runtime/include/kiln/dot.h or kiln/tiles.h that a target's kernels multiply most bytes and bf16 by; empty: none.
struct ProbedSteps {
  std::string bytes, brain;
};

/// Operations that `spinDots` does in one step for this function: a multiplication and an addition are two. 0 if it has no loop for the function, or the
/// CPU lacks the instruction.
int64_t getDotStep(const std::string &function, unsigned vectorBits);

/// Runs `steps` steps of independent sums of products by the instructions of that function.
void spinDots(const std::string &function, unsigned vectorBits, int64_t steps);

/// Measures for about a tenth of a second, with the context's threads but at most one per CPU.
Machine probeMachine(const kiln_context &context, unsigned vectorBits, const ProbedSteps &steps = {});

/// The least possible seconds for this many operations and bytes: at that peak (0: not known), or at the bandwidth of the nearest level that holds the
/// bytes.
double getRoofline(const Machine &machine, double peak, double flops, double bytes);

} // namespace kiln

#endif // KILN_COMPILER_RUN_MACHINEPROBE_H
