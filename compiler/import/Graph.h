//===- Graph.h - Walks the model's graph -------------------------------------===//
#ifndef KILN_COMPILER_IMPORT_GRAPH_H
#define KILN_COMPILER_IMPORT_GRAPH_H

#include "compiler/import/FunctionCalls.h"
#include "compiler/import/Import.h"
#include "compiler/import/ModelFile.h"
#include "compiler/import/Node.h"
#include "compiler/import/Schema.h"
#include "dialects/nn/ComputedDims.h"
#include "dialects/nn/Sequences.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <functional>

namespace kiln::onnx {
class FunctionProto;
class GraphProto;
class OperatorSetIdProto;
class SparseTensorProto;
class TypeProto;
class ValueInfoProto;
} // namespace kiln::onnx

namespace kiln::import {

/// The names visible to the nodes of a graph or function body.
struct Scope {
  /// The graph around a branch, whose values it may use; null for the main graph and for functions.
  Scope *parent = nullptr;
  /// Values by name; null: the value of a node that is not supported.
  llvm::StringMap<Value> values;
  llvm::StringMap<const onnx::TensorProto *> initializers;
  llvm::StringMap<const onnx::SparseTensorProto *> sparseInitializers;
  llvm::StringMap<const onnx::TypeProto *> declared;
  /// The data types of values whose bytes need one to be understood (NarrowTypes.h); those of others may be there, too.
  llvm::StringMap<int64_t> narrow;
  /// Optionals, which only some operators take, among inputs and what Optional makes; and what operators on tensors have computed.
  llvm::StringSet<> optionals, tensors;
  /// Inside a function: the attributes of the call.
  llvm::StringMap<const onnx::AttributeProto *> attributes;
  bool isFunction = false;
  llvm::StringMap<int64_t> opsets;
  int64_t depth = 0;
  /// What stands before the names of nodes: the calls around them.
  std::string prefix;
};

/// Builds the module. One instance imports one model.
class GraphImporter {
public:
  GraphImporter(mlir::MLIRContext &context, const ImportOptions &options, ModelFile &file, Diagnostics &diagnostics, SqueezedDims &squeezed,
                Assumptions &assumptions);

  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> run();
  /// The results of @main that are the model's outputs.
  unsigned numOutputs() const { return outputNames.size(); }
  bool hasUnsupported() const { return !unsupportedNodes.empty(); }

private:
  friend class Node;

  void addInitializers(Scope &scope, const onnx::GraphProto &graph);
  mlir::LogicalResult addInputs(Scope &scope, const onnx::GraphProto &graph);
  mlir::LogicalResult addInput(Scope &scope, const onnx::ValueInfoProto &input);
  /// What the options say of an input's shape, and which option it was.
  struct GivenShape {
    const std::vector<int64_t> *sizes;
    llvm::StringRef option, wayOut;
    /// Which element of a sequence it is: dimensions of the same name may differ between elements.
    bool isElement = false;
  };
  mlir::FailureOr<mlir::RankedTensorType> inputType(llvm::StringRef name, const onnx::TypeProto &proto, const GivenShape &given);
  Value addArgument(llvm::StringRef name, mlir::RankedTensorType type);
  mlir::LogicalResult bindInput(Scope &scope, llvm::StringRef name, mlir::RankedTensorType type, llvm::StringRef text);
  mlir::LogicalResult checkOptions(const onnx::GraphProto &graph);
  mlir::LogicalResult returnOutputs(Scope &scope, const onnx::GraphProto &graph);
  void returnValues(llvm::ArrayRef<Value> outputs);
  void finishModule();

  mlir::LogicalResult importNodes(Scope &scope, llvm::ArrayRef<const onnx::NodeProto *> nodes);
  mlir::LogicalResult importNode(Scope &scope, const onnx::NodeProto &proto, size_t index);
  mlir::LogicalResult convertNode(Scope &scope, Node &node, const onnx::NodeProto &proto, int64_t opset);
  /// The attributes of a call, those of the function around it in the place of references.
  static llvm::StringMap<const onnx::AttributeProto *> resolveAttributes(const Scope &scope, const onnx::NodeProto &call);
  /// What is made from here on belongs to a call of that name.
  void enterCall(const Scope &scope, const Node &node, const onnx::NodeProto &call, llvm::StringRef name);
  /// Counts the nodes of a function with those that its calls become, without those in branches and loops, down to the depth that may be inlined.
  int64_t countInlined(const onnx::FunctionProto &function, int64_t depth);
  mlir::LogicalResult inlineFunction(Scope &scope, Node &node, const onnx::NodeProto &call, const onnx::FunctionProto &function);

