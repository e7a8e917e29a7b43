//===- InputFile.h - Files that users name ---------------------------------===//
#ifndef KILN_COMPILER_FILES_INPUTFILE_H
#define KILN_COMPILER_FILES_INPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>

namespace kiln {

/// Opens a regular file for reading; the descriptor is the caller's. Never waits: FIFOs, devices, sockets and folders are refused. The error is the
/// reason alone, without the path.
llvm::Expected<int> openRegularFile(llvm::StringRef path);

/// The most that each kind of file may hold.
inline constexpr uint64_t mostTextBytes = uint64_t(64) << 20, mostDataBytes = uint64_t(1) << 33;

/// Reads a regular file whole, so that it does not matter what becomes of it afterwards. A file of more than `most` bytes is refused before memory is
/// taken, and one that grows meanwhile when it passes the limit. The buffer ends in a zero and is named after the path.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readInputFile(llvm::StringRef path, uint64_t most);

/// What the beginning of a regular file tells.
struct FileHead {
  uint64_t bytes = 0;
  std::string first; // at most 64 bytes
};
llvm::Expected<FileHead> readFileHead(llvm::StringRef path);

} // namespace kiln

#endif // KILN_COMPILER_FILES_INPUTFILE_H
