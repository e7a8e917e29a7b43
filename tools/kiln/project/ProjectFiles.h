//===- ProjectFiles.h - The files of kiln new -----------------------------------===//
#ifndef KILN_TOOLS_KILN_PROJECT_PROJECTFILES_H
#define KILN_TOOLS_KILN_PROJECT_PROJECTFILES_H

#include "compiler/OutputFile.h"
#include "compiler/emit/Signature.h"
#include <map>

namespace kiln {

/// What a project is made from.
struct Project {
  Signature signature;
  /// The absolute path of the model, and what the compile was told besides.
  std::string model;
  std::vector<std::string> options;
  /// The target of the program.
  std::string program;
  /// The sizes of the dynamic dimensions, by their names in the model.
  std::map<std::string, int64_t> sizes;
};

/// Why no program can be written for a model, such as "input 'x' has strings"; empty if one can.
std::string findObstacle(const Signature &signature);

/// A name for a CMake target, made of that of a folder.
std::string makeProgramName(llvm::StringRef folder);

/// CMakeLists.txt, main.cpp, buffers.h, test.cpp and test.cmake.
std::vector<OutputFile> writeProject(const Project &project);

} // namespace kiln

#endif // KILN_TOOLS_KILN_PROJECT_PROJECTFILES_H
