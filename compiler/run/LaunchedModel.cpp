//===- LaunchedModel.cpp - A sharded model whose ranks are processes: rank 0 -===//
#include "compiler/run/LaunchedModel.h"
#include "compiler/run/TensorMessage.h"
#include "kiln/runtime.h"
#include "llvm/ADT/STLExtras.h"

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

namespace kiln {

/// Of models and executions, from 1.
static int64_t lastNumber = 0;

/// Hears a rank whose answer begins with an error's text, which is empty if there is none.
static Expected<std::string> hearOf(Launch &launch, int32_t rank) {
  Expected<std::string> answer = launch.hear(rank);
  if (!answer)
    return answer;
  AnswerReader reader(*answer);
  if (std::string fault = reader.takeText().value_or("").str(); !fault.empty())
    return makeError("rank " + Twine(rank) + ": " + fault);
  return answer;
}

//===- The model -------------------------------------------------------------===//

Expected<std::shared_ptr<LaunchedModel>> LaunchedModel::share(Launch &launch, const ModelParts &parts) {
  std::shared_ptr<LaunchedModel> model(new LaunchedModel(launch, ++lastNumber));
  auto guard = launch.lock();
  for (int32_t rank = 1; rank < launch.getSize(); ++rank) {
    std::unique_ptr<llvm::MemoryBuffer> weights = parts.weights(rank);
    if (!weights)
      return makeError("there is no memory for the weights of rank " + Twine(rank));
    RequestWriter sizes;
    addText(sizes, parts.name);
    sizes.addNumber(int64_t(parts.libraries.size()));
    for (StringRef library : parts.libraries)
      addText(sizes, library);
    sizes.addNumber(int64_t(parts.objects.size()));
    for (const std::unique_ptr<llvm::MemoryBuffer> &object : parts.objects)
      sizes.addNumber(int64_t(object->getBufferSize()));
    sizes.addNumber(int64_t(weights->getBufferSize()));
    if (Error error = launch.tell(rank, Task::Load, model->number, sizes.text()))
      return std::move(error);
    for (const std::unique_ptr<llvm::MemoryBuffer> &object : parts.objects)
      if (Error error = launch.send(rank, object->getBuffer()))
        return std::move(error);
    if (Error error = launch.send(rank, weights->getBuffer()))
      return std::move(error);
    model->told = rank + 1;
  }
  return model;
}

Error LaunchedModel::confirm() {
  auto guard = launch.lock();
  Error errors = Error::success();
  for (; firstUnheard < told; ++firstUnheard)
    if (Expected<std::string> answer = hearOf(launch, firstUnheard); !answer)
      errors = llvm::joinErrors(std::move(errors), answer.takeError());
  return errors;
}

LaunchedModel::~LaunchedModel() {
  // A launch that has failed says so at its end.
  llvm::consumeError(confirm());
  auto guard = launch.lock();
  llvm::consumeError(launch.tell(Task::Unload, number));
}

//===- Its runs --------------------------------------------------------------===//

namespace {
class LaunchedTeam : public RankTeam {
public:
  explicit LaunchedTeam(Launch &launch) : launch(launch), number(++lastNumber), clock(launch.getCommunicator()) {}
  ~LaunchedTeam() override {
    auto guard = launch.lock();
    llvm::consumeError(launch.tell(Task::Release, number));
  }
  Error prepare(RequestWriter &request);
  kiln_status run(const kiln_context *context, void *const *outputs, const void *workspace, Call call) override;
  Error check(llvm::ArrayRef<const Tensor *> outputs) override;
  Expected<std::vector<RankTimes>> takeTimes() override;
  int64_t getNumber() const { return number; }

private:
  Launch &launch;
  int64_t number;
  ExchangeClock clock;
  RankTimes own;
};
} // namespace

Error LaunchedTeam::prepare(RequestWriter &request) {
  auto guard = launch.lock();
  if (Error error = launch.tell(Task::Prepare, number, request.text()))
    return error;
  Error errors = Error::success();
  for (int32_t rank = 1; rank < launch.getSize(); ++rank)
    if (Expected<std::string> answer = hearOf(launch, rank); !answer)
      errors = llvm::joinErrors(std::move(errors), answer.takeError());
  return errors;
}

kiln_status LaunchedTeam::run(const kiln_context *context, void *const *outputs, const void *workspace, Call call) {
  kiln_context joined = context ? *context : kiln_context(KILN_CONTEXT_INIT);
  joined.communicator = clock.get();
  auto guard = launch.lock();
  if (kiln_status status = launch.tellRun(number))
    return status;
  int64_t begin = kiln_clock_ns();
  kiln_status status = call(0, outputs, workspace, &joined);
  own.runs.push_back(kiln_clock_ns() - begin);
  return status;
}

Error LaunchedTeam::check(llvm::ArrayRef<const Tensor *> outputs) {
  auto guard = launch.lock();
  if (Error error = launch.tell(Task::Check, number))
    return error;
  Error errors = Error::success();
  for (int32_t rank = 1; rank < launch.getSize(); ++rank) {
    Expected<std::string> answer = hearOf(launch, rank);
    if (!answer) {
      errors = llvm::joinErrors(std::move(errors), answer.takeError());
      continue;
    }
    AnswerReader reader(*answer);
    reader.takeText();
    for (auto [i, output] : llvm::enumerate(outputs))
      if (uint64_t digest = uint64_t(reader.takeNumber()); output && digest != digestOutput(*output)) {
        errors = llvm::joinErrors(std::move(errors), reportDifference(rank, i));
        break;
      }
  }
  return errors;
}

Expected<std::vector<RankTimes>> LaunchedTeam::takeTimes() {
  auto guard = launch.lock();
  own.exchange = clock.takeTime();
  std::vector<RankTimes> times{std::exchange(own, RankTimes())};
  if (Error error = launch.tell(Task::TakeTimes, number))
    return std::move(error);
  for (int32_t rank = 1; rank < launch.getSize(); ++rank) {
    Expected<std::string> answer = hearOf(launch, rank);
    if (!answer)
      return answer.takeError();
    AnswerReader reader(*answer);
    reader.takeText();
    RankTimes &other = times.emplace_back();
    other.exchange = reader.takeNumber();
    for (int64_t run = 0, runs = reader.takeNumber(); run < runs && !reader.isBroken(); ++run)
      other.runs.push_back(reader.takeNumber());
  }
  return times;
}

Expected<std::unique_ptr<RankTeam>> LaunchedModel::prepare(llvm::ArrayRef<const Tensor *> inputs, const std::map<std::string, int64_t> &given) {
  auto team = std::make_unique<LaunchedTeam>(launch);
  RequestWriter request;
  request.addNumber(number);
  request.addNumber(int64_t(given.size()));
  for (const auto &[name, size] : given) {
    addText(request, name);
    request.addNumber(size);
  }
  request.addNumber(int64_t(inputs.size()));
  for (const Tensor *input : inputs)
    addWholeTensor(request, *input);
  if (Error error = team->prepare(request))
    return std::move(error);
  return std::move(team);
}

} // namespace kiln
