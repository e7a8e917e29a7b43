//===- RankTeam.h - The ranks of a sharded model ---------------------------===//
#ifndef KILN_COMPILER_RUN_RANKTEAM_H
#define KILN_COMPILER_RUN_RANKTEAM_H

#include "compiler/run/Tensor.h"
#include "kiln/ranks.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>
#include <utility>
#include <vector>

namespace kiln {

/// What the runs of a rank took, in nanoseconds.
struct RankTimes {
  std::vector<int64_t> runs;
  /// In calls of the communicator, with waiting for other ranks; of all runs.
  int64_t exchange = 0;
};

/// A communicator that adds up the time of the calls of another one.
class ExchangeClock {
public:
  explicit ExchangeClock(const kiln_communicator *inner);
  ExchangeClock(const ExchangeClock &) = delete;
  const kiln_communicator *get() const { return &timed; }
  int64_t takeTime() { return std::exchange(nanoseconds, 0); }

private:
  template <auto call> struct Timed;
  const kiln_communicator *inner;
  kiln_communicator timed;
  int64_t nanoseconds = 0;
};

/// The ranks of a sharded model, for one who runs them as if they were one.
class RankTeam {
public:
  virtual ~RankTeam() = default;

  /// Where a rank has its outputs and its workspace.
  struct Place {
    void *const *outputs;
    const void *workspace;
  };

  /// What a rank runs with: its number, the pointers of its outputs, its workspace, its context.
  using Call = llvm::function_ref<kiln_status(int32_t rank, void *const *outputs, const void *workspace, const kiln_context *context)>;
  /// Runs all ranks, rank 0 with the given memory on this thread. The first status that is not OK, if any.
  virtual kiln_status run(const kiln_context *context, void *const *outputs, const void *workspace, Call call) = 0;
  /// Whether all ranks have written the same as rank 0, and nothing beyond; otherwise says what differs. Null for an output of which each has its part.
  virtual llvm::Error check(llvm::ArrayRef<const Tensor *> outputs) = 0;
  /// The memory of the ranks from 1 on that this process runs.
  virtual std::vector<Place> listOthers() const { return {}; }
  /// The times of all runs since the last call, of each rank.
  virtual llvm::Expected<std::vector<RankTimes>> takeTimes() = 0;
};

/// A number for the contents of an output, equal for equal ones. Strings are compared by their bytes: those that a rank computes are in its own memory.
uint64_t digestOutput(const Tensor &output);

/// The error that ranks 0 and `rank` have different outputs of this number.
llvm::Error reportDifference(int32_t rank, size_t number);

/// Threads that are the ranks of a sharded model. Each has a copy of the inputs' pointers, and memory of its own for outputs and workspace.
class ThreadTeam : public RankTeam {
public:
  /// `outputs` and `workspace` are those of rank 0; the others get as much.
  static llvm::Expected<std::unique_ptr<RankTeam>> create(int32_t ranks, llvm::ArrayRef<const Tensor *> outputs, size_t workspace);
  ~ThreadTeam() override;
  kiln_status run(const kiln_context *context, void *const *outputs, const void *workspace, Call call) override;
  llvm::Error check(llvm::ArrayRef<const Tensor *> outputs) override;
  llvm::Expected<std::vector<RankTimes>> takeTimes() override;
  std::vector<Place> listOthers() const override;

private:
  ThreadTeam() = default;
  kiln_local_ranks *team = nullptr;
  struct Memory {
    std::vector<Tensor> outputs;
    std::vector<void *> pointers;
    Tensor workspace;
  };
  /// Of the ranks from 1 on.
  std::vector<Memory> others;
  /// Of all ranks.
  std::vector<std::unique_ptr<ExchangeClock>> clocks;
  std::vector<RankTimes> times;
};

} // namespace kiln

#endif // KILN_COMPILER_RUN_RANKTEAM_H
