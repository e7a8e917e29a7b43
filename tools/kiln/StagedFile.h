//===- StagedFile.h - A file that gets its name when it is complete -----------------------===//
#ifndef KILN_TOOLS_KILN_STAGEDFILE_H
#define KILN_TOOLS_KILN_STAGEDFILE_H

#include "llvm/Support/Error.h"
#include <string>

namespace kiln {

/// A file that is written before it replaces the file of its name. Until then it has no name, if the file system supports that, so a killed process
/// leaves nothing behind. Otherwise its name ends in ".part", and it is removed unless it is kept. Devices and pipes are written directly, and links
/// are followed.
class StagedFile {
public:
  /// The folder must exist.
  static llvm::Expected<StagedFile> create(llvm::StringRef path);
  StagedFile(StagedFile &&other);
  StagedFile(const StagedFile &) = delete;
  ~StagedFile();

  int getDescriptor() const { return file; }
  const std::string &getPath() const { return path; }
  /// Whether the existing file of this name has the same bytes.
  bool isUnchanged() const;
  llvm::Error keep();

private:
  StagedFile(int file, std::string path, std::string name, bool isDirect)
      : file(file), path(std::move(path)), name(std::move(name)), isDirect(isDirect) {}

  int file;
  /// Its path, and its temporary name, which is empty if it has none.
  std::string path, name;
  bool isDirect;
};

} // namespace kiln

#endif // KILN_TOOLS_KILN_STAGEDFILE_H
