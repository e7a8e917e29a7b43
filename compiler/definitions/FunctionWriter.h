//===- FunctionWriter.h - Definitions as functions of ONNX ------------------===//
#ifndef KILN_COMPILER_DEFINITIONS_FUNCTIONWRITER_H
#define KILN_COMPILER_DEFINITIONS_FUNCTIONWRITER_H

#include "compiler/definitions/SourceText.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <set>

namespace kiln::onnx {
class FunctionProto;
class ModelProto;
class NodeProto;
} // namespace kiln::onnx

namespace kiln::definitions {

struct AffineIndex;
class Library;

/// The opset of ONNX that the functions use.
inline constexpr int64_t functionOpset = 18;

/// Expresses a checked definition as a function of ONNX's operators, which any engine runs: for all ranks, types and attributes that the definition is for.
/// Nodes are named after their places. False if it would have too many nodes.
bool writeFunction(const Definition &definition, onnx::FunctionProto &function, Fault &fault);

/// Expresses all definitions of a file whose domains have one version each as a model of functions without a graph, which --functions reads.
bool writeFunctions(const Library &library, onnx::ModelProto &model, Fault &fault);

/// The letter of an equation for the label with that number; no letter if there are too many.
inline constexpr size_t mostLetters = 52;
inline char letterOf(size_t number) { return static_cast<char>(number < 26 ? 'a' + number : number < mostLetters ? 'A' + number - 26 : '?'); }

/// Writes one function. Values are named by what computes them; those that are alike are computed once.
class FunctionWriter {
public:
  FunctionWriter(const Definition &definition, onnx::FunctionProto &function, Fault &fault);
  bool write();

private:
  using Values = llvm::ArrayRef<std::string>;
  /// What names stand for: at the top those of the definition; inside of a call those of its callee.
  struct Frame {
    const Definition *definition;
    /// The operands' values; empty at the top.
    llvm::StringMap<std::string> operands;
    const std::vector<NamedLiteral> *attributes = nullptr;
    /// What the callee's generic type is.
    Element generic = Element::Generic;
  };
  /// A value, and what each of its dimensions is: an index, or `...`.
  struct Labelled {
    std::string value;
    std::vector<std::string> labels;
  };

  /// @name Nodes
  /// @{
  onnx::NodeProto *addNode(llvm::StringRef op, Values inputs);
  std::string add(llvm::StringRef op, Values inputs);
  std::string addConstant(Element element, const Literal &literal);
  std::string addInts(llvm::ArrayRef<int64_t> numbers);
  std::string convert(const std::string &value, Element to);
  void setInt(onnx::NodeProto *node, llvm::StringRef name, int64_t value);
  /// @}

  /// @name Expressions
  /// @{
  std::string emit(const Frame &frame, const Expr &expr, Element want);
  std::string emitName(const Frame &frame, const Expr &expr, Element type);
  std::string emitBuiltin(const Frame &frame, const Expr &expr, Element type);
  std::string emitCall(const Frame &frame, const Expr &call, Element type);
  std::string emitTensor(const Expr &expr);
  std::string emitAttribute(const Attribute &attribute, Element type);
  /// Not literal unless `want` is.
  Element resolve(const Frame &frame, Element element, Element want) const;
  /// The type in which the operands of a function are computed.
  Element operandType(const Frame &frame, const Expr &expr, Element type) const;
  /// @}

  /// @name Reads (ReadWriter.cpp)
  /// @{
  std::string emitRead(const Expr &read, Element type);
  /// Gives a read a border, so that the indices that are affine in one index lie inside; `lows` has what each item moves by.
  std::string addBorder(const Expr &read, std::string value, Element type, std::vector<IndexExpr> &lows);
  /// Replaces an item of a read by the dimensions that its index has. Outside of the tensor, `masks` become false.
  void readItem(const Expr &read, size_t item, const IndexExpr &low, Labelled &at, std::vector<Labelled> &masks);
  void sliceItem(const AffineIndex &sum, const IndexExpr &low, size_t position, Labelled &at);
  void gatherItem(const Expr &read, size_t item, size_t position, Labelled &at, std::vector<Labelled> &masks);
  std::string slice(const std::string &value, int64_t axis, const IndexExpr &start, const IndexExpr &end, const IndexExpr &step);
  Labelled emitIndices(const IndexExpr &expr);
  std::string emitIndexValue(const IndexExpr &expr, const std::vector<std::string> &order);
  /// The extent of an index, and whether every read of it alone has this extent.
  const Index &findIndex(llvm::StringRef name) const;
  bool isWhole(const Index &index) const;
  /// A tensor of one 64-bit number.
  std::string emitSize(const IndexExpr &expr);
  std::string emitRange(const Index &index);
  /// Brings dimensions to the order of the definition, with 1 where an index is missing, so that values broadcast.
  std::string align(Labelled at);
  std::string permute(Labelled &at);
  std::string insertDims(const Labelled &at);
  std::string emitFullShape();
  std::string emitEllipsisRank();
  /// @}

  std::string emitReduction(std::string value);
  std::string emitSum(const std::string &value);
  /// A reduction over few values that are known: one operand after the other, so that `x[t + k]` is a slice for each k. Empty if it is none.
  std::string emitTerms();
  /// A sum of products of two tensors as one operator; empty if it is none.
  std::string emitProduct();

  const Definition &definition;
  onnx::FunctionProto &function;
  Fault &fault;
  Place place;
  unsigned values = 0;
  bool isTooLong = false;
  /// Indices and `...` in the order of the dimensions, those that are reduced over last.
  std::vector<std::string> layout;
  /// Those along which some value has its full extent.
  std::set<std::string> carried;
  std::map<std::string, std::string> known;
  /// The values of tensors: of parameters, and of calls that are read.
  std::map<std::string, std::string> tensors;
  /// A tensor that is read with `...`, and the number of its other dimensions before and behind.
  std::string ellipsisTensor;
  int64_t ellipsisFront = 0, ellipsisBack = 0;
};

} // namespace kiln::definitions

#endif // KILN_COMPILER_DEFINITIONS_FUNCTIONWRITER_H
