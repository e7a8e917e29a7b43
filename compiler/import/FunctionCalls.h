//===- FunctionCalls.h - Calls of functions as composites --------------------===//
#ifndef KILN_COMPILER_IMPORT_FUNCTIONCALLS_H
#define KILN_COMPILER_IMPORT_FUNCTIONCALLS_H

#include "dialects/nn/NN.h"
#include "dialects/nn/NNStructureOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace kiln::onnx {
class AttributeProto;
} // namespace kiln::onnx

namespace kiln::import {

/// A call of a model-local function.
struct Call {
  mlir::Location loc;
  std::string name;
  int64_t version;
  /// Null if an attribute is not a number, a text or a list of those.
  mlir::DictionaryAttr parameters;
  llvm::SmallVector<mlir::Value> inputs, outputs;
  /// The enclosing call, or -1.
  int64_t parent = -1;
};

/// Functions are inlined during import, so that shapes and constants propagate through them. This class records the operations of each call. Afterwards,
/// the operations of each call with a clear boundary move into an nn.composite.
class Calls : public mlir::OpBuilder::Listener {
public:
  /// Operations belong to this call until `leave`.
  void enter(Call call);
  void leave() { current = calls[current].parent; }
  /// Sets the outputs of the current call.
  void setOutputs(llvm::ArrayRef<mlir::Value> outputs) { calls[current].outputs.assign(outputs.begin(), outputs.end()); }
  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) override { callOf[op] = current; }

  /// The inputs and outputs of calls, used or not. makeComposites needs these values.
  llvm::DenseSet<mlir::Value> listBorders() const;
  /// Makes the composites of a function's body.
  void makeComposites(mlir::Block &block);

private:
  using Operations = llvm::SetVector<mlir::Operation *>;
  Operations takeOperations(size_t call);
  nn::CompositeOp makeComposite(Call &call, const Operations &operations);
  bool hasBorder(const Call &call, const Operations &operations) const;
  mlir::Value resolve(mlir::Value value) const;

  std::vector<Call> calls;
  int64_t current = -1;
  llvm::DenseMap<mlir::Operation *, int64_t> callOf;
  /// For each call its operations and the calls inside it, in order.
  struct Item {
    mlir::Operation *op;
    int64_t call;
  };
  std::vector<std::vector<Item>> items;
  std::vector<nn::CompositeOp> composites;
  /// The outputs of calls, with the composite's results that replace them.
  llvm::DenseMap<mlir::Value, mlir::Value> replaced;
};

/// The attributes of a call; null if one is not a number, a text or a list of those.
mlir::DictionaryAttr readParameters(mlir::MLIRContext *context, const llvm::StringMap<const onnx::AttributeProto *> &attributes);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_FUNCTIONCALLS_H
