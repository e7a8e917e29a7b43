// The threads of a pipeline. Each counts the micro-batches that its stage has done; a stage begins the next one when the stage before it is further, and the
// first when the last one is not `depth` behind. Every change of a count, of the status or of the run raises one word, at which all threads sleep.
#include "kiln/communicator.h"
#include "kiln/pipeline.h"

#include "../System.h"
#include "../Threads.h"
#include "Stage.h"

#include <stdlib.h>
#include <string.h>

using namespace kiln;

namespace {

constexpr uint32_t everybody = ~uint32_t(0);

struct Worker {
  kiln_pipeline *pipeline;
  Thread thread;
  int32_t stage; // among those of the pipeline
  bool isStarted;
  alignas(64) int64_t done; // micro-batches of this run
};

} // namespace

struct kiln_pipeline {
  alignas(64) uint64_t changes;
  Park park;
  // Of the run. The caller sets them before it raises `run`.
  uint64_t run;
  const kiln_micro_batch *batches;
  int64_t batchCount;
  int64_t end; // of the time; INT64_MAX: without
  int32_t status;
  int32_t failedStage;
  int32_t finished; // workers that are done with the run
  uint32_t quits;
  // Constant after creation.
  Stage *stages;
  Worker *workers;
  const kiln_communicator *communicator; // null where all stages are here
  const int32_t *ranks;
  int32_t count;
  int64_t depth;
};

