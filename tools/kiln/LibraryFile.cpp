//===- LibraryFile.cpp - What a compiled library says of itself ------------===//
//
// The table is constant data with pointers, which in an object are relocations. A place in the object is a section and an offset; following
// a pointer means finding the relocation there.
//
//===----------------------------------------------------------------------===//
#include "tools/kiln/LibraryFile.h"
#include "compiler/run/Tensor.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"
#include <map>
#include <optional>

using namespace llvm;
using namespace llvm::object;

namespace kiln {

namespace {

struct Place {
  SectionRef section;
  uint64_t offset = 0;
};

class TableReader {
public:
  explicit TableReader(const ObjectFile &object) : object(object) {
    for (SectionRef section : object.sections()) {
      Expected<section_iterator> target = section.getRelocatedSection();
      if (!target) {
        consumeError(target.takeError());
        continue;
      }
      if (*target == object.section_end())
        continue;
      for (RelocationRef relocation : section.relocations())
        relocations[{(*target)->getIndex(), relocation.getOffset()}] = relocation;
    }
  }

  std::optional<uint64_t> readInteger(Place place, uint64_t field, unsigned bytes) const {
    Expected<StringRef> contents = place.section.getContents();
    if (!contents) {
      consumeError(contents.takeError());
      return std::nullopt;
    }
    if (place.offset + field + bytes > contents->size())
      return std::nullopt;
    const char *data = contents->data() + place.offset + field;
    return bytes == 4 ? support::endian::read32le(data) : support::endian::read64le(data);
  }

  std::optional<Place> follow(Place place, uint64_t field) const {
    auto found = relocations.find({place.section.getIndex(), place.offset + field});
    if (found == relocations.end())
      return std::nullopt;
    symbol_iterator symbol = found->second.getSymbol();
    Expected<int64_t> addend = ELFRelocationRef(found->second).getAddend();
    if (symbol == object.symbol_end() || !addend) {
      consumeError(addend.takeError());
      return std::nullopt;
    }
    return locate(*symbol, uint64_t(*addend));
  }

  std::optional<Place> locate(const SymbolRef &symbol, uint64_t addend) const {
    Expected<section_iterator> section = symbol.getSection();
    Expected<uint64_t> value = symbol.getValue();
    if (!section || !value || *section == object.section_end()) {
      consumeError(section.takeError());
      consumeError(value.takeError());
      return std::nullopt;
    }
    return Place{**section, *value + addend};
  }

