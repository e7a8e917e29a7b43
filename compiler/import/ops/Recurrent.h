//===- Recurrent.h - What recurrent layers share ------------------------------===//
#ifndef KILN_COMPILER_IMPORT_OPS_RECURRENT_H
#define KILN_COMPILER_IMPORT_OPS_RECURRENT_H

#include "compiler/import/Node.h"
#include "dialects/nn/Activations.h"

namespace kiln::import {

/// Some directions of a node that one operation computes.
struct Part {
  int64_t first, count;
};

/// What the recurrent operators share. One instance serves all directions of a node.
class Layer {
public:
  Layer(Node &node, int64_t gates, llvm::ArrayRef<llvm::StringRef> defaults) : node(node), gates(gates), defaults(defaults) {}

  /// With `isQuantized` the weights are bytes, transposed.
  bool read(bool isQuantized = false);
  /// Both directions together when they have the same activations, else one by one.
  llvm::SmallVector<Part> parts();
  mlir::UnitAttr isReverse(Part part) const {
    bool backwards = part.count == 1 && (direction == "reverse" || part.first == 1);
    return backwards ? node.builder().getUnitAttr() : mlir::UnitAttr();
  }
  /// The part's rows of an operand [directions, ...]; null when the operand is absent.
  Value rowsOf(Part part, Value operand) const;
  /// The state before the first step, [directions, batch, hidden].
  Value initialState(Part part, unsigned input) const;
  /// R transposed: [directions, hidden, gates * hidden].
  Value recurrenceOf(Part part) { return node.transpose(rowsOf(part, recurrence), {0, 2, 1}); }
  /// X * W^T + bias for all steps, [steps, batch, directions * gates * hidden].
  Value inputGates(Part part, Value bias);
  /// The two halves of B, [directions, gates * hidden] each.
  std::pair<Value, Value> biases(Part part) const;
  mlir::ArrayAttr activations(Part part) const;
  mlir::RankedTensorType statesType(Part part);
  mlir::LogicalResult finish(llvm::ArrayRef<Value> states, llvm::ArrayRef<Value> hidden, llvm::ArrayRef<Value> cells);

  Node &node;
  int64_t gates, hidden = 0, directions = 1;
  llvm::ArrayRef<llvm::StringRef> defaults;
  std::string direction;
  bool batchFirst = false;
  Value x, weight, recurrence, bias, lengths;
  AffineExpr steps, batch, features;
  mlir::FloatAttr clip;

private:
  Value readWeights(unsigned at, unsigned scaleAt);
  bool checkShape(Value value, llvm::ArrayRef<AffineExpr> want, llvm::StringRef what);
  bool checkShapes();
  bool readActivations();
  /// Of each direction in turn.
  llvm::SmallVector<std::string> names;
};

/// The LSTM of bytes whose left sides are quantized in each run and step.
mlir::LogicalResult dynamicQuantizeLstm(Node &node);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_OPS_RECURRENT_H
