//===- RowKernels.cpp - Kernels of what works on rows: softmax, normalizations, attention, reductions and scans ---===//
#include "dialects/nn/NNAttentionOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/lowering/builder/KernelBuilder.h"
#include "passes/target/choice/Kernels.h"
#include "passes/target/groups/RowFusion.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// A row is kept in the result's buffer, which may be the operand's, until its last pass, or in an array.
template <typename... Ops>
static constexpr KernelRow keptRow(llvm::StringLiteral name, RowFit fit, decltype(KernelRow::lower) lower) {
  return KernelRow{name, computes<Ops...>, fit, lower}.overwriting(OverwriteSupport::Rows).loading(loadsAll);
}

static KernelMatch matchSoftmaxScan(GroupOp, Operation *anchor, kernel::TargetAttr target) {
  if (!findScanOfSoftmax(anchor, target))
    return refuse("expected a softmax along the last dimension, whose size is known, and an arg_reduce or top_k along it that alone reads the softmax");
  return accept("softmax and the scan of its rows: the probabilities stay in the cache");
}

ArrayRef<KernelRow> getRowKernels() {
  static const KernelRow rows[] = {
      KernelRow{"attention_rows", computes<AttentionOp>, matchAttentionRows, lowerAttentionRows}
          .loading(loadsViews)
          .storing(EpilogueSupport::Transposes)
          .planning(PlanTile | PlanStreams | PlanRows)
          .refusing(findAttentionFault),
      KernelRow{"softmax_scan", computes<SoftmaxOp>, matchSoftmaxScan, lowerSoftmaxScan}
          .loading(loadsAll)
          .joining(GroupForm::SoftmaxScan),
      keptRow<SoftmaxOp, LogSoftmaxOp>("softmax_rows", matchSoftmaxRows, lowerSoftmaxRows).planning(PlanSoftmax).refusing(findSoftmaxFault),
      keptRow<LayerNormOp, RmsNormOp>("layer_norm_rows", "kept whole: mean, variance and result of a row that stays in the cache", lowerLayerNormRows),
      KernelRow{"arg_reduce_scan", computes<ArgReduceOp>, "one walk along the axis for each result", lowerArgReduceScan}.loading(loadsAll),
      KernelRow{"cumulative_scan", computes<CumulativeOp>, "one walk along the axis, rows in parallel", lowerCumulativeScan}.loading(loadsAll),
      KernelRow{"top_k_lines", computes<TopKOp>, "the k best so far of each line, sorted by their ranks at its end", lowerTopKLines}
          .storing(EpilogueSupport::None),
      KernelRow{"reduce_loops", computes<ReduceOp>, "reduction: results in parallel, vectors along the last dimension", lowerReduceLoops}
          .placing(PlaceSupport::Operands)
          .overwriting(OverwriteSupport::Sides)
          .loading(loadsAll),
  };
  return rows;
}

} // namespace kiln
