//===- Sources.h - The C++ text of a whole model ---------------------------===//
#ifndef KILN_COMPILER_EMIT_SOURCES_H
#define KILN_COMPILER_EMIT_SOURCES_H

#include "compiler/emit/KernelPrinter.h"
#include "compiler/emit/Signature.h"
#include <map>

namespace kiln {

struct SourceFile {
  std::string name;
  std::string text;
};

struct TranslationUnit : SourceFile {
  /// The target.
  kernel::TargetAttr target;
  /// The names of the model's headers that it includes.
  std::vector<std::string> headers;
};

/// NAME.h, and the translation units behind it.
struct ModelSources {
  /// Of the model; of a library of several, that of the first under the library's name.
  Signature signature;
  /// Of each model of the library.
  std::vector<Signature> models;
  SourceFile header;
  /// Declarations of the kernels, for the translation units; one header per target.
  std::vector<SourceFile> kernelHeaders;
  /// For each target the entries of its versions, then the kernels. If there are several targets or versions, the unit that chooses comes first.
  std::vector<TranslationUnit> units;
  /// The names of what the units define.
  std::vector<std::string> symbols;
  /// The ONNX nodes that each kernel computes, by the name of its function.
  std::map<std::string, std::string> kernelNodes;

  /// All headers that a unit may include.
  std::vector<SourceFile> headers() const;
};

/// The C++ of each kernel of a module, in order, under the names that a library has for them unless versions share them. Fails after it has reported each
/// kernel that has no C++ text.
mlir::FailureOr<std::vector<std::pair<mlir::func::FuncOp, KernelText>>> printKernelTexts(const Signature &signature);

/// Prints a model after the kernel stage, for one target or several, each followed by its versions for special sizes.
/// The text depends on nothing but the modules and the signatures.
mlir::FailureOr<ModelSources> printSources(llvm::ArrayRef<Signature> targets);

/// The same for several models in one library: one header, and a table of their signatures, NAME_graphs. All signatures name the library.
mlir::FailureOr<ModelSources> printLibrary(llvm::StringRef name, llvm::ArrayRef<std::vector<Signature>> models);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_SOURCES_H
