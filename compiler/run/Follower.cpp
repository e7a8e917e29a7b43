//===- Follower.cpp - A sharded model whose ranks are processes: the others --===//
#include "compiler/run/LaunchedModel.h"
#include "compiler/run/LibraryFolder.h"
#include "compiler/run/LoadedModel.h"
#include "compiler/run/TensorMessage.h"
#include "kiln/runtime.h"
#include <optional>

using llvm::Error;
using llvm::Expected;

namespace kiln {

namespace {
class Follower {
public:
  Follower(Launch &launch, const kiln_context &context) : launch(launch), clock(launch.getCommunicator()), context(context) {
    this->context.communicator = clock.get();
  }
  /// Does it, and answers if rank 0 waits for that. An error is one of the launch.
  Error follow(const Launch::Order &order);

private:
  struct Run {
    std::vector<Tensor> inputs;
    std::optional<Execution> execution;
    RankTimes times;
  };
  Error load(const Launch::Order &order);
  Error prepare(AnswerReader request, Run &run);
  Error run(Run &run);
  Error check(const Run &run);
  Error takeTimes(Run &run);
  Error answer(Error fault);

  Launch &launch;
  ExchangeClock clock;
  kiln_context context;
  std::map<int64_t, std::unique_ptr<LoadedModel>> models;
  std::map<int64_t, Run> runs;
};
} // namespace

/// The text of a fault, with which an answer begins; empty for none.
static void addFault(RequestWriter &answer, Error fault) { addText(answer, llvm::toString(std::move(fault))); }

Error Follower::answer(Error fault) {
  RequestWriter answer;
  addFault(answer, std::move(fault));
  return launch.answer(answer.text());
}

Error Follower::load(const Launch::Order &order) {
  AnswerReader reader(order.bytes);
  std::string name = reader.takeText().value_or("").str();
  std::vector<std::string> libraries(size_t(reader.takeNumber()));
  for (std::string &library : libraries)
    library = reader.takeText().value_or("").str();
  std::vector<int64_t> sizes(size_t(reader.takeNumber()));
  for (int64_t &size : sizes)
    size = reader.takeNumber();
  sizes.push_back(reader.takeNumber());
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> buffers;
  for (int64_t size : sizes) {
    auto buffer = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(size_t(size), name, llvm::Align(KILN_ALIGNMENT));
    if (!buffer)
      return makeError("rank " + llvm::Twine(launch.getRank()) + ": there is no memory for the weights");
    if (Error error = launch.receive(0, buffer->getBufferStart(), size_t(size)))
      return error;
    buffers.push_back(std::move(buffer));
  }
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> weights;
  weights.push_back(std::move(buffers.back()));
  buffers.pop_back();
  for (const std::string &library : libraries)
    if (Error error = loadLibrary(library))
      return answer(std::move(error));
  Expected<std::unique_ptr<LoadedModel>> model = LoadedModel::load(name, std::move(buffers), std::move(weights));
  if (model)
    models[order.number] = std::move(*model);
  return answer(model.takeError());
}

Error Follower::prepare(AnswerReader request, Run &run) {
  auto model = models.find(request.takeNumber());
  if (model == models.end())
    return makeError(kiln_status_string(KILN_STATUS_RANKS_MISMATCH));
  NamedSizes given;
  for (int64_t i = 0, count = request.takeNumber(); i < count && !request.isBroken(); ++i) {
    std::string name = request.takeText().value_or("").str();
    given[name] = request.takeNumber();
  }
  for (int64_t i = 0, count = request.takeNumber(); i < count && !request.isBroken(); ++i) {
    Expected<Tensor> input = takeWholeTensor(request);
    if (!input)
      return input.takeError();
    run.inputs.push_back(std::move(*input));
  }
  Expected<Execution> execution = Execution::prepare(*model->second, run.inputs, given);
  if (execution)
    run.execution.emplace(std::move(*execution));
  return execution.takeError();
}

/// Its status is known to rank 0, from the end of the run.
Error Follower::run(Run &run) {
  int64_t begin = kiln_clock_ns();
  if (run.execution)
    (void)run.execution->call(&context);
  run.times.runs.push_back(kiln_clock_ns() - begin);
  return Error::success();
}

Error Follower::check(const Run &run) {
  RequestWriter answer;
  addFault(answer, run.execution->checkMemory());
  for (uint64_t digest : run.execution->digestOutputs())
    answer.addNumber(int64_t(digest));
  return launch.answer(answer.text());
}

Error Follower::takeTimes(Run &run) {
  RequestWriter answer;
  addFault(answer, Error::success());
  answer.addNumber(clock.takeTime());
  answer.addNumber(int64_t(run.times.runs.size()));
  for (int64_t time : std::exchange(run.times, RankTimes()).runs)
    answer.addNumber(time);
  return launch.answer(answer.text());
}

Error Follower::follow(const Launch::Order &order) {
  switch (order.task) {
  case Task::Load:
    return load(order);
  case Task::Unload:
    models.erase(order.number);
    return Error::success();
  case Task::Prepare:
    return answer(prepare(AnswerReader(order.bytes), runs[order.number]));
  case Task::Release:
    runs.erase(order.number);
    return Error::success();
  case Task::Run:
    return run(runs[order.number]);
  case Task::Check:
    return check(runs[order.number]);
  case Task::TakeTimes:
    return takeTimes(runs[order.number]);
  case Task::End:
    return answer(Error::success());
  default:
    return makeError(kiln_status_string(KILN_STATUS_RANKS_MISMATCH));
  }
}

int followRankZero(Launch &launch, const kiln_context &context) {
  Follower follower(launch, context);
  for (;;) {
    Expected<Launch::Order> order = launch.listen();
    if (!order)
      launch.giveUp(order.takeError());
    if (Error error = follower.follow(*order))
      launch.giveUp(std::move(error));
    if (order->task == Task::End)
      return int(order->number);
  }
}

} // namespace kiln
