//===- Files.h - Files of tensors and the reasons why they are refused -----===//
#ifndef KILN_TEST_UNIT_RUN_FILES_H
#define KILN_TEST_UNIT_RUN_FILES_H

#include "llvm/Support/Error.h"
#include <string>

/// Returns the message of an error, or an empty text if there is a value.
template <typename T> std::string faultOf(llvm::Expected<T> value) { return value ? "" : llvm::toString(value.takeError()); }

/// Returns a .npy file; the size of a header of version 2 has four bytes.
inline std::string npy(std::string header, std::string data = "", char version = 1) {
  std::string length = version == 1 ? std::string{char(header.size()), 0} : std::string{char(header.size()), 0, 0, 0};
  return std::string("\x93NUMPY") + version + '\0' + length + header + data;
}

#endif // KILN_TEST_UNIT_RUN_FILES_H
