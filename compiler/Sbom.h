//===- Sbom.h - A bill of materials of what a compile makes -----------------------===//
#ifndef KILN_COMPILER_SBOM_H
#define KILN_COMPILER_SBOM_H

#include "compiler/Compile.h"

namespace kiln {

/// NAME.cdx.json: CycloneDX 1.5 as JSON. It names the files with their hashes, the models and other files that they were made from, the compiler, its
/// options and the libraries that a program has to link with. It has no time, so that the same compile gives the same bytes.
OutputFile makeSbom(const Compilation &compilation, llvm::ArrayRef<std::string> guarantees, llvm::ArrayRef<OutputFile> files);

} // namespace kiln

#endif // KILN_COMPILER_SBOM_H
