//===- Origin.h - What a library was made from ------------------------------------===//
#ifndef KILN_COMPILER_ORIGIN_H
#define KILN_COMPILER_ORIGIN_H

#include "compiler/CompileOptions.h"
#include "compiler/OutputFile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include <optional>

namespace kiln {

/// A file and the SHA-256 of its bytes; empty when they could not be read.
struct HashedFile {
  std::string name, sha256;
};

/// What a library was made from. Its record says it, so that anybody who has the model and the compiler can check it.
struct Origin {
  /// The models, and what else the compile read: external data, functions, definitions, profiles, descriptions of targets. Names are those of the files
  /// below the first model's folder, and without their folder elsewhere.
  std::vector<HashedFile> models, files;
  /// The version of the compiler, and a hash of its code.
  std::string version, build;
  /// The options that decide what the objects are.
  std::vector<std::string> options;
  /// The members of the archive, but for the record.
  std::vector<HashedFile> objects;
};

/// The options that decide what a compile makes, as they are written on the command line, in one order. Paths have no folders.
std::vector<std::string> listOptions(const CompileOptions &options);

/// Hashes the models and files of a compile. `dependencies` are the files that it read besides the first model.
Origin findOrigin(const CompileOptions &options, llvm::ArrayRef<std::string> models, llvm::ArrayRef<std::string> dependencies);

/// The compiler that runs: its version, and a hash of its code and of the libraries of LLVM that it uses.
std::string compilerVersion();
std::string compilerBuild();

/// SHA-256 of a file of the result.
std::string hashOutput(const OutputFile &file);

llvm::json::Object toJson(const Origin &origin);
std::optional<Origin> originFromJson(const llvm::json::Object &object);

} // namespace kiln

#endif // KILN_COMPILER_ORIGIN_H
