//===- Node.h - One ONNX node while it is expressed in nn -------------------===//
#ifndef KILN_COMPILER_IMPORT_NODE_H
#define KILN_COMPILER_IMPORT_NODE_H

#include "compiler/Limits.h"
#include "compiler/import/Assumptions.h"
#include "compiler/import/Contents.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"

namespace kiln::onnx {
class AttributeProto;
class GraphProto;
class NodeProto;
} // namespace kiln::onnx

namespace kiln::import {

using mlir::AffineExpr;
using mlir::Type;
using mlir::Value;
using nn::DimExprs;

class BodyImporter;
class Choices;
class NamedValues;
class SymbolicSizes;
struct Scope;

/// What an operator's converter sees. The first mistake sticks: after it, accessors return defaults that are safe to go on with, and the
/// driver throws away what was made. A converter so only returns early where it would otherwise do harm.
class Node {
public:
  Node(BodyImporter &graph, Scope &scope, const onnx::NodeProto &proto, int64_t opset, mlir::Location loc);

  /// @name What the file says
  /// @{
  llvm::StringRef opType() const;
  const int64_t opset;
  const mlir::Location loc;
  unsigned numInputs() const { return inputs.size(); }
  unsigned numOutputs() const;
  /// Whether somebody may read output `i`.
  bool hasOutput(unsigned i) const;
  bool hasInput(unsigned i) {
    inputsAsked = std::max(inputsAsked, i + 1);
    return i < inputs.size() && inputs[i];
  }
  /// Input `i`; an error and some value when it is missing.
  Value input(unsigned i);
  /// The narrow data type of input `i` (NarrowTypes.h), or 0.
  int64_t narrowType(unsigned i);
  /// Input `i` or null.
  Value optionalInput(unsigned i) { return hasInput(i) ? inputs[i] : Value(); }
  /// @}

  /// @name Attributes, which must have the type asked for; one that no accessor asks for is an error
  /// @{
  std::optional<int64_t> findInt(llvm::StringRef name);
  int64_t getInt(llvm::StringRef name, int64_t fallback) { return findInt(name).value_or(fallback); }
  int64_t requireInt(llvm::StringRef name);
  bool getFlag(llvm::StringRef name, bool fallback = false) { return getInt(name, fallback) != 0; }
  double getFloat(llvm::StringRef name, double fallback);
  std::string getString(llvm::StringRef name, llvm::StringRef fallback);
  std::optional<llvm::SmallVector<int64_t>> findInts(llvm::StringRef name);
  std::optional<llvm::SmallVector<double>> findFloats(llvm::StringRef name);
  std::optional<llvm::SmallVector<std::string>> findStrings(llvm::StringRef name);
  mlir::ElementsAttr findTensor(llvm::StringRef name);
  /// The constant of a tensor attribute, which may be of strings; a harmless one after a mistake.
  Value tensorAttribute(llvm::StringRef name);
  bool hasAttribute(llvm::StringRef name) const;
  /// For attributes that do not change what is computed.
  void ignore(llvm::StringRef name) { asked.insert(name); }
  /// The attribute itself, or what the call of the function around the node gives for it; null when that gives nothing.
  const onnx::AttributeProto *resolve(const onnx::AttributeProto &attribute) const;
  /// Reports an attribute or input that nobody asked for.
  void checkAllAsked();
  /// @}

  /// @name Bodies: what only operators with bodies ask for (ControlFlow.h)
  /// @{
  std::string name() const;
  /// The operator and the name, for people: "Add 'p2o.Add.234'".
  std::string describe() const;
  llvm::ArrayRef<Value> allInputs() const { return inputs; }
  const onnx::GraphProto *findBody(llvm::StringRef name);
  /// The values of a body's outputs for these of its inputs; null ones come from a node that is not supported.
  mlir::FailureOr<llvm::SmallVector<Value>> importBody(const onnx::GraphProto &body, llvm::ArrayRef<Value> arguments, const llvm::Twine &prefix);
  /// importBody() for a branch, which has no arguments. Its values may be alternatives (Alternatives.h), which the results then are, too.
  mlir::FailureOr<llvm::SmallVector<Value>> importBranch(const onnx::GraphProto &branch);
  /// All results; those that nobody reads may be missing or too many.
  mlir::LogicalResult setResults(llvm::ArrayRef<Value> values);
  /// The value of that name as seen from the node; nullopt when there is none.
  std::optional<Value> lookup(llvm::StringRef name, std::string &why);
  SymbolicSizes &sizes();
  NamedValues &values();
  Choices &choices();
  size_t countKeptBytes() const;
  /// The nodes that have been imported so far, and those of them that count against the limit.
  struct NodeCount {
    int64_t imported, kept;
  };
  NodeCount countNodes() const;
  /// Whether the steps of a loop have taken so many nodes since `first` that the loop should be rolled instead of unrolled: an eighth of the limit.
  bool areTooMany(NodeCount first) const;
  /// Takes back the nodes since `first`, because a rolled loop replaces their steps. They count all the same once a model discards more than twice the limit,
  /// so that nested loops cannot take time without end.
  void discardNodes(NodeCount first);
  /// What a verifier said last.
  llvm::StringRef verifierMessage() const;
  /// @}

