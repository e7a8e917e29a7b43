//===- Package.cpp - What stands around the objects of a model -------------===//
#include "compiler/emit/Package.h"
#include "compiler/emit/BuildText.h"
#include "compiler/emit/CompilerFlags.h"
#include "compiler/emit/ElfWriter.h"
#include "compiler/emit/EmbeddedFiles.h"
#include "compiler/emit/SessionPrinter.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;

namespace kiln {

/// `@NAME@` is replaced by the model's name. The other placeholders are explained where they are replaced.
static constexpr StringLiteral projectTemplate = R"(# Builds the model @NAME@ and the Kiln runtime. Written by Kiln.
cmake_minimum_required(VERSION 3.16)
project(@NAME@ LANGUAGES CXX)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()

include(${CMAKE_CURRENT_SOURCE_DIR}/sources.cmake)
add_library(@NAME@ STATIC ${@NAME@_SOURCES})
target_include_directories(@NAME@ PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} PRIVATE ${@NAME@_INCLUDES})
target_compile_options(@NAME@ PRIVATE ${@NAME@_OPTIONS})

if(NOT TARGET kiln_runtime)
  add_subdirectory(runtime)
endif()
@LINK@)";

static constexpr StringLiteral sourceListTemplate = R"(# The sources of model @NAME@ and how they are compiled, for any CMakeLists.txt. Written by Kiln.
set(@NAME@_INCLUDES ${CMAKE_CURRENT_LIST_DIR} ${CMAKE_CURRENT_LIST_DIR}/runtime/include)
# For all C++. The last -O counts; the text is unrolled already, and -ffast-math would break it.
set(@NAME@_OPTIONS @OPTIONS@)
if(WIN32) # its objects have no hidden symbols, and code needs no option to be relocated
  list(REMOVE_ITEM @NAME@_OPTIONS -fPIC)
  list(APPEND @NAME@_OPTIONS -Wno-attributes)
endif()
@ALIGN@if(CMAKE_CXX_COMPILER_FRONTEND_VARIANT STREQUAL "MSVC") # clang-cl
  list(TRANSFORM @NAME@_OPTIONS PREPEND /clang:)
endif()
set(@NAME@_SOURCES)
)";

/// For units with vectors of more than 128 bits.
static constexpr StringLiteral alignTemplate = R"(if(WIN32 AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC cannot align the stack of Windows to more than 16 bytes (GCC 54412), but uses moves of aligned vectors.
  list(APPEND @NAME@_OPTIONS -Wa,-muse-unaligned-vector-move)
endif()
)";

static constexpr StringLiteral unitsTemplate = R"(
# For @TARGET@.
set(@NAME@_UNITS
@UNITS@)
set_source_files_properties(${@NAME@_UNITS} PROPERTIES COMPILE_OPTIONS "@FLAGS@")
list(APPEND @NAME@_SOURCES ${@NAME@_UNITS})
)";

/// LTO would hide the symbol from the archive's index. Launchers are set for whole targets: one that compiles elsewhere has not got the file.
static constexpr StringLiteral weightsTemplate = R"(
# Compiled on this machine, whatever CMAKE_CXX_COMPILER_LAUNCHER is.
if(NOT TARGET @NAME@_weights_object)
  add_library(@NAME@_weights_object OBJECT ${CMAKE_CURRENT_LIST_DIR}/@NAME@_weights.cpp)
  set_target_properties(@NAME@_weights_object PROPERTIES CXX_COMPILER_LAUNCHER "")
endif()
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/@NAME@_weights.cpp PROPERTIES
  OBJECT_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/@NAME@_weights.bin COMPILE_OPTIONS -fno-lto
  COMPILE_DEFINITIONS WEIGHTS_FILE="${CMAKE_CURRENT_LIST_DIR}/@NAME@_weights.bin")
list(APPEND @NAME@_SOURCES $<TARGET_OBJECTS:@NAME@_weights_object>)
)";

/// Object formats differ in the section and in what describes a symbol; `.incbin` is the same in all of them.
static constexpr StringLiteral weightsUnit = R"(// The weights of model '@NAME@' as read-only data: the assembler takes them from a file.
#ifndef WEIGHTS_FILE
#define WEIGHTS_FILE "@NAME@_weights.bin"
#endif
#define DATA ".incbin \"" WEIGHTS_FILE "\"\n"
#if defined(__wasm__)
__asm__(".section .rodata.@NAME@_weights,\"\",@\n"
        ".p2align 6\n"
        ".globl @NAME@_weights\n"
        ".hidden @NAME@_weights\n"
        ".type @NAME@_weights,@object\n"
        "@NAME@_weights:\n" DATA ".size @NAME@_weights, .-@NAME@_weights\n");
