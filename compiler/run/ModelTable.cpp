//===- ModelTable.cpp - The table of a model on another machine -------------===//
#include "compiler/run/Program.h"
#include "compiler/run/Tensor.h"
#include <cstring>

using namespace llvm;

namespace kiln {

namespace {

/// Copies an answer into tables whose memory is the allocator's.
class TableMaker {
public:
  TableMaker(StringRef answer, BumpPtrAllocator &allocator) : reader(answer), allocator(allocator) {}

  AnswerReader reader;

  int32_t takeInt() { return int32_t(reader.takeNumber()); }

  /// How many rows follow; none where the answer cannot be one.
  int32_t takeCount() {
    constexpr int64_t most = 1 << 24;
    int64_t count = reader.takeNumber();
    if (count >= 0 && count <= most)
      return int32_t(count);
    isWrong = true;
    return 0;
  }

  const char *takeText() {
    std::optional<StringRef> text = reader.takeText();
    if (!text)
      return nullptr;
    char *copy = allocate<char>(text->size() + 1);
    std::memcpy(copy, text->data(), text->size());
    return copy;
  }

  const kiln_tensor_info *takeTensors(int32_t count);
  const kiln_symbol_info *takeSymbols(int32_t count);
  const kiln_sequence_info *takeSequences(int32_t count);
  const char *const *takeTexts(int32_t count);
  const kiln_quantization_info *takeQuantization(int32_t count);
  const kiln_demand_info *takeDemands(int32_t count);

  bool hasFault() const { return isWrong || reader.isBroken(); }