  /// @name Mistakes
  /// @{
  /// The mistake of a node in a branch, which is taken back: only runs that take the branch have it. Nullopt if there is none of this kind.
  std::optional<std::string> takeFault();
  /// Reports it again.
  mlir::LogicalResult fault(llvm::StringRef taken);
  /// Warns that no run can take a side of this node's condition; an error with --strict.
  mlir::LogicalResult noteDeadSide(bool holds, llvm::StringRef fault);
  /// A mistake whatever a run does: too many nodes, or bodies that are nested too deep.
  mlir::LogicalResult beyondLimit(const llvm::Twine &reason) {
    isBeyondLimit = true;
    return error(reason);
  }
  mlir::LogicalResult error(const llvm::Twine &reason);
  /// The model is right, but Kiln cannot do this; `wayOut` says what the user can do.
  mlir::LogicalResult unsupported(const llvm::Twine &reason, const llvm::Twine &wayOut = "");
  bool failed() const { return !reason.empty(); }
  bool isUnsupported() const { return unsupportedNode; }
  llvm::StringRef message() const { return reason; }
  /// @}

  /// @name Results
  /// @{
  mlir::LogicalResult result(Value value) { return result(0, value); }
  mlir::LogicalResult result(unsigned i, Value value);
  /// A result whose bytes are of a narrow data type, or of an ordinary one.
  mlir::LogicalResult narrowResult(Value value, int64_t dataType) { return narrowResult(0, value, dataType); }
  mlir::LogicalResult narrowResult(unsigned i, Value value, int64_t dataType);
  llvm::ArrayRef<Value> results() const { return outputs; }
  /// @}

  /// @name Types
  /// @{
  mlir::MLIRContext *context() const { return loc.getContext(); }
  DimExprs dims(Value value) const { return nn::getDims(value.getType()); }
  int64_t rank(Value value) const { return mlir::cast<mlir::RankedTensorType>(value.getType()).getRank(); }
  Type elementType(Value value) const { return mlir::cast<mlir::RankedTensorType>(value.getType()).getElementType(); }
  /// The type in which sums and powers of the value's elements are computed: f32 for f16 and bf16, as the standard asks of statistics.
  Type wideType(Value value) const {
    Type element = elementType(value);
    return element.isF16() || element.isBF16() ? mlir::Float32Type::get(context()) : element;
  }
  AffineExpr number(int64_t value) const { return mlir::getAffineConstantExpr(value, context()); }
  /// The tensor type, or an error and a harmless type when the dimensions are negative or the tensor is too large.
  mlir::RankedTensorType type(llvm::ArrayRef<AffineExpr> dims, Type elementType);
  /// The axis counted from the front; an error outside [-rank, rank).
  int64_t axis(int64_t axis, int64_t rank, llvm::StringRef what = "axis");
  /// The same for a list, sorted and checked for duplicates.
  llvm::SmallVector<int64_t> axes(llvm::ArrayRef<int64_t> axes, int64_t rank);
  bool expectRank(Value value, int64_t rank, llvm::StringRef what);
  /// `a` and `b` must be the same number: an error when they cannot be, checked at run time when that is not known.
  bool unify(AffineExpr a, AffineExpr b, const llvm::Twine &what);
  /// `expr` must not be negative: checked at run time when that is not known.
  void requireNotNegative(AffineExpr expr, const llvm::Twine &what);
  /// The same where the node is in every run; elsewhere nothing.
  void requireInRun(AffineExpr expr);
  /// `expr`, but no less than `least` or no more than `most`; `what` says in messages what is the matter where it is.
  AffineExpr clampLow(AffineExpr expr, AffineExpr least, const llvm::Twine &what);
  AffineExpr clampHigh(AffineExpr expr, AffineExpr most, const llvm::Twine &what);
  /// A place that counts from the end of `size` elements when it is negative, as one from the front.
  AffineExpr countFromFront(AffineExpr place, AffineExpr size, const llvm::Twine &what);
  const nn::DimFacts &facts() const;
  /// The elements of an integer tensor as expressions, if sizes and constants decide them, and of one with a single element that constants decide.
  std::optional<DimExprs> findIntegers(Value value);
  std::optional<int64_t> knownScalar(Value value);
  /// The elements of an integer tensor as expressions; an error saying what must be known when they are not.
  std::optional<DimExprs> knownIntegers(unsigned input, llvm::StringRef what);
  std::optional<llvm::SmallVector<int64_t>> constantIntegers(unsigned input, llvm::StringRef what);
  /// The dimensions that the model declares for output `i`, when it declares all. They stand in for a shape, axes or sizes that only
  /// the data would tell (`isKnown` says so). An importer that takes them has a run check that the data agree (DeclaredShapes.h).
  std::optional<DimExprs> declaredDims(unsigned i = 0) const;
  /// Declared sizes that could as well be dimensions that the run computes: only where data alone lead to a model that is not supported.
  std::optional<DimExprs> trustedDims(unsigned i = 0) const;
  /// The number of them, which the model may declare alone.
  std::optional<int64_t> declaredRank(unsigned i = 0) const;
  /// What a Squeeze without axes has to know, and may note (Graph.h).
  SqueezedDims &squeezed();
  bool isKnown(unsigned input) { return !hasInput(input) || findIntegers(inputs[input]); }
  /// A dimension that only the data tells, at most `bound`; `name` is for messages and the model's users. Without a bound, the caller gives one: a dimension
  /// NAME_most, which a run raises where it is too small.
  AffineExpr computedDim(AffineExpr bound, const llvm::Twine &name);
  /// Bytes that strings of the results point into: they become an output of the model, so that they live as long as the strings.
  void keepBytes(Value bytes, const llvm::Twine &name);
  const Limits &limits() const;
  /// What programs may call a thing of output `i`: its name, or the node's.
  std::string outputName(unsigned i) const;
  /// Numbers of a constant float or integer tensor.
  std::optional<llvm::SmallVector<double>> findNumbers(Value value);
  std::optional<llvm::SmallVector<double>> constantNumbers(unsigned input, llvm::StringRef what);
  /// @}

