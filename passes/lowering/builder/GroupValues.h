//===- GroupValues.h - The values of a group as functions of an index ------===//
//
// A kernel's lowering asks for values at index expressions and stores results. The views (IndexMap) and element-wise operations (ScalarBody) of the
// group are computed on the way, for one element or for a vector.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_LOWERING_BUILDER_GROUPVALUES_H
#define KILN_PASSES_LOWERING_BUILDER_GROUPVALUES_H

#include "dialects/nn/Dims.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/lowering/builder/KernelLoops.h"
#include "passes/lowering/builder/KernelSignature.h"
#include "passes/target/groups/Views.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace kiln {

class GroupValues {
public:
  /// Computes with the loops that lie around their present place, on the buffers of the signature.
  GroupValues(nn::GroupOp group, KernelLoops &loops, KernelSignature &signature);

  nn::GroupOp group() const { return groupOp; }
  kernel::TargetAttr target() const { return targetAttr; }

  /// A value of the group's body at an index, computed on the way. Memoized until the next loop or store.
  mlir::Value value(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> at, Lanes lanes = {});
  /// From here on, `tensor` (the anchor's result) is `computed` whatever the index: used while an epilogue is evaluated.
  void setValue(mlir::Value tensor, mlir::Value computed);
  /// Stores the group's results at an index; `anchorResult` is replaced by `computed` in the epilogue. Dims of the result as in the op.
  void storeResults(mlir::Value anchorResult, mlir::Value computed, llvm::ArrayRef<mlir::AffineExpr> at, Lanes lanes = {});
  /// The same for lanes along the last index, in pieces where the epilogue has wider elements.
  void storeLanes(mlir::Value anchorResult, mlir::Value computed, llvm::ArrayRef<mlir::AffineExpr> at, Lanes lanes);
  /// Stores one group result (by number) as it is, without an epilogue; its dims are `getDims` of the result type.
  void store(unsigned result, mlir::Value computed, llvm::ArrayRef<mlir::AffineExpr> at, Lanes lanes = {});
  /// Loads what `store` put there before.
  mlir::Value loadResult(unsigned result, llvm::ArrayRef<mlir::AffineExpr> at, Lanes lanes = {});

  mlir::Value loadBuffer(mlir::Value buffer, mlir::Type elementType, mlir::AffineExpr offset, Lanes lanes = {});
  /// Neighbouring elements as they lie in memory: halves are not made f32.
  mlir::Value loadStored(mlir::Value buffer, mlir::AffineExpr offset, unsigned lanes);
  void storeBuffer(mlir::Value buffer, mlir::Type elementType, mlir::AffineExpr offset, mlir::Value value, Lanes lanes = {});
  /// An array of the kernel's own on the stack, in the compute type of `elementType`, aligned to 64 bytes.
  mlir::Value array(llvm::StringRef name, mlir::Type elementType, int64_t elements);

  /// Every place that `tensor` at `at` reads: buffer offsets and, for nn.iota, coordinates. For merging loops.
  void collectOffsets(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> at, llvm::SetVector<mlir::AffineExpr> &offsets);
  /// The offsets that the group's results which lie inside larger buffers have at an index: they may go on unevenly. For merging loops.
  void collectStores(mlir::Value yielded, llvm::ArrayRef<mlir::AffineExpr> at, llvm::SetVector<mlir::AffineExpr> &offsets);
  /// The element of its buffer that a block argument has at an index, wherever its producer put it.
  mlir::AffineExpr elementOffset(mlir::BlockArgument argument, llvm::ArrayRef<mlir::AffineExpr> at) const;
  /// How far apart neighbours along dimension `dim` lie.
  mlir::AffineExpr elementStride(mlir::BlockArgument argument, unsigned dim) const;
  mlir::AffineExpr resultOffset(unsigned result, llvm::ArrayRef<mlir::AffineExpr> at) const;
  /// The row-major offset of an index into dims.
  mlir::AffineExpr linearize(llvm::ArrayRef<mlir::AffineExpr> dims, llvm::ArrayRef<mlir::AffineExpr> at) const;
  /// Lanes of a vector of the group's widest elements.
  unsigned vectorLanes() const { return lanesForGroup; }
  /// Lanes of loops that do little but store results: several vectors, where the target is faster at turning them into the results' type together.
  unsigned resultLanes() const;

private:
  /// The indices at which values have been visited.
  using ReadPlaces = llvm::DenseMap<mlir::Value, llvm::SmallVector<IndexExprs, 1>>;
  void collectOffsets(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> at, llvm::SetVector<mlir::AffineExpr> &offsets, ReadPlaces &seen);
  mlir::Value compute(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> at, Lanes lanes);
  mlir::Value splat(nn::SplatOp op, Lanes lanes);
  mlir::Value iota(nn::IotaOp op, mlir::AffineExpr coordinate, Lanes lanes);
  mlir::Value dimValue(nn::DimValuesOp op, llvm::ArrayRef<mlir::AffineExpr> at, Lanes lanes);
  mlir::Value eachLane(Lanes lanes, llvm::ArrayRef<mlir::AffineExpr> exprs, llvm::function_ref<mlir::Value(llvm::ArrayRef<mlir::AffineExpr>)> scalar);

  nn::GroupOp groupOp;
  KernelLoops &loops;
  KernelSignature &signature;
  mlir::OpBuilder &b;
  mlir::Location location;
  kernel::TargetAttr targetAttr;
  unsigned lanesForGroup;
  llvm::DenseMap<mlir::Value, mlir::Value> overrides;
  /// The first element of each result with a place: the expression, and where it is a sum of several sizes, its value, which the kernel computes once.
  llvm::SmallVector<std::pair<mlir::AffineExpr, mlir::AffineExpr>, 1> firsts;
  struct Computed {
    IndexExprs at;
    unsigned lanes;
    mlir::Value value;
  };
  /// Values computed in block `valuesBlock` since the last store.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Computed, 1>> values;
  unsigned valuesBlock = 0;
};

/// Lanes of a vector of the group's widest elements.
unsigned countLanes(nn::GroupOp group, kernel::TargetAttr target);
/// The same for the part of a group's body that a value is computed from.
unsigned countLanes(mlir::Value value, kernel::TargetAttr target);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_BUILDER_GROUPVALUES_H
