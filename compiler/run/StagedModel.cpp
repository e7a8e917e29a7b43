//===- StagedModel.cpp - The stages of a model as one ----------------------===//
//
// The metadata of stages says how they belong together (compiler/cut/StageModules.h). The whole model has their inputs that nobody computes and their outputs
// that are results; a run calls one stage after the other, each with borders in buffers of their own.
//
//===----------------------------------------------------------------------===//
#include "compiler/run/LoadedModel.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

using llvm::ArrayRef;
using llvm::Expected;
using llvm::StringRef;

namespace kiln {

/// Where an input comes from or an output goes to: "given 2", "result 0 to 3". Empty if the stage says nothing of it.
static StringRef findRoute(const kiln_model_info &info, StringRef kind, StringRef tensor) {
  for (int64_t i = 0; i < info.num_metadata; ++i) {
    StringRef key = info.metadata[i].key;
    if (key.consume_front("kiln.") && key.consume_front(kind) && key.consume_front(".") && key == tensor)
      return info.metadata[i].value;
  }
  return "";
}

/// The number behind a word; nullopt if it is not there.
static std::optional<size_t> findNumber(StringRef route, StringRef word) {
  size_t number;
  if (!route.consume_front(word) || !route.consume_front(" ") || route.take_until([](char c) { return c == ' '; }).getAsInteger(10, number))
    return std::nullopt;
  return number;
}

namespace {
/// Makes the table of the whole model.
class TableJoiner {
public:
  TableJoiner(ArrayRef<std::unique_ptr<LoadedModel>> stages, llvm::BumpPtrAllocator &allocator) : stages(stages), allocator(allocator) {}
  Expected<const kiln_model_info *> join(StringRef name);

private:
  /// A tensor of the whole model, and which one of a stage it is.
  struct Place {
    const LoadedModel *stage;
    size_t number;
  };
  llvm::Error collect(bool areOutputs, std::vector<Place> &places);
  template <typename T> T *allocate(size_t count) {
    T *rows = allocator.Allocate<T>(std::max<size_t>(count, 1));
    std::memset(static_cast<void *>(rows), 0, count * sizeof(T));
    return rows;
  }
  const kiln_tensor_info *joinTensors(ArrayRef<Place> places, bool areOutputs);
  /// The rows of a table that a stage may not have.
  template <typename T> const T *joinRows(ArrayRef<Place> places, const T *const kiln_model_info::*table) {
    if (llvm::none_of(places, [&](const Place &place) { return place.stage->getInfo().*table; }))
      return nullptr;
    T *rows = allocate<T>(places.size());
    for (auto [i, place] : llvm::enumerate(places))
      if (const T *own = place.stage->getInfo().*table)
        rows[i] = own[place.number];
    return rows;
  }

