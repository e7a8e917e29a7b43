//===- BodyImporter.h - The nodes of graphs and bodies ----------------------===//
#ifndef KILN_COMPILER_IMPORT_BODYIMPORTER_H
#define KILN_COMPILER_IMPORT_BODYIMPORTER_H

#include "compiler/import/Diagnostics.h"
#include "compiler/import/FunctionCalls.h"
#include "compiler/import/ModelFile.h"
#include "compiler/import/Schema.h"
#include "compiler/import/Scope.h"
#include "compiler/import/SymbolicSizes.h"
#include <functional>

namespace kiln::onnx {
class FunctionProto;
class GraphProto;
} // namespace kiln::onnx

namespace kiln::import {

/// Expresses nodes in the nn dialect: those of the main graph, of functions, and of the bodies of If, Loop and others.
class BodyImporter {
public:
  BodyImporter(mlir::OpBuilder &builder, const ImportOptions &options, ModelFile &file, Diagnostics &diagnostics, SymbolicSizes &sizes, Calls &calls);

  /// Adds what the graph says of names besides its nodes: initializers and declared types.
  static void addInitializers(Scope &scope, const onnx::GraphProto &graph);
  mlir::LogicalResult importNodes(Scope &scope, llvm::ArrayRef<const onnx::NodeProto *> nodes);
  /// The value of that name as seen from `scope`; nullopt when there is none. An initializer becomes a constant here.
  std::optional<Value> lookup(Scope &scope, llvm::StringRef name, std::string &reason);
  /// An error if the value has another type than the model declares for that name.
  mlir::LogicalResult checkDeclared(Scope &scope, llvm::StringRef name, Value value, llvm::StringRef where);

  /// A message for each node that is not supported.
  llvm::ArrayRef<std::string> listUnsupported() const { return unsupportedNodes; }
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

  mlir::LogicalResult importNode(Scope &scope, const onnx::NodeProto &proto, size_t index);
  mlir::LogicalResult convertNode(Scope &scope, Node &node, const onnx::NodeProto &proto, int64_t opset);
  /// The attributes of a call, those of the function around it in the place of references.
  static llvm::StringMap<const onnx::AttributeProto *> resolveAttributes(const Scope &scope, const onnx::NodeProto &call);
  /// What is made from here on belongs to a call of that name.
  void enterCall(const Scope &scope, const Node &node, const onnx::NodeProto &call, llvm::StringRef name);
  /// Counts the nodes of a function with those that its calls become, without those in branches and loops, down to the depth that may be inlined.
  int64_t countInlined(const onnx::FunctionProto &function, int64_t depth);
  mlir::LogicalResult inlineFunction(Scope &scope, Node &node, const onnx::NodeProto &call, const onnx::FunctionProto &function);

