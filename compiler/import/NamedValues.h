//===- NamedValues.h - What the names of a model stand for -----------------===//
#ifndef KILN_COMPILER_IMPORT_NAMEDVALUES_H
#define KILN_COMPILER_IMPORT_NAMEDVALUES_H

#include "compiler/import/Diagnostics.h"
#include "compiler/import/ModelFile.h"
#include "compiler/import/Scope.h"
#include "compiler/import/SymbolicSizes.h"

namespace kiln::onnx {
class GraphProto;
} // namespace kiln::onnx

namespace kiln::import {

/// Finds values by their names, and reads the file's data as they are needed.
class NamedValues {
public:
  NamedValues(mlir::OpBuilder &builder, const ImportOptions &options, ModelFile &file, Diagnostics &diagnostics, SymbolicSizes &sizes)
      : context(*builder.getContext()), builder(builder), options(options), file(file), diagnostics(diagnostics), sizes(sizes) {}

  /// Adds what the graph says of names besides its nodes: initializers and declared types.
  static void addInitializers(Scope &scope, const onnx::GraphProto &graph);
  /// The value of that name as seen from `scope`; nullopt when there is none. An initializer becomes a constant here.
  std::optional<Value> lookup(Scope &scope, llvm::StringRef name, std::string &reason);
  /// Whether the name is an input of the function around that its call leaves out.
  static bool isAbsent(const Scope &scope, llvm::StringRef name);
  /// The narrow data type of the value of that name, or 0.
  static int64_t narrowType(const Scope &scope, llvm::StringRef name);
  /// An error if the value has another element type than the model declares for that name, and in strict mode if it has another shape.
  mlir::LogicalResult checkDeclared(Scope &scope, llvm::StringRef name, Value value, llvm::StringRef where);

  /// The declared shapes that `checkDeclared` has found wrong, as one sentence; empty if there are none.
  std::string describeContradictions() const;

  /// Data of the file; null with the reason set.
  mlir::ElementsAttr read(const onnx::TensorProto &tensor, std::string &reason);
  mlir::ElementsAttr read(const onnx::SparseTensorProto &tensor, std::string &reason);
  /// A tensor of strings of the file; null when it holds something else, or with the reason set.
  Value makeStrings(const onnx::TensorProto &tensor, mlir::Location loc, std::string &reason);

  /// While the body of an nn.loop is made, constants are placed in front of the outermost one. Returns the one so far, for `leaveLoop`.
  mlir::Operation *enterLoop(mlir::Operation *inner) { return std::exchange(loop, loop ? loop : inner); }
  void leaveLoop(mlir::Operation *around) { loop = around; }

private:
  mlir::MLIRContext &context;
  mlir::OpBuilder &builder;
  const ImportOptions &options;
  ModelFile &file;
  Diagnostics &diagnostics;
  SymbolicSizes &sizes;
  mlir::Operation *loop = nullptr;
  /// Values whose declared shapes are wrong, and the message about the first.
  llvm::StringSet<> contradicted;
  std::string firstContradiction;
};

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_NAMEDVALUES_H
