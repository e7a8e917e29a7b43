//===- LibraryFile.cpp - What a compiled library says of itself ------------===//
//
// The table is constant data with pointers, which in an object are relocations. A place in the object is a section and an offset; following
// a pointer means finding the relocation there.
//
//===----------------------------------------------------------------------===//
#include "tools/kiln/LibraryFile.h"
#include "compiler/files/Printable.h"
#include "compiler/kernels/KernelRecord.h"
#include "compiler/run/Tensor.h"
#include "tools/kiln/ObjectTables.h"
#include "tools/kiln/RecordSection.h"
#include <optional>

using namespace llvm;

namespace kiln {

namespace {

using Place = ObjectTables::Place;

constexpr StringLiteral infoEnding = "_info";

Place advance(Place place, uint64_t bytes) {
  place.offset += bytes;
  return place;
}

/// Reads the table of one object. Many pointers may lead to one long text: all that is read has a limit.
class TableReader {
public:
  explicit TableReader(ObjectTables &object) : object(object) {}

  std::optional<uint64_t> readInteger(Place place, uint64_t field, unsigned bytes) const { return object.readInteger(advance(place, field), bytes); }
  std::optional<Place> follow(Place place, uint64_t field) { return object.follow(advance(place, field)); }

  std::string readString(Place place, uint64_t field) {
    std::optional<Place> target = follow(place, field);
    StringRef text = target ? object.readText(*target) : "";
    size_t cost = text.size() + fewestBytes;
    if (cost > left) {
      left = 0;
      return "";
    }
    left -= cost;
    return jsonText(text);
  }

  bool isString(Place place, uint64_t field, StringRef text) {
    std::optional<Place> target = follow(place, field);
    StringRef rest = target ? object.readRest(*target) : "";
    return rest.consume_front(text) && rest.starts_with(StringRef("", 1));
  }

