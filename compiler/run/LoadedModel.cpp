//===- LoadedModel.cpp - A compiled model, linked into this process --------===//
//
// The very objects that a library is packaged from are linked by LLVM's JIT linker, so that `kiln run` computes the same bits as a program
// with the library in it. What the objects contain is learnt from their NAME_info table only.
//
//===----------------------------------------------------------------------===//
#include "compiler/run/LoadedModel.h"
#include "compiler/files/Printable.h"
#include "compiler/run/DimText.h"
#include "compiler/target/native/HiddenFeatures.h"
#include "kiln/runtime.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/MapperJITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/MemoryMapper.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using llvm::ArrayRef;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

namespace kiln {

namespace {

/// A dimension that nothing has given a value yet.
constexpr int64_t unbound = -1;

llvm::Error checkArchitecture(const llvm::MemoryBuffer &object) {
  auto file = llvm::object::ObjectFile::createObjectFile(object.getMemBufferRef());
  if (!file)
    return file.takeError();
  llvm::Triple host(llvm::sys::getProcessTriple());
  if ((*file)->getArch() != host.getArch())
    return makeError("the model is compiled for " + llvm::Triple::getArchTypeName((*file)->getArch()) + ", which this machine (" + host.getArchName() +
                     ") cannot run");
  return llvm::Error::success();
}

/// This linker places nothing beyond a page, and has no use for the alignment by which systems map a library's weights in huge pages.
class PagesAtMost : public llvm::orc::ObjectLinkingLayer::Plugin {
public:
  explicit PagesAtMost(uint64_t page) : page(page) {}

  void modifyPassConfig(llvm::orc::MaterializationResponsibility &, llvm::jitlink::LinkGraph &, llvm::jitlink::PassConfiguration &passes) override {
    passes.PrePrunePasses.push_back([page = page](llvm::jitlink::LinkGraph &graph) {
      for (llvm::jitlink::Block *block : graph.blocks())
        block->setAlignment(std::min(block->getAlignment(), page));
      return llvm::Error::success();
    });
  }
  llvm::Error notifyFailed(llvm::orc::MaterializationResponsibility &) override { return llvm::Error::success(); }
  llvm::Error notifyRemovingResources(llvm::orc::JITDylib &, llvm::orc::ResourceKey) override { return llvm::Error::success(); }
  void notifyTransferringResources(llvm::orc::JITDylib &, llvm::orc::ResourceKey, llvm::orc::ResourceKey) override {}

private:
  uint64_t page;
};

} // namespace

/// What the session reports beside the error that a lookup returns: functions that are missing, which a target names for composites.
struct LinkingFaults {
  std::vector<std::string> missing;