  ArrayRef<std::unique_ptr<LoadedModel>> stages;
  llvm::BumpPtrAllocator &allocator;
};
} // namespace

llvm::Error TableJoiner::collect(bool areOutputs, std::vector<Place> &places) {
  for (const std::unique_ptr<LoadedModel> &stage : stages)
    for (auto [i, tensor] : llvm::enumerate(areOutputs ? stage->getOutputs() : stage->getInputs())) {
      StringRef route = findRoute(stage->getInfo(), areOutputs ? "output" : "input", tensor.name);
      std::optional<size_t> number = findNumber(route, areOutputs ? "result" : "given");
      if (!number)
        continue;
      if (*number >= 1 << 20)
        return makeError("the stages do not belong together");
      if (places.size() <= *number)
        places.resize(*number + 1);
      places[*number] = {stage.get(), i};
    }
  if (llvm::any_of(places, [](const Place &place) { return !place.stage; }))
    return makeError("the stages do not belong together");
  return llvm::Error::success();
}

const kiln_tensor_info *TableJoiner::joinTensors(ArrayRef<Place> places, bool areOutputs) {
  auto *rows = allocate<kiln_tensor_info>(places.size());
  for (auto [i, place] : llvm::enumerate(places))
    rows[i] = (areOutputs ? place.stage->getOutputs() : place.stage->getInputs())[place.number];
  return rows;
}

Expected<const kiln_model_info *> TableJoiner::join(StringRef name) {
  std::vector<Place> inputs, outputs;
  if (llvm::Error error = llvm::joinErrors(collect(false, inputs), collect(true, outputs)))
    return std::move(error);
  const kiln_model_info &first = stages.front()->getInfo();
  auto *info = allocate<kiln_model_info>(1);
  char *text = allocate<char>(name.size() + 1);
  std::memcpy(text, name.data(), name.size());
  info->abi_version = first.abi_version;
  info->struct_size = sizeof(kiln_model_info);
  info->name = text;
  info->target = first.target;
  info->inputs = joinTensors(inputs, false);
  info->outputs = joinTensors(outputs, true);
  info->symbols = first.symbols;
  info->weights_file = first.weights_file;
  info->num_inputs = int32_t(inputs.size());
  info->num_outputs = int32_t(outputs.size());
  info->num_symbols = first.num_symbols;
  info->num_ranks = first.num_ranks;
  info->workspace_size = -1;
  info->weights_size = first.weights_size;
  info->weights_checksum = first.weights_checksum;
  info->input_quantization = joinRows(inputs, &kiln_model_info::input_quantization);
  info->output_quantization = joinRows(outputs, &kiln_model_info::output_quantization);
  info->input_layouts = joinRows(inputs, &kiln_model_info::input_layouts);
  info->output_layouts = joinRows(outputs, &kiln_model_info::output_layouts);
  info->output_labels = joinRows(outputs, &kiln_model_info::output_labels);
  for (const std::unique_ptr<LoadedModel> &stage : stages)
    info->num_kernels += stage->getInfo().num_kernels;
  return info;
}

Expected<std::unique_ptr<LoadedModel>> LoadedModel::loadStages(StringRef name, ArrayRef<std::string> stages,
                                                               std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects,
                                                               std::vector<std::unique_ptr<llvm::MemoryBuffer>> weights) {
  // One file for the library, or one for each rank of each stage.
  size_t own = weights.size() > 1 ? weights.size() / stages.size() : weights.size();
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> ofFirst(std::make_move_iterator(weights.begin()), std::make_move_iterator(weights.begin() + own));
  Expected<std::unique_ptr<LoadedModel>> first = load(stages.front(), std::move(objects), std::move(ofFirst));
  if (!first)
    return first.takeError();
  std::unique_ptr<LoadedModel> whole(new LoadedModel);
  whole->name = name.str();
  whole->target = (*first)->target;
  whole->jit = (*first)->jit;
  whole->weights = (*first)->weights;
  whole->stages.push_back(std::move(*first));
  for (auto [number, stage] : llvm::enumerate(stages.drop_front())) {
    std::unique_ptr<LoadedModel> next(new LoadedModel);
    next->name = stage;
    next->jit = whole->jit;
    if (own > 1)
      next->weights.assign(std::make_move_iterator(weights.begin() + (number + 1) * own), std::make_move_iterator(weights.begin() + (number + 2) * own));
    else
      next->weights = whole->weights;
    if (llvm::Error error = next->findFunctions())
      return std::move(error);
    if (llvm::Error error = next->check())
      return std::move(error);
    whole->stages.push_back(std::move(next));
  }
  Expected<const kiln_model_info *> info = TableJoiner(whole->stages, whole->tables).join(name);
  if (!info)
    return info.takeError();
  whole->info = *info;
  return std::move(whole);
}

Expected<size_t> LoadedModel::sumWorkspaces(ArrayRef<int64_t> dims) const {
  size_t sum = 0;
  for (const std::unique_ptr<LoadedModel> &stage : stages) {
    Expected<size_t> size = stage->getWorkspaceSize(dims);
    if (!size)
      return size.takeError();
    sum = *size == SIZE_MAX || sum == SIZE_MAX ? SIZE_MAX : sum + llvm::alignTo(*size, KILN_ALIGNMENT);
  }
  return sum;
}

/// Prepares the stages of a model whose own pointers are set, for each rank.
llvm::Error Execution::prepareStages() {
  if (model->stages.empty())
    return llvm::Error::success();
  if (llvm::Error error = prepareStages(outputPointers.data(), workspace.getData()))
    return error;
  for (RankTeam::Place place : team ? team->listOthers() : std::vector<RankTeam::Place>())
    if (llvm::Error error = prepareStages(place.outputs, place.workspace))
      return error;
  return llvm::Error::success();
}

/// The stages of the next rank, with workspaces in `room` and the outputs of the whole model at `places`. A border may be a part, so each rank has its own.
llvm::Error Execution::prepareStages(void *const *places, const void *room) {
  std::map<StringRef, const void *> borders;
  auto *rest = static_cast<char *>(const_cast<void *>(room));
  std::vector<Execution> &ofRank = stages.emplace_back();
  for (const std::unique_ptr<LoadedModel> &stage : model->stages) {
    Execution part;
    part.model = stage.get();
    part.dims = dims;
    for (const kiln_tensor_info &input : stage->getInputs()) {
      std::optional<size_t> number = findNumber(findRoute(stage->getInfo(), "input", input.name), "given");
      part.inputPointers.push_back(number ? inputPointers[*number] : borders[input.name]);
    }
    for (const kiln_tensor_info &output : stage->getOutputs()) {
      std::optional<size_t> number = findNumber(findRoute(stage->getInfo(), "output", output.name), "result");
      if (!number) {
        Expected<llvm::SmallVector<int64_t>> shape = stage->getShape(output, dims);
        if (!shape)
          return shape.takeError();
        Expected<Tensor> border = Tensor::create(ElementType(output.element_type), *shape);
        if (!border)
          return makeError("border '" + llvm::Twine(output.name) + "': " + llvm::toString(border.takeError()));
        part.outputs.push_back(std::move(*border));
      }
      part.outputPointers.push_back(number ? places[*number] : part.outputs.back().getData());
      borders[output.name] = part.outputPointers.back();
    }
    part.inputPointers.push_back(nullptr);
    part.outputPointers.push_back(nullptr);
    Expected<size_t> size = stage->getWorkspaceSize(dims);
    if (!size)
      return size.takeError();
    part.stageWorkspace = rest;
    rest += llvm::alignTo(*size, KILN_ALIGNMENT);
    ofRank.push_back(std::move(part));
  }
  return llvm::Error::success();
}

kiln_status Execution::callStages(int32_t rank, const kiln_context *context) const {
  for (const Execution &stage : stages[stages.size() > 1 ? size_t(rank) : 0])
    if (kiln_status status = stage.call(context))
      return status;
  return KILN_STATUS_OK;
}

} // namespace kiln