  /// Rows that lie in the section behind the place.
  uint64_t countRows(Place place, uint64_t bytes) const { return object.readRest(place).size() / bytes; }
  /// Counts bytes that are about to be read; false if more was asked for than any library has.
  bool take(uint64_t bytes) {
    bool isThere = bytes <= left;
    left = isThere ? left - bytes : 0;
    return isThere;
  }
  /// Whether more was asked for than any library has.
  bool isSpent() const { return left == 0; }

private:
  static constexpr size_t fewestBytes = 16;
  ObjectTables &object;
  size_t left = size_t(64) << 20;
};

/// Rows of kiln_tensor_info behind the pointer at `field`.
std::vector<Description::Tensor> readTensors(TableReader &reader, Place table, uint64_t field, uint64_t count) {
  std::vector<Description::Tensor> tensors;
  std::optional<Place> rows = reader.follow(table, field);
  count = rows ? std::min(count, reader.countRows(*rows, sizeof(kiln_tensor_info))) : 0;
  for (uint64_t i = 0; i < count && !reader.isSpent(); ++i) {
    Place row = advance(*rows, i * sizeof(kiln_tensor_info));
    std::optional<uint64_t> type = reader.readInteger(row, offsetof(kiln_tensor_info, element_type), 4);
    std::optional<uint64_t> rank = reader.readInteger(row, offsetof(kiln_tensor_info, rank), 4);
    if (!type || *type > KILN_ELEMENT_F8E8M0 || !rank || *rank > 64)
      break;
    std::optional<Place> dims = reader.follow(row, offsetof(kiln_tensor_info, dims)), texts = reader.follow(row, offsetof(kiln_tensor_info, dim_texts));
    std::vector<std::string> shape;
    for (uint64_t axis = 0; axis < *rank; ++axis) {
      std::string text = texts ? reader.readString(*texts, axis * 8) : "";
      shape.push_back(!text.empty() || !dims ? text : std::to_string(int64_t(reader.readInteger(*dims, axis * 8, 8).value_or(0))));
    }
    tensors.push_back({reader.readString(row, offsetof(kiln_tensor_info, name)), formatSignature(ElementType(*type), shape)});
  }
  return tensors;
}

/// Adds what the rows of kiln_quantization_info behind the pointer at `field` say of the tensors.
void readQuantization(TableReader &reader, Place table, uint64_t field, std::vector<Description::Tensor> &tensors) {
  std::optional<Place> rows = reader.follow(table, field);
  uint64_t count = rows ? std::min<uint64_t>(tensors.size(), reader.countRows(*rows, sizeof(kiln_quantization_info))) : 0;
  for (uint64_t i = 0; i < count && !reader.isSpent(); ++i) {
    Place row = advance(*rows, i * sizeof(kiln_quantization_info));
    std::optional<Place> scales = reader.follow(row, offsetof(kiln_quantization_info, scales));
    std::optional<Place> zeros = reader.follow(row, offsetof(kiln_quantization_info, zero_points));
    uint64_t length = reader.readInteger(row, offsetof(kiln_quantization_info, count), 4).value_or(0);
    if (!scales || !zeros || length == 0 || !reader.take(length * 8))
      continue;
    nn::TensorQuantization quantization{int32_t(reader.readInteger(row, offsetof(kiln_quantization_info, axis), 4).value_or(uint64_t(-1))), {}, {}};
    for (uint64_t at = 0; at < length; ++at) {
      std::optional<uint64_t> scale = reader.readInteger(*scales, at * 4, 4), zero = reader.readInteger(*zeros, at * 4, 4);
      if (!scale || !zero)
        break;
      quantization.scales.push_back(bit_cast<float>(uint32_t(*scale)));
      quantization.zeroPoints.push_back(int32_t(uint32_t(*zero)));
    }
    if (quantization.scales.size() == length)
      tensors[i].quantization = std::move(quantization);
  }
}

/// Adds what the rows of kiln_labels_info say of the outputs.
void readLabels(TableReader &reader, Place table, std::vector<Description::Tensor> &tensors) {
  std::optional<Place> rows = reader.follow(table, offsetof(kiln_model_info, output_labels));
  uint64_t count = rows ? std::min<uint64_t>(tensors.size(), reader.countRows(*rows, sizeof(kiln_labels_info))) : 0;
  for (uint64_t i = 0; i < count && !reader.isSpent(); ++i) {
    Place row = advance(*rows, i * sizeof(kiln_labels_info));
    std::optional<Place> integers = reader.follow(row, offsetof(kiln_labels_info, integers)), strings = reader.follow(row, offsetof(kiln_labels_info, strings));
    uint64_t length = reader.readInteger(row, offsetof(kiln_labels_info, count), 4).value_or(0);
    if (!integers == !strings || length == 0 || !reader.take(length * 16))
      continue;
    nn::ClassLabels labels{int32_t(reader.readInteger(row, offsetof(kiln_labels_info, axis), 4).value_or(uint64_t(-1))), {}, {}};
    for (uint64_t at = 0; at < length && !reader.isSpent(); ++at) {
      if (strings)
        labels.strings.push_back(reader.readString(*strings, at * sizeof(kiln_string)));
      else if (std::optional<uint64_t> value = reader.readInteger(*integers, at * 8, 8))
        labels.integers.push_back(int64_t(*value));
    }
    if (labels.size() == length)
      tensors[i].labels = std::move(labels);
  }
}

void readMetadata(TableReader &reader, Place table, Description &library) {
  std::optional<Place> rows = reader.follow(table, offsetof(kiln_model_info, metadata));
  uint64_t count = reader.readInteger(table, offsetof(kiln_model_info, num_metadata), 8).value_or(0);
  count = rows ? std::min(count, reader.countRows(*rows, sizeof(kiln_metadata_entry))) : 0;
  for (uint64_t i = 0; i < count && !reader.isSpent(); ++i) {
    Place row = advance(*rows, i * sizeof(kiln_metadata_entry));
    std::string key = reader.readString(row, offsetof(kiln_metadata_entry, key));
    library.metadata.push_back({std::move(key), reader.readString(row, offsetof(kiln_metadata_entry, value))});
  }
}

void readSymbols(TableReader &reader, Place table, bool hasBounds, Description &library) {
  auto integer = [&](size_t field) { return reader.readInteger(table, field, 4).value_or(0); };
  uint64_t count = integer(offsetof(kiln_model_info, num_symbols)), computed = hasBounds ? integer(offsetof(kiln_model_info, num_computed)) : 0;
  std::optional<Place> rows = reader.follow(table, offsetof(kiln_model_info, symbols)), bounds;
  if (hasBounds)
    bounds = reader.follow(table, offsetof(kiln_model_info, symbol_bounds));
  uint64_t there = rows ? std::min(count, reader.countRows(*rows, sizeof(kiln_symbol_info))) : 0;
  for (uint64_t i = 0; i < there && !reader.isSpent(); ++i) {
    Place row = advance(*rows, i * sizeof(kiln_symbol_info));
    std::optional<uint64_t> low = reader.readInteger(row, offsetof(kiln_symbol_info, min), 8), high = reader.readInteger(row,
        offsetof(kiln_symbol_info, max), 8);
    if (!low || !high)
      break;
    bool isComputed = bounds && i + computed >= count;
    std::string bound = isComputed ? reader.readString(*bounds, (i + computed - count) * 8) : "";
    library.dimensions.push_back({reader.readString(row, offsetof(kiln_symbol_info, name)), int64_t(*low), int64_t(*high), bound});
  }
}

/// The table that the symbol `NAME_info` names.
std::optional<Description> readTable(ObjectTables &object, StringRef symbol, Place table) {
  TableReader reader(object);
  auto integer = [&](size_t field, unsigned bytes) { return reader.readInteger(table, field, bytes); };
  std::optional<uint64_t> version = integer(offsetof(kiln_model_info, abi_version), 4), size = integer(offsetof(kiln_model_info, struct_size), 4);
  if (!version || *version != KILN_ABI_VERSION || !size || *size < offsetof(kiln_model_info, output_bounds))
    return std::nullopt;
  Description library;
  library.name = symbol.drop_back(infoEnding.size()).str();
  if (!reader.isString(table, offsetof(kiln_model_info, name), library.name))
    return std::nullopt;
  library.target = reader.readString(table, offsetof(kiln_model_info, target));
  library.inputs = readTensors(reader, table, offsetof(kiln_model_info, inputs), integer(offsetof(kiln_model_info, num_inputs), 4).value_or(0));
  library.outputs = readTensors(reader, table, offsetof(kiln_model_info, outputs), integer(offsetof(kiln_model_info, num_outputs), 4).value_or(0));
  readSymbols(reader, table, /*hasBounds=*/*size >= offsetof(kiln_model_info, input_quantization), library);
  if (*size >= offsetof(kiln_model_info, input_layouts)) {
    readQuantization(reader, table, offsetof(kiln_model_info, input_quantization), library.inputs);
    readQuantization(reader, table, offsetof(kiln_model_info, output_quantization), library.outputs);
  }
  if (*size > offsetof(kiln_model_info, output_labels))
    readLabels(reader, table, library.outputs);
  if (*size > offsetof(kiln_model_info, num_metadata))
    readMetadata(reader, table, library);
  library.workspaceBytes = int64_t(integer(offsetof(kiln_model_info, workspace_size), 8).value_or(uint64_t(-1)));
  library.weightsBytes = int64_t(integer(offsetof(kiln_model_info, weights_size), 8).value_or(0));
  return reader.isSpent() ? std::nullopt : std::optional(std::move(library));
}

std::optional<Description> readInfo(ObjectTables &object) {
  for (const ObjectTables::Symbol &symbol : object.findSymbols(infoEnding))
    if (std::optional<Description> library = readTable(object, symbol.name, symbol.place))
      return library;
  return std::nullopt;
}

} // namespace

std::optional<std::string> readKernelsRecord(MemoryBufferRef archive) {
  Expected<std::vector<StringRef>> members = listMembers(archive.getBuffer());
  if (!members) {
    consumeError(members.takeError());
    return std::nullopt;
  }
  for (StringRef member : *members)
    if (std::optional<StringRef> record = findRecordSection(member, kernelsSection))
      return record->str();
  return std::nullopt;
}

Expected<Description> readLibrary(MemoryBufferRef archive) {
  Expected<std::vector<StringRef>> members = listMembers(archive.getBuffer());
  if (!members)
    return members.takeError();
  std::optional<Description> library;
  for (StringRef member : *members) {
    std::optional<ObjectTables> object = ObjectTables::read(member);
    std::optional<StringRef> record = findRecordSection(member, recordSection);
    std::optional<Description> recorded = record ? descriptionFromJson(*record) : std::nullopt;
    if (recorded)
      return std::move(*recorded);
    if (object && !library)
      library = readInfo(*object);
  }
  if (!library)
    return makeError("not a library made by Kiln: it has no signature table");
  return std::move(*library);
}

} // namespace kiln
