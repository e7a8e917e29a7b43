//===- Npy.cpp - NumPy's .npy files ----------------------------------------===//
//
// A magic string, a version, the length of a header, the header (a Python dictionary of `descr`, `fortran_order` and
// `shape`), then the elements. Only that one dictionary is understood, not Python.
//
//===----------------------------------------------------------------------===//
#include "compiler/run/Npy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/EndianStream.h"
#include <cstring>
#include <optional>

using llvm::StringRef;

namespace kiln {

namespace {

constexpr StringRef magic("\x93NUMPY", 6);

struct DescrRow {
  llvm::StringLiteral descr;
  ElementType type;
};

constexpr DescrRow descrRows[] = {
    {"<f4", KILN_ELEMENT_F32}, {"<f8", KILN_ELEMENT_F64}, {"<f2", KILN_ELEMENT_F16}, {"|i1", KILN_ELEMENT_I8},
    {"<i2", KILN_ELEMENT_I16}, {"<i4", KILN_ELEMENT_I32}, {"<i8", KILN_ELEMENT_I64}, {"|u1", KILN_ELEMENT_U8},
    {"<u2", KILN_ELEMENT_U16}, {"<u4", KILN_ELEMENT_U32}, {"<u8", KILN_ELEMENT_U64}, {"|b1", KILN_ELEMENT_BOOL},
    {"<V2", KILN_ELEMENT_BF16}, {"|V2", KILN_ELEMENT_BF16},
};

/// Reads the header's dictionary from front to back.
class HeaderReader {
public:
  explicit HeaderReader(StringRef text) : text(text) {}

  llvm::Error read() {
    if (!take("{"))
      return makeError("the header of the .npy file is not a dictionary");
    while (!take("}")) {
      std::optional<StringRef> key = takeString();
      if (!key || !take(":") || !takeValue(*key))
        return makeError("the header of the .npy file is malformed near '" + text.take_front(20) + "'");
      take(",");
    }
    if (!text.trim().empty())
      return makeError("the header of the .npy file continues after its dictionary");
    if (!descr || !fortranOrder || !shape)
      return makeError("the header of the .npy file lacks descr, fortran_order or shape");
    return llvm::Error::success();
  }

  std::optional<StringRef> descr;
  std::optional<bool> fortranOrder;
  std::optional<llvm::SmallVector<int64_t>> shape;

private:
  bool take(StringRef token) {
    text = text.ltrim();
    return text.consume_front(token);
  }

  std::optional<StringRef> takeString() {
    text = text.ltrim();
    if (text.empty() || (text[0] != '\'' && text[0] != '"'))
      return std::nullopt;
    size_t end = text.find(text[0], 1);
    if (end == StringRef::npos)
      return std::nullopt;
    StringRef value = text.slice(1, end);
    text = text.drop_front(end + 1);
    return value;
  }

  bool takeValue(StringRef key) {
    if (key == "descr")
      return (descr = takeString()).has_value();
    if (key == "fortran_order") {
      bool isTrue = take("True");
      fortranOrder = isTrue;
      return isTrue || take("False");
    }
    return key == "shape" && takeShape();
  }

  bool takeShape() {
    if (!take("("))
      return false;
    shape.emplace();
    while (!take(")")) {
      int64_t dim;
      text = text.ltrim();
      if (text.consumeInteger(10, dim) || dim < 0 || shape->size() >= 64)
        return false;
      text.consume_front("L"); // Python 2 wrote long integers so
      shape->push_back(dim);
      if (!take(",") && !text.ltrim().starts_with(")"))
        return false;
    }
    return true;
  }

  StringRef text;
};

} // namespace

//===- Strings -------------------------------------------------------------===//
//
// NumPy's '<U7' holds seven characters of four bytes for each string, shorter ones are filled up with zeros.
//
//===----------------------------------------------------------------------===//

static llvm::Expected<Tensor> readTexts(StringRef bytes, size_t width, llvm::ArrayRef<int64_t> dims) {
  llvm::Expected<Tensor::Size> size = Tensor::measure(KILN_ELEMENT_STRING, dims);
  if (!size)
    return size.takeError();
  // Strings of no characters have no data that would bound their number; NumPy writes none.
  size_t count = size_t(size->elements), characters = bytes.size() / 4;
  bool fits = width == 0 || count == 0 ? count == 0 && bytes.empty() : bytes.size() % 4 == 0 && characters % width == 0 && characters / width == count;
  if (!fits)
    return makeError("the .npy file has " + llvm::Twine(bytes.size()) + " bytes of data, but " + formatSignature(KILN_ELEMENT_STRING, dims) + " of " +
                     llvm::Twine(width) + " characters needs another number");
  llvm::Expected<Tensor> tensor = Tensor::create(KILN_ELEMENT_STRING, dims);
  if (!tensor)
    return tensor;
  for (int64_t i = 0; i < tensor->getNumElements(); ++i) {
    std::string text;
    for (size_t c = 0; c < width; ++c) {
      unsigned letter = llvm::support::endian::read32le(bytes.data() + (size_t(i) * width + c) * 4);
      char encoded[4], *end = encoded;
      if (letter == 0)
        break;
      if (!llvm::ConvertCodePointToUTF8(letter, end))
        return makeError("the .npy file has a string that is not Unicode");
      text.append(encoded, end);
    }
    tensor->setText(i, text);
  }
  return tensor;
}

/// The characters of a string; bytes that are no UTF-8 become U+FFFD.
static std::vector<llvm::UTF32> decode(StringRef text) {
  std::vector<llvm::UTF32> letters(text.size());
  auto *source = reinterpret_cast<const llvm::UTF8 *>(text.begin());
  llvm::UTF32 *target = letters.data();
  (void)llvm::ConvertUTF8toUTF32(&source, source + text.size(), &target, target + letters.size(), llvm::lenientConversion);
  letters.resize(size_t(target - letters.data()));
  return letters;
}

/// The characters of the longest string, at least one.
static size_t measureTexts(const Tensor &tensor) {
  size_t width = 1;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    width = std::max(width, decode(tensor.getText(i)).size());
  return width;
}

static void writeTexts(llvm::raw_ostream &os, const Tensor &tensor, size_t width) {
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    std::vector<llvm::UTF32> letters = decode(tensor.getText(i));
    letters.resize(width);
    for (llvm::UTF32 letter : letters)
      llvm::support::endian::write(os, uint32_t(letter), llvm::endianness::little);
  }
}

