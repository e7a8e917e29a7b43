//===- ByteTile.h - How products of narrow elements are computed ----------===//
#ifndef KILN_PASSES_TARGET_CHOICE_BYTETILE_H
#define KILN_PASSES_TARGET_CHOICE_BYTETILE_H

#include "dialects/nn/NNStructureOps.h"
#include "passes/target/choice/KernelTable.h"
#include <optional>

namespace kiln {

/// The target's step for unsigned by signed bytes; the one that is written for any CPU when it lists none.
kernel::StepAttr findByteStep(kernel::TargetAttr target);

/// The same for signed by unsigned bytes.
kernel::StepAttr findSignedByteStep(kernel::TargetAttr target);

/// The plan for a product with weights in blocks that has so many rows (nullopt: known at run time only) and columns: each block has sums of its own beside
/// those of the tile. A left side of bytes is multiplied by a step for weights of so many bits.
PlanNumbers planBlockProduct(kernel::TargetAttr target, std::optional<int64_t> rows, int64_t columns, int64_t rowStride, bool ofBytes, int64_t bits);

/// Rows of a tile of so many vectors that makes numbers of f32 in registers: as many as leave room for sums of a block; all of them, at most `most`, where they
/// are a few more (nullopt: known at run time only).
int64_t chooseBlockRows(kernel::TargetAttr target, std::optional<int64_t> rows, int64_t vectors, int64_t most);

/// Whether so many rows (nullopt: known at run time only) are worth a panel of f32 numbers: more than the tile of that plan has, which would make numbers in
/// registers for each block of rows again.
bool paysToUnpack(kernel::TargetAttr target, std::optional<int64_t> rows, const PlanNumbers &inRegisters);

/// The plan for such a product with a left side of f32 whose weights are made f32 a part of a panel at a time, in the first-level cache. `perWord`: elements of
/// a word of four bytes, which parts do not cut. Columns and blocks are nullopt where only run time knows them. Depth 0: blocks cannot be cut into parts that
/// fit.
PlanNumbers planUnpackedProduct(kernel::TargetAttr target, std::optional<int64_t> columns, int64_t block, std::optional<int64_t> blocks, int64_t perWord);

/// What the rows of such kernels are for: the type of the left side.
inline bool isByte(mlir::Type lhs) { return lhs.isInteger(8); }
inline bool isBf16(mlir::Type lhs) { return lhs.isBF16(); }
inline bool isF16(mlir::Type lhs) { return lhs.isF16(); }

/// Whether kernels that compute in f32 take constant weights of such elements, which they widen as they load them.
bool isWeightElement(mlir::Type element);

/// Whether both sides of a product and its result are f64. Kernels that compute in f32 compute such products in f64.
bool multipliesInF64(mlir::Type lhs, mlir::Type rhs, mlir::Type result);

/// The step that multiplies several such elements for each sum, which has the type that the result is computed in. Null: the target has none.
kernel::StepAttr findStep(kernel::TargetAttr target, mlir::Type lhs, mlir::Type rhs, mlir::Type result);

/// What a step is chosen for: sums of `length` products, of which so many `together` lie side by side in the left side, in so many rows (nullopt: known at run
/// time only) and columns.
struct SumShape {
  std::optional<int64_t> rows;
  int64_t together, length, columns;
};

/// The same for such sums: one of several rows, if the target has such a step and it fits.
kernel::StepAttr findStep(kernel::TargetAttr target, mlir::Type lhs, mlir::Type rhs, mlir::Type result, const SumShape &sums);

/// Whether a step multiplies up to four rows, which tasks put side by side: one of kiln/rows.h.
bool isRowStep(kernel::StepAttr step);

/// The step of that name for such elements: one of the target's, or the one that is written for any CPU. Null: there is none.
kernel::StepAttr findStep(kernel::TargetAttr target, llvm::StringRef function, mlir::Type lhs, mlir::Type rhs, mlir::Type result);

/// That of the plan of a group whose anchor multiplies its first two operands; null when the plan has none that they know.
kernel::StepAttr getStep(nn::GroupOp group);

/// Why the step of a plan does not multiply these elements; empty when it does. Its sums have `products` products, which must come in whole steps.
std::string findStepFault(kernel::TargetAttr target, kernel::PlanAttr plan, mlir::Type lhs, mlir::Type rhs, mlir::Type result, int64_t products);

/// The same for a kernel whose steps have so many products for each sum.
std::string findStepFaultOf(kernel::TargetAttr target, kernel::PlanAttr plan, mlir::Type lhs, mlir::Type rhs, mlir::Type result, int64_t depth);

/// What a kernel of products by that step is for, such as "four products of ui8 and i8 for each sum, by dot_u8s8".
std::string describeStep(kernel::StepAttr step);

/// Why there is none for operands and a result of such types.
std::string describeMissingStep(mlir::Type lhs, mlir::Type rhs, mlir::Type result);

/// The plan for a product by a step with so many rows and columns, and as many elements from row to row of the left side (nullopt: known at run time only).
PlanNumbers planStepProduct(kernel::TargetAttr target, kernel::StepAttr step, std::optional<int64_t> rows, std::optional<int64_t> columns,
                            std::optional<int64_t> rowStride);

/// The plan for a convolution by a step: of so many pixels (nullopt: known at run time only) and output channels, with `length` products for each sum.
PlanNumbers planStepConvolution(kernel::TargetAttr target, kernel::StepAttr step, std::optional<int64_t> pixels, int64_t channels, int64_t length);

} // namespace kiln

#endif // KILN_PASSES_TARGET_CHOICE_BYTETILE_H