  /// @name Sequences and optionals at the interface (SequenceValues.cpp)
  /// @{
  /// Whether the input is of that kind; then it is added, or an error.
  std::optional<mlir::LogicalResult> addList(Scope &scope, const onnx::ValueInfoProto &input);
  mlir::LogicalResult addSequence(Scope &scope, const onnx::ValueInfoProto &input, const onnx::TypeProto &sequence);
  mlir::LogicalResult checkListOptions(const onnx::GraphProto &graph);
  /// Adds the tensors of a sequence, or none of an optional without a value, to what the model returns.
  mlir::LogicalResult returnList(const onnx::ValueInfoProto &output, Value list, llvm::SmallVectorImpl<Value> &results);
  /// `name` with the number behind it, and something else when a name of the model is that already.
  std::string elementName(llvm::StringRef name, size_t number) const;
  /// @}

  /// @name Operators with bodies (ControlFlow.cpp, RolledLoops.cpp)
  /// @{
  using ControlFlow = mlir::LogicalResult (GraphImporter::*)(Scope &scope, Node &node);
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
  mlir::LogicalResult checkDeclared(Scope &scope, llvm::StringRef name, Value value, llvm::StringRef where);

  /// The value of that name as seen from `scope`; nullopt when there is none. An initializer becomes a constant here.
  std::optional<Value> lookup(Scope &scope, llvm::StringRef name, std::string &reason);
  /// A tensor of strings of the file; null when it holds something else, or with the reason set.
  Value makeStrings(const onnx::TensorProto &tensor, mlir::Location loc, std::string &reason);
  /// The narrow data type of the value of that name, or 0.
  static int64_t narrowType(const Scope &scope, llvm::StringRef name);
  AffineExpr symbol(llvm::StringRef name);
  AffineExpr addComputedSymbol(const llvm::Twine &name, AffineExpr bound);
  nn::ComputedDims computedDims() const { return {static_cast<unsigned>(symbols.size() - computedBounds.size()), computedBounds}; }
  void addConstraint(AffineExpr mustBeZero);
  bool isConstraint(AffineExpr mustBeZero) const;
  /// Has a run check that the expression is not negative.
  void requireNotNegative(AffineExpr expr);
  /// Whether nodes that only some runs come to are being imported: what they need others do not.
  bool isConditional() const { return conditional > 0 || rolling; }
  /// Whether an expression is taken not to be negative where it is needed; else it is noted that it was.
  bool isInRange(AffineExpr expr);
  /// Notes which signs are needed for an expression to be zero, or one of `orOne` to be one; whether it is zero with them.
  bool learn(AffineExpr mustBeZero, llvm::ArrayRef<AffineExpr> orOne = {});
  /// Whether an expression depends on the sign of another.
  static bool hasSign(AffineExpr expr);
  void assumeSigns();
  /// The expression with the numbers of the symbols that constraints give one, as s0 - 5 does.
  AffineExpr usePinned(AffineExpr dim) const;

  mlir::MLIRContext &context;
  const ImportOptions &options;
  ModelFile &file;
  Diagnostics &diagnostics;
  Schemas schemas;
  llvm::DenseMap<Type, DataTypes> dataTypes;
  SqueezedDims &squeezed;
  Assumptions &assumptions;
  nn::DimFacts facts;
  /// Sizes that are 1 where they are not those that they broadcast with.
  llvm::DenseSet<AffineExpr> spread;
  /// What is zero if sizes that broadcast are equal, as was assumed.
  llvm::SetVector<AffineExpr> assumedEqual;
  /// What would not be negative if bounds were in range.
  llvm::SetVector<AffineExpr> clamped;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  llvm::SmallVector<std::string> symbols;
  llvm::StringMap<AffineExpr> symbolByName;
  llvm::SmallVector<AffineExpr> constraints;
  /// Those of the options' dimensions that an input has.
  llvm::StringSet<> fixedDims;
  std::vector<std::string> outputNames;
  /// Bytes that strings point into, which are returned behind the outputs: with their names.
  std::vector<std::pair<std::string, Value>> keptBytes;
  std::vector<nn::SequenceInfo> sequences;
  /// The most that each of the last symbols can be: those that the model computes.
  llvm::SmallVector<AffineExpr> computedBounds;
  llvm::StringMap<const onnx::FunctionProto *> functions;
  /// Which operations each call of them became.
  Calls calls;
  std::vector<std::string> unsupportedNodes;
  /// What the dialect's verifiers said about the operation just made.
  std::string verifierMessage;
  int64_t nodeCount = 0;
  /// At least so many nodes each function becomes.
  llvm::DenseMap<const onnx::FunctionProto *, int64_t> inlinedNodes;
  /// The outermost nn.loop that is being made.
  mlir::Operation *rolling = nullptr;
  /// The symbols of numbers that a condition chooses from.
  llvm::DenseMap<std::tuple<Value, AffineExpr, AffineExpr>, AffineExpr> chosenDims;
  /// How many bodies around the present node run time may skip.
  int64_t conditional = 0;

  /// What nodes compute, in the order of the file; kept with `exposeNodes`.
  struct NodeValue {
    std::string name, node;
    Value value;
  };
  std::vector<NodeValue> nodeValues;
};

/// How messages call a node: node 'conv_3' (Conv), or node #7 (Conv) without a name.
std::string describeNode(const onnx::NodeProto &proto, size_t index, llvm::StringRef prefix);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_GRAPH_H
