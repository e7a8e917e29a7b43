//===- LaunchedModel.h - A sharded model whose ranks are processes -----------===//
#ifndef KILN_COMPILER_RUN_LAUNCHEDMODEL_H
#define KILN_COMPILER_RUN_LAUNCHEDMODEL_H

#include "compiler/run/Launch.h"
#include "compiler/run/RankTeam.h"
#include "llvm/Support/MemoryBuffer.h"
#include <map>

namespace kiln {

/// What the other ranks get of a compile.
struct ModelParts {
  llvm::StringRef name;
  llvm::ArrayRef<std::string> libraries;
  llvm::ArrayRef<std::unique_ptr<llvm::MemoryBuffer>> objects;
  /// The weights of a rank; null if there is no memory for them. Only one at a time is in memory.
  llvm::function_ref<std::unique_ptr<llvm::MemoryBuffer>(int32_t rank)> weights;
};

/// Rank 0's end of a model that all processes have.
class LaunchedModel {
public:
  /// Sends it to the others, which load it while rank 0 does so itself.
  static llvm::Expected<std::shared_ptr<LaunchedModel>> share(Launch &launch, const ModelParts &parts);
  ~LaunchedModel();
  /// Whether the others have loaded it.
  llvm::Error confirm();
  /// Has the others prepare a run with these inputs.
  llvm::Expected<std::unique_ptr<RankTeam>> prepare(llvm::ArrayRef<const Tensor *> inputs, const std::map<std::string, int64_t> &given);

private:
  LaunchedModel(Launch &launch, int64_t number) : launch(launch), number(number) {}
  Launch &launch;
  int64_t number;
  /// Ranks from 1 on that have been told to load it and have not been heard.
  int32_t firstUnheard = 1, told = 1;
};

/// Another rank than 0: does what rank 0 says until it says to end, with this context. Gives the exit status.
int followRankZero(Launch &launch, const kiln_context &context);

} // namespace kiln

#endif // KILN_COMPILER_RUN_LAUNCHEDMODEL_H
