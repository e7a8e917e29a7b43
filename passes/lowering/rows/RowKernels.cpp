//===- RowKernels.cpp - Kernels of what works on rows: softmax, normalizations, attention, reductions and scans ---===//
#include "passes/lowering/builder/KernelBuilder.h"
#include "passes/target/choice/Kernels.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// A row is kept in the result's buffer, which may be the operand's, until its last pass.
template <typename... Ops>
static constexpr KernelRow keptRow(llvm::StringLiteral name, decltype(KernelRow::matches) matches, decltype(KernelRow::lower) lower) {
  return KernelRow{name, computes<Ops...>, matches, lower}.overwriting(OverwriteSupport::Rows).loading(loadsAll).storing(EpilogueSupport::SameType);
}

ArrayRef<KernelRow> getRowKernels() {
  static const KernelRow rows[] = {
      KernelRow{"attention_rows", computes<AttentionOp>, matchAttentionRows, lowerAttentionRows}.loading(loadsViews).storing(EpilogueSupport::Transposes),
      KernelRow{"softmax_scan", computes<SoftmaxOp>, matchSoftmaxScan, lowerSoftmaxScan}.loading(loadsAll).joining(GroupForm::SoftmaxScan),
      keptRow<SoftmaxOp, LogSoftmaxOp>("softmax_rows", matchSoftmaxRows, lowerSoftmaxRows),
      keptRow<LayerNormOp, RmsNormOp>("layer_norm_rows", matchLayerNormRows, lowerLayerNormRows),
      KernelRow{"arg_reduce_scan", computes<ArgReduceOp>, matchArgReduceScan, lowerArgReduceScan}.loading(loadsAll),
      KernelRow{"cumulative_scan", computes<CumulativeOp>, matchCumulativeScan, lowerCumulativeScan}.loading(loadsAll),
      KernelRow{"top_k_insertion", computes<TopKOp>, matchTopKInsertion, lowerTopKInsertion},
      KernelRow{"reduce_loops", computes<ReduceOp>, matchReduceLoops, lowerReduceLoops}
          .placing(PlaceSupport::Operands)
          .overwriting(OverwriteSupport::Sides)
          .loading(loadsAll),
  };
  return rows;
}

} // namespace kiln
