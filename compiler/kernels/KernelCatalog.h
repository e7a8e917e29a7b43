//===- KernelCatalog.h - The kernels that need no model ------------------------===//
#ifndef KILN_COMPILER_KERNELS_KERNELCATALOG_H
#define KILN_COMPILER_KERNELS_KERNELCATALOG_H

#include "compiler/kernels/KernelForm.h"
#include <memory>

namespace kiln {

namespace definitions {
class Library;
}

/// The kernels that `kiln kernels` knows: the rows of Kernels.def, and the definitions of the user's files.
class KernelCatalog {
public:
  KernelCatalog();
  ~KernelCatalog();

  /// Adds the definitions of a file, each a kernel of its name. False after a mistake, with lines in `errors`.
  bool addDefinitions(const std::string &path, std::vector<std::string> &errors);

  /// All kernels with the default values of their parameters, in the order of the table; definitions follow.
  llvm::Expected<std::vector<KernelForm>> list() const;

  /// The kernel that a request [AS=]KERNEL[:PARAMETER=VALUE]... names. An error says what is wrong with it, and which kernels have a similar name.
  llvm::Expected<KernelForm> make(llvm::StringRef request) const;

private:
  struct File;
  llvm::Expected<KernelForm> makeKernel(llvm::StringRef name, llvm::ArrayRef<KernelParameter> given) const;
  llvm::Error describeUnknown(llvm::StringRef name) const;

  std::vector<std::unique_ptr<File>> files;
};

} // namespace kiln

#endif // KILN_COMPILER_KERNELS_KERNELCATALOG_H
