//===- RankTeam.cpp - The ranks of a sharded model -------------------------===//
#include "compiler/run/RankTeam.h"
#include "compiler/files/Printable.h"
#include "kiln/runtime.h"

#include "llvm/ADT/STLExtras.h"
#include <string>
#include <thread>

using llvm::Expected;

namespace kiln {

/// Nanoseconds that a rank waits for another one, which may compute for long.
static constexpr int64_t deadline = int64_t(300) * 1000 * 1000 * 1000;

//===- Time ----------------------------------------------------------------===//

template <typename... Arguments, kiln_status (*kiln_communicator::*call)(void *, Arguments...)> struct ExchangeClock::Timed<call> {
  static kiln_status make(void *user, Arguments... arguments) {
    auto *clock = static_cast<ExchangeClock *>(user);
    int64_t begin = kiln_clock_ns();
    kiln_status status = (clock->inner->*call)(clock->inner->user, arguments...);
    clock->nanoseconds += kiln_clock_ns() - begin;
    return status;
  }
};

ExchangeClock::ExchangeClock(const kiln_communicator *inner) : inner(inner), timed(*inner) {
  using C = kiln_communicator;
  timed.user = this;
  timed.begin = Timed<&C::begin>::make;
  timed.end = Timed<&C::end>::make;
  timed.all_reduce = Timed<&C::all_reduce>::make;
  timed.all_gather = Timed<&C::all_gather>::make;
  timed.reduce_scatter = Timed<&C::reduce_scatter>::make;
  timed.all_to_all = Timed<&C::all_to_all>::make;
  timed.send = Timed<&C::send>::make;
  timed.receive = Timed<&C::receive>::make;
  timed.exchange = Timed<&C::exchange>::make;
  bool hasHalves = KILN_HAS_FIELD(kiln_communicator, inner, wait) && inner->start && inner->wait;
  timed.start = hasHalves ? Timed<&C::start>::make : nullptr;
  timed.wait = hasHalves ? Timed<&C::wait>::make : nullptr;
  timed.merged = KILN_HAS_FIELD(kiln_communicator, inner, merged) && inner->merged ? Timed<&C::merged>::make : nullptr;
}

//===- Outputs -------------------------------------------------------------===//

uint64_t digestOutput(const Tensor &output) {
  if (output.getType() != KILN_ELEMENT_STRING)
    return kiln_checksum(output.getData(), output.getByteSize());
  std::string texts;
  for (const kiln_string &text : llvm::ArrayRef(reinterpret_cast<const kiln_string *>(output.getData()), size_t(output.getNumElements())))
    texts.append(std::to_string(text.size) + ":").append(text.data, size_t(text.size));
  return kiln_checksum(texts.data(), texts.size());
}

llvm::Error reportDifference(int32_t rank, size_t number) {
  return makeError("ranks 0 and " + llvm::Twine(rank) + " do not have the same output number " + llvm::Twine(number));
}

//===- Threads -------------------------------------------------------------===//

Expected<std::unique_ptr<RankTeam>> ThreadTeam::create(int32_t ranks, llvm::ArrayRef<const Tensor *> outputs, size_t workspace) {
  std::unique_ptr<ThreadTeam> result(new ThreadTeam);
  if (kiln_status status = kiln_local_ranks_create(ranks, deadline, &result->team))
    return makeError("ranks: " + llvm::Twine(kiln_status_string(status)));
  for (int32_t rank = 0; rank < ranks; ++rank)
    result->clocks.push_back(std::make_unique<ExchangeClock>(kiln_local_ranks_get(result->team, rank)));
  result->times.resize(size_t(ranks));
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

ThreadTeam::~ThreadTeam() { kiln_local_ranks_destroy(team); }

kiln_status ThreadTeam::run(const kiln_context *context, void *const *outputs, const void *workspace, Call call) {
  std::vector<kiln_context> contexts(clocks.size(), context ? *context : kiln_context(KILN_CONTEXT_INIT));
  std::vector<kiln_status> statuses(contexts.size(), KILN_STATUS_OK);
  auto runRank = [&](size_t rank, void *const *places, const void *room) {
    int64_t begin = kiln_clock_ns();
    statuses[rank] = call(int32_t(rank), places, room, &contexts[rank]);
    times[rank].runs.push_back(kiln_clock_ns() - begin);
  };
  std::vector<std::thread> threads;
  for (auto [i, own] : llvm::enumerate(contexts)) {
    own.communicator = clocks[i]->get();
    if (i == 0)
      continue;
    // One rank tells the profiler; its launches are those of the others.
    own.on_kernel = nullptr;
    const Memory &memory = others[i - 1];
    threads.emplace_back([&, i = i] { runRank(i, memory.pointers.data(), memory.workspace.getData()); });
  }
  runRank(0, outputs, workspace);
  for (std::thread &thread : threads)
    thread.join();
  auto failure = llvm::find_if(statuses, [](kiln_status status) { return status != KILN_STATUS_OK; });
  return failure == statuses.end() ? KILN_STATUS_OK : *failure;
}

std::vector<RankTeam::Place> ThreadTeam::listOthers() const {
  std::vector<Place> places;
  for (const Memory &memory : others)
    places.push_back({memory.pointers.data(), memory.workspace.getData()});
  return places;
}

llvm::Error ThreadTeam::check(llvm::ArrayRef<const Tensor *> outputs) {
  for (auto [i, memory] : llvm::enumerate(others)) {
    if (!memory.workspace.isGuardIntact())
      return makeError("rank " + llvm::Twine(i + 1) + " wrote beyond its workspace");
    for (auto [number, output] : llvm::enumerate(memory.outputs)) {
      if (!output.isGuardIntact())
        return makeError("rank " + llvm::Twine(i + 1) + " wrote beyond an output");
      if (outputs[number] && digestOutput(output) != digestOutput(*outputs[number]))
        return reportDifference(int32_t(i + 1), number);
    }
  }
  return llvm::Error::success();
}

Expected<std::vector<RankTimes>> ThreadTeam::takeTimes() {
  for (auto [rank, clock] : llvm::enumerate(clocks))
    times[rank].exchange = clock->takeTime();
  return std::exchange(times, std::vector<RankTimes>(times.size()));
}

} // namespace kiln