  std::string readString(Place place, uint64_t field) const {
    std::optional<Place> target = follow(place, field);
    if (!target)
      return "";
    Expected<StringRef> contents = target->section.getContents();
    if (!contents) {
      consumeError(contents.takeError());
      return "";
    }
    return contents->drop_front(std::min<uint64_t>(target->offset, contents->size())).split('\0').first.str();
  }

private:
  const ObjectFile &object;
  std::map<std::pair<uint64_t, uint64_t>, RelocationRef> relocations;
};

Place advance(Place place, uint64_t bytes) {
  place.offset += bytes;
  return place;
}

/// Rows of kiln_tensor_info behind the pointer at `field`.
std::vector<Description::Tensor> readTensors(const TableReader &reader, Place table, uint64_t field, uint64_t count) {
  std::vector<Description::Tensor> tensors;
  std::optional<Place> rows = reader.follow(table, field);
  for (uint64_t i = 0; rows && i < count; ++i) {
    Place row = advance(*rows, i * sizeof(kiln_tensor_info));
    std::optional<uint64_t> type = reader.readInteger(row, offsetof(kiln_tensor_info, element_type), 4);
    std::optional<uint64_t> rank = reader.readInteger(row, offsetof(kiln_tensor_info, rank), 4);
    if (!type || !rank || *rank > 64)
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

std::optional<Description> readTable(const TableReader &reader, Place table) {
  auto integer = [&](size_t field, unsigned bytes) { return reader.readInteger(table, field, bytes); };
  std::optional<uint64_t> version = integer(offsetof(kiln_model_info, abi_version), 4), size = integer(offsetof(kiln_model_info, struct_size), 4);
  if (!version || *version != KILN_ABI_VERSION || !size || *size < offsetof(kiln_model_info, output_bounds))
    return std::nullopt;
  Description library;
  library.name = reader.readString(table, offsetof(kiln_model_info, name));
  library.target = reader.readString(table, offsetof(kiln_model_info, target));
  library.inputs = readTensors(reader, table, offsetof(kiln_model_info, inputs), integer(offsetof(kiln_model_info, num_inputs), 4).value_or(0));
  library.outputs = readTensors(reader, table, offsetof(kiln_model_info, outputs), integer(offsetof(kiln_model_info, num_outputs), 4).value_or(0));
  uint64_t count = integer(offsetof(kiln_model_info, num_symbols), 4).value_or(0);
  std::optional<Place> rows = reader.follow(table, offsetof(kiln_model_info, symbols)), bounds;
  uint64_t computed = 0;
  if (*size >= sizeof(kiln_model_info)) {
    bounds = reader.follow(table, offsetof(kiln_model_info, symbol_bounds));
    computed = integer(offsetof(kiln_model_info, num_computed), 4).value_or(0);
  }
  for (uint64_t i = 0; rows && i < count; ++i) {
    Place row = advance(*rows, i * sizeof(kiln_symbol_info));
    std::optional<uint64_t> low = reader.readInteger(row, offsetof(kiln_symbol_info, min), 8), high = reader.readInteger(row,
        offsetof(kiln_symbol_info, max), 8);
    if (!low || !high)
      break;
    bool isComputed = bounds && i + computed >= count;
    std::string bound = isComputed ? reader.readString(*bounds, (i + computed - count) * 8) : "";
    library.dimensions.push_back({reader.readString(row, offsetof(kiln_symbol_info, name)), int64_t(*low), int64_t(*high), bound});
  }
  library.workspaceBytes = int64_t(integer(offsetof(kiln_model_info, workspace_size), 8).value_or(uint64_t(-1)));
  library.weightsBytes = int64_t(integer(offsetof(kiln_model_info, weights_size), 8).value_or(0));
  return library;
}

std::optional<Description> readRecord(const ObjectFile &object) {
  for (SectionRef section : object.sections()) {
    Expected<StringRef> name = section.getName(), contents = section.getContents();
    bool found = name && contents && *name == recordSection;
    std::optional<Description> record = found ? descriptionFromJson(*contents) : std::nullopt;
    consumeError(joinErrors(name.takeError(), contents.takeError()));
    if (record)
      return record;
  }
  return std::nullopt;
}

std::optional<Description> readObject(const ObjectFile &object) {
  if (!object.isELF() || object.getBytesInAddress() != 8 || !object.isLittleEndian() || !object.isRelocatableObject())
    return std::nullopt;
  for (SymbolRef symbol : object.symbols()) {
    Expected<StringRef> name = symbol.getName();
    if (!name) {
      consumeError(name.takeError());
      continue;
    }
    if (!name->ends_with("_info"))
      continue;
    TableReader reader(object);
    std::optional<Place> table = reader.locate(symbol, 0);
    std::optional<Description> library = table ? readTable(reader, *table) : std::nullopt;
    if (library && library->name + "_info" == *name)
      return library;
  }
  return std::nullopt;
}

} // namespace

Expected<Description> readLibrary(MemoryBufferRef buffer) {
  Expected<std::unique_ptr<Archive>> archive = Archive::create(buffer);
  if (!archive)
    return archive.takeError();
  Error fault = Error::success();
  std::optional<Description> library, record;
  for (const Archive::Child &child : (*archive)->children(fault)) {
    Expected<std::unique_ptr<Binary>> binary = child.getAsBinary();
    if (!binary) {
      consumeError(binary.takeError());
      continue;
    }
    auto *object = dyn_cast<ObjectFile>(binary->get());
    if (object && !library)
      library = readObject(*object);
    if (object && !record)
      record = readRecord(*object);
  }
  if (fault)
    return std::move(fault);
  if (record)
    return *record;
  if (!library)
    return makeError("no library made by Kiln: it has no table of its signature");
  return *library;
}

} // namespace kiln
