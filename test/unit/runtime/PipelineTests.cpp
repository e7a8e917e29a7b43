// Pipelines of stages that are functions of this file: order, bounds, errors, deadlines, and stages at ranks.
#include "kiln/pipeline.h"
#include "kiln/ranks.h"
#include "kiln/runtime.h"

#include "gtest/gtest.h"
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace {

// What a stage adds to each element, and what tests ask of it.
struct Behaviour {
  std::atomic<int> calls = 0;
  std::atomic<int> failsAt = -1;
  std::atomic<int> sleepMs = 0;
  std::atomic<int> ahead = 0; // the most calls that stage 0 has had more than stage 2
};
Behaviour behaviours[3];

constexpr int64_t most = 16;

kiln_status beginCall(int stage) {
  Behaviour &behaviour = behaviours[stage];
  int call = behaviour.calls++;
  if (stage == 0) {
    int ahead = call - behaviours[2].calls;
    if (ahead > behaviour.ahead)
      behaviour.ahead = ahead;
  }
  if (behaviour.sleepMs)
    std::this_thread::sleep_for(std::chrono::milliseconds(behaviour.sleepMs.load()));
  return call == behaviour.failsAt ? KILN_STATUS_INDEX_OUT_OF_BOUNDS : KILN_STATUS_OK;
}

// x -> a = x + 1, b = 10 x (to stages 1 and 2)
kiln_status run0(const int64_t *dims, const float *const *in, float *const *out, void *workspace, const kiln_context *) {
  static_cast<char *>(workspace)[0] = 1;
  for (int64_t i = 0; i < dims[0]; ++i)
    out[0][i] = in[0][i] + 1, out[1][i] = 10 * in[0][i];
  return beginCall(0);
}

// a, b, y -> c = a * y (also the model's output 1), d = a + b
kiln_status run1(const int64_t *dims, const float *const *in, float *const *out, void *, const kiln_context *) {
  for (int64_t i = 0; i < dims[0]; ++i)
    out[0][i] = in[1][i] * in[0][i], out[1][i] = in[1][i] + in[2][i];
  return beginCall(1);
}

// b, c, d -> z = b + c - d
kiln_status run2(const int64_t *dims, const float *const *in, float *const *out, void *, const kiln_context *) {
  for (int64_t i = 0; i < dims[0]; ++i)
    out[0][i] = in[0][i] + in[1][i] - in[2][i];
  return beginCall(2);
}

size_t workspaceSize(const int64_t *dims) { return dims[0] < 0 || dims[0] > most ? SIZE_MAX : 64; }

const int64_t openDims[] = {-1};
const char *const dimTexts[] = {"2*(n + 1) - n - 2 + max(0, n mod 1)"}, *const bareTexts[] = {"n"};
const int32_t otherSymbol[] = {-1}, bareSymbol[] = {0};
const kiln_symbol_info symbols[] = {{"n", 0, most}};

kiln_tensor_info makeTensor(const char *name, bool isBare) {
  return {name, name, openDims, isBare ? bareTexts : dimTexts, isBare ? bareSymbol : otherSymbol, -1, KILN_ELEMENT_F32, 1};
}

struct Library {
  std::vector<kiln_tensor_info> inputs, outputs;
  std::vector<kiln_metadata_entry> metadata;
  kiln_model_info info = {};
  kiln_stage stage = {};

  void finish(const char *name, void (*run)(void)) {
    info.abi_version = KILN_ABI_VERSION;
    info.struct_size = sizeof(info);
    info.name = name;
    info.target = "generic";
    info.inputs = inputs.data();
    info.outputs = outputs.data();
    info.symbols = symbols;
    info.num_inputs = int32_t(inputs.size());
    info.num_outputs = int32_t(outputs.size());
    info.num_symbols = 1;
    info.workspace_size = -1;
    info.metadata = metadata.data();
    info.num_metadata = int64_t(metadata.size());
    stage = {&info, run, reinterpret_cast<void (*)(void)>(workspaceSize), nullptr};
  }
};

class Pipeline : public testing::Test {
protected:
  void SetUp() override {
    for (Behaviour &behaviour : behaviours)
      behaviour.calls = 0, behaviour.failsAt = -1, behaviour.sleepMs = 0, behaviour.ahead = 0;
    libraries[0].inputs = {makeTensor("x", true)};
    libraries[0].outputs = {makeTensor("a", false), makeTensor("b", true)};
    libraries[0].metadata = {{"author", "nobody"},     {"kiln.stage", "0"},         {"kiln.stages", "3"},
                             {"kiln.input.x", "given 0"}, {"kiln.output.a", "to 1"}, {"kiln.output.b", "to 1 2"}};
    libraries[0].finish("net_stage0", reinterpret_cast<void (*)(void)>(run0));
    libraries[1].inputs = {makeTensor("y", true), makeTensor("a", false), makeTensor("b", true)};
    libraries[1].outputs = {makeTensor("c", true), makeTensor("d", true)};
    libraries[1].metadata = {{"kiln.stage", "1"},          {"kiln.stages", "3"},         {"kiln.input.y", "given 1"}, {"kiln.input.a", "from 0"},
                             {"kiln.input.b", "from 0"}, {"kiln.output.c", "result 1 to 2"}, {"kiln.output.d", "to 2"}};
    libraries[1].finish("net_stage1", reinterpret_cast<void (*)(void)>(run1));
    libraries[2].inputs = {makeTensor("b", true), makeTensor("c", true), makeTensor("d", true)};
    libraries[2].outputs = {makeTensor("z", true)};
    libraries[2].metadata = {{"kiln.stage", "2"},          {"kiln.stages", "3"},          {"kiln.input.b", "from 0"},
                             {"kiln.input.c", "from 1"}, {"kiln.input.d", "from 1"}, {"kiln.output.z", "result 0"}};
    libraries[2].finish("net_stage2", reinterpret_cast<void (*)(void)>(run2));
    for (const Library &library : libraries)
      stages.push_back(library.stage);
    options.abi_version = KILN_ABI_VERSION;
    options.struct_size = sizeof(options);
    options.dims = &n;
  }

  void makeBatches(int count) {
    for (int m = 0; m < count; ++m) {
      x.push_back(std::vector<float>(most, float(m)));
      y.push_back(std::vector<float>(most, float(2 * m + 1)));
      z.push_back(std::vector<float>(most, -1));
      c.push_back(std::vector<float>(most, -1));
    }
    for (int m = 0; m < count; ++m) {
      inputs.push_back({x[m].data(), y[m].data()});
      outputs.push_back({z[m].data(), c[m].data()});
    }
    for (int m = 0; m < count; ++m)
      batches.push_back({inputs[m].data(), outputs[m].data()});
  }

  // b + c - d of each element, and c, as the model says; nothing behind the actual size.
  void check(int count) {
    for (int m = 0; m < count; ++m)
      for (int64_t i = 0; i < most; ++i) {
        float a = float(m) + 1, b = 10 * float(m), product = a * float(2 * m + 1);
        ASSERT_EQ(z[m][i], i < n ? b + product - (a + b) : -1) << m;
        ASSERT_EQ(c[m][i], i < n ? product : -1) << m;
      }
  }

  kiln_status create(kiln_pipeline **pipeline) { return kiln_pipeline_create(stages.data(), int32_t(stages.size()), &options, pipeline); }

  int64_t n = 5;
  Library libraries[3];
  std::vector<kiln_stage> stages;
  kiln_pipeline_options options = {};
  std::vector<std::vector<float>> x, y, z, c;
  std::vector<std::vector<const void *>> inputs;
  std::vector<std::vector<void *>> outputs;
  std::vector<kiln_micro_batch> batches;
};

TEST_F(Pipeline, ComputesAllMicroBatches) {
  for (int depth : {0, 1, 2, 100}) {
    options.depth = depth;
    kiln_pipeline *pipeline = nullptr;
    ASSERT_EQ(create(&pipeline), KILN_STATUS_OK);
    for (int count : {0, 1, 2, 50}) {
      x.clear(), y.clear(), z.clear(), c.clear(), inputs.clear(), outputs.clear(), batches.clear();
      makeBatches(count);
      ASSERT_EQ(kiln_pipeline_run(pipeline, batches.data(), count, 0), KILN_STATUS_OK);
      check(count);
      EXPECT_EQ(kiln_pipeline_failed_stage(pipeline), -1);
    }
    EXPECT_STREQ(kiln_pipeline_input(pipeline, 1)->name, "y");
    EXPECT_STREQ(kiln_pipeline_output(pipeline, 1)->name, "c");
    EXPECT_EQ(kiln_pipeline_input(pipeline, 2), nullptr);
    EXPECT_EQ(kiln_pipeline_output(pipeline, -1), nullptr);
    kiln_pipeline_destroy(pipeline);
  }
}

TEST_F(Pipeline, IsNoFurtherAheadThanItsDepth) {
  makeBatches(30);
  options.depth = 2;
  behaviours[2].sleepMs = 2;
  kiln_pipeline *pipeline = nullptr;
  ASSERT_EQ(create(&pipeline), KILN_STATUS_OK);
  EXPECT_EQ(kiln_pipeline_run(pipeline, batches.data(), 30, 0), KILN_STATUS_OK);
  check(30);
  // The last stage counts a call when it begins.
  EXPECT_LE(behaviours[0].ahead, 2);
  EXPECT_GE(behaviours[0].ahead, 1);
  kiln_pipeline_destroy(pipeline);
}

TEST_F(Pipeline, TheFirstErrorEndsAllStages) {
  makeBatches(40);
  kiln_pipeline *pipeline = nullptr;
  ASSERT_EQ(create(&pipeline), KILN_STATUS_OK);
  for (int stage = 0; stage < 3; ++stage) {
    for (Behaviour &behaviour : behaviours)
      behaviour.calls = 0, behaviour.failsAt = -1;
    behaviours[stage].failsAt = 5;
    EXPECT_EQ(kiln_pipeline_run(pipeline, batches.data(), 40, 0), KILN_STATUS_INDEX_OUT_OF_BOUNDS);
    EXPECT_EQ(kiln_pipeline_failed_stage(pipeline), stage);
    EXPECT_EQ(behaviours[stage].calls, 6);
    EXPECT_LE(behaviours[0].calls, 6 + 4 + 1);
    // The pipeline can be used again.
    behaviours[stage].failsAt = -1;
    EXPECT_EQ(kiln_pipeline_run(pipeline, batches.data(), 40, 0), KILN_STATUS_OK);
    check(40);
  }
  kiln_pipeline_destroy(pipeline);
}

TEST_F(Pipeline, BeginsNothingAfterTheDeadline) {
  makeBatches(100);
  behaviours[1].sleepMs = 5;
  kiln_pipeline *pipeline = nullptr;
  ASSERT_EQ(create(&pipeline), KILN_STATUS_OK);
  EXPECT_EQ(kiln_pipeline_run(pipeline, batches.data(), 100, 20000000), KILN_STATUS_PEER_LATE);
  EXPECT_EQ(kiln_pipeline_failed_stage(pipeline), -1);
  EXPECT_LT(behaviours[1].calls, 100);
  behaviours[1].sleepMs = 0;
  EXPECT_EQ(kiln_pipeline_run(pipeline, batches.data(), 100, 60000000000), KILN_STATUS_OK);
  check(100);
  kiln_pipeline_destroy(pipeline);
}

TEST_F(Pipeline, RefusesWhatDoesNotBelongTogether) {
  kiln_pipeline *pipeline = nullptr;
  EXPECT_EQ(kiln_pipeline_create(nullptr, 3, &options, &pipeline), KILN_STATUS_NULL_POINTER);
  EXPECT_EQ(kiln_pipeline_create(stages.data(), 0, &options, &pipeline), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_pipeline_create(stages.data(), 2, &options, &pipeline), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_pipeline_create(stages.data(), 3, nullptr, &pipeline), KILN_STATUS_NULL_POINTER); // no dimensions
  // One stage, and nobody to get the others from.
  EXPECT_EQ(kiln_pipeline_create(&stages[1], 1, &options, &pipeline), KILN_STATUS_MISSING_COMMUNICATOR);
  options.depth = -1;
  EXPECT_EQ(create(&pipeline), KILN_STATUS_INVALID_ARGUMENT);
  options.depth = 0;
  options.struct_size = 8;
  EXPECT_EQ(create(&pipeline), KILN_STATUS_ABI_MISMATCH);
  options.struct_size = sizeof(options);
  n = most + 1;
  EXPECT_EQ(create(&pipeline), KILN_STATUS_SIZE_OVERFLOW);
  n = INT64_MAX / 8;
  EXPECT_EQ(create(&pipeline), KILN_STATUS_SIZE_OVERFLOW);
  n = 5;
  std::swap(stages[0], stages[1]);
  EXPECT_EQ(create(&pipeline), KILN_STATUS_INVALID_ARGUMENT);
  std::swap(stages[0], stages[1]);
  for (const char *text : {"to 1", "from", "from x", "from 1", "from 2", "given", "from 0 1"}) {
    libraries[1].metadata[3].value = text;
    EXPECT_EQ(create(&pipeline), KILN_STATUS_INVALID_ARGUMENT) << text;
  }
  libraries[1].metadata[3].value = "from 0";
  // Numbers that lead out of the caller's arrays, an output that two stages write, and readers that are no later stages.
  for (const char *text : {"given 1", "given 2", "given 100000", "given 99999999999"}) {
    libraries[0].metadata[3].value = text;
    EXPECT_EQ(create(&pipeline), KILN_STATUS_INVALID_ARGUMENT) << text;
  }
  libraries[0].metadata[3].value = "given 0";
  for (const char *text : {"result 0 to 2", "result 2 to 2", "result 100000 to 2", "result to 2", "result 1 to 1", "result 1 to 0", "result 1 to 3", "result 1 to 2 x",
                           "result 1 from 2", "result 1 to -1", "result 1 to 2 4294967298"}) {
    libraries[1].metadata[5].value = text;
    EXPECT_EQ(create(&pipeline), KILN_STATUS_INVALID_ARGUMENT) << text;
    EXPECT_NE(kiln_pipeline_create(&stages[1], 1, &options, &pipeline), KILN_STATUS_OK) << text;
  }
  libraries[1].metadata[5].value = "result 1 to 2";
  for (const char *text : {"2*", "m", "n/0", "n n", "max(n)", "(n", "n + 1"}) {
    const char *const texts[] = {text};
    libraries[1].inputs[1].dim_texts = texts;
    kiln_status status = create(&pipeline);
    EXPECT_TRUE(status == KILN_STATUS_SIZE_OVERFLOW || status == KILN_STATUS_INVALID_ARGUMENT) << text;
  }
  libraries[1].inputs[1].dim_texts = dimTexts;
  libraries[1].inputs[1].element_type = KILN_ELEMENT_I32;
  EXPECT_EQ(create(&pipeline), KILN_STATUS_INVALID_ARGUMENT);
  libraries[1].inputs[1].element_type = KILN_ELEMENT_F32;
  libraries[1].info.num_metadata = 0;
  EXPECT_EQ(create(&pipeline), KILN_STATUS_INVALID_ARGUMENT);
  libraries[1].info.abi_version = KILN_ABI_VERSION + 1;
  EXPECT_EQ(create(&pipeline), KILN_STATUS_ABI_MISMATCH);
  EXPECT_EQ(pipeline, nullptr);
  kiln_pipeline_destroy(nullptr);
  EXPECT_EQ(kiln_pipeline_run(nullptr, nullptr, 0, 0), KILN_STATUS_NULL_POINTER);
}

// Each stage in a thread of its own with a pipeline of its own, as processes have them.
class StagesAtRanks : public Pipeline {
protected:
  std::vector<kiln_status> run(kiln_local_ranks *ranks, const std::vector<int64_t> &counts, const std::vector<int32_t> &rankOf) {
    std::vector<kiln_status> statuses(3);
    std::vector<std::thread> threads;
    for (int stage = 0; stage < 3; ++stage)
      threads.emplace_back([&, stage] {
        kiln_context context = KILN_CONTEXT_INIT;
        context.communicator = kiln_local_ranks_get(ranks, rankOf[stage]);
        const kiln_context *contexts[] = {&context};
        kiln_pipeline_options own = options;
        own.contexts = contexts;
        own.ranks = rankOf.data();
        kiln_pipeline *pipeline = nullptr;
        statuses[stage] = kiln_pipeline_create(&stages[stage], 1, &own, &pipeline);
        if (!statuses[stage])
          statuses[stage] = kiln_pipeline_run(pipeline, batches.data(), counts[stage], 0);
        kiln_pipeline_destroy(pipeline);
      });
    for (std::thread &thread : threads)
      thread.join();
    return statuses;
  }
};

TEST_F(StagesAtRanks, ComputeTheSame) {
  makeBatches(25);
  kiln_local_ranks *ranks = nullptr;
  ASSERT_EQ(kiln_local_ranks_create(3, 20000000000, &ranks), KILN_STATUS_OK);
  EXPECT_EQ(run(ranks, {25, 25, 25}, {0, 1, 2}), std::vector<kiln_status>(3, KILN_STATUS_OK));
  check(25);
  EXPECT_EQ(run(ranks, {25, 25, 25}, {2, 0, 1}), std::vector<kiln_status>(3, KILN_STATUS_OK));
  check(25);
  kiln_local_ranks_destroy(ranks);
}

TEST_F(StagesAtRanks, AllEndWhenOneFails) {
  makeBatches(25);
  for (int failing = 0; failing < 3; ++failing) {
    kiln_local_ranks *ranks = nullptr;
    ASSERT_EQ(kiln_local_ranks_create(3, 2000000000, &ranks), KILN_STATUS_OK);
    for (Behaviour &behaviour : behaviours)
      behaviour.calls = 0, behaviour.failsAt = -1;
    behaviours[failing].failsAt = 7;
    std::vector<kiln_status> statuses = run(ranks, {25, 25, 25}, {0, 1, 2});
    EXPECT_EQ(statuses[failing], KILN_STATUS_INDEX_OUT_OF_BOUNDS);
    for (int stage = 0; stage < 3; ++stage)
      EXPECT_NE(statuses[stage], KILN_STATUS_OK);
    kiln_local_ranks_destroy(ranks);
  }
}

TEST_F(StagesAtRanks, MustAgree) {
  makeBatches(25);
  kiln_local_ranks *ranks = nullptr;
  ASSERT_EQ(kiln_local_ranks_create(3, 20000000000, &ranks), KILN_STATUS_OK);
  EXPECT_EQ(run(ranks, {25, 24, 25}, {0, 1, 2}), std::vector<kiln_status>(3, KILN_STATUS_RANKS_MISMATCH));
  kiln_local_ranks_destroy(ranks);
}

TEST_F(StagesAtRanks, NeedARankEach) {
  kiln_local_ranks *ranks = nullptr;
  ASSERT_EQ(kiln_local_ranks_create(2, 20000000000, &ranks), KILN_STATUS_OK);
  kiln_context context = KILN_CONTEXT_INIT;
  context.communicator = kiln_local_ranks_get(ranks, 0);
  const kiln_context *contexts[] = {&context};
  options.contexts = contexts;
  kiln_pipeline *pipeline = nullptr;
  EXPECT_EQ(kiln_pipeline_create(&stages[0], 1, &options, &pipeline), KILN_STATUS_MISSING_COMMUNICATOR);
  kiln_local_ranks_destroy(ranks);
}

} // namespace