#elif defined(__APPLE__)
__asm__(".section __DATA,__const\n"
        ".p2align 6\n"
        ".globl _@NAME@_weights\n"
        ".private_extern _@NAME@_weights\n"
        "_@NAME@_weights:\n" DATA ".text\n");
#elif defined(_WIN32)
#if defined(__i386__)
#define SYMBOL "_@NAME@_weights"
#else
#define SYMBOL "@NAME@_weights"
#endif
__asm__(".section .rdata,\"dr\"\n"
        ".balign 64\n"
        ".globl " SYMBOL "\n"
        SYMBOL ":\n" DATA ".text\n");
#else
__asm__(".section .rodata.@NAME@_weights, \"a\"\n"
        ".balign @ALIGNMENT@\n"
        ".globl @NAME@_weights\n"
        ".hidden @NAME@_weights\n"
        ".type @NAME@_weights, %object\n"
        "@NAME@_weights:\n" DATA ".size @NAME@_weights, . - @NAME@_weights\n"
        ".previous\n");
#endif
)";

static std::string joinWords(ArrayRef<std::string> texts, StringRef prefix, StringRef separator, std::string (*makeWord)(StringRef)) {
  return llvm::join(llvm::map_range(texts, [&](const std::string &text) { return prefix.str() + makeWord(text); }), separator);
}

/// sources.cmake: the units of each target, with their options.
static std::string printSourceList(const ModelSources &sources, bool embedded) {
  std::string name = makeCMakeWord(sources.signature.name);
  std::vector<std::string> options = commonFlags();
  options.push_back("-Wno-psabi");
  bool hasLongVectors = llvm::any_of(sources.units, [](const TranslationUnit &unit) {
    return unit.target && llvm::Triple(tripleOf(unit.target)).isX86() && unit.target.getVectorBits() > 128;
  });
  std::string align = hasLongVectors ? fillIn(alignTemplate, {{"@NAME@", name}}) : "";
  std::string text =
      fillIn(sourceListTemplate, {{"@ALIGN@", align}, {"@NAME@", name}, {"@OPTIONS@", joinWords(options, "", " ", makeCMakeWord)}});
  llvm::MapVector<kernel::TargetAttr, std::string> units;
  for (const TranslationUnit &unit : sources.units)
    units[unit.target] += "\n  ${CMAKE_CURRENT_LIST_DIR}/" + makeCMakeWord(unit.name);
  for (auto &[target, list] : units)
    text += fillIn(unitsTemplate, {{"@NAME@", name},
                                             {"@TARGET@", target ? makeCMakeWord(target.getName()) : "any CPU"},
                                             {"@UNITS@", list.substr(1)},
                                             {"@FLAGS@", joinWords(targetFlags(target), "", ";", makeCMakeWord)}});
  return embedded ? text + fillIn(weightsTemplate, {{"@NAME@", name}}) : text;
}

/// Adds the headers of Kiln that a text includes, and those that these include.
static void addHeaders(StringRef text, llvm::StringSet<> &names) {
  for (StringRef line : llvm::split(text, '\n')) {
    line = line.ltrim(' ');
    if (!line.consume_front("#include \"kiln/"))
      continue;
    std::string name = "kiln/" + line.split('"').first.str();
    if (names.insert(name).second)
      addHeaders(embeddedFile(name), names);
  }
}

/// The part of the runtime that goes with a model: the headers that its units include, the threads and workspaces that programs use, and what is for some
/// models only.
static std::vector<SourceFile> listRuntime(const ModelSources &sources, ArrayRef<SourceFile> own) {
  llvm::StringSet<> headers;
  for (const SourceFile &file : own)
    addHeaders(file.text, headers);
  auto isNeeded = [&](StringRef path) {
    if (path.starts_with("src/onednn/"))
      return llvm::is_contained(sources.signature.libraries, "onednn");
    if (path.starts_with("src/ranks/") || path.starts_with("src/mpi/") || path.starts_with("src/pipeline/"))
      return false; // a program brings its communicator
    return !path.starts_with("src/images/") || headers.contains("kiln/image.h");
  };
  std::vector<SourceFile> files;
  for (const EmbeddedFile &file : embeddedFiles())
    if ((file.path.starts_with("src/") && isNeeded(file.path)) || file.path == "CMakeLists.txt") {
      files.push_back({"runtime/" + file.path.str(), file.text.str()});
      addHeaders(file.text, headers);
    }
  for (const EmbeddedFile &file : embeddedFiles())
    if (headers.contains(file.path))
      files.push_back({"runtime/include/" + file.path.str(), file.text.str()});
  return files;
}

