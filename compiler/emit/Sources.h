//===- Sources.h - The C++ text of a whole model ---------------------------===//
#ifndef KILN_COMPILER_EMIT_SOURCES_H
#define KILN_COMPILER_EMIT_SOURCES_H

#include "compiler/emit/Signature.h"

namespace kiln {

struct SourceFile {
  std::string name;
  std::string text;
};

/// NAME.h, and the translation units behind it.
struct ModelSources {
  SourceFile header;
  /// Declarations of the kernels, for the translation units.
  SourceFile kernelHeader;
  /// The entry first, then the kernels.
  std::vector<SourceFile> units;
};

/// Prints a module after the kernel stage. The text depends on nothing but the module and the signature.
mlir::FailureOr<ModelSources> printSources(mlir::ModuleOp module, const Signature &signature);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_SOURCES_H
