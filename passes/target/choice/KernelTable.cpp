//===- KernelTable.cpp - The ordered list of kernel implementations --------===//
#include "passes/target/choice/KernelTable.h"
#include "passes/target/choice/Kernels.h"

using namespace mlir;

namespace kiln {

using namespace nn;

bool isPointwise(Operation *op) {
  if (isa<ScalarBody, SplatOp, IotaOp, DimValuesOp, ReshapeOp>(op))
    return true;
  auto view = dyn_cast<IndexMap>(op);
  return view && view.getIndexMap();
}

Operation *getAnchor(GroupOp group) {
  for (Operation &op : group.getBody().front().without_terminator())
    if (!isPointwise(&op))
      return &op;
  return nullptr;
}

bool KernelRow::fits(GroupOp group, kernel::TargetAttr target, std::string &reason) const {
  bool several = llvm::count_if(group.getBody().front().without_terminator(), [](Operation &op) { return !isPointwise(&op); }) > 1;
  return several == severalAnchors && matches(group, getAnchor(group), target, reason);
}

bool checksValues(Operation *anchor) {
  if (auto function = dyn_cast_or_null<RuntimeFunction>(anchor))
    return function.reportsFaults();
  return isa_and_nonnull<GatherOp, GatherElementsOp, GatherNdOp, ScatterElementsOp, ScatterNdOp>(anchor);
}

bool allowsEpilogue(Operation *anchor) {
  // Scatters read back what they have stored; functions of the runtime and of composites store by themselves.
  return !isa<ScatterElementsOp, ScatterNdOp, CompositeOp, RuntimeFunction>(anchor);
}

bool storesAnywhere(Operation *anchor) { return isa<AttentionOp>(anchor); }

PrologueSupport getPrologueSupport(Operation *anchor, unsigned operand) {
  // Operands that are read once or twice an element compute their producers on the way.
  if (isa<ReduceOp, SoftmaxOp, LogSoftmaxOp, LayerNormOp, RmsNormOp, ConcatOp, PadOp, ArgReduceOp, CumulativeOp, NonZeroOp, ComputedDimOp>(anchor))
    return PrologueSupport::All;
  if (isa<GatherOp, GatherElementsOp, GatherNdOp>(anchor))
    // Slices are copied in runs: the source must hold them in one piece.
    return operand == 0 ? PrologueSupport::None : PrologueSupport::All;
  if (isa<ScatterElementsOp, ScatterNdOp>(anchor))
    // Indices and updates are read once; the result begins as a copy of the input, which stands where it is.
    return operand == 0 ? PrologueSupport::None : PrologueSupport::All;
  if (isa<MatmulOp, AttentionOp>(anchor))
    return PrologueSupport::Views;
  // Limits and thresholds are one number.
  if (isa<NonMaxSuppressionOp>(anchor))
    return operand < 2 ? PrologueSupport::None : PrologueSupport::All;
  // The states before the first step are read once.
  if (isa<RnnOp, LstmOp, GruOp>(anchor))
    return operand == 2 || (operand == 3 && isa<LstmOp>(anchor)) ? PrologueSupport::All : PrologueSupport::None;
  return PrologueSupport::None;
}

ArrayRef<KernelRow> getKernelTable() {
  // Those of libraries, which match where the target lists them, then the most special first; the first that matches wins.
  static const KernelRow table[] = {
      {"onednn_conv", matchOneDnnConv, lowerOneDnnConv, PlaceSupport::None, OverwriteSupport::None, /*severalAnchors=*/false, "onednn"},
      {"onednn_matmul", matchOneDnnMatmul, lowerOneDnnMatmul, PlaceSupport::None, OverwriteSupport::None, /*severalAnchors=*/false, "onednn"},
      {"onednn_softmax", matchOneDnnSoftmax, lowerOneDnnSoftmax, PlaceSupport::None, OverwriteSupport::None, /*severalAnchors=*/false, "onednn"},
      {"onednn_layer_norm", matchOneDnnLayerNorm, lowerOneDnnLayerNorm, PlaceSupport::None, OverwriteSupport::None, /*severalAnchors=*/false, "onednn"},
      {"composite_call", matchCompositeCall, lowerCompositeCall},
      {"attention_rows", matchAttentionRows, lowerAttentionRows},
      {"product_softmax", matchProductSoftmax, lowerProductSoftmax, PlaceSupport::Operands, OverwriteSupport::None, /*severalAnchors=*/true},
      {"gemm_gathered", matchGemmGathered, lowerGemmGathered, PlaceSupport::Results, OverwriteSupport::None, /*severalAnchors=*/true},
      {"softmax_scan", matchSoftmaxScan, lowerSoftmaxScan, PlaceSupport::None, OverwriteSupport::None, /*severalAnchors=*/true},
      {"gemm_dots", matchGemmDots, lowerGemmDots, PlaceSupport::Operands, OverwriteSupport::Sides},
      {"gemm_packed", matchGemmPacked, lowerGemmPacked, PlaceSupport::Operands, OverwriteSupport::Sides},
      {"gemm_tiled", matchGemmTiled, lowerGemmTiled, PlaceSupport::Operands, OverwriteSupport::Sides},
      {"matmul_loops", matchMatmulLoops, lowerMatmulLoops, PlaceSupport::Operands, OverwriteSupport::Sides},
      {"conv_strips", matchConvStrips, lowerConvStrips, PlaceSupport::Operands, OverwriteSupport::None, /*severalAnchors=*/true},
      {"winograd_columns", matchWinogradColumns, lowerWinogradColumns, PlaceSupport::Operands},
      {"winograd_tiles", matchWinogradTiles, lowerWinogradTiles, PlaceSupport::Operands},
      {"winograd_filters", matchWinogradFilters, lowerWinogradFilters},
      {"conv_depthwise", matchConvDepthwise, lowerConvDepthwise, PlaceSupport::Operands, OverwriteSupport::Sides},
      {"conv_tiled", matchConvTiled, lowerConvTiled, PlaceSupport::Operands, OverwriteSupport::Sides},
      {"conv_loops", matchConvLoops, lowerConvLoops, PlaceSupport::Operands, OverwriteSupport::Sides},
      {"softmax_rows", matchSoftmaxRows, lowerSoftmaxRows, PlaceSupport::None, OverwriteSupport::Rows},
      {"layer_norm_rows", matchLayerNormRows, lowerLayerNormRows, PlaceSupport::None, OverwriteSupport::Rows},
      {"lstm_steps", matchLstmSteps, lowerLstmSteps},
      {"gru_steps", matchGruSteps, lowerGruSteps},
      {"rnn_steps", matchRnnSteps, lowerRnnSteps},
      {"arg_reduce_scan", matchArgReduceScan, lowerArgReduceScan},
      {"cumulative_scan", matchCumulativeScan, lowerCumulativeScan},
      {"computed_dim", matchComputedDim, lowerComputedDim},
      {"non_zero_scan", matchNonZeroScan, lowerNonZeroScan},
      {"unique_rows", matchUniqueRows, lowerUniqueRows},
      {"nms_greedy", matchNmsGreedy, lowerNmsGreedy},
      {"fourier_rows", matchFourierRows, lowerFourierRows},
      {"runtime_call", matchRuntimeCall, lowerRuntimeCall},
      {"top_k_insertion", matchTopKInsertion, lowerTopKInsertion},
      {"pool_windows", matchPoolWindows, lowerPoolWindows, PlaceSupport::Operands, OverwriteSupport::Sides},
      {"reduce_loops", matchReduceLoops, lowerReduceLoops, PlaceSupport::Operands, OverwriteSupport::Sides},
      {"concat_copy", matchConcatCopy, lowerConcatCopy, PlaceSupport::Operands},
      {"pad_copy", matchPadCopy, lowerPadCopy, PlaceSupport::Operands},
      {"gather_copy", matchGatherCopy, lowerGatherCopy, PlaceSupport::Results},
      {"scatter_updates", matchScatterUpdates, lowerScatterUpdates, PlaceSupport::None, OverwriteSupport::Rows},
      {"resize_loops", matchResizeLoops, lowerResizeLoops, PlaceSupport::Operands},
      {"interleave_loops", matchInterleaveLoops, lowerInterleaveLoops},
      {"transpose_tiled", matchTransposeTiled, lowerTransposeTiled, PlaceSupport::Results},
      {"loops", matchElementwiseLoops, lowerElementwiseLoops, PlaceSupport::Operands, OverwriteSupport::Sides},
  };
  return table;
}

const KernelRow *findKernelRow(StringRef name) {
  for (const KernelRow &row : getKernelTable())
    if (row.name == name)
      return &row;
  return nullptr;
}

} // namespace kiln
