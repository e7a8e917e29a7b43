//===- RankTeam.cpp - The ranks of a sharded model in one process ----------===//
#include "compiler/run/RankTeam.h"
#include "compiler/files/Printable.h"
#include "kiln/runtime.h"

#include "llvm/ADT/STLExtras.h"
#include <cstring>
#include <thread>

using llvm::Expected;

namespace kiln {

/// Nanoseconds that a rank waits for another one, which may compute for long.
static constexpr int64_t deadline = int64_t(300) * 1000 * 1000 * 1000;

Expected<std::unique_ptr<RankTeam>> RankTeam::create(int32_t ranks, llvm::ArrayRef<const Tensor *> outputs, size_t workspace) {
  std::unique_ptr<RankTeam> result(new RankTeam);
  if (kiln_status status = kiln_local_ranks_create(ranks, deadline, &result->team))
    return makeError("ranks: " + llvm::Twine(kiln_status_string(status)));
  for (int32_t rank = 1; rank < ranks; ++rank) {
    Memory &memory = result->others.emplace_back();
    for (const Tensor *output : outputs) {
      Expected<Tensor> own = Tensor::create(output->getType(), output->getDims());
      if (!own)
        return own.takeError();
      memory.outputs.push_back(std::move(*own));
      memory.pointers.push_back(memory.outputs.back().getData());
    }
    memory.pointers.push_back(nullptr);
    Expected<Tensor> room = Tensor::create(KILN_ELEMENT_U8, int64_t(workspace));
    if (!room)
      return makeError("workspace: " + llvm::toString(room.takeError()));
    memory.workspace = std::move(*room);
  }
  return std::move(result);
}

RankTeam::~RankTeam() { kiln_local_ranks_destroy(team); }

kiln_status RankTeam::run(const kiln_context *context, void *const *outputs, const void *workspace, Call call) const {
  std::vector<kiln_context> contexts(others.size() + 1, context ? *context : kiln_context(KILN_CONTEXT_INIT));
  std::vector<kiln_status> statuses(contexts.size(), KILN_STATUS_OK);
  std::vector<std::thread> threads;
  for (auto [i, own] : llvm::enumerate(contexts)) {
    own.communicator = kiln_local_ranks_get(team, int32_t(i));
    if (i == 0)
      continue;
    // One rank tells the profiler; its launches are those of the others.
    own.on_kernel = nullptr;
    const Memory &memory = others[i - 1];
    threads.emplace_back([&, i = i] { statuses[i] = call(int32_t(i), memory.pointers.data(), memory.workspace.getData(), &contexts[i]); });
  }
  statuses[0] = call(0, outputs, workspace, &contexts[0]);
  for (std::thread &thread : threads)
    thread.join();
  auto failure = llvm::find_if(statuses, [](kiln_status status) { return status != KILN_STATUS_OK; });
  return failure == statuses.end() ? KILN_STATUS_OK : *failure;
}

/// Strings are compared by their bytes: those that a rank computes are in its own memory.
static bool areEqual(const Tensor &a, const Tensor &b) {
  if (a.getType() != KILN_ELEMENT_STRING)
    return std::memcmp(a.getData(), b.getData(), a.getByteSize()) == 0;
  auto list = [](const Tensor &tensor) { return llvm::ArrayRef(reinterpret_cast<const kiln_string *>(tensor.getData()), size_t(tensor.getNumElements())); };
  return llvm::equal(list(a), list(b), [](const kiln_string &one, const kiln_string &other) {
    return llvm::StringRef(one.data, size_t(one.size)) == llvm::StringRef(other.data, size_t(other.size));
  });
}

llvm::Error RankTeam::check(llvm::ArrayRef<const Tensor *> outputs) const {
  for (auto [i, memory] : llvm::enumerate(others)) {
    if (!memory.workspace.isGuardIntact())
      return makeError("rank " + llvm::Twine(i + 1) + " wrote beyond its workspace");
    for (auto [number, output] : llvm::enumerate(memory.outputs)) {
      if (!output.isGuardIntact())
        return makeError("rank " + llvm::Twine(i + 1) + " wrote beyond an output");
      if (!areEqual(output, *outputs[number]))
        return makeError("ranks 0 and " + llvm::Twine(i + 1) + " do not have the same output number " + llvm::Twine(number));
    }
  }
  return llvm::Error::success();
}

} // namespace kiln
