//===- Package.h - What stands around the objects of a model ---------------===//
#ifndef KILN_COMPILER_EMIT_PACKAGE_H
#define KILN_COMPILER_EMIT_PACKAGE_H

#include "compiler/emit/Objects.h"

namespace kiln {

/// A folder that builds by itself, with any compiler and no Kiln: the model's sources, the kernel headers, the runtime, a unit
/// that takes the weights in, a CMakeLists.txt, and sources.cmake for projects that have their own. The binary weights are not
/// among them.
std::vector<SourceFile> makeSourceFolder(const ModelSources &sources);

/// NAME.pc and NAME-config.cmake, which make a folder with the header and the library one that pkg-config and find_package() take.
std::vector<SourceFile> makeBuildFiles(llvm::StringRef name, llvm::ArrayRef<std::string> libraries);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_PACKAGE_H