std::vector<SourceFile> makeSourceFolder(const ModelSources &sources) {
  const Signature &signature = sources.signature;
  std::vector<SourceFile> files = sources.headers();
  files.push_back(printSessions(sources.models));
  files.insert(files.end(), sources.units.begin(), sources.units.end());
  bool embedded = signature.weightsBytes && !signature.externalWeights;
  std::string links, name = makeCMakeWord(signature.name);
  for (const std::string &library : signature.libraries)
    links += "target_link_libraries(" + name + " PUBLIC kiln_" + makeCMakeWord(library) + ")\n";
  files.push_back({"CMakeLists.txt", fillIn(projectTemplate, {{"@NAME@", name}, {"@LINK@", links}})});
  files.push_back({"sources.cmake", printSourceList(sources, embedded)});
  if (embedded) {
    std::string alignment = std::to_string(getElfAlignment(uint64_t(signature.weightsBytes)));
    files.push_back({signature.name + "_weights.cpp", fillIn(weightsUnit, {{"@ALIGNMENT@", alignment}, {"@NAME@", makeAssemblerName(signature.name)}})});
  }
  std::vector<SourceFile> runtime = listRuntime(sources, files);
  files.insert(files.end(), runtime.begin(), runtime.end());
  return files;
}

static constexpr StringLiteral pkgConfigTemplate = R"(prefix=${pcfiledir}

Name: @NAME@
Description: Model @NAME@, compiled by Kiln
Version: 1
@REQUIRES@Cflags: -I${prefix}
Libs: -L${prefix} -l@NAME@
)";

static constexpr StringLiteral cmakeConfigTemplate = R"(# find_package(@NAME@ CONFIG PATHS <this folder>) gives the target @NAME@::@NAME@. Written by Kiln.
if(NOT TARGET @NAME@::@NAME@)
  if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/lib@NAME@.a)
    add_library(@NAME@::@NAME@ STATIC IMPORTED)
    set_target_properties(@NAME@::@NAME@ PROPERTIES IMPORTED_LOCATION ${CMAKE_CURRENT_LIST_DIR}/lib@NAME@.a)
  elseif(EXISTS ${CMAKE_CURRENT_LIST_DIR}/@NAME@.dll)
    add_library(@NAME@::@NAME@ SHARED IMPORTED)
    set_target_properties(@NAME@::@NAME@ PROPERTIES IMPORTED_LOCATION ${CMAKE_CURRENT_LIST_DIR}/@NAME@.dll
                                                    IMPORTED_IMPLIB ${CMAKE_CURRENT_LIST_DIR}/lib@NAME@.dll.a)
  elseif(EXISTS ${CMAKE_CURRENT_LIST_DIR}/lib@NAME@.dylib)
    add_library(@NAME@::@NAME@ SHARED IMPORTED)
    set_target_properties(@NAME@::@NAME@ PROPERTIES IMPORTED_LOCATION ${CMAKE_CURRENT_LIST_DIR}/lib@NAME@.dylib)
  else()
    add_library(@NAME@::@NAME@ SHARED IMPORTED)
    set_target_properties(@NAME@::@NAME@ PROPERTIES IMPORTED_LOCATION ${CMAKE_CURRENT_LIST_DIR}/lib@NAME@.so IMPORTED_NO_SONAME TRUE)
  endif()
  set_target_properties(@NAME@::@NAME@ PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${CMAKE_CURRENT_LIST_DIR})
@LINK@endif()
)";

/// The shared library already contains what programs must link with the archive.
static constexpr StringLiteral linkTemplate = R"(  if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/lib@NAME@.a)
    include(CMakeFindDependencyMacro)
    find_dependency(Kiln)
    set_target_properties(@NAME@::@NAME@ PROPERTIES INTERFACE_LINK_LIBRARIES "@TARGETS@")
  endif()
)";

std::vector<SourceFile> makeBuildFiles(StringRef name, ArrayRef<std::string> libraries) {
  std::string needed = libraries.empty() ? "" : "Requires: " + joinWords(libraries, "kiln-", " ", makePkgConfigWord) + "\n";
  std::string pkgConfig = fillIn(pkgConfigTemplate, {{"@REQUIRES@", needed}, {"@NAME@", makePkgConfigWord(name)}});
  std::string word = makeCMakeWord(name), links = joinWords(libraries, "Kiln::", ";", makeCMakeWord);
  std::string link = libraries.empty() ? "" : fillIn(linkTemplate, {{"@TARGETS@", links}, {"@NAME@", word}});
  std::string config = fillIn(cmakeConfigTemplate, {{"@LINK@", link}, {"@NAME@", word}});
  return {{name.str() + ".pc", pkgConfig}, {name.str() + "-config.cmake", config}};
}

} // namespace kiln