  /// @name Operators with bodies (ControlFlow.cpp, RolledLoops.cpp)
  /// @{
  using ControlFlow = mlir::LogicalResult (BodyImporter::*)(Scope &scope, Node &node);
  static ControlFlow findControlFlow(llvm::StringRef domain, llvm::StringRef name);
  mlir::LogicalResult inlineIf(Scope &scope, Node &node);
  /// One of two values, as run time tells; null after a mistake. `what` says what is the matter when their ranks differ, `name` is for
  /// computed dimensions.
  Value joinValues(Node &node, Value condition, Value then, Value otherwise, llvm::StringRef what, llvm::StringRef name);
  AffineExpr chooseDim(Node &node, Value condition, AffineExpr then, AffineExpr otherwise, const llvm::Twine &name);
  /// The symbol for a number that the model computes, at most `bound`.
  AffineExpr computeDim(Node &node, Value number, AffineExpr bound, const llvm::Twine &name);
  mlir::LogicalResult chooseBranch(Scope &scope, Node &node, const onnx::GraphProto &thenBranch, const onnx::GraphProto &elseBranch);
  /// A loop between two of its steps.
  struct LoopState {
    llvm::SmallVector<Value> carried;
    Value condition;
    /// Whether the steps so far all happened; null: they do.
    Value alive;
    std::vector<llvm::SmallVector<Value>> scanned;
  };
  /// A loop whose number of steps only run time knows: an nn.loop.
  struct RolledLoop {
    /// The most steps, and the number of the present one.
    AffineExpr steps, step;
    /// Whether the model says what the most steps are.
    bool hasLimit = true;
    /// Whether the body gives a condition first, and that before the first step; null: it is true.
    bool isLoop = false;
    Value condition;
    llvm::SmallVector<Value> carried;
    /// Where the rows stand that steps give, and whether the first one stands last.
    llvm::SmallVector<int64_t> axes, backwards;
    /// What the body gets in a step.
    std::function<llvm::SmallVector<Value>(llvm::ArrayRef<Value> carried)> makeArguments;
  };
  mlir::LogicalResult rollLoop(Scope &scope, Node &node, const onnx::GraphProto &graph, RolledLoop &rolled);
  mlir::FailureOr<bool> importStep(Scope &scope, Node &node, const onnx::GraphProto &graph, const RolledLoop &rolled, nn::LoopOp loop);
  mlir::FailureOr<bool> importBlock(Scope &scope, Node &node, const onnx::GraphProto &graph, const RolledLoop &rolled, mlir::Block &block);
  mlir::LogicalResult checkStep(Node &node, mlir::Block &block, size_t states, unsigned firstSymbol, size_t checks, bool endsEarly);
  mlir::LogicalResult rollLoopNode(Scope &scope, Node &node, const onnx::GraphProto &graph);
  /// What Scan's attributes say: axes and directions of the scanned inputs, and of the outputs.
  struct ScanAxes {
    llvm::SmallVector<int64_t> axes, backwards, outAxes, outBackwards;
  };
  mlir::LogicalResult rollScan(Scope &scope, Node &node, const onnx::GraphProto &graph, const ScanAxes &scan, AffineExpr steps);
  mlir::LogicalResult takeStep(Scope &scope, Node &node, const onnx::GraphProto &graph, int64_t step, LoopState &state);
  mlir::LogicalResult collectNothing(Scope &scope, Node &node, const onnx::GraphProto &graph, llvm::SmallVectorImpl<Value> &carried);
  mlir::LogicalResult unrollLoop(Scope &scope, Node &node);
  mlir::LogicalResult unrollScan(Scope &scope, Node &node);
  mlir::LogicalResult mapSequence(Scope &scope, Node &node);
  mlir::LogicalResult buildFlexAttention(Scope &scope, Node &node);
  /// Gradient (Gradient.cpp): a node that is about other nodes.
  mlir::LogicalResult differentiate(Scope &scope, Node &node);
  /// The values of a body's outputs for these of its inputs; null ones come from a node that is not supported.
  mlir::FailureOr<llvm::SmallVector<Value>> importBody(Scope &scope, Node &node, const onnx::GraphProto &graph, llvm::ArrayRef<Value> arguments,
                                                       const llvm::Twine &prefix);
  /// @}

  /// What the table says of the node: its attributes as a call of a function gives them, and the types of its inputs.
  mlir::LogicalResult checkNode(Scope &scope, Node &node);
  mlir::LogicalResult checkOperands(Scope &scope, Node &node, const Schema &schema);
  /// The data types that a value may have: several share one type in the IR, and only for some values it is known which it is.
  DataTypes listDataTypes(Value value, int64_t known);
  mlir::LogicalResult gatherInputs(Scope &scope, Node &node, bool &isPoisoned);
  mlir::LogicalResult bindOutputs(Scope &scope, Node &node, llvm::StringRef where);

  /// A tensor of strings of the file; null when it holds something else, or with the reason set.
  Value makeStrings(const onnx::TensorProto &tensor, mlir::Location loc, std::string &reason);
  /// The narrow data type of the value of that name, or 0.
  static int64_t narrowType(const Scope &scope, llvm::StringRef name);

  mlir::MLIRContext &context;
  mlir::OpBuilder &builder;
  const ImportOptions &options;
  ModelFile &file;
  Diagnostics &diagnostics;
  SymbolicSizes &sizes;
  /// Which operations each call of a function became.
  Calls &calls;
  Schemas schemas;
  llvm::DenseMap<Type, DataTypes> dataTypes;
  llvm::StringMap<const onnx::FunctionProto *> functions;
  /// The least number of nodes that each function becomes.
  llvm::DenseMap<const onnx::FunctionProto *, int64_t> inlinedNodes;
  int64_t nodeCount = 0;
  std::vector<std::string> unsupportedNodes;
  std::string verifierMessage;
  std::vector<NodeValue> nodeValues;
  std::vector<std::pair<std::string, Value>> keptBytes;
  /// The outermost nn.loop that is being made.
  mlir::Operation *rolling = nullptr;
  /// The symbols of numbers that a condition chooses from.
  llvm::DenseMap<std::tuple<Value, AffineExpr, AffineExpr>, AffineExpr> chosenDims;
};

/// How messages call a node: node 'conv_3' (Conv), or node #7 (Conv) without a name.
std::string describeNode(const onnx::NodeProto &proto, size_t index, llvm::StringRef prefix);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_BODYIMPORTER_H
