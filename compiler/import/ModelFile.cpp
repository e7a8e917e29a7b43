//===- ModelFile.cpp - The model file and the files beside it ---------------===//
#include "compiler/import/ModelFile.h"
#include "compiler/import/NodeOrder.h"
#include "compiler/import/Delegates.h"
#include "compiler/import/FunctionLibraries.h"
#include "compiler/import/Import.h"
#include "compiler/import/SilentProtobuf.h"
#include "compiler/import/TextModel.h"
#include "compiler/import/onnx.pb.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace kiln::import {

//===- MappedFile ----------------------------------------------------------===//

std::unique_ptr<MappedFile> MappedFile::map(int descriptor, std::string &reason) {
  struct stat status;
  const char *data = nullptr;
  if (fstat(descriptor, &status) != 0)
    reason = std::strerror(errno);
  else if (S_ISDIR(status.st_mode))
    reason = "is a directory";
  else if (!S_ISREG(status.st_mode))
    reason = "is not a regular file";
  else if (status.st_size > 0) {
    void *address = mmap(nullptr, status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (address == MAP_FAILED)
      reason = std::string("cannot map: ") + std::strerror(errno);
    else
      data = static_cast<const char *>(address);
  }
  close(descriptor);
  if (!reason.empty())
    return nullptr;
  return std::unique_ptr<MappedFile>(new MappedFile(data, data ? status.st_size : 0));
}

MappedFile::~MappedFile() {
  if (size)
    munmap(const_cast<char *>(data), size);
}

//===- Parsing -------------------------------------------------------------===//

namespace {
/// Keeps the first message of protobuf's text parser.
struct FirstError : google::protobuf::io::ErrorCollector {
  void AddError(int line, int column, const std::string &message) override {
    if (text.empty())
      text = "line " + std::to_string(line + 1) + ": " + message;
  }
  std::string text;
};
} // namespace

/// The first bytes of files that are often mistaken for models.
static StringRef otherFormat(ArrayRef<char> bytes) {
  StringRef head(bytes.data(), std::min<size_t>(bytes.size(), 16));
  if (head.starts_with("PK\x03\x04"))
    return "a zip archive (torch.onnx.export writes models of PyTorch, tf2onnx those of Keras)";
  if (head.starts_with("GGUF"))
    return "a GGUF file";
  if (head.substr(4).starts_with("TFL3"))
    return "a TensorFlow Lite file (tf2onnx converts it)";
  if (head.substr(4).starts_with("ORTM"))
    return "a file in ONNX Runtime's own format (compile the .onnx that it was made from)";
  if (head.starts_with("\x89HDF"))
    return "an HDF5 file (tf2onnx converts models of Keras)";
  if (head.starts_with("\x80\x02") || head.starts_with("\x80\x04"))
    return "a Python pickle (torch.onnx.export writes models of PyTorch, skl2onnx those of scikit-learn)";
  if (head.size() > 9 && head.substr(8).starts_with("{\""))
    return "a safetensors file";
  return "";
}

namespace {
/// A mapped file whose pages are released after they have been read, so that a large model is in memory only once, as protobuf's copy.
class ReleasingStream : public google::protobuf::io::ZeroCopyInputStream {
public:
  explicit ReleasingStream(ArrayRef<char> bytes) : bytes(bytes), array(bytes.data(), static_cast<int>(bytes.size()), pieceBytes) {}
  bool Next(const void **data, int *size) override {
    bool more = array.Next(data, size);
    size_t begin = more ? static_cast<const char *>(*data) - bytes.data() : bytes.size(), done = begin / pieceBytes * pieceBytes;
    if (done > released)
      madvise(const_cast<char *>(bytes.data()) + released, done - released, MADV_DONTNEED);
    released = std::max(released, done);
    return more;
  }
  void BackUp(int count) override { array.BackUp(count); }
  bool Skip(int count) override { return array.Skip(count); }
  int64_t ByteCount() const override { return array.ByteCount(); }

private:
  static constexpr int pieceBytes = 1 << 22;
  ArrayRef<char> bytes;
  google::protobuf::io::ArrayInputStream array;
  size_t released = 0;
};
} // namespace

static LogicalResult parse(ArrayRef<char> bytes, StringRef extension, onnx::ModelProto &model, Diagnostics &diagnostics) {
  using namespace google::protobuf;
  SilentProtobuf silence;
  if (bytes.empty())
    return diagnostics.error("the file is empty");
  if (bytes.size() > INT32_MAX)
    return diagnostics.error("cannot parse a model file of more than 2 GiB; store its weights as external data");
  if (std::string error; extension == ".onnxtxt")
    return parseTextModel({bytes.data(), bytes.size()}, model, error) ? success() : diagnostics.error("cannot parse as ONNX text: " + error);
  ReleasingStream stream(bytes);
  if (extension == ".textproto") {
    FirstError first;
    TextFormat::Parser parser;
    parser.RecordErrorsTo(&first);
    parser.SetRecursionLimit(200);
    if (!parser.Parse(&stream, &model))
      return diagnostics.error("cannot parse as protobuf text: " + first.text);
    return success();
  }
  io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(INT32_MAX);
  coded.SetRecursionLimit(200);
  if (model.ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage())
    return success();
  if (StringRef format = otherFormat(bytes); !format.empty())
    return diagnostics.error("cannot parse: this is " + format + ", not an ONNX model");
  return diagnostics.error("cannot parse: not an ONNX model, or truncated, or nested too deeply");
}

ModelFile::ModelFile(std::string path, bool followsLinks) : path(std::move(path)), followsLinks(followsLinks), proto(std::make_unique<onnx::ModelProto>()) {
  StringRef parent = sys::path::parent_path(this->path);
  folder = parent.empty() ? "." : parent.str();
}

ModelFile::~ModelFile() = default;

LogicalResult ModelFile::load(Diagnostics &diagnostics) {
  int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return diagnostics.error(errno == ENOENT ? StringRef("no such file") : StringRef(std::strerror(errno)));
  std::string reason;
  std::unique_ptr<MappedFile> file = MappedFile::map(descriptor, reason);
  if (!file)
    return diagnostics.error(reason);
  // The mapping ends here, because protobuf has made its copy of the weights.
  return parse(file->bytes(), sys::path::extension(path), *proto, diagnostics);
}

LogicalResult ModelFile::addLibraries(const ImportOptions &options, Diagnostics &diagnostics) {
  if (options.functions.empty() && options.definitions.empty())
    return success();
  libraries = std::make_unique<FunctionLibraries>();
  return failure(failed(libraries->read(options, diagnostics)) || failed(libraries->addFunctions(*proto, diagnostics)));
}

LogicalResult ModelFile::cutForDelegates(const ImportOptions &options, Diagnostics &diagnostics) {
  if (options.delegates.empty())
    return success();
  delegates = std::make_unique<Delegates>();
  return failure(failed(delegates->read(options, diagnostics)) || failed(delegates->cut(*proto, diagnostics)));
}

//===- External data -------------------------------------------------------===//

std::string ModelFile::sortNodes() { return import::sortNodes(*proto); }

/// Opens a file below `folder` one component at a time, by default without following links, so that nothing outside of it can be reached, even by a race.
static int openInside(const std::string &folder, StringRef location, bool followsLinks, std::string &reason) {
  SmallVector<StringRef> parts;
  location.split(parts, '/');
  int directory = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (auto [i, part] : enumerate(parts)) {
    if (directory < 0)
      break;
    if (part == ".." || location.starts_with("/") || location.contains('\0') || location.contains('\\')) {
      reason = "the path leads outside the model's directory";
      break;
    }
    // The path is written to depfiles, which build tools parse.
    if (any_of(location, [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
      reason = "the path has control characters";
      break;
    }
    if (part.empty() || part == ".")
      continue;
    bool last = i + 1 == parts.size();
    int next = openat(directory, part.str().c_str(), O_RDONLY | (followsLinks ? 0 : O_NOFOLLOW) | O_CLOEXEC | O_NONBLOCK | (last ? 0 : O_DIRECTORY));
    if (next < 0)
      reason = errno == ELOOP || errno == ENOTDIR ? "the path goes through a symbolic link, which only --follow-links allows" : std::strerror(errno);
    close(directory);
    directory = next;
  }
  if (directory < 0 && reason.empty())
    reason = std::strerror(errno);
  if (!reason.empty() && directory >= 0) {
    close(directory);
    directory = -1;
  }
  return directory;
}

MappedFile *ModelFile::openExternal(StringRef location, std::string &reason) {
  auto [place, isNew] = externals.try_emplace(location);
  if (!isNew && place->second)
    return place->second.get();
  int descriptor = openInside(folder, location, followsLinks, reason);
  if (descriptor < 0)
    return nullptr;
  struct stat status;
  if (!followsLinks && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink > 1) {
    close(descriptor);
    reason = "the file has several hard links, so it may lie outside the model's directory, which only --follow-links allows";
    return nullptr;
  }
  place->second = MappedFile::map(descriptor, reason);
  return place->second.get();
}

/// A decimal number without sign, spaces or anything after it.
static std::optional<uint64_t> parseCount(StringRef text) {
  uint64_t value = 0;
  if (text.empty() || !all_of(text, isDigit) || text.getAsInteger(10, value))
    return std::nullopt;
  return value;
}

std::optional<ArrayRef<char>> ModelFile::externalBytes(const onnx::TensorProto &tensor, std::string &reason) {
  StringMap<StringRef> entries;
  for (const onnx::KeyValue &entry : tensor.external_data())
    if (!entries.try_emplace(entry.key(), entry.value()).second) {
      reason = "external data has key '" + printable(entry.key()) + "' twice";
      return std::nullopt;
    }
  StringRef location = entries.lookup("location");
  if (location.empty()) {
    reason = "external data has no location";
    return std::nullopt;
  }
  std::string why;
  MappedFile *file = openExternal(location, why);
  if (!file) {
    reason = "external data in '" + printable(location) + "': " + why;
    return std::nullopt;
  }
  uint64_t size = file->bytes().size(), offset = 0;
  if (entries.contains("offset")) {
    auto parsed = parseCount(entries["offset"]);
    if (!parsed || *parsed > size) {
      reason = "external data offset '" + printable(entries["offset"]) + "' is not a number in [0, " + std::to_string(size) + "], the size of '" +
               printable(location) + "'";
      return std::nullopt;
    }
    offset = *parsed;
  }
  uint64_t length = size - offset;
  if (entries.contains("length")) {
    auto parsed = parseCount(entries["length"]);
    if (!parsed || *parsed > length) {
      reason = "external data length '" + printable(entries["length"]) + "' from offset " + std::to_string(offset) +
               " is past the size of '" + printable(location) + "', " + std::to_string(size);
      return std::nullopt;
    }
    length = *parsed;
  }
  return file->bytes().slice(offset, length);
}

std::vector<std::string> ModelFile::externalPaths() const {
  std::vector<std::string> paths;
  for (const auto &entry : externals)
    if (entry.second)
      paths.push_back(folder + "/" + entry.first().str());
  if (libraries)
    append_range(paths, libraries->externalPaths());
  llvm::sort(paths);
  return paths;
}

} // namespace kiln::import
