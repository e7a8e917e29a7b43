//===- ExternalCompiler.h - C++ text to an object, by an installed compiler ===//
#ifndef KILN_COMPILER_EMIT_EXTERNALCOMPILER_H
#define KILN_COMPILER_EMIT_EXTERNALCOMPILER_H

#include "compiler/emit/ArchiveWriter.h"
#include "compiler/emit/Sources.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace kiln {

/// A C++ compiler with GCC's options.
class ExternalCompiler {
public:
  /// Finds the program and writes the model's and the kernels' headers to a temporary folder.
  static llvm::Expected<ExternalCompiler> create(llvm::StringRef program, llvm::ArrayRef<SourceFile> headers);
  ExternalCompiler(ExternalCompiler &&other);
  ExternalCompiler(const ExternalCompiler &) = delete;
  ~ExternalCompiler();

  /// Compiles one translation unit. Any number of threads may compile at once.
  llvm::Expected<llvm::SmallVector<char, 0>> compile(const SourceFile &unit, kernel::TargetAttr target) const;

  /// A text that says which code the compiler makes: its path, content, version and configuration. Empty if that cannot be known, as of a script.
  std::string identify() const;

  /// Runs the program with these arguments. An error contains its stderr.
  llvm::Error run(llvm::ArrayRef<std::string> arguments, llvm::StringRef log) const;

private:
  friend llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> linkObjects(llvm::StringRef program, llvm::ArrayRef<ArchiveMember> objects,
                                                                        llvm::ArrayRef<std::string> options);
  ExternalCompiler() = default;
  std::string ask(llvm::ArrayRef<llvm::StringRef> arguments) const;
  std::string program;
  std::string folder;
};

/// What became of a program that did not end with status 0, from what llvm::sys::ExecuteAndWait says of it: "'g++' failed with status 1".
std::string describeFailure(llvm::StringRef program, int status, llvm::StringRef message);

/// Links objects with a linker, or with a compiler's driver.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> linkObjects(llvm::StringRef program, llvm::ArrayRef<ArchiveMember> objects,
                                                                llvm::ArrayRef<std::string> options);

/// Links objects into a shared library with a compiler's driver. `links` are further files and options for it.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> linkSharedLibrary(llvm::StringRef program, llvm::ArrayRef<ArchiveMember> objects,
                                                                      llvm::ArrayRef<std::string> links);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_EXTERNALCOMPILER_H
