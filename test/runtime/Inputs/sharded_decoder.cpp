// Runs a decoder in one piece and cut for ranks, which are threads here: the tokens must be the same, and the caches of each rank stay where they are.
// Then ranks that do not fit each other: each must end with a status.
// Usage: PROGRAM FOLDER - the folder of the sharded library's weights.
#include "kiln/ranks.h"
#include "kiln/runtime.h"
#include "sharded.h"
#include "whole.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int tokens = 24, words = 90;
const int ranks = int(sharded_info.num_ranks);

// Aligned memory of zeros that lives as long as the program.
void *allocate(size_t size) {
  void *memory = nullptr;
  if (kiln_workspace_create(size ? size : 1, &memory) != KILN_STATUS_OK)
    std::abort();
  return std::memset(memory, 0, size);
}

// The buffers of a run: the caches are inputs and outputs at once.
struct Buffers {
  int64_t id = 3, position = 0;
  std::vector<float> logits = std::vector<float>(words);
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  void *workspace;
  Buffers(const kiln_model_info &info, size_t size) : workspace(allocate(size)) {
    inputs = {&id, &position};
    for (int32_t i = 2; i < info.num_inputs; ++i) {
      void *cache = allocate(size_t(info.inputs[i].byte_size));
      inputs.push_back(cache);
      outputs.push_back(cache);
    }
    outputs.push_back(logits.data());
  }
};

// The words that follow, none of them twice.
template <typename Run> std::vector<int64_t> decode(Buffers &buffers, Run run) {
  std::vector<int64_t> said;
  for (int64_t past = 0; past < tokens; ++past) {
    buffers.position = past;
    if (kiln_status status = run(past)) {
      std::printf("status: %s\n", kiln_status_string(status));
      break;
    }
    for (int64_t word : said)
      buffers.logits[size_t(word)] = -1e30f;
    size_t best = 0;
    for (size_t word = 1; word < words; ++word)
      best = buffers.logits[word] > buffers.logits[best] ? word : best;
    said.push_back(buffers.id = int64_t(best));
  }
  return said;
}

kiln_status run_rank(Buffers &buffers, int64_t past, const kiln_weights &weights, const kiln_context *context) {
  sharded_dims dims = {past};
  sharded_inputs inputs;
  sharded_outputs outputs;
  std::memcpy(&inputs, buffers.inputs.data(), sizeof inputs);
  std::memcpy(&outputs, buffers.outputs.data(), sizeof outputs);
  return sharded_run(&dims, &inputs, &outputs, weights.data, buffers.workspace, context);
}

// Calls work(rank, context) on a thread for each rank.
template <typename Work> void on_all(Work work) {
  kiln_local_ranks *team = nullptr;
  if (kiln_local_ranks_create(ranks, int64_t(20) * 1000 * 1000 * 1000, &team) != KILN_STATUS_OK)
    std::abort();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([=] {
      kiln_context context = KILN_CONTEXT_INIT;
      context.communicator = kiln_local_ranks_get(team, rank);
      work(rank, context);
    });
  for (std::thread &thread : threads)
    thread.join();
  kiln_local_ranks_destroy(team);
}

void print(const char *what, const std::vector<kiln_status> &statuses) {
  std::printf("%s:", what);
  for (kiln_status status : statuses)
    std::printf(" %d", int(status));
  std::printf("\n");
}

} // namespace

int main(int, char **arguments) {
  whole_dims longest = {tokens - 1};
  Buffers one(whole_info, whole_workspace_size(&longest));
  std::vector<int64_t> expected = decode(one, [&](int64_t past) {
    whole_dims dims = {past};
    whole_inputs inputs;
    whole_outputs outputs;
    std::memcpy(&inputs, one.inputs.data(), sizeof inputs);
    std::memcpy(&outputs, one.outputs.data(), sizeof outputs);
    return whole_run(&dims, &inputs, &outputs, one.workspace, nullptr);
  });

  std::vector<kiln_weights> weights(size_t(ranks), kiln_weights{});
  sharded_dims most = {tokens - 1};
  std::vector<Buffers> buffers;
  for (int rank = 0; rank < ranks; ++rank) {
    const kiln_rank_weights &file = sharded_info.rank_weights[rank];
    if (kiln_weights_map((std::string(arguments[1]) + "/" + file.file).c_str(), size_t(file.size), file.checksum, &weights[size_t(rank)]))
      return 1;
    buffers.emplace_back(sharded_info, sharded_workspace_size(&most));
    buffers.back().inputs[0] = nullptr;
  }
  for (Buffers &own : buffers)
    own.inputs[0] = &own.id, own.inputs[1] = &own.position, own.outputs.back() = own.logits.data();
  std::vector<std::vector<int64_t>> said(static_cast<size_t>(ranks));
  on_all([&](int rank, const kiln_context &context) {
    Buffers &own = buffers[size_t(rank)];
    said[size_t(rank)] = decode(own, [&](int64_t past) { return run_rank(own, past, weights[size_t(rank)], &context); });
  });
  bool equal = expected.size() == size_t(tokens);
  for (const std::vector<int64_t> &each : said)
    equal = equal && each == expected;
  std::printf("%zu tokens, %s\n", expected.size(), equal ? "the same" : "others");
  std::printf("cache bytes: %lld of %lld\n", (long long)sharded_info.inputs[2].byte_size, (long long)whole_info.inputs[2].byte_size);

  // Without the others, and with others that are too many.
  kiln_context alone = KILN_CONTEXT_INIT;
  std::vector<kiln_status> statuses = {run_rank(buffers[0], 0, weights[0], nullptr), run_rank(buffers[0], 0, weights[0], &alone)};
  kiln_local_ranks *many = nullptr;
  if (kiln_local_ranks_create(ranks + 1, 0, &many) != KILN_STATUS_OK)
    return 1;
  alone.communicator = kiln_local_ranks_get(many, 0);
  statuses.push_back(run_rank(buffers[0], 0, weights[0], &alone));
  kiln_local_ranks_destroy(many);
  print("alone", statuses);

  statuses.assign(size_t(ranks), KILN_STATUS_OK);
  on_all([&](int rank, const kiln_context &context) { statuses[size_t(rank)] = run_rank(buffers[size_t(rank)], rank, weights[size_t(rank)], &context); });
  print("other dimensions", statuses);

  // A word that the model does not have, on one rank.
  buffers.back().id = words + 7;
  on_all([&](int rank, const kiln_context &context) { statuses[size_t(rank)] = run_rank(buffers[size_t(rank)], 0, weights[size_t(rank)], &context); });
  print("a word too many", statuses);
  for (kiln_weights &file : weights)
    kiln_weights_unmap(&file);
  return equal ? 0 : 1;
}
