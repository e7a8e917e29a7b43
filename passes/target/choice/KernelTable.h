//===- KernelTable.h - The ordered list of kernel implementations ----------===//
#ifndef KILN_PASSES_TARGET_CHOICE_KERNELTABLE_H
#define KILN_PASSES_TARGET_CHOICE_KERNELTABLE_H

#include "dialects/kernel/Kernel.h"
#include "dialects/nn/NN.h"
#include <string>

namespace kiln {

class KernelBuilder;
struct LaunchInfo;

/// What may lie inside of larger buffers (see Places.h) when a kernel computes a group. Each level has those before it.
enum class PlaceSupport {
  None,
  /// The results: every store goes through storeResults or store, at indices that merge no more than mergeLoops or mergeRows allow.
  Results,
  /// Inputs that only element-wise operations and views read.
  Sides,
  /// The anchor's operands: they are read through value, access or traceViews only.
  Operands,
};

/// Which inputs a kernel's result may overwrite, given that they have its dimensions and type and nobody needs them afterwards.
enum class OverwriteSupport {
  None,
  /// Inputs that only element-wise operations behind the anchor read: each element is read right before the store to its index, and no
  /// task stores to an index twice.
  Sides,
  /// What the anchor's first operand is computed from, element by element: a row (of a scatter: all) is read by the task that stores it, every
  /// element before the first store to its index.
  Rows,
};

/// One way to compute a group. The first row of the table that matches wins.
struct KernelRow {
  /// The implementation's name: nn.group's `kernel` attribute and the stem of the kernel function.
  llvm::StringLiteral name;
  /// Whether it can compute the group whose anchor is `anchor` (null: no anchor). On success `reason` says why it is chosen, in a few words;
  /// parameters (tile sizes) may be written onto the group.
  bool (*matches)(nn::GroupOp group, mlir::Operation *anchor, kernel::TargetAttr target, std::string &reason);
  /// Writes the kernel. Decides nothing that `matches` has decided.
  mlir::FailureOr<LaunchInfo> (*lower)(KernelBuilder &builder, mlir::Operation *anchor);
  PlaceSupport places = PlaceSupport::None;
  OverwriteSupport overwrites = OverwriteSupport::None;
  /// Whether it computes groups of several anchors.
  bool severalAnchors = false;
  /// The library whose functions it calls; empty for generated kernels.
  llvm::StringLiteral library = "";

  /// What `matches` says, for a group with as many anchors as the kernel computes.
  bool fits(nn::GroupOp group, kernel::TargetAttr target, std::string &reason) const;
};

/// All implementations, the most special first.
llvm::ArrayRef<KernelRow> getKernelTable();

/// The row of that name; null when there is none.
const KernelRow *findKernelRow(llvm::StringRef name);

/// The one operation of a group that is neither a view, element-wise, nor a generator of values; null when there is none.
mlir::Operation *getAnchor(nn::GroupOp group);

/// Whether an operation only feeds or follows an anchor: a view, element-wise, or a generator (splat, iota, dim_values).
bool isPointwise(mlir::Operation *op);

/// Whether the anchor's kernel checks input values (indices) at run time and so takes a status cell.
bool checksValues(mlir::Operation *anchor);

/// Whether element-wise operations may run on the anchor's value before its only store.
bool allowsEpilogue(mlir::Operation *anchor);

/// Whether the anchor's kernel can store its value through transposes that follow it.
bool storesAnywhere(mlir::Operation *anchor);

/// Whether the anchor may compute producers of operand `operand` while it loads: element-wise ones (each element is loaded once or so),
/// or only views.
enum class PrologueSupport { None, Views, All };
PrologueSupport getPrologueSupport(mlir::Operation *anchor, unsigned operand);

} // namespace kiln

#endif // KILN_PASSES_TARGET_CHOICE_KERNELTABLE_H