bool fitsNpy(const Tensor &tensor) {
  if (tensor.getType() != KILN_ELEMENT_STRING)
    return true;
  constexpr uint64_t smallFile = 64 << 20, mostPerByte = 32;
  uint64_t bytes = 0;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    bytes += tensor.getText(i).size() + 1;
  return uint64_t(tensor.getNumElements()) * measureTexts(tensor) * sizeof(llvm::UTF32) <= std::max(smallFile, mostPerByte * bytes);
}

llvm::Expected<Tensor> readNpy(StringRef bytes) {
  if (!bytes.consume_front(magic) || bytes.size() < 4)
    return makeError("not a .npy file");
  unsigned version = uint8_t(bytes[0]), minor = uint8_t(bytes[1]);
  if (version < 1 || version > 3 || minor != 0)
    return makeError("version " + llvm::Twine(version) + "." + llvm::Twine(minor) + " of the .npy format is not known");
  bytes = bytes.drop_front(2);
  size_t lengthSize = version == 1 ? 2 : 4;
  if (bytes.size() < lengthSize)
    return makeError("the .npy file is cut off");
  size_t length = version == 1 ? llvm::support::endian::read16le(bytes.data()) : llvm::support::endian::read32le(bytes.data());
  bytes = bytes.drop_front(lengthSize);
  if (bytes.size() < length)
    return makeError("the .npy file is cut off");
  HeaderReader header(bytes.take_front(length));
  if (llvm::Error error = header.read())
    return std::move(error);
  bytes = bytes.drop_front(length);

  size_t width;
  if (StringRef descr = *header.descr; descr.consume_front("<U") && !descr.getAsInteger(10, width) && !*header.fortranOrder)
    return readTexts(bytes, width, *header.shape);
  const DescrRow *row = llvm::find_if(descrRows, [&](const DescrRow &row) {
    // Byte order says nothing of single bytes: NumPy reads '<i1' and '|i1' alike.
    return row.descr == *header.descr || (row.descr[0] == '|' && header.descr->starts_with("<") && row.descr.drop_front() == header.descr->drop_front());
  });
  if (row == std::end(descrRows))
    return makeError("element type '" + *header.descr + "' is not supported: expected little-endian f2 f4 f8, i1 to i8, u1 to u8 or b1");
  if (*header.fortranOrder && header.shape->size() > 1)
    return makeError("the .npy file is in Fortran order; save it with numpy.ascontiguousarray");
  // Before any memory is taken: the header may promise what the file does not hold.
  llvm::Expected<Tensor::Size> size = Tensor::measure(row->type, *header.shape);
  if (!size)
    return size.takeError();
  if (size_t(size->bytes) != bytes.size())
    return makeError("the .npy file has " + llvm::Twine(bytes.size()) + " bytes of data, but " + formatSignature(row->type, *header.shape) + " needs " +
                     llvm::Twine(size->bytes));
  llvm::Expected<Tensor> tensor = Tensor::create(row->type, *header.shape);
  if (!tensor)
    return tensor.takeError();
  std::memcpy(tensor->getData(), bytes.data(), bytes.size());
  tensor->normalizeBools();
  return tensor;
}

void writeNpy(llvm::raw_ostream &os, const Tensor &tensor) {
  const DescrRow *row = llvm::find_if(descrRows, [&](const DescrRow &row) { return row.type == tensor.getType(); });
  bool isText = tensor.getType() == KILN_ELEMENT_STRING;
  size_t width = isText ? measureTexts(tensor) : 0;
  std::string descr = isText ? "<U" + std::to_string(width) : row->descr.str();
  std::string header = ("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (");
  for (int64_t dim : tensor.getDims())
    header += std::to_string(dim) + ", ";
  if (tensor.getDims().size() > 1)
    header.resize(header.size() - 2);
  else if (tensor.getDims().size() == 1)
    header.pop_back();
  header += "), }";
  // The data begin at a multiple of 64 bytes; the header ends in a newline.
  header.append(63 - (magic.size() + 4 + header.size()) % 64, ' ');
  header += '\n';
  char prefix[4] = {1, 0, char(header.size() & 0xFF), char(header.size() >> 8)};
  os << magic << StringRef(prefix, 4) << header;
  if (isText)
    writeTexts(os, tensor, width);
  else
    os << StringRef(tensor.getData(), tensor.getByteSize());
}

} // namespace kiln
