//===- SingleSource.cpp - A model as one C++ file ----------------------------===//
#include "compiler/emit/SingleSource.h"
#include "compiler/emit/BuildText.h"
#include "compiler/emit/EmbeddedFiles.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"

using namespace llvm;

namespace kiln {

namespace {
/// Puts the text of a header in the place of its first inclusion.
class Joiner {
public:
  explicit Joiner(const ModelSources &sources) : sources(sources) {}
  void add(StringRef text);
  std::string text;

private:
  /// The text of a header that Kiln writes or has; nothing for those of a C library, and for NAME.h.
  std::optional<StringRef> find(StringRef name) const;

  const ModelSources &sources;
  StringSet<> included;
};
} // namespace

std::optional<StringRef> Joiner::find(StringRef name) const {
  for (const SourceFile &header : sources.kernelHeaders)
    if (header.name == name)
      return StringRef(header.text);
  for (const EmbeddedFile &file : embeddedFiles())
    if (file.path == name && name.starts_with("kiln/"))
      return StringRef(file.text);
  return std::nullopt;
}

void Joiner::add(StringRef source) {
  for (StringRef line : split(source.rtrim('\n'), '\n')) {
    StringRef name = line;
    bool isInclusion = name.consume_front("#include \"") && name.consume_back("\"");
    // NAME.h has the text of kiln/abi.h.
    std::optional<StringRef> header = isInclusion ? find(name) : std::nullopt;
    bool isDone = isInclusion && (!included.insert(name).second || name == "kiln/abi.h");
    if (!header)
      text += isDone ? "" : (line + "\n").str();
    else if (!isDone)
      add(*header);
  }
}

Expected<std::string> joinSources(const ModelSources &sources) {
  const Signature &signature = sources.signature;
  size_t entries = count_if(sources.units, [](const TranslationUnit &unit) { return StringRef(unit.name).ends_with("_run.cpp"); });
  if (entries != 1 || sources.kernelHeaders.size() != 1)
    return createStringError(inconvertibleErrorCode(), "a model as one file has one target, which runs everywhere, and one version");
  if (!signature.libraries.empty() || signature.externalWeights)
    return createStringError(inconvertibleErrorCode(), "a model as one file has its weights within and calls no libraries");
  Joiner joiner(sources);
  joiner.text = "// Model '" + signature.name + "' in one file. Written by Kiln. It needs C++17 and no library, and is fastest with\n"
                "//   -O2 -fno-unroll-loops -ffp-contract=fast -fno-math-errno\n";
  joiner.add("#include \"" + signature.name + ".h\"\n");
  for (const TranslationUnit &unit : sources.units)
    joiner.add("\n" + unit.text);
  return joiner.text;
}

std::string printWeightsHead(const Signature &signature) {
  return "\nalignas(KILN_ALIGNMENT) const unsigned char " + signature.name + "_weights[" + std::to_string(signature.weightsBytes) + "] = {\n";
}

/// Bytes of a line of the array.
static constexpr uint64_t lineBytes = 24;

uint64_t ByteTextStream::countCharacters(uint64_t bytes) { return bytes * 5 + divideCeil(bytes, lineBytes); }

ByteTextStream::~ByteTextStream() {
  flush();
  if (written % lineBytes != 0)
    out << '\n';
}

void ByteTextStream::write_impl(const char *text, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    out << format("0x%02x,", static_cast<unsigned char>(text[i]));
    if (++written % lineBytes == 0)
      out << '\n';
  }
}

static constexpr StringLiteral propertiesForm = R"(name=@NAME@
version=1.0.0
author=Kiln
maintainer=Kiln
sentence=Model @NAME@, compiled by Kiln.
paragraph=No allocation, no library; needs C++17.
category=Data Processing
url=
architectures=*
includes=@NAME@.h
)";

static constexpr StringLiteral packageForm = R"({
  "name": "@NAME@",
  "version": "1.0.0",
  "description": "Model @NAME@, compiled by Kiln",
  "build": {
    "flags": ["-std=gnu++17", "-O2", "-fno-unroll-loops", "-ffp-contract=fast", "-fno-math-errno"],
    "unflags": ["-std=gnu++11", "-std=gnu++14", "-Os"]
  }
}
)";

/// `@BUFFERS@` declares a buffer for each tensor.
static constexpr StringLiteral sketchForm = R"(// Runs the model once and prints the status of the run.
#include <@NAME@.h>

@BUFFERS@
void setup() {
  Serial.begin(115200);
  @NAME@_inputs inputs = {@INPUTS@};
  @NAME@_outputs outputs = {@OUTPUTS@};
  Serial.println(int(@NAME@_run(&inputs, &outputs, @WORKSPACE@, nullptr)));
}

void loop() {}
)";

std::vector<SourceFile> makeArduinoFiles(const Signature &signature) {
  std::string name = makeCMakeWord(signature.name);
  std::vector<SourceFile> files = {{"library.properties", fillIn(propertiesForm, {{"@NAME@", name}})},
                                   {"library.json", fillIn(packageForm, {{"@NAME@", name}})}};
  // A sketch would have to choose the sizes.
  if (signature.hasDims())
    return files;
  std::string buffers, inputs, outputs;
  auto declare = [&](const SignatureTensor &tensor, const std::string &kind, std::string &list) {
    std::string buffer = kind + "_" + tensor.field;
    int64_t elements = std::max<int64_t>(tensor.type.getNumElements(), 1);
    buffers += "static " + publicType(tensor.type.getElementType()) + " " + buffer + "[" + std::to_string(elements) + "];\n";
    list += (list.empty() ? "" : ", ") + buffer;
  };
  for (const SignatureTensor &tensor : signature.inputs)
    declare(tensor, "input", inputs);
  for (const SignatureTensor &tensor : signature.outputs)
    declare(tensor, "output", outputs);
  bool hasWorkspace = signature.workspaceBytes.value_or(0) > 0;
  if (hasWorkspace)
    buffers += "alignas(KILN_ALIGNMENT) static unsigned char workspace[" + std::to_string(*signature.workspaceBytes) + "];\n";
  files.push_back({"examples/Run/Run.ino", fillIn(sketchForm, {{"@NAME@", name},
                                                               {"@BUFFERS@", buffers},
                                                               {"@INPUTS@", inputs},
                                                               {"@OUTPUTS@", outputs},
                                                               {"@WORKSPACE@", hasWorkspace ? "workspace" : "nullptr"}})});
  return files;
}

} // namespace kiln
