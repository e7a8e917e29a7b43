//===- KernelBuilder.h - Writes the loops of one kernel --------------------===//
//
// A group's values are functions of an index. A kernel's lowering makes loops, asks for values at index expressions, and stores results;
// the views (IndexMap) and element-wise operations (ScalarBody) of the group are computed on the way, for one element or for a vector.
//
// Index expressions are affine: dimension dN is the loop variable that `index(value)` gave out, symbol sN is the module's symbol N.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_LOWERING_BUILDER_KERNELBUILDER_H
#define KILN_PASSES_LOWERING_BUILDER_KERNELBUILDER_H

#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "passes/target/groups/Views.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include <functional>

namespace kiln {

/// The vectorized direction: lane i of a value stands for loop variable `dim` + i. One lane means a scalar.
struct Lanes {
  unsigned dim = 0;
  unsigned count = 1;
};

/// Where a view of a buffer lies: element `offset` (in elements, over the loop dims and symbols) of block argument `argument` of the group.
struct BufferAccess {
  unsigned argument;
  mlir::AffineExpr offset;
};

/// What the entry must know to launch a kernel.
struct LaunchInfo {
  /// The number of independent tasks, an expression of symbols.
  mlir::AffineExpr tasks;
  /// Work of the whole launch, as expressions of symbols.
  mlir::AffineExpr flops;
  mlir::AffineExpr bytes;
  /// There are as many tasks as the caller's context has threads, or one where more would not pay.
  bool byThreads = false;
};

class KernelBuilder {
public:
  /// Starts the body of `kernel`, whose arguments are: one buffer for each group input, one for each group result, one index for each
  /// module symbol, begin and end; a status cell stands before the symbols when `checksValues` holds.
  KernelBuilder(nn::GroupOp group, mlir::func::FuncOp kernel);

  mlir::OpBuilder &builder() { return b; }
  mlir::Location loc() const { return location; }
  nn::GroupOp group() const { return groupOp; }
  kernel::TargetAttr target() const { return targetAttr; }
  mlir::MLIRContext *context() const { return b.getContext(); }

  //===- Loops --------------------------------------------------------------===//

  /// Makes a loop variable (or any index value) usable in index expressions.
  mlir::AffineExpr index(mlir::Value value);
  mlir::AffineExpr constant(int64_t value) const { return mlir::getAffineConstantExpr(value, b.getContext()); }
  /// The value of an index expression here.
  mlir::Value emit(mlir::AffineExpr expr);
  mlir::Value emitConstant(int64_t value);
  /// The smaller of two index values.
  mlir::Value minimum(mlir::Value x, mlir::Value y);

  /// for (i = lower; i < upper; i += step) body(i). The name is the C++ variable's.
  void loop(mlir::AffineExpr lower, mlir::AffineExpr upper, int64_t step, llvm::StringRef name, llvm::function_ref<void(mlir::AffineExpr)> body);
  /// The same with values carried round; `body` returns their next values.
  llvm::SmallVector<mlir::Value> loop(mlir::AffineExpr lower, mlir::AffineExpr upper, int64_t step, llvm::StringRef name, mlir::ValueRange init,
                                      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::AffineExpr, mlir::ValueRange)> body);
  /// Loops over the kernel's task range and splits the task number into row-major coordinates of `extents`.
  void taskLoop(llvm::ArrayRef<mlir::AffineExpr> extents, llvm::function_ref<void(llvm::ArrayRef<mlir::AffineExpr>)> body);
  /// Covers [0, extent) with vectors of `lanes`, then of smaller powers of two; a remainder that is not static is done by single elements.
  void vectorLoop(mlir::AffineExpr extent, unsigned lanes, llvm::StringRef name, llvm::function_ref<void(mlir::AffineExpr, Lanes)> body);
  /// while (condition(state)) state = body(state). Returns the last state.
  llvm::SmallVector<mlir::Value> whileLoop(mlir::ValueRange init, llvm::function_ref<mlir::Value(mlir::ValueRange)> condition,
                                           llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> body);
  /// if (condition) body().
  void branch(mlir::Value condition, llvm::function_ref<void()> body);

  //===- Values -------------------------------------------------------------===//

  /// A value of the group's body at an index, computed on the way. Memoized until the next loop or store.
  mlir::Value value(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> at, Lanes lanes = {});
  /// From here on, `tensor` (the anchor's result) is `computed` whatever the index: used while an epilogue is evaluated.
  void setValue(mlir::Value tensor, mlir::Value computed) { overrides[tensor] = computed; values.clear(); }
  /// Stores the group's results at an index; `anchorResult` is replaced by `computed` in the epilogue. Dims of the result as in the op.
  void storeResults(mlir::Value anchorResult, mlir::Value computed, llvm::ArrayRef<mlir::AffineExpr> at, Lanes lanes = {});
  /// The same for lanes along the last index, in pieces where the epilogue has wider elements.
  void storeLanes(mlir::Value anchorResult, mlir::Value computed, llvm::ArrayRef<mlir::AffineExpr> at, Lanes lanes);
  /// Stores one group result (by number) as it is, without an epilogue; its dims are `getDims` of the result type.
  void store(unsigned result, mlir::Value computed, llvm::ArrayRef<mlir::AffineExpr> at, Lanes lanes = {});
  /// Loads what `store` put there before.
  mlir::Value loadResult(unsigned result, llvm::ArrayRef<mlir::AffineExpr> at, Lanes lanes = {});

  /// Records that an input value is at fault when `condition` holds; the run goes on and returns `code` (a KILN_STATUS_ name). Only for anchors
  /// with `checksValues`.
  void failIf(mlir::Value condition, llvm::StringRef code);
  /// Where such a fault is written; null for anchors without `checksValues`.
  mlir::Value statusCell() const { return status; }

