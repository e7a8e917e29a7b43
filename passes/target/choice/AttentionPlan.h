//===- AttentionPlan.h - Blocks of rows and keys of attention --------------===//
#ifndef KILN_PASSES_TARGET_CHOICE_ATTENTIONPLAN_H
#define KILN_PASSES_TARGET_CHOICE_ATTENTIONPLAN_H

#include "dialects/nn/NNAttentionOps.h"
#include "passes/target/choice/KernelTable.h"

namespace kiln {

/// Rows of the tiles of the last rows of a task.
inline constexpr int64_t smallAttentionTile = 4;

/// The sizes of attention that depend on nothing of its plan but the lanes of a vector.
struct AttentionShape {
  AttentionShape(nn::AttentionOp op, int64_t lanes);

  /// Elements of a row of queries and keys, and of values.
  int64_t depth, width;
  int64_t lanes;
  /// Columns of a panel of keys: those of a tile.
  int64_t panelWidth;
  /// nullopt: known at run time only.
  std::optional<int64_t> queries, keys;
  /// Whether the factors have fewer bits than the result: a step multiplies two of them for each sum (findAttentionStep).
  bool hasWords;
  /// Whether values are copied to rows of whole vectors, and the elements of such a row. Words are: pairs of rows lie in turn.
  bool packsValues;
  int64_t sumStride;

  /// Rows of the arrays of a task of so many rows.
  int64_t rowCapacity(int64_t rows) const;
  /// The most keys of a block, whole panels: the arrays lie on the stack of the thread that runs the task.
  int64_t mostKeys(int64_t rows) const;
};

/// The step that multiplies words of such a type for attention, two for each sum; null: the target has none.
kernel::StepAttr findAttentionStep(kernel::TargetAttr target, mlir::Type factors, mlir::Type result);

/// Why there is none.
std::string describeMissingAttentionStep(mlir::Type factors, mlir::Type result);

/// What is in the way of attention with words; empty: nothing.
std::string findAttentionWordsFault(nn::AttentionOp op, kernel::StepAttr step);

/// The numbers of a key that a tile of the panel's keys turns at a time, two of which lie in a lane.
inline int64_t countTurnedWords(int64_t lanes) { return 2 * lanes; }

/// Rows of a task, keys that they meet at a time, and the register tile of both products.
PlanNumbers planAttention(nn::AttentionOp op, kernel::TargetAttr target);

} // namespace kiln

#endif // KILN_PASSES_TARGET_CHOICE_ATTENTIONPLAN_H
