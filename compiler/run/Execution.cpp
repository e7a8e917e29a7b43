//===- Execution.cpp - One run of a loaded model ---------------------------===//
#include "compiler/run/LoadedModel.h"
#include "kiln/images.h"
#include "kiln/runtime.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using llvm::Expected;

namespace kiln {

Expected<Execution> Execution::prepare(const LoadedModel &model, llvm::ArrayRef<Tensor> inputs, const NamedSizes &given) {
  Execution execution;
  execution.model = &model;
  Expected<std::vector<int64_t>> dims = model.inferDims(inputs, given);
  if (!dims)
    return dims.takeError();
  execution.dims = std::move(*dims);
  for (const Tensor &input : inputs) {
    execution.inputTensors.push_back(&input);
    execution.inputPointers.push_back(input.getData());
  }
  // A struct of no pointers has one reserved member.
  execution.inputPointers.push_back(nullptr);
  if (llvm::Error error = execution.makeRoom())
    return std::move(error);
  int64_t needed = execution.workspace.getByteSize();
  if (model.launched || model.weights.size() > 1) {
    Expected<std::unique_ptr<RankTeam>> team = model.launched ? model.launched->prepare(execution.inputTensors, given)
                                                              : ThreadTeam::create(int32_t(model.getInfo().num_ranks), execution.listBuffers(), needed);
    if (!team)
      return team.takeError();
    execution.team = std::move(*team);
  }
  if (llvm::Error error = execution.prepareStages())
    return std::move(error);
  return std::move(execution);
}

/// Gives outputs and workspace the memory that the dimensions ask for.
llvm::Error Execution::makeRoom() {
  outputs.clear();
  outputPointers.clear();
  rooms.clear();
  for (auto [number, info] : llvm::enumerate(model->getOutputs())) {
    Expected<std::optional<int64_t>> most = model->getMostElements(number, dims);
    if (!most)
      return most.takeError();
    Expected<llvm::SmallVector<int64_t>> shape = *most ? llvm::SmallVector<int64_t>{**most} : model->getShape(info, dims);
    if (!shape)
      return shape.takeError();
    Expected<Tensor> output = Tensor::create(ElementType(info.element_type), *shape);
    if (!output)
      return makeError("output '" + llvm::Twine(info.name) + "': " + llvm::toString(output.takeError()));
    outputPointers.push_back(output->getData());
    outputs.push_back(Tensor());
    (*most ? rooms[number] : outputs.back()) = std::move(*output);
  }
  outputPointers.push_back(nullptr);
  Expected<size_t> needed = model->getWorkspaceSize(dims);
  if (!needed)
    return needed.takeError();
  if (*needed == SIZE_MAX)
    return makeError("the model cannot run with these dimensions: " + llvm::Twine(kiln_status_string(KILN_STATUS_SIZE_OVERFLOW)) +
                     ", or one of them is outside of its bounds");
  Expected<Tensor> bytes = Tensor::create(KILN_ELEMENT_U8, int64_t(*needed));
  if (!bytes)
    return makeError("workspace: " + llvm::toString(bytes.takeError()));
  workspace = std::move(*bytes);
  return llvm::Error::success();
}

/// Makes the room that a run has asked for, which raises dimensions that bound sizes of which only the data tell. False: it has raised none.
Expected<bool> Execution::grow(const std::vector<int64_t> &before) {
  if (team || !stages.empty())
    return false;
  bool isRaised = false;
  for (int symbol = 0; symbol < model->getNumGiven(); ++symbol) {
    const kiln_symbol_info &info = model->getInfo().symbols[symbol];
    if (dims[symbol] > info.max)
      return makeError("the model did not run: dimension '" + llvm::Twine(info.name) + "' must be " + llvm::Twine(dims[symbol]) + ", beyond its bound of " +
                       llvm::Twine(info.max) + "; give --dim " + info.name + "=0.." + llvm::Twine(dims[symbol]));
    isRaised |= dims[symbol] > before[symbol];
  }
  if (isRaised)
    if (llvm::Error error = makeRoom())
      return std::move(error);
  return isRaised;
}

std::vector<const Tensor *> Execution::listBuffers() const {
  std::vector<const Tensor *> buffers;
  for (auto [number, output] : llvm::enumerate(outputs)) {
    auto room = rooms.find(number);
    buffers.push_back(room == rooms.end() ? &output : &room->second);
  }
  return buffers;
}

std::vector<const Tensor *> Execution::listEqualBuffers() const {
  std::vector<const Tensor *> buffers = listBuffers();
  for (auto [info, buffer] : llvm::zip_equal(model->getOutputs(), buffers))
    if (!model->findCut(info.name).empty())
      buffer = nullptr;
  return buffers;
}

kiln_status Execution::call(const kiln_context *context) const {
  auto one = [this](int32_t rank, void *const *places, const void *room, const kiln_context *own) {
    return stages.empty() ? callRank(rank, places, room, own) : callStages(rank, own);
  };
  if (runsAllRanks(context))
    return team->run(context, outputPointers.data(), workspace.getData(), one);
  return one(context && context->communicator ? context->communicator->rank : 0, outputPointers.data(), workspace.getData(), context);
}

kiln_status Execution::callRank(int32_t rank, void *const *outputPlaces, const void *room, const kiln_context *context) const {
  // NAME_run takes dims when the model has any, inputs, outputs, weights when they are a file, workspace, context: pointers all.
  const void *arguments[6];
  unsigned count = 0;
  // A run writes the dimensions that it computes, the same on each rank.
  std::vector<int64_t> own(rank > 0 ? dims : std::vector<int64_t>());
  if (!dims.empty())
    arguments[count++] = rank > 0 ? own.data() : dims.data();
  arguments[count++] = inputPointers.data();
  arguments[count++] = outputPlaces;
  if (!model->weights.empty())
    arguments[count++] = model->weights[model->weights.size() > 1 ? size_t(rank) : 0]->getBufferStart();
  arguments[count++] = stageWorkspace ? stageWorkspace : room;
  arguments[count++] = context;
  using P = const void *;
  void *run = model->runFunction;
  if (count == 4)
    return reinterpret_cast<kiln_status (*)(P, P, P, P)>(run)(arguments[0], arguments[1], arguments[2], arguments[3]);
  if (count == 5)
    return reinterpret_cast<kiln_status (*)(P, P, P, P, P)>(run)(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4]);
  return reinterpret_cast<kiln_status (*)(P, P, P, P, P, P)>(run)(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}

/// Copies what a run has written into tensors of the shapes that it reports.
llvm::Error Execution::shapeOutputs() {
  for (auto &[number, room] : rooms) {
    const kiln_tensor_info &info = model->getOutputs()[number];
    auto shape = model->getShape(info, dims);
    if (!shape)
      return shape.takeError();
    Expected<Tensor> output = Tensor::create(ElementType(info.element_type), *shape);
    if (!output)
      return makeError("output '" + llvm::Twine(info.name) + "': " + llvm::toString(output.takeError()));
    if (!room.isGuardIntact() || output->getByteSize() > room.getByteSize())
      return llvm::createStringError(std::errc::state_not_recoverable, "the model wrote beyond an output");
    std::memcpy(output->getData(), room.getData(), output->getByteSize());
    outputs[number] = std::move(*output);
  }
  return llvm::Error::success();
}

/// What Kiln's decoder of pictures has to say about a run that failed.
static std::string describePicture(const kiln_context *context) {
  if (!context || context->decode_image != kiln_images_decode || !context->decode_user)
    return "";
  std::string message = static_cast<const kiln_images *>(context->decode_user)->message;
  return message.empty() ? "" : " (" + message + ")";
}

/// The nodes that may have ended a run with this status: those whose kernels call functions of the program, of which `kiln run` links none, or functions of the
/// runtime. Only another run, with the profiler's hook, tells them.
static std::string describeNodes(kiln_status status, const kiln_context *context, llvm::function_ref<kiln_status(const kiln_context *)> call) {
  kiln_context watched = KILN_CONTEXT_INIT;
  if (context)
    watched = *context;
  struct Found {
    llvm::StringRef algorithm;
    std::string nodes;
  } found = {status == KILN_STATUS_MISSING_FUNCTION ? "extern_call" : "runtime_call", ""};
  watched.on_kernel_user = &found;
  watched.on_kernel = [](void *user, const kiln_kernel_info *kernel, kiln_kernel_phase phase) {
    auto *found = static_cast<Found *>(user);
    if (phase == KILN_KERNEL_BEGIN && kernel->algorithm == found->algorithm)
      found->nodes += std::string(" ") + kernel->nodes;
  };
  return call(&watched) == status && !found.nodes.empty() ? ":" + found.nodes : "";
}

/// Statuses with which only functions of the program or of the runtime end a run.
static bool isOfCalls(kiln_status status) {
  return status == KILN_STATUS_MISSING_FUNCTION || status == KILN_STATUS_STRING_ROOM_TOO_SMALL || status == KILN_STATUS_STRING_IS_NO_NUMBER;
}

bool Execution::areGuardsIntact() const {
  return llvm::all_of(outputs, [](const Tensor &output) { return output.isGuardIntact(); });
}

llvm::Error Execution::checkMemory() const {
  if (!workspace.isGuardIntact())
    return llvm::createStringError(std::errc::state_not_recoverable, "the model wrote beyond its workspace");
  if (!llvm::all_of(listBuffers(), [](const Tensor *buffer) { return buffer->isGuardIntact(); }))
    return llvm::createStringError(std::errc::state_not_recoverable, "the model wrote beyond an output");
  return llvm::Error::success();
}

std::vector<uint64_t> Execution::digestOutputs() const {
  std::vector<uint64_t> digests;
  for (const Tensor *buffer : listBuffers())
    digests.push_back(digestOutput(*buffer));
  return digests;
}

Expected<std::vector<RankTimes>> Execution::takeRankTimes() const { return team ? team->takeTimes() : std::vector<RankTimes>(); }

llvm::Error Execution::run(const kiln_context *context) {
  if (model->program)
    return runElsewhere({}).takeError();
  kiln_status status = KILN_STATUS_OK;
  for (bool isLast = false; !isLast;) {
    std::vector<int64_t> before = dims;
    status = call(context);
    Expected<bool> hasGrown = status == KILN_STATUS_DIMENSION_OUT_OF_BOUNDS ? grow(before) : Expected<bool>(false);
    if (!hasGrown)
      return hasGrown.takeError();
    isLast = !*hasGrown;
  }
  if (status) {
    auto again = [&](const kiln_context *watched) { return call(watched); };
    std::string details = status == KILN_STATUS_DIMENSION_MISMATCH ? model->describeDataDemands()
                          : isOfCalls(status)                      ? describeNodes(status, context, again)
                                                                   : describePicture(context);
    return makeError("the model did not run: " + llvm::Twine(kiln_status_string(status)) + details);
  }
  if (!workspace.isGuardIntact())
    return llvm::createStringError(std::errc::state_not_recoverable, "the model wrote beyond its workspace");
  if (runsAllRanks(context))
    if (llvm::Error error = team->check(listEqualBuffers()))
      return error;
  if (llvm::Error error = shapeOutputs())
    return error;
  bool areIntact = areGuardsIntact();
  for (const std::vector<Execution> &ofRank : stages)
    areIntact &= llvm::all_of(ofRank, [](const Execution &stage) { return stage.areGuardsIntact(); });
  if (!areIntact)
    return llvm::createStringError(std::errc::state_not_recoverable, "the model wrote beyond an output");
  return llvm::Error::success();
}

} // namespace kiln