  /// A number of this element type (compute type), as a vector when lanes > 1.
  mlir::Value number(mlir::Type elementType, double value, unsigned lanes = 1);
  mlir::Value broadcast(mlir::Value scalar, unsigned lanes);
  /// Calls a value that was just computed (of a loop: what it carries) so in the C++ text.
  mlir::Value named(mlir::Value value, llvm::StringRef name);

  //===- Buffers ------------------------------------------------------------===//

  /// The place of a value that is a block argument seen through views only; nullopt when element-wise operations lie between.
  std::optional<BufferAccess> access(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> at);
  mlir::Value buffer(unsigned argument);
  mlir::Value resultBuffer(unsigned result);
  mlir::Value loadBuffer(mlir::Value buffer, mlir::Type elementType, mlir::AffineExpr offset, Lanes lanes = {});
  void storeBuffer(mlir::Value buffer, mlir::Type elementType, mlir::AffineExpr offset, mlir::Value value, Lanes lanes = {});
  /// An array of the kernel's own on the stack, in the compute type of `elementType`, aligned to 64 bytes.
  mlir::Value array(llvm::StringRef name, mlir::Type elementType, int64_t elements);
  /// Whether group input `argument` is a constant, so that it can be packed.
  bool isConstant(unsigned argument);
  /// Stores that constant in another order; from now on the buffer has `pack`'s shape.
  void packConstant(unsigned argument, kernel::PackAttr pack);
  llvm::ArrayRef<kernel::PackAttr> packs() const { return argumentPacks; }

  /// Memory of the kernel's own: `elements` for each task that may run at the same time as others, in the workspace. At most one a kernel.
  /// A call for tasks [begin, end) uses the part of task `begin`, so that one thread works in one part, which stays in its cache.
  mlir::Value scratch(mlir::Type elementType, int64_t elements) { return scratch(elementType, constant(elements)); }
  mlir::Value scratch(mlir::Type elementType, mlir::AffineExpr elements);

  //===- External functions -------------------------------------------------===//

  /// The number of tasks of a kernel whose launch is `byThreads`, and those of this call.
  mlir::Value threads();
  mlir::Value firstTaskValue() { return kernel.getArguments().drop_back().back(); }
  mlir::Value endTaskValue() { return kernel.getArguments().back(); }
  /// `bytes` of memory that lives as long as the model does.
  mlir::Value state(int64_t bytes);
  int64_t stateBytes() const { return stateSize; }
  /// The caller's kiln_context, which may be NULL; a fault that the kernel reports then ends the run at once.
  mlir::Value callerContext();
  /// Calls a C function that returns a status. `writes` lists the operands that it writes to. A function with a
  /// header or library of Kiln's own is declared in the module once.
  void callExternal(llvm::StringRef name, mlir::ValueRange operands, llvm::ArrayRef<int64_t> writes, llvm::StringRef header, llvm::StringRef library);
  /// What the kernel takes besides inputs, results and symbols, in the order of its arguments.
  enum class Extra { Scratch, Status, State, Threads, Context };
  llvm::ArrayRef<Extra> extras() const { return extraArguments; }

  /// The first task of this call.
  mlir::AffineExpr firstTask();
  /// Where this call's part begins.
  mlir::AffineExpr scratchStart();
  /// Null: none.
  mlir::AffineExpr scratchElements() const { return scratchSize; }

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
  /// A fresh loop dimension for analysis only (it has no value).
  mlir::AffineExpr placeholder();

private:
  /// The indices at which values have been visited.
  using ReadPlaces = llvm::DenseMap<mlir::Value, llvm::SmallVector<IndexExprs, 1>>;
  void collectOffsets(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> at, llvm::SetVector<mlir::AffineExpr> &offsets, ReadPlaces &seen);
  mlir::Value addArgument(Extra kind, mlir::Type type, llvm::StringRef name);
  mlir::Value load(mlir::Value buffer, mlir::Type elementType, mlir::AffineExpr offset, Lanes lanes);
  mlir::Value compute(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> at, Lanes lanes);
  mlir::Value iota(nn::IotaOp op, mlir::AffineExpr coordinate, Lanes lanes);
  mlir::Value dimValue(nn::DimValuesOp op, llvm::ArrayRef<mlir::AffineExpr> at, Lanes lanes);
  mlir::Value eachLane(Lanes lanes, llvm::ArrayRef<mlir::AffineExpr> exprs, llvm::function_ref<mlir::Value(llvm::ArrayRef<mlir::AffineExpr>)> scalar);

  mlir::OpBuilder b;
  mlir::Location location;
  nn::GroupOp groupOp;
  mlir::func::FuncOp kernel;
  kernel::TargetAttr targetAttr;
  llvm::SmallVector<mlir::Value> loopValues;
  llvm::SmallVector<mlir::Value> symbols;
  mlir::Value status;
  mlir::AffineExpr scratchSize;
  int64_t stateSize = 0;
  llvm::SmallVector<Extra> extraArguments;
  llvm::SmallVector<kernel::PackAttr> argumentPacks;
  unsigned lanesForGroup;
  llvm::DenseMap<mlir::Value, mlir::Value> overrides;
  struct Computed {
    IndexExprs at;
    unsigned lanes;
    mlir::Value value;
  };
  /// Values computed since the last loop, branch or store.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Computed, 1>> values;
};

/// Lanes of a vector of the group's widest elements.
unsigned countLanes(nn::GroupOp group, kernel::TargetAttr target);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_BUILDER_KERNELBUILDER_H