  /// @name Building
  /// @{
  mlir::OpBuilder &builder();
  /// Makes an operation with one result, checks it and folds shape arithmetic.
  template <typename Op, typename... Args> Value make(Type type, Args &&...args) {
    return finish(Op::create(builder(), loc, type, std::forward<Args>(args)...));
  }
  template <typename Op, typename... Args> Value unary(Value x, Args &&...args) { return make<Op>(x.getType(), x, std::forward<Args>(args)...); }
  /// Element-wise on operands of equal element type, which are broadcast.
  template <typename Op, typename... Args> Value binary(Value x, Value y, Args &&...args) {
    broadcast({&x, &y});
    return make<Op>(x.getType(), x, y, std::forward<Args>(args)...);
  }
  template <typename Op> Value compare(Value x, Value y) {
    broadcast({&x, &y});
    return make<Op>(type(dims(x), builder().getI1Type()), x, y);
  }
  /// Element-wise with a number.
  template <typename Op> Value binary(Value x, double y) { return make<Op>(x.getType(), x, splatLike(x, y)); }

  Value constant(mlir::ElementsAttr value);
  /// A constant of strings, in one dimension.
  Value strings(llvm::ArrayRef<std::string> texts, AffineExpr count);
  Value constantInts(llvm::ArrayRef<int64_t> values);
  Value splat(llvm::ArrayRef<AffineExpr> dims, Type elementType, double value);
  Value splatLike(Value like, double value) { return splat(dims(like), elementType(like), value); }
  /// Brings all to their common shape; an error when they have none, or differ in element type (unless `mixed`).
  void broadcast(llvm::ArrayRef<Value *> values, bool mixed = false);
  Value broadcastTo(Value value, llvm::ArrayRef<AffineExpr> dims);
  /// Whether of two sizes that are not known to be equal either may be 1; then it is noted that they are.
  bool mayBeOne(AffineExpr dim, AffineExpr other);
  std::optional<DimExprs> broadcastDims(llvm::ArrayRef<AffineExpr> a, llvm::ArrayRef<AffineExpr> b);
  Value reshape(Value value, llvm::ArrayRef<AffineExpr> dims);
  Value transpose(Value value, llvm::ArrayRef<int64_t> permutation);
  Value cast(Value value, Type elementType);
  Value slice(Value value, int64_t axis, AffineExpr start, AffineExpr extent, int64_t step = 1);
  Value concat(llvm::ArrayRef<Value> values, int64_t axis);
  Value matmul(Value lhs, Value rhs);
  /// That of bytes with their zero points, each in the shape of its side.
  Value quantizedMatmul(Value lhs, Value rhs, Value lhsZero, Value rhsZero);
  Value pad(Value value, llvm::ArrayRef<AffineExpr> low, llvm::ArrayRef<AffineExpr> high, nn::PadMode mode, Value fill);
  /// Reduces over sorted axes; without `keep` the axes go away.
  Value reduce(nn::ReduceKind kind, Value value, llvm::ArrayRef<int64_t> axes, bool keep);
  Value iota(llvm::ArrayRef<AffineExpr> dims, int64_t axis, Type elementType);
  /// @}

private:
  const onnx::AttributeProto *find(llvm::StringRef name, int kind, llvm::StringRef kindName);
  /// The dimensions of a product and those that its right side must have; nullopt after an error.
  std::optional<std::pair<DimExprs, DimExprs>> alignProduct(Value lhs, Value rhs);
  Value finish(mlir::Operation *op);
  /// An error when a tensor whose size the data tells has no bound, or one beyond the limit.
  void checkComputedSize(llvm::ArrayRef<AffineExpr> dims, Type elementType);

  BodyImporter &graph;
  Scope &scope;
  const onnx::NodeProto &proto;
  llvm::SmallVector<Value> inputs;
  llvm::SmallVector<Value> outputs;
  llvm::StringSet<> asked;
  unsigned inputsAsked = 0;
  std::string reason;
  bool unsupportedNode = false, isBeyondLimit = false;
  friend class BodyImporter;
};

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_NODE_H