  template <typename T> T *allocate(size_t count) {
    T *rows = allocator.Allocate<T>(count);
    std::memset(static_cast<void *>(rows), 0, count * sizeof(T));
    return rows;
  }

private:
  BumpPtrAllocator &allocator;
  bool isWrong = false;
};

} // namespace

const kiln_tensor_info *TableMaker::takeTensors(int32_t count) {
  auto *rows = allocate<kiln_tensor_info>(size_t(count));
  for (int32_t i = 0; i < count && !hasFault(); ++i) {
    kiln_tensor_info &row = rows[i];
    row.name = takeText();
    row.field = takeText();
    row.byte_size = reader.takeNumber();
    row.element_type = takeInt();
    row.rank = takeCount();
    bool isDynamic = takeInt() != 0;
    auto *dims = allocate<int64_t>(size_t(row.rank));
    auto *texts = allocate<const char *>(size_t(row.rank));
    auto *symbols = allocate<int32_t>(size_t(row.rank));
    for (int32_t axis = 0; axis < row.rank && !hasFault(); ++axis) {
      dims[axis] = reader.takeNumber();
      if (!isDynamic)
        continue;
      texts[axis] = takeText();
      symbols[axis] = takeInt();
    }
    row.dims = dims;
    row.dim_texts = isDynamic ? texts : nullptr;
    row.dim_symbols = isDynamic ? symbols : nullptr;
  }
  return rows;
}

const kiln_symbol_info *TableMaker::takeSymbols(int32_t count) {
  auto *rows = allocate<kiln_symbol_info>(size_t(count));
  for (int32_t i = 0; i < count && !hasFault(); ++i) {
    rows[i].name = takeText();
    rows[i].min = reader.takeNumber();
    rows[i].max = reader.takeNumber();
  }
  return rows;
}

const kiln_sequence_info *TableMaker::takeSequences(int32_t count) {
  auto *rows = allocate<kiln_sequence_info>(size_t(count));
  for (int32_t i = 0; i < count && !hasFault(); ++i) {
    rows[i].name = takeText();
    rows[i].first = takeInt();
    rows[i].count = takeInt();
    int32_t flags = takeInt();
    rows[i].is_output = flags & 1;
    rows[i].is_sequence = flags >> 1 & 1;
    rows[i].is_optional = flags >> 2 & 1;
    rows[i].is_bytes = flags >> 3 & 1;
  }
  return count ? rows : nullptr;
}

const char *const *TableMaker::takeTexts(int32_t count) {
  if (!takeInt())
    return nullptr;
  auto *texts = allocate<const char *>(size_t(count));
  for (int32_t i = 0; i < count && !hasFault(); ++i)
    texts[i] = takeText();
  return texts;
}

const kiln_quantization_info *TableMaker::takeQuantization(int32_t count) {
  if (!takeInt())
    return nullptr;
  auto *rows = allocate<kiln_quantization_info>(size_t(count));
  for (int32_t i = 0; i < count && !hasFault(); ++i) {
    kiln_quantization_info &row = rows[i];
    row.count = takeCount();
    row.axis = takeInt();
    StringRef scales = reader.takeBytes(uint64_t(row.count) * sizeof(float)), zeros = reader.takeBytes(uint64_t(row.count) * sizeof(int32_t));
    if (row.count == 0 || hasFault())
      continue;
    auto *scale = allocate<float>(size_t(row.count));
    auto *zero = allocate<int32_t>(size_t(row.count));
    std::memcpy(scale, scales.data(), scales.size());
    std::memcpy(zero, zeros.data(), zeros.size());
    row.scales = scale;
    row.zero_points = zero;
  }
  return rows;
}

const kiln_demand_info *TableMaker::takeDemands(int32_t count) {
  auto *rows = allocate<kiln_demand_info>(size_t(count));
  for (int32_t i = 0; i < count && !hasFault(); ++i) {
    kiln_demand_info &row = rows[i];
    row.number = takeText();
    row.words = takeText();
    row.status = takeInt();
    row.is_least = uint8_t(takeInt());
    row.num_symbols = takeCount();
    auto *symbols = allocate<int32_t>(size_t(row.num_symbols));
    for (int32_t j = 0; j < row.num_symbols && !hasFault(); ++j)
      symbols[j] = takeInt();
    row.symbols = symbols;
  }
  return count ? rows : nullptr;
}

Expected<ModelTable> readModelTable(StringRef answer, BumpPtrAllocator &allocator) {
  TableMaker maker(answer, allocator);
  auto *info = maker.allocate<kiln_model_info>(1);
  info->abi_version = uint32_t(maker.takeInt());
  info->struct_size = sizeof(kiln_model_info);
  info->num_inputs = maker.takeCount();
  info->num_outputs = maker.takeCount();
  info->num_symbols = maker.takeCount();
  info->num_computed = maker.takeCount();
  info->num_sequences = maker.takeCount();
  info->num_kernels = maker.takeCount();
  info->workspace_size = maker.reader.takeNumber();
  info->weights_size = maker.reader.takeNumber();
  info->weights_checksum = uint64_t(maker.reader.takeNumber());
  info->name = maker.takeText();
  info->target = maker.takeText();
  const char *target = maker.takeText();
  info->weights_file = maker.takeText();
  info->inputs = maker.takeTensors(info->num_inputs);
  info->outputs = maker.takeTensors(info->num_outputs);
  info->symbols = maker.takeSymbols(info->num_symbols);
  info->output_bounds = maker.takeTexts(info->num_outputs);
  info->symbol_bounds = maker.takeTexts(info->num_computed);
  info->sequences = maker.takeSequences(info->num_sequences);
  info->input_quantization = maker.takeQuantization(info->num_inputs);
  info->output_quantization = maker.takeQuantization(info->num_outputs);
  info->input_layouts = maker.takeTexts(info->num_inputs);
  info->output_layouts = maker.takeTexts(info->num_outputs);
  info->num_demands = maker.takeCount();
  info->demands = maker.takeDemands(int32_t(info->num_demands));
  if (maker.hasFault())
    return makeError("the program of the model has left a broken answer");
  return ModelTable{info, target};
}

} // namespace kiln