  void report(llvm::Error error) {
    llvm::handleAllErrors(
        std::move(error),
        [&](const llvm::orc::SymbolsNotFound &fault) {
          for (const llvm::orc::SymbolStringPtr &symbol : fault.getSymbols())
            missing.push_back((*symbol).str());
        },
        [](const llvm::ErrorInfoBase &other) { printLine(llvm::errs(), "error: " + other.message()); });
  }
  llvm::Error explain(llvm::Error error) {
    if (missing.empty())
      return error;
    llvm::consumeError(std::move(error));
    llvm::sort(missing);
    return makeError("the model calls " + llvm::join(missing, ", ") + ", which nothing in this process has: --load=LIBRARY.so loads a library");
  }
};

LoadedModel::LoadedModel() = default;
LoadedModel::~LoadedModel() = default;

llvm::Error LoadedModel::link(std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects) {
  using namespace llvm::orc;
  LLJITBuilder builder;
  // One reservation for all objects: code reaches the weights by 32-bit offsets, however large they are.
  uint64_t bytes = uint64_t(64) << 20;
  for (const std::unique_ptr<llvm::MemoryBuffer> &object : objects)
    bytes += llvm::alignTo(object->getBufferSize(), uint64_t(1) << 20);
  builder.setObjectLinkingLayerCreator([bytes](ExecutionSession &session) -> Expected<std::unique_ptr<ObjectLayer>> {
    auto memory = MapperJITLinkMemoryManager::CreateWithMapper<InProcessMemoryMapper>(bytes);
    if (!memory)
      return memory.takeError();
    auto layer = std::make_unique<ObjectLinkingLayer>(session, std::move(*memory));
    layer->addPlugin(std::make_shared<PagesAtMost>(session.getPageSize()));
    return layer;
  });
  builder.setPlatformSetUp(setUpInactivePlatform); // no static constructors, no exceptions: nothing to set up
  auto created = builder.create();
  if (!created)
    return created.takeError();
  jit = std::move(*created);
  faults = std::make_shared<LinkingFaults>();
  jit->getExecutionSession().setErrorReporter([faults = faults](llvm::Error error) { faults->report(std::move(error)); });
  for (std::unique_ptr<llvm::MemoryBuffer> &object : objects)
    if (llvm::Error error = jit->addObjectFile(std::move(object)))
      return error;
  return findFunctions();
}

llvm::Error LoadedModel::findFunctions() {
  auto find = [&](StringRef suffix, auto &pointer) -> llvm::Error {
    auto address = jit->lookup(name + suffix.str());
    if (!address)
      return faults ? faults->explain(address.takeError()) : address.takeError();
    pointer = address->toPtr<std::decay_t<decltype(pointer)>>();
    return llvm::Error::success();
  };
  if (llvm::Error error = find("_info", info))
    return error;
  const char *(*targetFunction)() = nullptr;
  if (llvm::Error error = find("_target", targetFunction))
    return error;
  target = targetFunction();
  if (llvm::Error error = find("_workspace_size", workspaceFunction))
    return error;
  return find("_run", runFunction);
}

Expected<std::unique_ptr<LoadedModel>> LoadedModel::load(StringRef name, std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects,
                                                         std::vector<std::unique_ptr<llvm::MemoryBuffer>> weights) {
  llvm::InitializeNativeTarget();
  for (const std::unique_ptr<llvm::MemoryBuffer> &object : objects)
    if (llvm::Error error = checkArchitecture(*object))
      return std::move(error);
  std::unique_ptr<LoadedModel> model(new LoadedModel);
  model->name = name.str();
  for (std::unique_ptr<llvm::MemoryBuffer> &file : weights)
    model->weights.push_back(std::move(file));
  if (llvm::Error error = model->link(std::move(objects)))
    return std::move(error);
  if (llvm::Error error = model->check())
    return std::move(error);
  return std::move(model);
}

llvm::Error LoadedModel::check() const {
  if (info->abi_version != KILN_ABI_VERSION)
    return makeError("the model has ABI version " + Twine(info->abi_version) + ", expected " + Twine(KILN_ABI_VERSION));
  if (info->weights_file && weights.empty())
    return makeError("the model needs its weights file " + Twine(info->weights_file));
  // One, if only rank 0 has been compiled.
  if (info->num_ranks && weights.size() != 1 && weights.size() != size_t(info->num_ranks))
    return makeError("the model needs a file of weights for each of " + Twine(info->num_ranks) + " ranks");
  StringRef targets = info->target;
  std::string machine = program ? "the machine of '" + program->getCommand().str() + "'" : "this machine";
  if (StringRef hidden = getHiddenFeatures(); !hidden.empty() && targets.contains(','))
    machine += " without " + hidden.str();
  if (!target && targets.contains(','))
    return makeError(machine + " can run none of the model's targets (" + targets + "), or not the one that KILN_TARGET names");
  if (!target)
    return makeError("the model is compiled for " + targets + ", which needs instructions that " + machine + " does not have");
  return llvm::Error::success();
}

// The name under which expressions mention a symbol: where a dimension is the bare symbol, its text is that name.
std::string LoadedModel::getSymbolField(int symbol) const {
  for (ArrayRef<kiln_tensor_info> tensors : {getInputs(), getOutputs()})
    for (const kiln_tensor_info &tensor : tensors)
      for (int axis = 0; tensor.dim_symbols && axis < tensor.rank; ++axis)
        if (tensor.dim_symbols[axis] == symbol)
          return tensor.dim_texts[axis];
  return info->symbols[symbol].name;
}

bool LoadedModel::isRaised(int symbol) const {
  for (int64_t i = 0; i < info->num_metadata; ++i)
    if (llvm::StringRef key = info->metadata[i].key; key.consume_front("kiln.raised.") && key == info->symbols[symbol].name)
      return true;
  return false;
}

llvm::StringRef LoadedModel::findCut(llvm::StringRef tensor) const {
  for (int64_t i = 0; i < info->num_metadata; ++i)
    if (llvm::StringRef key = info->metadata[i].key; key.consume_front("kiln.shard.") && key == tensor)
      return info->metadata[i].value;
  for (const std::unique_ptr<LoadedModel> &stage : stages)
    if (llvm::StringRef cut = stage->findCut(tensor); !cut.empty())
      return cut;
  return "";
}

std::vector<LoadedModel::Slot> LoadedModel::getSlots(bool isOutput) const {
  std::vector<Slot> slots;
  size_t next = 0, tensors = isOutput ? getOutputs().size() : getInputs().size();
  auto addPlain = [&](size_t end) {
    for (; next < end; ++next)
      slots.push_back({nullptr, next, 1});
  };
  for (const kiln_sequence_info &list : getSequences()) {
    if (bool(list.is_output) != isOutput)
      continue;
    addPlain(list.first);
    slots.push_back({&list, next, size_t(std::max(list.count, 0))});
    next += slots.back().count;
  }
  addPlain(tensors);
  return slots;
}

llvm::Error LoadedModel::solveDim(const kiln_tensor_info &tensor, int axis, int64_t size, std::vector<int64_t> &dims) const {
  StringRef text = tensor.dim_texts[axis];
  int open = -1, count = 0;
  auto evaluate = [&](int64_t guess) {
    return evaluateDim(text, [&](StringRef name) -> std::optional<int64_t> {
      for (int symbol = 0; symbol < info->num_symbols; ++symbol) {
        if (name != getSymbolField(symbol))
          continue;
        if (dims[symbol] != unbound)
          return dims[symbol];
        count += open != symbol;
        open = symbol;
        return guess;
      }
      return std::nullopt;
    });
  };
  Expected<int64_t> low = evaluate(1), high = evaluate(2);
  if (!low || !high)
    return llvm::joinErrors(low.takeError(), high.takeError());
  if (open < 0 && *low != size)
    return makeError("dimension " + Twine(axis) + " of input '" + tensor.name + "' is " + Twine(size) + ", but " + text + " is " + Twine(*low));
  // One open symbol in an affine expression is solved by its slope.
  if (count == 1 && *high != *low && (size - *low) % (*high - *low) == 0) {
    int64_t solution = 1 + (size - *low) / (*high - *low);
    Expected<int64_t> check = evaluate(solution);
    if (!check)
      return check.takeError();
    if (*check == size)
      dims[open] = solution;
  }
  return llvm::Error::success();
}

/// ": must be at most 6 (Add 'z')", if a node of the model demands it.
std::string LoadedModel::describeBound(int symbol, int64_t size) const {
  std::vector<int64_t> dims(info->num_symbols, unbound);
  dims[symbol] = size;
  for (const kiln_demand_info &demand : getDemands()) {
    bool isOwn = demand.num_symbols == 1 && demand.symbols[0] == symbol && demand.status == KILN_STATUS_DIMENSION_OUT_OF_BOUNDS;
    std::optional<int64_t> number = isOwn ? evaluateDemand(demand, dims) : std::nullopt;
    if (number && !isMet(demand, *number) && !StringRef(demand.words).contains("--dim"))
      return std::string(": ") + demand.words;
  }
  return "";
}

Expected<std::vector<int64_t>> LoadedModel::inferDims(ArrayRef<Tensor> inputs, const NamedSizes &given) const {
  std::vector<int64_t> dims(info->num_symbols, unbound);
  std::vector<std::string> source(info->num_symbols);
  for (auto [place, input] : llvm::enumerate(inputs)) {
    const kiln_tensor_info &tensor = getInputs()[place];
    auto mismatch = [&](const Twine &what) { return makeError("input '" + Twine(tensor.name) + "' " + what); };
    if (input.getType() != tensor.element_type)
      return mismatch("has the element type " + getTypeName(input.getType()) + ", expected " + getTypeName(ElementType(tensor.element_type)));
    if (int64_t(input.getDims().size()) != tensor.rank)
      return mismatch("has rank " + Twine(input.getDims().size()) + " (" + input.getSignature() + "), expected " + Twine(tensor.rank));
    for (int axis = 0; axis < tensor.rank; ++axis) {
      int64_t size = input.getDims()[axis];
      if (tensor.dims[axis] >= 0 && tensor.dims[axis] != size)
        return mismatch("is " + input.getSignature() + ": dimension " + Twine(axis) + " must be " + Twine(tensor.dims[axis]));
      int symbol = tensor.dims[axis] < 0 ? tensor.dim_symbols[axis] : -1;
      if (symbol < 0)
        continue;
      const kiln_symbol_info &bounds = info->symbols[symbol];
      if (dims[symbol] != unbound && dims[symbol] != size)
        return mismatch("has " + Twine(bounds.name) + " = " + Twine(size) + ", but " + source[symbol] + " has " + Twine(dims[symbol]));
      if (size < bounds.min || size > bounds.max)
        return mismatch("has " + Twine(bounds.name) + " = " + Twine(size) + ", which is outside " + Twine(bounds.min) + " to " + Twine(bounds.max) +
                        describeBound(symbol, size));
      dims[symbol] = size;
      source[symbol] = "input '" + std::string(tensor.name) + "'";
    }
  }
  for (int symbol = 0; symbol < info->num_symbols; ++symbol)
    if (auto size = given.find(info->symbols[symbol].name); dims[symbol] == unbound && size != given.end())
      dims[symbol] = size->second;
  for (int symbol = 0; symbol < getNumGiven(); ++symbol)
    if (dims[symbol] == unbound && isRaised(symbol))
      dims[symbol] = 0;
  // Twice: the first solution may open the way to the next, and the second round checks.
  for (int round = 0; round < 2; ++round)
    for (auto [tensor, input] : llvm::zip_equal(getInputs(), inputs))
      for (int axis = 0; axis < tensor.rank; ++axis)
        if (tensor.dims[axis] < 0 && tensor.dim_symbols[axis] < 0)
          if (llvm::Error error = solveDim(tensor, axis, input.getDims()[axis], dims))
            return std::move(error);
  std::replace(dims.begin() + getNumGiven(), dims.end(), unbound, int64_t(0));
  for (int symbol = 0; symbol < info->num_symbols; ++symbol)
    if (dims[symbol] == unbound)
      return makeError("no input determines the dimension '" + Twine(info->symbols[symbol].name) + "': give --run-dim " + info->symbols[symbol].name + "=N");
  if (std::string words = explain(dims); !words.empty())
    return makeError("the model cannot run with " + words);
  return dims;
}

std::optional<int64_t> LoadedModel::evaluateDemand(const kiln_demand_info &demand, ArrayRef<int64_t> dims) const {
  Expected<int64_t> number = evaluate(demand.number, dims);
  if (number)
    return *number;
  // The run says what is wrong with such sizes.
  llvm::consumeError(number.takeError());
  return std::nullopt;
}

std::string LoadedModel::explain(ArrayRef<int64_t> dims) const {
  for (const kiln_demand_info &demand : getDemands()) {
    std::optional<int64_t> number = evaluateDemand(demand, dims);
    if (!number || isMet(demand, *number))
      continue;
    std::vector<std::string> sizes;
    for (int32_t symbol : ArrayRef(demand.symbols, size_t(demand.num_symbols)))
      sizes.push_back(getSymbolField(symbol) + " " + std::to_string(dims[symbol]));
    return llvm::join(sizes, ", ") + ": " + demand.words;
  }
  return "";
}

std::string LoadedModel::describeDataDemands() const {
  std::string text;
  for (const kiln_demand_info &demand : getDemands())
    if (demand.num_symbols == 0)
      text += (text.empty() ? ": " : "; ") + std::string(demand.words);
  return text;
}

Expected<int64_t> LoadedModel::evaluate(StringRef text, ArrayRef<int64_t> dims) const {
  return evaluateDim(text, [&](StringRef name) -> std::optional<int64_t> {
    for (int symbol = 0; symbol < info->num_symbols; ++symbol)
      if (name == getSymbolField(symbol))
        return dims[symbol];
    return std::nullopt;
  });
}

Expected<std::optional<int64_t>> LoadedModel::getMostElements(size_t output, ArrayRef<int64_t> dims) const {
  const kiln_tensor_info &tensor = getOutputs()[output];
  bool isComputed = false;
  for (int axis = 0; info->num_computed && tensor.dims && axis < tensor.rank; ++axis)
    for (int symbol = getNumGiven(); tensor.dims[axis] < 0 && symbol < info->num_symbols; ++symbol)
      isComputed |= StringRef(tensor.dim_texts[axis]).contains(getSymbolField(symbol));
  if (!isComputed)
    return std::nullopt;
  Expected<int64_t> most = evaluate(info->output_bounds[output], dims);
  if (!most)
    return most.takeError();
  return std::optional(*most);
}

Expected<llvm::SmallVector<int64_t>> LoadedModel::getShape(const kiln_tensor_info &tensor, ArrayRef<int64_t> dims) const {
  llvm::SmallVector<int64_t> shape;
  for (int axis = 0; axis < tensor.rank; ++axis) {
    if (tensor.dims[axis] >= 0) {
      shape.push_back(tensor.dims[axis]);
      continue;
    }
    Expected<int64_t> size = evaluate(tensor.dim_texts[axis], dims);
    if (!size)
      return size.takeError();
    shape.push_back(*size);
  }
  return shape;
}

Expected<size_t> LoadedModel::getWorkspaceSize(ArrayRef<int64_t> dims) const {
  if (program)
    return askWorkspaceSize(dims);
  if (!stages.empty())
    return sumWorkspaces(dims);
  if (info->num_symbols)
    return reinterpret_cast<size_t (*)(const int64_t *)>(workspaceFunction)(dims.data());
  return reinterpret_cast<size_t (*)()>(workspaceFunction)();
}

} // namespace kiln