namespace {

void announce(kiln_pipeline *pipeline) {
  __atomic_add_fetch(&pipeline->changes, 1, __ATOMIC_SEQ_CST);
  parkWake(pipeline->park, &pipeline->changes, everybody);
}

// Sleeps until the condition holds.
template <typename Condition> void await(kiln_pipeline *pipeline, Condition holds) {
  for (;;) {
    uint64_t seen = __atomic_load_n(&pipeline->changes, __ATOMIC_SEQ_CST);
    if (holds())
      return;
    parkWait(pipeline->park, &pipeline->changes, seen, everybody);
  }
}

int32_t getStatus(const kiln_pipeline *pipeline) { return __atomic_load_n(&pipeline->status, __ATOMIC_SEQ_CST); }

// Keeps the first error. `stage` is -1 where none of them is at fault.
void fail(kiln_pipeline *pipeline, kiln_status status, int32_t stage) {
  int32_t none = KILN_STATUS_OK;
  if (__atomic_compare_exchange_n(&pipeline->status, &none, int32_t(status), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    __atomic_store_n(&pipeline->failedStage, stage, __ATOMIC_SEQ_CST);
}

bool isLate(const kiln_pipeline *pipeline) { return pipeline->end != INT64_MAX && readClock() >= pipeline->end; }

bool mayBegin(const kiln_pipeline *pipeline, int32_t stage, int64_t batch) {
  const Worker &other = pipeline->workers[stage ? stage - 1 : pipeline->count - 1];
  int64_t done = __atomic_load_n(&other.done, __ATOMIC_SEQ_CST);
  return stage ? done > batch : batch - done < pipeline->depth;
}

void runStage(kiln_pipeline *pipeline, Worker &worker) {
  Stage &stage = pipeline->stages[worker.stage];
  for (int64_t batch = 0; batch < pipeline->batchCount; ++batch) {
    await(pipeline, [&] { return getStatus(pipeline) || mayBegin(pipeline, worker.stage, batch); });
    if (getStatus(pipeline))
      return;
    if (isLate(pipeline))
      fail(pipeline, KILN_STATUS_PEER_LATE, -1);
    else if (kiln_status status = stage.run(pipeline->batches, batch, pipeline->depth))
      fail(pipeline, status, stage.number);
    else
      __atomic_store_n(&worker.done, batch + 1, __ATOMIC_SEQ_CST);
    announce(pipeline);
  }
}

void *work(void *argument) {
  Worker &worker = *static_cast<Worker *>(argument);
  kiln_pipeline *pipeline = worker.pipeline;
  for (uint64_t seen = 0;;) {
    await(pipeline, [&] { return __atomic_load_n(&pipeline->quits, __ATOMIC_SEQ_CST) || __atomic_load_n(&pipeline->run, __ATOMIC_SEQ_CST) != seen; });
    if (__atomic_load_n(&pipeline->quits, __ATOMIC_SEQ_CST))
      return nullptr;
    seen = __atomic_load_n(&pipeline->run, __ATOMIC_SEQ_CST);
    runStage(pipeline, worker);
    __atomic_add_fetch(&pipeline->finished, 1, __ATOMIC_SEQ_CST);
    announce(pipeline);
  }
}

// The stage that a border comes from, if it is in this process, must give what this one takes.
kiln_status connect(kiln_pipeline *pipeline, Stage &stage) {
  for (int32_t i = 0; i < stage.library.info->num_inputs; ++i) {
    StageInput &input = stage.inputs[i];
    if (input.given >= 0 || pipeline->count == 1)
      continue;
    const Stage &from = pipeline->stages[input.from];
    for (int32_t k = 0; k < from.library.info->num_outputs; ++k)
      if (strcmp(from.outputs[k].name, input.name) == 0 && from.outputs[k].bytes == input.bytes &&
          from.library.info->outputs[k].element_type == stage.library.info->inputs[i].element_type)
        input.source = &from.outputs[k];
    if (!input.source)
      return KILN_STATUS_INVALID_ARGUMENT;
  }
  return KILN_STATUS_OK;
}

kiln_status findCommunicator(kiln_pipeline *pipeline, const kiln_communicator *given) {
  const Stage &stage = pipeline->stages[0];
  if (pipeline->count == stage.count)
    return KILN_STATUS_OK;
  if (pipeline->count != 1)
    return KILN_STATUS_INVALID_ARGUMENT;
  const kiln_context *context = stage.context;
  // That of a sharded stage has the ranks of the stage, not the stages.
  bool isInContext = context && !stage.isSharded() && KILN_HAS_FIELD(kiln_context, context, communicator);
  pipeline->communicator = given ? given : isInContext ? context->communicator : nullptr;
  if (!pipeline->communicator)
    return KILN_STATUS_MISSING_COMMUNICATOR;
  for (int32_t number = 0; number < stage.count; ++number) {
    int32_t rank = pipeline->ranks ? pipeline->ranks[number] : number;
    bool isRight = rank >= 0 && rank < pipeline->communicator->size && (rank == pipeline->communicator->rank) == (number == stage.number);
    if (!isRight)
      return KILN_STATUS_MISSING_COMMUNICATOR;
  }
  return KILN_STATUS_OK;
}

// Whether the stages have the model's inputs and outputs from the first to the last, and each output once: the caller's arrays are as long.
bool haveAllTensors(const kiln_pipeline *pipeline) {
  int32_t inputs = 0, results = 0, highest = -1;
  for (int32_t i = 0; i < pipeline->count; ++i) {
    const Stage &stage = pipeline->stages[i];
    for (int32_t k = 0; k < stage.library.info->num_inputs; ++k) {
      inputs += stage.inputs[k].given >= 0;
      highest = stage.inputs[k].given > highest ? stage.inputs[k].given : highest;
    }
    for (int32_t k = 0; k < stage.library.info->num_outputs; ++k)
      results += stage.outputs[k].result >= 0;
  }
  if (highest >= inputs)
    return false;
  for (int32_t number = 0; number <= highest; ++number)
    if (!kiln_pipeline_input(pipeline, number))
      return false;
  for (int32_t number = 0; number < results; ++number)
    if (!kiln_pipeline_output(pipeline, number))
      return false;
  return true;
}

kiln_status readStages(kiln_pipeline *pipeline, const kiln_stage *stages, const kiln_pipeline_options &options) {
  for (int32_t i = 0; i < pipeline->count; ++i) {
    Stage &stage = pipeline->stages[i];
    if (!stages[i].info || !stages[i].run || !stages[i].workspace_size)
      return KILN_STATUS_NULL_POINTER;
    stage.library = stages[i];
    stage.context = options.contexts ? options.contexts[i] : nullptr;
    stage.dims = options.dims;
    if (kiln_status status = stage.read())
      return status;
    if (pipeline->count > 1 && (stage.number != i || stage.count != pipeline->count))
      return KILN_STATUS_INVALID_ARGUMENT;
  }
  if (kiln_status status = findCommunicator(pipeline, options.communicator))
    return status;
  if (!pipeline->communicator && !haveAllTensors(pipeline))
    return KILN_STATUS_INVALID_ARGUMENT;
  for (int32_t i = 0; i < pipeline->count; ++i) {
    if (kiln_status status = connect(pipeline, pipeline->stages[i]))
      return status;
    if (kiln_status status = pipeline->stages[i].allocate(pipeline->depth))
      return status;
  }
  return KILN_STATUS_OK;
}

kiln_status startWorkers(kiln_pipeline *pipeline) {
  if (pipeline->communicator)
    return KILN_STATUS_OK;
  for (int32_t i = 0; i < pipeline->count; ++i) {
    Worker &worker = pipeline->workers[i];
    worker.pipeline = pipeline;
    worker.stage = i;
    if (!startThread(&worker.thread, work, &worker))
      return KILN_STATUS_THREAD_FAILURE;
    worker.isStarted = true;
  }
  return KILN_STATUS_OK;
}

// What all ranks must agree on, besides the libraries: the sizes and the number of micro-batches.
void makeFingerprint(const kiln_pipeline *pipeline, uint8_t fingerprint[16]) {
  const Stage &stage = pipeline->stages[0];
  const char *name = stage.library.info->name;
  size_t length = strlen(name);
  while (length && name[length - 1] >= '0' && name[length - 1] <= '9')
    --length;
  size_t symbols = size_t(stage.library.info->num_symbols);
  uint64_t numbers[4] = {kiln_checksum(name, length), uint64_t(stage.count), uint64_t(pipeline->batchCount),
                         symbols ? kiln_checksum(stage.dims, symbols * sizeof(int64_t)) : 0};
  uint64_t sums[2] = {kiln_checksum(numbers, sizeof(numbers)), kiln_checksum(numbers, sizeof(numbers) / 2)};
  memcpy(fingerprint, sums, sizeof(sums));
}

int32_t rankOf(const kiln_pipeline *pipeline, int32_t stage) { return pipeline->ranks ? pipeline->ranks[stage] : stage; }

// One micro-batch of a stage whose neighbours are in other processes. Borders come and go in the order in which the stages compute them.
kiln_status passOn(kiln_pipeline *pipeline, int64_t batch) {
  Stage &stage = pipeline->stages[0];
  const kiln_communicator &ranks = *pipeline->communicator;
  if (isLate(pipeline))
    return KILN_STATUS_PEER_LATE;
  for (int32_t i = 0; i < stage.library.info->num_inputs; ++i)
    if (StageInput &input = stage.inputs[i]; input.given < 0)
      if (kiln_status status = ranks.receive(ranks.user, rankOf(pipeline, input.from), input.buffer, input.bytes))
        return status;
  if (kiln_status status = stage.run(pipeline->batches, batch, 1)) {
    pipeline->failedStage = stage.number;
    return status;
  }
  for (int32_t i = 0; i < stage.library.info->num_outputs; ++i) {
    const StageOutput &output = stage.outputs[i];
    const char *readers = output.readers;
    for (int32_t to; takeNumber(&readers, &to);)
      if (kiln_status status = ranks.send(ranks.user, rankOf(pipeline, to), Stage::place(output, pipeline->batches[batch], 0), output.bytes))
        return status;
  }
  return KILN_STATUS_OK;
}

kiln_status runRank(kiln_pipeline *pipeline) {
  const kiln_communicator &ranks = *pipeline->communicator;
  uint8_t fingerprint[16];
  makeFingerprint(pipeline, fingerprint);
  kiln_status status = ranks.begin(ranks.user, fingerprint);
  for (int64_t batch = 0; !status && batch < pipeline->batchCount; ++batch)
    status = passOn(pipeline, batch);
  return ranks.end(ranks.user, status);
}

} // namespace

kiln_status kiln_pipeline_create(const kiln_stage *stages, int32_t count, const kiln_pipeline_options *options, kiln_pipeline **pipeline) {
  if (!stages || !pipeline)
    return KILN_STATUS_NULL_POINTER;
  *pipeline = nullptr;
  kiln_pipeline_options own = {};
  if (options) {
    if (options->abi_version != KILN_ABI_VERSION || options->struct_size < offsetof(kiln_pipeline_options, communicator))
      return KILN_STATUS_ABI_MISMATCH;
    memcpy(&own, options, options->struct_size < sizeof(own) ? options->struct_size : sizeof(own));
  }
  if (count < 1 || count > KILN_POOL_MAX_THREADS || own.depth < 0)
    return KILN_STATUS_INVALID_ARGUMENT;
  auto *made = static_cast<kiln_pipeline *>(allocateAligned(sizeof(kiln_pipeline), alignof(kiln_pipeline)));
  if (!made)
    return KILN_STATUS_OUT_OF_MEMORY;
  memset(static_cast<void *>(made), 0, sizeof(kiln_pipeline));
  made->park = Park();
  made->count = count;
  made->ranks = own.ranks;
  made->failedStage = -1;
  made->stages = static_cast<Stage *>(calloc(size_t(count), sizeof(Stage)));
  made->workers = static_cast<Worker *>(allocateAligned(size_t(count) * sizeof(Worker), alignof(Worker)));
  if (made->workers)
    memset(static_cast<void *>(made->workers), 0, size_t(count) * sizeof(Worker));
  kiln_status status = made->stages && made->workers ? KILN_STATUS_OK : KILN_STATUS_OUT_OF_MEMORY;
  // Where the others are elsewhere, a border leaves before the next one is computed.
  made->depth = count == 1 ? 1 : own.depth ? own.depth : count + 1;
  if (!status)
    status = readStages(made, stages, own);
  if (!status)
    status = startWorkers(made);
  if (status)
    kiln_pipeline_destroy(made);
  else
    *pipeline = made;
  return status;
}

void kiln_pipeline_destroy(kiln_pipeline *pipeline) {
  if (!pipeline)
    return;
  __atomic_store_n(&pipeline->quits, 1, __ATOMIC_SEQ_CST);
  announce(pipeline);
  for (int32_t i = 0; pipeline->workers && i < pipeline->count; ++i)
    if (pipeline->workers[i].isStarted)
      joinThread(&pipeline->workers[i].thread);
  for (int32_t i = 0; pipeline->stages && i < pipeline->count; ++i)
    if (pipeline->stages[i].library.info)
      pipeline->stages[i].free();
  free(pipeline->stages);
  if (pipeline->workers)
    freeAligned(pipeline->workers);
  freeAligned(pipeline);
}

const kiln_tensor_info *kiln_pipeline_input(const kiln_pipeline *pipeline, int32_t number) {
  for (int32_t i = 0; pipeline && i < pipeline->count; ++i)
    for (int32_t k = 0; k < pipeline->stages[i].library.info->num_inputs; ++k)
      if (number >= 0 && pipeline->stages[i].inputs[k].given == number)
        return &pipeline->stages[i].library.info->inputs[k];
  return nullptr;
}

const kiln_tensor_info *kiln_pipeline_output(const kiln_pipeline *pipeline, int32_t number) {
  for (int32_t i = 0; pipeline && i < pipeline->count; ++i)
    for (int32_t k = 0; k < pipeline->stages[i].library.info->num_outputs; ++k)
      if (number >= 0 && pipeline->stages[i].outputs[k].result == number)
        return &pipeline->stages[i].library.info->outputs[k];
  return nullptr;
}

kiln_status kiln_pipeline_run(kiln_pipeline *pipeline, const kiln_micro_batch *batches, int64_t count, int64_t deadline_ns) {
  if (!pipeline || (!batches && count > 0))
    return KILN_STATUS_NULL_POINTER;
  if (count < 0 || deadline_ns < 0)
    return KILN_STATUS_INVALID_ARGUMENT;
  pipeline->batches = batches;
  pipeline->batchCount = count;
  int64_t now = readClock();
  pipeline->end = deadline_ns && deadline_ns < INT64_MAX - now ? now + deadline_ns : INT64_MAX;
  pipeline->status = KILN_STATUS_OK;
  pipeline->failedStage = -1;
  if (pipeline->communicator)
    return runRank(pipeline);
  pipeline->finished = 0;
  for (int32_t i = 0; i < pipeline->count; ++i)
    pipeline->workers[i].done = 0;
  __atomic_add_fetch(&pipeline->run, 1, __ATOMIC_SEQ_CST);
  announce(pipeline);
  await(pipeline, [&] { return __atomic_load_n(&pipeline->finished, __ATOMIC_SEQ_CST) == pipeline->count; });
  return kiln_status(pipeline->status);
}

int32_t kiln_pipeline_failed_stage(const kiln_pipeline *pipeline) { return pipeline ? __atomic_load_n(&pipeline->failedStage, __ATOMIC_SEQ_CST) : -1; }
