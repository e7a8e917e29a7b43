//===- KernelTable.h - The ordered list of kernel implementations ----------===//
#ifndef KILN_PASSES_TARGET_CHOICE_KERNELTABLE_H
#define KILN_PASSES_TARGET_CHOICE_KERNELTABLE_H

#include "dialects/kernel/Kernel.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNStructureOps.h"
#include "llvm/ADT/SetVector.h"
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

/// What a kernel computes while it loads an operand of its anchor: nothing, views, or element-wise operations as well (each element is loaded once or
/// so).
enum class PrologueSupport { None, Views, All };

/// What a kernel computes on its anchor's value before the only store. Each level includes the previous ones.
enum class EpilogueSupport {
  None,
  Elementwise,
  /// Transposes, too.
  Transposes,
};

/// The numbers of a plan; #kernel.plan says what they mean. None and 0: the kernel has no such number.
struct PlanNumbers {
  llvm::SmallVector<int64_t, 3> tile, projection;
  int64_t chunk = 0, streams = 0, strip = 0, lines = 0, pixels = 0, bands = 0, rows = 0, keys = 0, block = 0, stride = 0, depth = 0, winograd = 0;
  int64_t piece = 0, near = 0, blocks = 0, columns = 0;
  llvm::SmallVector<int64_t, 3> ahead = {}, coming = {};
  bool inRegisters = false, inside = false;
  int64_t dots = 0;
  llvm::SmallVector<int64_t, 3> squares = {};
  llvm::SmallVector<int64_t, 4> border = {};
  std::string step = {};
};

/// Those of a plan.
PlanNumbers readNumbers(kernel::PlanAttr plan);
/// The plan of these numbers for the kernel of that name.
kernel::PlanAttr makePlan(mlir::MLIRContext *context, llvm::StringRef kernel, const PlanNumbers &numbers, bool measured = false);

/// What a kernel says of a group: with which numbers it would compute it and why that is good, or what is in the way.
struct KernelMatch {
  bool fits;
  /// A few words, lower case.
  std::string reason;
  PlanNumbers numbers = {};

  explicit operator bool() const { return fits; }
};
inline KernelMatch accept(const llvm::Twine &reason, PlanNumbers numbers = {}) { return {true, reason.str(), std::move(numbers)}; }
inline KernelMatch refuse(const llvm::Twine &reason) { return {false, reason.str()}; }

/// Which numbers the plans of a kernel have.
enum PlanParts : unsigned {
  NoNumbers = 0,
  PlanTile = 1,
  PlanChunk = 2,
  /// With a stride.
  PlanBlock = 4,
  PlanDepth = 8,
  PlanStreams = 16,
  PlanStrip = 32,
  PlanLines = 64,
  PlanPixels = 128,
  PlanBands = 256,
  /// Of queries, the keys that they meet at a time, and from how many rows on.
  PlanRows = 512,
  /// Blocks of a task.
  PlanBlocks = 1024,
  /// How a right side that is read front to back comes from memory; may be left out, then nothing is prefetched.
  PlanPrefetch = 2048,
  /// Rows in registers, or a number of columns; one of them, or neither.
  PlanSoftmax = 4096,
  PlanSquares = 8192,
  /// Of a depthwise convolution.
  PlanInside = 16384,
  /// Zeros around the picture of a convolution; may be left out, then no tap is passed over.
  PlanBorder = 32768,
  PlanProduct = PlanTile | PlanChunk | PlanStreams | PlanPrefetch,
};

/// Which groups with its anchor a kernel fits: those that a function accepts, or all of them for a reason.
struct RowFit {
  using Function = KernelMatch (*)(nn::GroupOp group, mlir::Operation *anchor, kernel::TargetAttr target);
  constexpr RowFit(Function function) : function(function) {}
  constexpr RowFit(const char *reason) : reason(reason) {}

  Function function = nullptr;
  llvm::StringRef reason;
};

/// One way to compute a group, with all that the kernel can do. The first row of the table that fits wins.
struct KernelRow {
  /// The implementation's name: that in plans, and the stem of the kernel function.
  llvm::StringLiteral name;
  /// Whether it is written for such an anchor (null: a group without one).
  bool (*computes)(mlir::Operation *anchor);
  /// How it would compute such a group that has the row's form.
  RowFit fit;
  /// Writes the kernel that the group's plan says. Decides nothing that `fit` has decided.
  mlir::FailureOr<LaunchInfo> (*lower)(KernelBuilder &builder, mlir::Operation *anchor);
  PlaceSupport places = PlaceSupport::None;
  OverwriteSupport overwrites = OverwriteSupport::None;
  PrologueSupport (*prologue)(mlir::Operation *anchor, unsigned operand) = nullptr;
  EpilogueSupport epilogue = EpilogueSupport::Elementwise;
  /// Whether it checks input values (indices) at run time and so takes a status cell.
  bool (*checksValues)(mlir::Operation *anchor) = nullptr;
  nn::GroupForm form = nn::GroupForm::Plain;
  /// PlanParts.
  unsigned parts = NoNumbers;
  /// What is in the way of a plan with numbers that `fit` has not chosen, for a group that `fit` accepts; empty: nothing. Null: nothing ever is.
  std::string (*findFault)(nn::GroupOp group, mlir::Operation *anchor, kernel::PlanAttr plan) = nullptr;
  /// Whether other tiles and chunks than the model's own may be tried.
  bool isTunable = false;
  /// The library whose functions it calls; empty for generated kernels.
  llvm::StringLiteral library = "";

