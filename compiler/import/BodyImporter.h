//===- BodyImporter.h - The nodes of graphs and bodies ----------------------===//
#ifndef KILN_COMPILER_IMPORT_BODYIMPORTER_H
#define KILN_COMPILER_IMPORT_BODYIMPORTER_H

#include "compiler/import/Choices.h"
#include "compiler/import/FunctionCalls.h"
#include "compiler/import/FunctionTable.h"
#include "compiler/import/NamedValues.h"
#include "compiler/import/Schema.h"

namespace kiln::import {

struct DelegateGroup;

/// Expresses nodes in the nn dialect: those of the main graph, of functions, and of the bodies of If, Loop and others. What a node means is the business
/// of its operator's converter, which sees a Node.
class BodyImporter {
public:
  BodyImporter(mlir::OpBuilder &builder, const ImportOptions &options, ModelFile &file, Diagnostics &diagnostics, SymbolicSizes &sizes, Calls &calls)
      : context(*builder.getContext()), builder(builder), options(options), diagnostics(diagnostics), sizes(sizes), calls(calls),
        graph(file.model().graph()), values(builder, options, file, diagnostics, sizes), choices(builder, sizes),
        constants(options, sizes, file.getPartResults()), functions(file.model(), options.limits), libraries(file.getLibraries()),
        delegates(file.getDelegates()) {}

  /// The nodes of the main graph.
  mlir::LogicalResult importGraphNodes(Scope &scope, llvm::ArrayRef<const onnx::NodeProto *> nodes);
  NamedValues &getValues() { return values; }

  /// A message for each node that is not supported.
  llvm::ArrayRef<std::string> listUnsupported() const { return unsupportedNodes; }
  /// Sentences on what has been left out: sides of conditions that no run can take, and nodes that no output needs.
  llvm::ArrayRef<std::string> listWarnings() const { return warnings; }
  bool hasUnsupported() const { return !unsupportedNodes.empty(); }
  /// What a verifier said last about an operation that was made.
  void noteVerifierMessage(std::string message) {
    if (verifierMessage.empty())
      verifierMessage = std::move(message);
  }
  llvm::StringRef getVerifierMessage() const { return verifierMessage; }
  /// What nodes compute, in the order of the file; kept with `exposeNodes`.
  struct NodeValue {
    std::string name, node;
    Value value;
  };
  llvm::MutableArrayRef<NodeValue> getNodeValues() { return nodeValues; }
  /// Bytes that strings point into, which are returned behind the outputs: with their names.
  llvm::ArrayRef<std::pair<std::string, Value>> listKeptBytes() const { return keptBytes; }

private:
  friend class Node;

  mlir::LogicalResult importNodes(Scope &scope, llvm::ArrayRef<const onnx::NodeProto *> nodes, llvm::ArrayRef<llvm::StringRef> outputs);
  /// Takes back what is wrong with a node that no output needs, or `unsupported` since there were so many such nodes, and warns. Fails if another
  /// mistake has been made.
  mlir::LogicalResult leaveOut(Scope &scope, const onnx::NodeProto &proto, bool isWrong, size_t unsupported);
  void warn(std::string message);
  mlir::LogicalResult importNode(Scope &scope, const onnx::NodeProto &proto, size_t index);
  mlir::LogicalResult convert(Scope &scope, Node &node, const onnx::FunctionProto *function);
  /// A node that reads alternatives: once for each side of the condition.
  mlir::LogicalResult importTwice(Scope &scope, Node &node, size_t index, Value condition);
  mlir::LogicalResult convertNode(Scope &scope, Node &node, const onnx::NodeProto &proto, int64_t opset);
  /// Computes the results of a node, whose sizes data decide, where all data are constants.
  void computeConstants(Node &node, const SymbolicSizes::Mark &before, mlir::Operation *lastBefore);
  /// What is made from here on belongs to a call of that name.
  void enterCall(const Scope &scope, const Node &node, const onnx::NodeProto &call, llvm::StringRef name);
  mlir::LogicalResult inlineFunction(Scope &scope, Node &node, const onnx::NodeProto &call, const onnx::FunctionProto &function);
  /// A call of the program's function in the place of the group's nodes.
  mlir::LogicalResult importDelegate(Scope &scope, Node &node, const onnx::NodeProto &call, const onnx::FunctionProto &function, const DelegateGroup &group);
  /// See Node::importBody.
  mlir::FailureOr<llvm::SmallVector<Value>> importBody(Scope &scope, Node &node, const onnx::GraphProto &graph, llvm::ArrayRef<Value> arguments,
                                                       const llvm::Twine &prefix);

  /// What the table says of the node: its attributes as a call of a function gives them, and the types of its inputs.
  mlir::LogicalResult checkNode(Scope &scope, Node &node);
  mlir::LogicalResult checkOperands(Scope &scope, Node &node, const Schema &schema);
  /// The data types that a value may have: several share one type in the IR, and only for some values it is known which it is.
  DataTypes listDataTypes(Value value, int64_t known);
  mlir::LogicalResult gatherInputs(Scope &scope, Node &node, bool &isPoisoned);
  mlir::LogicalResult bindOutputs(Scope &scope, Node &node, llvm::StringRef where);

  mlir::MLIRContext &context;
  mlir::OpBuilder &builder;
  const ImportOptions &options;
  Diagnostics &diagnostics;
  SymbolicSizes &sizes;
  /// Which operations each call of a function became.
  Calls &calls;
  const onnx::GraphProto &graph;
  /// The names of the main graph.
  const Scope *main = nullptr;
  NamedValues values;
  Choices choices;
  ConstantParts constants;
  FunctionTable functions;
  const FunctionLibraries *libraries;
  const Delegates *delegates;
  Schemas schemas;
  llvm::DenseMap<Type, DataTypes> dataTypes;
  int64_t nodeCount = 0;
  /// The number of nodes that are being imported and read alternatives.
  unsigned tails = 0;
  /// The nodes of unrolled steps that rolled loops replaced.
  int64_t discardedNodes = 0;
  std::vector<std::string> unsupportedNodes;
  std::vector<std::string> warnings;
  std::string verifierMessage;
  std::vector<NodeValue> nodeValues;
  std::vector<std::pair<std::string, Value>> keptBytes;
};

/// The location of what a node becomes: conv_3(Conv).
mlir::Location nodeLocation(mlir::MLIRContext &context, const onnx::NodeProto &proto, size_t index, llvm::StringRef prefix);
/// How messages call a node: node 'conv_3' (Conv), or node #7 (Conv) without a name.
std::string describeNode(const onnx::NodeProto &proto, size_t index, llvm::StringRef prefix);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_BODYIMPORTER_H
