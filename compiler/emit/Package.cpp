//===- Package.cpp - What stands around the objects of a model -------------===//
#include "compiler/emit/Package.h"
#include "compiler/emit/CompilerFlags.h"
#include "compiler/emit/EmbeddedFiles.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ArchiveWriter.h"

using namespace mlir;

namespace kiln {

/// `@NAME@`, `@UNITS@` and `@FLAGS@` stand for the model's.
static constexpr StringLiteral sourceListTemplate = R"(# Builds the model @NAME@ and the Kiln runtime. Written by Kiln.
cmake_minimum_required(VERSION 3.16)
project(@NAME@ LANGUAGES CXX@LANGUAGE@)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_library(@NAME@ STATIC
@UNITS@)
target_include_directories(@NAME@ PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/runtime/include)
# The optimization level is the last -O on the line; the text is unrolled already, and -ffast-math would break it.
target_compile_options(@NAME@ PRIVATE $<$<COMPILE_LANGUAGE:CXX>:@FLAGS@>)
@WEIGHTS@
if(NOT TARGET kiln_runtime)
  add_subdirectory(runtime)
endif()
)";

static constexpr StringLiteral weightsList =
    R"(set_source_files_properties(@NAME@_weights.S PROPERTIES OBJECT_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/@NAME@_weights.bin
                                           COMPILE_OPTIONS -I${CMAKE_CURRENT_SOURCE_DIR})
)";

static constexpr StringLiteral weightsAssembly = R"(/* The weights of model @NAME@ as read-only data. */
    .section .rodata.@NAME@_weights, "a"
    .balign 64
    .globl @NAME@_weights
    .hidden @NAME@_weights
    .type @NAME@_weights, %object
@NAME@_weights:
    .incbin "@NAME@_weights.bin"
    .size @NAME@_weights, . - @NAME@_weights
    .section .note.GNU-stack, "", %progbits
)";

static std::string replaceAll(std::string text, const std::vector<std::pair<StringRef, std::string>> &values) {
  for (const auto &[key, value] : values)
    for (size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + value.size()))
      text.replace(at, key.size(), value);
  return text;
}

std::vector<SourceFile> makeSourceFolder(const ModelSources &sources, const Signature &signature, kernel::TargetAttr target) {
  std::vector<SourceFile> files = {sources.header, sources.kernelHeader};
  files.insert(files.end(), sources.units.begin(), sources.units.end());
  bool assembly = signature.weightsBytes && !signature.externalWeights;
  std::string units;
  for (const SourceFile &unit : sources.units)
    units += "  " + unit.name + "\n";
  if (assembly)
    units += "  " + signature.name + "_weights.S\n";
  std::vector<std::string> flags = commonFlags();
  for (const std::string &flag : targetFlags(target))
    flags.push_back(flag);
  flags.push_back("-Wno-psabi");
  std::vector<std::pair<StringRef, std::string>> values = {{"@WEIGHTS@", assembly ? weightsList.str() : ""},
                                                           {"@NAME@", signature.name},
                                                           {"@LANGUAGE@", assembly ? " ASM" : ""},
                                                           {"@UNITS@", units.substr(0, units.size() - 1)},
                                                           {"@FLAGS@", llvm::join(flags, ";")}};
  files.push_back({"CMakeLists.txt", replaceAll(sourceListTemplate.str(), values)});
  if (assembly)
    files.push_back({signature.name + "_weights.S", replaceAll(weightsAssembly.str(), values)});
  for (const EmbeddedFile &file : embeddedFiles()) {
    bool header = file.path.starts_with("kiln/");
    if (!file.path.starts_with("builtin/"))
      files.push_back({"runtime/" + (header ? "include/" + file.path.str() : file.path.str()), file.text.str()});
  }
  return files;
}

static constexpr StringLiteral pkgConfigTemplate = R"(prefix=${pcfiledir}

Name: @NAME@
Description: Model @NAME@, compiled by Kiln
Version: 1
Cflags: -I${prefix}
Libs: -L${prefix} -l@NAME@
)";

static constexpr StringLiteral cmakeConfigTemplate = R"(# find_package(@NAME@ CONFIG PATHS <this folder>) gives the target @NAME@::@NAME@. Written by Kiln.
if(NOT TARGET @NAME@::@NAME@)
  add_library(@NAME@::@NAME@ STATIC IMPORTED)
  set_target_properties(@NAME@::@NAME@ PROPERTIES IMPORTED_LOCATION ${CMAKE_CURRENT_LIST_DIR}/lib@NAME@.a
                                                  INTERFACE_INCLUDE_DIRECTORIES ${CMAKE_CURRENT_LIST_DIR})
endif()
)";

std::vector<SourceFile> makeBuildFiles(StringRef name) {
  std::vector<std::pair<StringRef, std::string>> values = {{"@NAME@", name.str()}};
  return {{name.str() + ".pc", replaceAll(pkgConfigTemplate.str(), values)},
          {name.str() + "-config.cmake", replaceAll(cmakeConfigTemplate.str(), values)}};
}

llvm::Error writeObjectArchive(raw_ostream &out, ArrayRef<std::pair<StringRef, StringRef>> namedObjects) {
  std::vector<llvm::NewArchiveMember> members;
  for (auto [name, bytes] : namedObjects)
    members.emplace_back(llvm::MemoryBufferRef(bytes, name));
  return llvm::writeArchiveToStream(out, members, llvm::SymtabWritingMode::NormalSymtab, llvm::object::Archive::K_GNU, true, false);
}

} // namespace kiln
