//===- StagedFile.h - A file that waits for its name -----------------------===//
#ifndef KILN_TOOLS_KILN_STAGEDFILE_H
#define KILN_TOOLS_KILN_STAGEDFILE_H

#include "llvm/Support/Error.h"
#include <string>

namespace kiln {

/// A file that is written before it takes the place of what has its name. It has no name until then where the file system knows such files, so that
/// nothing is left of a process that is killed; elsewhere its name ends in ".part", and it goes when it is not kept. A device or a pipe is written as
/// it is, and a link stays one.
class StagedFile {
public:
  /// The folder must exist.
  static llvm::Expected<StagedFile> create(llvm::StringRef path);
  StagedFile(StagedFile &&other);
  StagedFile(const StagedFile &) = delete;
  ~StagedFile();

  int getDescriptor() const { return file; }
  const std::string &getPath() const { return path; }
  /// Whether the file that has the name now holds the same bytes.
  bool isUnchanged() const;
  llvm::Error keep();

private:
  StagedFile(int file, std::string path, std::string name, bool isDirect)
      : file(file), path(std::move(path)), name(std::move(name)), isDirect(isDirect) {}

  int file;
  /// Where it belongs, and what it is called until then; empty: it has no name.
  std::string path, name;
  bool isDirect;
};

} // namespace kiln

#endif // KILN_TOOLS_KILN_STAGEDFILE_H
