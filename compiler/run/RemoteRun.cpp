//===- RemoteRun.cpp - A run of a model that is a program of its own --------===//
#include "compiler/run/LoadedModel.h"
#include "compiler/run/Program.h"
#include "compiler/run/TensorMessage.h"
#include "kiln/images.h"
#include "kiln/runtime.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace kiln {

enum Request : int64_t { Describe = 0, WorkspaceSize = 1, Run = 2 };
/// In place of a status.
constexpr int64_t WantsPicture = -1;

Expected<std::unique_ptr<LoadedModel>> LoadedModel::load(std::unique_ptr<Program> program, std::unique_ptr<MemoryBuffer> weights) {
  std::unique_ptr<LoadedModel> model(new LoadedModel);
  RequestWriter request;
  request.addNumber(Describe);
  Expected<std::unique_ptr<MemoryBuffer>> answer = program->ask(request);
  if (!answer)
    return answer.takeError();
  Expected<ModelTable> table = readModelTable((*answer)->getBuffer(), model->tables);
  if (!table)
    return table.takeError();
  model->name = table->info->name ? table->info->name : "";
  if (weights)
    model->weights.push_back(std::move(weights));
  model->program = std::move(program);
  model->info = table->info;
  model->target = table->target;
  if (Error error = model->check())
    return std::move(error);
  return std::move(model);
}

Expected<size_t> LoadedModel::askWorkspaceSize(ArrayRef<int64_t> dims) const {
  if (info->workspace_size >= 0)
    return size_t(info->workspace_size);
  RequestWriter request;
  request.addNumber(WorkspaceSize);
  request.addBytes(dims.data(), dims.size() * sizeof(int64_t));
  Expected<std::unique_ptr<MemoryBuffer>> answer = program->ask(request);
  if (!answer)
    return answer.takeError();
  AnswerReader reader((*answer)->getBuffer());
  auto size = size_t(reader.takeNumber());
  return reader.isBroken() ? Expected<size_t>(makeError("the program of the model has left a broken answer")) : size;
}

static RunTimes takeTimes(AnswerReader &reader, const RunCounts &counts) {
  RunTimes times;
  for (int64_t i = 0; i < counts.runs; ++i)
    times.nanoseconds.push_back(reader.takeNumber());
  for (int64_t i = 0, kernels = counts.profiled ? reader.takeNumber() : 0; i < kernels && !reader.isBroken(); ++i) {
    auto text = [&] { return reader.takeText().value_or("").str(); };
    LaunchTime launch{text(), text(), text(), 0, 0, 0, 0, 0};
    for (int64_t *number : {&launch.calls, &launch.nanoseconds, &launch.least, &launch.flops, &launch.bytes})
      *number = reader.takeNumber();
    if (launch.calls > 0)
      times.launches.push_back(std::move(launch));
  }
  return times;
}

RequestWriter Execution::makeRequest(const RunCounts &counts) const {
  bool hasFile = model->getInfo().weights_file != nullptr;
  RequestWriter request;
  for (int64_t number : {int64_t(Run), counts.runs, counts.profiled, hasFile ? int64_t(model->weights.front()->getBufferSize()) : 0})
    request.addNumber(number);
  request.addBytes(dims.data(), dims.size() * sizeof(int64_t));
  if (hasFile)
    request.addBytes(model->weights.front()->getBufferStart(), model->weights.front()->getBufferSize());
  request.addNumber(int64_t(pictures.size()));
  for (const std::string &picture : pictures)
    request.addBytes(picture.data(), picture.size());
  for (const Tensor *input : inputTensors)
    addTensor(request, *input);
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto room = rooms.find(i);
    request.addNumber(int64_t((room == rooms.end() ? outputs[i] : room->second).getByteSize()));
  }
  return request;
}

Expected<std::optional<int64_t>> Execution::countInstructions() const {
  std::optional<int64_t> counted[2];
  for (int64_t more : {0, 1}) {
    Expected<std::optional<int64_t>> instructions = model->program->countInstructions(makeRequest({1 + more, 0}));
    if (!instructions || !*instructions)
      return instructions;
    counted[more] = *instructions;
  }
  return *counted[1] - *counted[0];
}

