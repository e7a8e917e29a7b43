//===- Hash.h - SHA-256 of files, texts and streams -----------------------------===//
#ifndef KILN_COMPILER_FILES_HASH_H
#define KILN_COMPILER_FILES_HASH_H

#include "llvm/Support/Error.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace kiln {

/// Hashes what is written to it.
class HashStream : public llvm::raw_ostream {
public:
  ~HashStream() override { flush(); }
  /// SHA-256 in hexadecimal digits, as sha256sum prints it.
  std::string finish();

private:
  void write_impl(const char *bytes, size_t size) override {
    hash.update(llvm::StringRef(bytes, size));
    count += size;
  }
  uint64_t current_pos() const override { return count; }

  llvm::SHA256 hash;
  uint64_t count = 0;
};

std::string hashText(llvm::StringRef text);

/// Of a regular file. The error message does not contain the path.
llvm::Expected<std::string> hashFile(llvm::StringRef path);

} // namespace kiln

#endif // KILN_COMPILER_FILES_HASH_H
