//===- Hash.cpp - SHA-256 of files, texts and streams ---------------------------===//
#include "compiler/files/Hash.h"
#include "compiler/files/InputFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <vector>

using namespace llvm;

namespace kiln {

std::string HashStream::finish() {
  flush();
  return toHex(hash.final(), /*LowerCase=*/true);
}

std::string hashText(StringRef text) {
  HashStream stream;
  stream << text;
  return stream.finish();
}

Expected<std::string> hashFile(StringRef path) {
  Expected<int> descriptor = openRegularFile(path);
  if (!descriptor)
    return descriptor.takeError();
  sys::fs::file_t file = sys::fs::convertFDToNativeFile(*descriptor);
  constexpr size_t pieceBytes = size_t(1) << 20;
  std::vector<char> piece(pieceBytes);
  HashStream stream;
  stream.SetUnbuffered();
  for (;;) {
    Expected<size_t> count = sys::fs::readNativeFile(file, MutableArrayRef(piece));
    if (!count || *count == 0) {
      sys::fs::closeFile(file);
      return count ? Expected<std::string>(stream.finish()) : count.takeError();
    }
    stream << StringRef(piece.data(), *count);
  }
}

} // namespace kiln
