//===- KernelRecord.h - What a library of kernels says of itself ----------------===//
#ifndef KILN_COMPILER_KERNELS_KERNELRECORD_H
#define KILN_COMPILER_KERNELS_KERNELRECORD_H

#include "compiler/kernels/KernelForm.h"
#include "llvm/Support/JSON.h"
#include <map>

namespace kiln {

/// The section of the archive member that holds the record. Linkers leave it out of programs.
inline constexpr llvm::StringLiteral kernelsSection = ".kiln.kernels";

llvm::json::Object toJson(const KernelForm &form);

/// The kernel with sizes that the user makes static: its functions do not take them.
KernelForm setStaticSizes(KernelForm form, std::map<std::string, int64_t> dims);

/// The record as JSON: {"name", "target", "kernels": [...]}.
std::string printRecord(llvm::StringRef name, llvm::StringRef target, llvm::ArrayRef<KernelForm> forms);

/// What `kiln inspect` needs of a record; nullopt for a text that is none.
struct KernelRecord {
  std::string name, target;
  /// The kernels as printRecord has them, and a line for each: its function, and the kernel's signature.
  llvm::json::Array kernels;
  std::vector<std::string> lines;
};
std::optional<KernelRecord> readRecord(llvm::StringRef text);

} // namespace kiln

#endif // KILN_COMPILER_KERNELS_KERNELRECORD_H
