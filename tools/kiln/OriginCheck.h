//===- OriginCheck.h - Whether a library is what its record says ----------------===//
#ifndef KILN_TOOLS_KILN_ORIGINCHECK_H
#define KILN_TOOLS_KILN_ORIGINCHECK_H

#include "compiler/Description.h"

namespace kiln {

/// What the objects of an archive are not that its record names: changed or missing ones, and others that are there.
std::vector<std::string> findChangedObjects(const Origin &origin, llvm::ArrayRef<llvm::StringRef> members);

/// One line for each thing that was compared, "model      m.onnx: the same".
struct OriginComparison {
  std::vector<std::string> lines;
  /// What differs, in sentences; empty when the library was made from these models by this compiler with these options.
  std::vector<std::string> faults;
};

/// Compares what a library says it was made from with models, this compiler and the options of the command line.
OriginComparison compareOrigin(const Origin &origin, llvm::ArrayRef<std::string> models, const CompileOptions &options);

} // namespace kiln

#endif // KILN_TOOLS_KILN_ORIGINCHECK_H