  /// @name The row with one of these, for the families' lists
  /// @{
  constexpr KernelRow placing(PlaceSupport support) const { return with(&KernelRow::places, support); }
  constexpr KernelRow overwriting(OverwriteSupport support) const { return with(&KernelRow::overwrites, support); }
  constexpr KernelRow loading(PrologueSupport (*support)(mlir::Operation *, unsigned)) const { return with(&KernelRow::prologue, support); }
  constexpr KernelRow storing(EpilogueSupport support) const { return with(&KernelRow::epilogue, support); }
  constexpr KernelRow checking(bool (*checks)(mlir::Operation *)) const { return with(&KernelRow::checksValues, checks); }
  constexpr KernelRow joining(nn::GroupForm anchors) const { return with(&KernelRow::form, anchors); }
  constexpr KernelRow planning(unsigned numbers) const { return with(&KernelRow::parts, numbers); }
  constexpr KernelRow refusing(decltype(KernelRow::findFault) fault) const { return with(&KernelRow::findFault, fault); }
  constexpr KernelRow tunable() const { return with(&KernelRow::isTunable, true); }
  constexpr KernelRow calling(llvm::StringLiteral name) const { return with(&KernelRow::library, name); }
  /// @}

  /// Whether it is written for such groups, though perhaps not for this one.
  bool concerns(nn::GroupOp group) const;
  /// What `fit` says, for groups that concern it; a refusal for all others.
  KernelMatch match(nn::GroupOp group, kernel::TargetAttr target) const;
  kernel::PlanAttr makePlan(mlir::MLIRContext *context, const PlanNumbers &numbers, bool measured = false) const;

private:
  template <typename T>
  constexpr KernelRow with(T KernelRow::*field, T value) const {
    KernelRow row = *this;
    row.*field = value;
    return row;
  }
};

/// @name What families' rows say of their anchors
/// @{
template <typename... Ops>
bool computes(mlir::Operation *anchor) {
  return llvm::isa_and_nonnull<Ops...>(anchor);
}
inline bool computesNoAnchor(mlir::Operation *anchor) { return !anchor; }
inline bool always(mlir::Operation *) { return true; }
inline PrologueSupport loadsAll(mlir::Operation *, unsigned) { return PrologueSupport::All; }
inline PrologueSupport loadsViews(mlir::Operation *, unsigned) { return PrologueSupport::Views; }
/// @}

/// @name The families, each in the file of its name. Libraries' rows stand before generated ones, special ones before general ones.
/// @{
llvm::ArrayRef<KernelRow> getCallKernels();
llvm::ArrayRef<KernelRow> getContractionKernels();
llvm::ArrayRef<KernelRow> getConvolutionKernels();
llvm::ArrayRef<KernelRow> getRowKernels();
llvm::ArrayRef<KernelRow> getRecurrentKernels();
llvm::ArrayRef<KernelRow> getDataSizedKernels();
llvm::ArrayRef<KernelRow> getMovementKernels();
/// @}

/// The rows of all families, in order.
llvm::ArrayRef<const KernelRow *> getKernelTable();

/// The row of that name; null when there is none.
const KernelRow *findKernelRow(llvm::StringRef name);

/// The one operation of a group that is neither a view, element-wise, nor a generator of values; null when there is none.
mlir::Operation *getAnchor(nn::GroupOp group);

/// Whether an operation only feeds or follows an anchor: a view, element-wise, or a generator (splat, iota, dim_values).
bool isPointwise(mlir::Operation *op);

/// The value and all that views and element-wise operations compute it from.
llvm::SetVector<mlir::Value> collectSources(mlir::Value value);

/// @name What any generated kernel for this anchor alone can do: groups are formed before their kernels are chosen.
/// @{
PrologueSupport getPrologueSupport(mlir::Operation *anchor, unsigned operand);
EpilogueSupport getEpilogueSupport(mlir::Operation *anchor);
/// @}

/// What is wrong with the group's plan, a few words; empty when its kernel can follow it. What a row's `fit` refuses, a plan cannot ask for.
std::string findPlanFault(nn::GroupOp group);

/// Plans a group again whose inputs have been placed: its tile depends on how far apart rows lie, unless it was measured, and its kernel may need elements that
/// are neighbours.
void updatePlan(nn::GroupOp group, kernel::TargetAttr target);

/// Whether the group's kernel checks input values at run time and so takes a status cell.
bool checksValues(nn::GroupOp group);

} // namespace kiln

#endif // KILN_PASSES_TARGET_CHOICE_KERNELTABLE_H
