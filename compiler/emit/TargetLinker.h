//===- TargetLinker.h - Linking for other machines and systems ------------------===//
#ifndef KILN_COMPILER_EMIT_TARGETLINKER_H
#define KILN_COMPILER_EMIT_TARGETLINKER_H

#include "compiler/emit/ArchiveWriter.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Triple.h"
#include <memory>

namespace kiln {

/// The path of a linker for a target: lld's, or that of GCC's tools. An error names those that are missing, and what needs one.
llvm::Expected<std::string> findTargetLinker(const llvm::Triple &triple, llvm::StringRef purpose);

/// The options for a program that starts at the runner's entry and needs no C library.
std::vector<std::string> programOptions(const llvm::Triple &triple);

/// The functions of the system that the runner and models call, as a file for the linker; no name where objects need none. Windows: an import library of
/// kernel32.dll; macOS: the text of a library's symbols.
struct SystemLibrary {
  std::string name, bytes;
};
llvm::Expected<SystemLibrary> makeSystemLibrary(const llvm::Triple &triple);

/// libNAME.so, NAME.dll or libNAME.dylib.
std::string sharedLibraryName(llvm::StringRef model, const llvm::Triple &triple);

/// Links objects into a shared library without a C library or a compiler's driver. `support` is another object for it, or empty.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> linkForTarget(llvm::StringRef model, std::vector<ArchiveMember> objects, llvm::StringRef support,
                                                                  const llvm::Triple &triple);

/// The import library of a DLL, for programs that link with it: all that it exports.
llvm::Expected<std::string> makeImportLibrary(llvm::StringRef name, llvm::MemoryBufferRef dll);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_TARGETLINKER_H
