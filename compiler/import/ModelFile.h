//===- ModelFile.h - The model file and the files beside it -----------------===//
#ifndef KILN_COMPILER_IMPORT_MODELFILE_H
#define KILN_COMPILER_IMPORT_MODELFILE_H

#include "compiler/import/ConstantParts.h"
#include "compiler/import/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include <memory>
#include <optional>

namespace kiln::onnx {
class ModelProto;
class TensorProto;
} // namespace kiln::onnx

namespace kiln {
struct ImportOptions;
} // namespace kiln

namespace kiln::import {

class Delegates;
class FunctionLibraries;

/// A read-only mapping of a regular file.
class MappedFile {
public:
  /// Maps an open file; closes the descriptor.
  static std::unique_ptr<MappedFile> map(int descriptor, std::string &reason);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  llvm::ArrayRef<char> bytes() const { return {data, size}; }

private:
  MappedFile(const char *data, size_t size) : data(data), size(size) {}
  const char *data;
  size_t size;
};

/// The parsed model and the external files that its tensors name. Its tensors' bytes live as long as it does.
class ModelFile {
public:
  /// `followsLinks`: weights may lie behind symbolic links, or in files with several hard links, so anywhere.
  explicit ModelFile(std::string path, bool followsLinks = false);
  ~ModelFile();

  llvm::LogicalResult load(Diagnostics &diagnostics);
  const onnx::ModelProto &model() const { return *proto; }
  /// Reads the libraries that the options name, and gives the model the functions of theirs that it calls.
  llvm::LogicalResult addLibraries(const ImportOptions &options, Diagnostics &diagnostics);
  /// Puts nodes into the order of their values. Returns a warning if they were not in it, or an empty text.
  std::string sortNodes();
  /// Null if there are none.
  const FunctionLibraries *getLibraries() const { return libraries.get(); }
  /// Cuts the groups of delegates out of the model, which has been checked.
  llvm::LogicalResult cutForDelegates(const ImportOptions &options, Diagnostics &diagnostics);
  /// Null if there are none.
  const Delegates *getDelegates() const { return delegates.get(); }

  /// The bytes of a tensor with external data; nullopt with the reason set if they must not or cannot be read.
  std::optional<llvm::ArrayRef<char>> externalBytes(const onnx::TensorProto &tensor, std::string &reason);
  /// Outlives the rounds of an import.
  PartResults &getPartResults() { return partResults; }

  /// Paths of the external files opened so far.
  std::vector<std::string> externalPaths() const;

private:
  MappedFile *openExternal(llvm::StringRef location, std::string &reason);

  std::string path;
  std::string folder;
  bool followsLinks;
  std::unique_ptr<onnx::ModelProto> proto;
  std::unique_ptr<FunctionLibraries> libraries;
  std::unique_ptr<Delegates> delegates;
  llvm::StringMap<std::unique_ptr<MappedFile>> externals;
  PartResults partResults;
};

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_MODELFILE_H