Error Execution::decodePicture(AnswerReader &reader) {
  int64_t format = reader.takeNumber(), channels = reader.takeNumber(), maxHeight = reader.takeNumber(), maxWidth = reader.takeNumber();
  StringRef file = reader.takeBytes(uint64_t(reader.takeNumber()));
  if (reader.isBroken() || (channels != 1 && channels != 3) || maxHeight < 1 || maxWidth < 1)
    return makeError("the program of the model has left a broken answer");
  kiln_images images = KILN_IMAGES_INIT;
  kiln_image image = {};
  image.bytes = reinterpret_cast<const uint8_t *>(file.data());
  image.size = int64_t(file.size());
  image.max_height = maxHeight;
  image.max_width = maxWidth;
  image.format = int32_t(format);
  image.channels = int32_t(channels);
  // The decoder refuses a picture beyond the model's limits or its own before it writes any pixel, so that one needs no room.
  int64_t height = 0, width = 0, own = 0, mostPixels = images.max_pixels;
  images.max_pixels = INT64_MAX;
  kiln_status status = kiln_images_size(&images, image.bytes, image.size, &height, &width, &own);
  images.max_pixels = mostPixels;
  std::string pixels;
  if (status == KILN_STATUS_OK && height <= maxHeight && width <= maxWidth && width <= mostPixels / std::max<int64_t>(height, 1)) {
    pixels.resize(size_t(height * width * channels));
    image.max_height = height;
    image.max_width = width;
  }
  image.pixels = reinterpret_cast<uint8_t *>(pixels.data());
  if (status == KILN_STATUS_OK)
    status = kiln_images_decode(&images, &image);
  if (status != KILN_STATUS_OK)
    return makeError("the model did not run: " + Twine(kiln_status_string(status)) + (*images.message ? " (" + std::string(images.message) + ")" : ""));
  RequestWriter picture;
  for (int64_t number : {int64_t(status), image.height, image.width, int64_t(pixels.size())})
    picture.addNumber(number);
  picture.addBytes(pixels.data(), pixels.size());
  pictures.push_back(picture.text().str());
  return Error::success();
}

Expected<std::unique_ptr<MemoryBuffer>> Execution::askForRun(const RunCounts &counts) {
  for (;;) {
    Expected<std::unique_ptr<MemoryBuffer>> answer = model->program->ask(makeRequest(counts));
    if (!answer)
      return answer;
    AnswerReader reader((*answer)->getBuffer());
    if (reader.takeNumber() != WantsPicture || reader.isBroken())
      return answer;
    if (Error error = decodePicture(reader))
      return std::move(error);
  }
}

Expected<RunTimes> Execution::runElsewhere(const RunCounts &counts) {
  auto bufferOf = [&](size_t output) -> Tensor & {
    auto room = rooms.find(output);
    return room == rooms.end() ? outputs[output] : room->second;
  };
  Expected<std::unique_ptr<MemoryBuffer>> answer = askForRun(counts);
  if (!answer)
    return answer.takeError();
  AnswerReader reader((*answer)->getBuffer());
  auto status = kiln_status(reader.takeNumber());
  int64_t intact = reader.takeNumber();
  if (!reader.isBroken() && status != KILN_STATUS_OK)
    return makeError("the model did not run: " + Twine(kiln_status_string(status)));
  if (!reader.isBroken() && intact != 3)
    return createStringError(std::errc::state_not_recoverable, intact & 1 ? "the model wrote beyond an output" : "the model wrote beyond its workspace");
  for (int64_t &dim : dims)
    dim = reader.takeNumber();
  for (size_t i = 0; i < outputs.size(); ++i)
    takeTensor(reader, bufferOf(i));
  RunTimes times = takeTimes(reader, counts);
  if (reader.isBroken())
    return makeError("the program of the model has left a broken answer");
  if (Error error = shapeOutputs())
    return std::move(error);
  return times;
}

} // namespace kiln
