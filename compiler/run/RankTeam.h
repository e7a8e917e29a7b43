//===- RankTeam.h - The ranks of a sharded model in one process ------------===//
#ifndef KILN_COMPILER_RUN_RANKTEAM_H
#define KILN_COMPILER_RUN_RANKTEAM_H

#include "compiler/run/Tensor.h"
#include "kiln/ranks.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>
#include <vector>

namespace kiln {

/// Threads that are the ranks of a sharded model. Each has a copy of the inputs' pointers, and memory of its own for outputs and workspace.
class RankTeam {
public:
  /// `outputs` and `workspace` are those of rank 0; the others get as much.
  static llvm::Expected<std::unique_ptr<RankTeam>> create(int32_t ranks, llvm::ArrayRef<const Tensor *> outputs, size_t workspace);
  ~RankTeam();

  /// What a rank runs with: its number, the pointers of its outputs, its workspace, its context.
  using Call = llvm::function_ref<kiln_status(int32_t rank, void *const *outputs, const void *workspace, const kiln_context *context)>;
  /// Runs all ranks, rank 0 with the given memory on this thread. The first status that is not OK, if any.
  kiln_status run(const kiln_context *context, void *const *outputs, const void *workspace, Call call) const;
  /// Whether all ranks have written the same bytes as rank 0, and nothing beyond; otherwise says what differs.
  llvm::Error check(llvm::ArrayRef<const Tensor *> outputs) const;

private:
  RankTeam() = default;
  kiln_local_ranks *team = nullptr;
  struct Memory {
    std::vector<Tensor> outputs;
    std::vector<void *> pointers;
    Tensor workspace;
  };
  /// Of the ranks from 1 on.
  std::vector<Memory> others;
};

} // namespace kiln

#endif // KILN_COMPILER_RUN_RANKTEAM_H
