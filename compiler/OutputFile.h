//===- OutputFile.h - A file that a compile makes --------------------------===//
#ifndef KILN_COMPILER_OUTPUTFILE_H
#define KILN_COMPILER_OUTPUTFILE_H

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <memory>
#include <string>

namespace kiln {

/// A file of the result: its path below the output folder, and its bytes.
struct OutputFile {
  std::string path;
  std::string contents;
  /// Writes the bytes of a file that may be gigabytes large, in place of `contents`. It refers to its compilation.
  std::function<void(llvm::raw_ostream &)> stream;
  uint64_t streamBytes = 0;

  void write(llvm::raw_ostream &out) const;
  uint64_t getSize() const { return stream ? streamBytes : contents.size(); }
  /// The bytes in memory, without copying `contents`. The file must outlive the buffer. Null if there is not enough memory.
  std::unique_ptr<llvm::MemoryBuffer> toBuffer() const;
};

} // namespace kiln

#endif // KILN_COMPILER_OUTPUTFILE_H
