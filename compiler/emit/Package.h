//===- Package.h - The files around the objects of a model ---------------===//
#ifndef KILN_COMPILER_EMIT_PACKAGE_H
#define KILN_COMPILER_EMIT_PACKAGE_H

#include "compiler/emit/Objects.h"

namespace kiln {

/// A folder that can be built with any compiler and without Kiln: the model's sources, the kernel headers, the runtime, a unit that includes the
/// weights, a CMakeLists.txt, and sources.cmake for other projects. The binary weights are not among the files.
std::vector<SourceFile> makeSourceFolder(const ModelSources &sources);

/// NAME.pc and NAME-config.cmake, with which pkg-config and find_package() find the header and the library in their folder.
std::vector<SourceFile> makeBuildFiles(llvm::StringRef name, llvm::ArrayRef<std::string> libraries);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_PACKAGE_H
