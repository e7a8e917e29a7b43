//===- SignatureReader.h - The model's inputs and outputs -------------------===//
#ifndef KILN_COMPILER_IMPORT_SIGNATUREREADER_H
#define KILN_COMPILER_IMPORT_SIGNATUREREADER_H

#include "compiler/import/Diagnostics.h"
#include "compiler/import/Scope.h"
#include "compiler/import/SymbolicSizes.h"
#include "dialects/nn/Sequences.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln::onnx {
class GraphProto;
class TypeProto;
class ValueInfoProto;
} // namespace kiln::onnx

namespace kiln::import {

class BodyImporter;

/// Makes the arguments and results of @main from the graph's inputs and outputs and from what the options say of them.
class SignatureReader {
public:
  SignatureReader(mlir::func::FuncOp function, mlir::OpBuilder &builder, const ImportOptions &options, const onnx::GraphProto &graph,
                  Diagnostics &diagnostics, SymbolicSizes &sizes);

  /// Refuses options for inputs that the model does not have.
  static mlir::LogicalResult checkOptions(const ImportOptions &options, const onnx::GraphProto &graph, Diagnostics &diagnostics);
  /// Lines that say which static sizes of inputs the options replace.
  static std::vector<std::string> describeReplaced(const ImportOptions &options, const onnx::GraphProto &graph);
  /// Adds the inputs to the scope, as arguments, constants or lists of arguments.
  mlir::LogicalResult addInputs(Scope &scope);
  /// An error if the options make a dimension static that is neither an input's nor the bound of a size that data decide.
  mlir::LogicalResult checkFixed();
  /// Returns the outputs and what a compile exposes besides; nothing if a node was not supported.
  mlir::LogicalResult returnOutputs(Scope &scope, BodyImporter &body);
  /// Notes what the integers of inputs and outputs stand for, where all users of an input dequantise it alike, or an output is quantised, with constants.
  void noteQuantization();
  /// Notes the labels of outputs that come from classifiers or ZipMap (ClassLabels.cpp).
  void noteLabels();
  /// The results of @main that are the model's outputs.
  unsigned numOutputs() const { return outputNames.size(); }
  /// Which arguments and results are elements of sequences and optionals.
  llvm::ArrayRef<nn::SequenceInfo> listSequences() const { return sequences; }

private:
  /// What the options say of an input's shape, and which option it was.
  struct GivenShape {
    const std::vector<int64_t> *sizes;
    llvm::StringRef option, wayOut;
    /// Which element of a sequence it is: dimensions of the same name may differ between elements.
    bool isElement = false;
  };
  mlir::LogicalResult addInput(Scope &scope, const onnx::ValueInfoProto &input);
  mlir::FailureOr<mlir::RankedTensorType> inputType(llvm::StringRef name, const onnx::TypeProto &proto, const GivenShape &given);
  /// Adds it to the entry block only: addInputs() sets the function's type and attributes once for all, since each change makes them anew.
  Value addArgument(llvm::StringRef name, mlir::RankedTensorType type);
  mlir::LogicalResult bindInput(Scope &scope, llvm::StringRef name, mlir::RankedTensorType type, llvm::StringRef text);
  void returnValues(llvm::ArrayRef<Value> outputs, BodyImporter &body);

  /// @name Sequences, optionals (SequenceValues.cpp) and maps
  /// @{
  static mlir::LogicalResult checkListOptions(const ImportOptions &options, const onnx::GraphProto &graph, Diagnostics &diagnostics);
  /// Whether the input is of that kind; then it is added, or an error.
  std::optional<mlir::LogicalResult> addList(Scope &scope, const onnx::ValueInfoProto &input);
  mlir::LogicalResult addSequence(Scope &scope, const onnx::ValueInfoProto &input, const onnx::TypeProto &sequence);
  /// Adds the tensors of a sequence, or none of an optional without a value, to what the model returns.
  mlir::LogicalResult returnList(const onnx::ValueInfoProto &output, Value list, llvm::SmallVectorImpl<Value> &results);
  /// Adds the keys and the values of a map (MapValues.cpp).
  mlir::LogicalResult addMap(Scope &scope, const onnx::ValueInfoProto &input);
  /// `name` with the part behind it, and something else when a name of the model is that already.
  std::string elementName(llvm::StringRef name, const llvm::Twine &part) const;
  /// @}

  mlir::MLIRContext &context;
  mlir::func::FuncOp function;
  mlir::OpBuilder &builder;
  const ImportOptions &options;
  const onnx::GraphProto &graph;
  Diagnostics &diagnostics;
  SymbolicSizes &sizes;
  /// The names of the dynamic dimensions of inputs.
  std::vector<std::string> inputDims;
  llvm::SmallVector<mlir::DictionaryAttr> argumentAttrs;
  std::vector<std::string> outputNames;
  std::vector<nn::SequenceInfo> sequences;
};

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_SIGNATUREREADER_H
