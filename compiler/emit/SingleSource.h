//===- SingleSource.h - A model as one C++ file ------------------------------===//
#ifndef KILN_COMPILER_EMIT_SINGLESOURCE_H
#define KILN_COMPILER_EMIT_SINGLESOURCE_H

#include "compiler/emit/Sources.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln {

/// The units of a model and all headers that they include, but NAME.h, as the text of one file. Fails for a library of several targets or versions.
llvm::Expected<std::string> joinSources(const ModelSources &sources);

/// What stands before and after the bytes of the weights at the end of that file.
std::string printWeightsHead(const Signature &signature);
inline constexpr llvm::StringLiteral weightsTail = "};\n";

/// Writes bytes as numbers of an array. Every byte takes as many characters.
class ByteTextStream : public llvm::raw_ostream {
public:
  explicit ByteTextStream(llvm::raw_ostream &out) : out(out) {}
  ~ByteTextStream() override;
  /// The characters that so many bytes become.
  static uint64_t countCharacters(uint64_t bytes);

private:
  void write_impl(const char *text, size_t size) override;
  uint64_t current_pos() const override { return written; }

  llvm::raw_ostream &out;
  uint64_t written = 0;
};

/// library.properties and library.json, by which the Arduino IDE and PlatformIO know a folder whose src/ has the model, and a sketch that runs it.
std::vector<SourceFile> makeArduinoFiles(const Signature &signature);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_SINGLESOURCE_H
