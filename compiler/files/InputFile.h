//===- InputFile.h - Opening and reading input files ---------------------------------===//
#ifndef KILN_COMPILER_FILES_INPUTFILE_H
#define KILN_COMPILER_FILES_INPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>

namespace kiln {

/// Opens a regular file for reading. The caller owns the descriptor. Never waits: FIFOs, devices, sockets and folders are refused. The error message
/// does not contain the path.
llvm::Expected<int> openRegularFile(llvm::StringRef path);

/// Size limits for each kind of file.
inline constexpr uint64_t mostTextBytes = uint64_t(64) << 20, mostDataBytes = uint64_t(1) << 33;

/// Reads a whole regular file, so that later changes to it do not matter. A file of more than `most` bytes is refused before memory is allocated, and
/// one that grows beyond the limit while it is read is refused, too. The buffer is terminated by a zero and named after the path.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readInputFile(llvm::StringRef path, uint64_t most);

/// The kind and the beginning of a regular file.
struct FileHead {
  uint64_t bytes = 0;
  std::string first; // at most 64 bytes
};
llvm::Expected<FileHead> readFileHead(llvm::StringRef path);

} // namespace kiln

#endif // KILN_COMPILER_FILES_INPUTFILE_H
