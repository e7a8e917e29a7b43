//===- NNDataSizedOps.td - Results whose size depends on the data ----------===//
#ifndef KILN_NN_DATA_SIZED_OPS
#define KILN_NN_DATA_SIZED_OPS

include "dialects/nn/NNBase.td"
include "dialects/nn/NNInterfaces.td"

def NN_NonZeroOp : NN_Op<"non_zero", [NN_DataSized]> {
  let summary = "The coordinates of all elements that are not zero, in row-major order, one per column: ONNX NonZero.";
  let description = [{
    NaN counts as not zero. `counts` is the symbol for the number of columns. Compress is a gather at the non-zeros of its condition.
    ```mlir
    %at, %n = nn.non_zero %x counts 0 : tensor<2x3xf32> -> tensor<2x?xi64, #nn.dims<()[s0] -> (2, s0)>>, tensor<1xi64>
    ```
  }];
  let arguments = (ins NN_Tensor:$input, I64Attr:$counts);
  let results = (outs NN_IndexTensor:$indices, NN_IndexTensor:$count);
  let assemblyFormat = "$input `counts` $counts attr-dict `:` type($input) `->` type($indices) `,` type($count)";
  let hasVerifier = 1;
}

def NN_NonMaxSuppressionOp : NN_Op<"non_max_suppression", [NN_DataSized]> {
  let summary = "For each batch and class, the boxes with the best scores that do not overlap a better one too much: ONNX NonMaxSuppression.";
  let description = [{
    A row of the result is batch, class, box, with the best box of a class first and equal scores in the order of boxes. A box is selected if its
    score is above `score_threshold` (if given; NaN is never selected) and its intersection over union with each selected box is at most
    `iou_threshold`. `max_boxes` limits the boxes per class. A box is given by two corners, or a centre and a size with `center_point_box`.
    ```mlir
    %r, %n = nn.non_max_suppression %boxes, %scores, %max, %iou, %score counts 0
      : tensor<1x6x4xf32>, tensor<1x1x6xf32>, tensor<i64>, tensor<f32>, tensor<f32>
      -> tensor<?x3xi64, #nn.dims<()[s0] -> (s0, 3)>>, tensor<1xi64>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$boxes, NN_FloatTensor:$scores, NN_IndexTensor:$max_boxes, NN_FloatTensor:$iou_threshold,
                       Optional<NN_FloatTensor>:$score_threshold, UnitAttr:$center_point_box, I64Attr:$counts);
  let results = (outs NN_IndexTensor:$selected, NN_IndexTensor:$count);
  let assemblyFormat = [{
    $boxes `,` $scores `,` $max_boxes `,` $iou_threshold (`,` $score_threshold^)? (`center` $center_point_box^)? `counts` $counts attr-dict
    `:` type($boxes) `,` type($scores) `,` type($max_boxes) `,` type($iou_threshold) (`,` type($score_threshold)^)?
    `->` type($selected) `,` type($count)
  }];
  let hasVerifier = 1;
}

def NN_UniqueOp : NN_Op<"unique", [NN_DataSized]> {
  let summary = "The distinct rows: the first occurrence of each, the distinct row that each row equals, and the number of occurrences: ONNX Unique.";
  let description = [{
    The distinct rows are in the order of their first occurrence, or in ascending order with `sorted`. Rows are compared lexicographically. All NaN
    are one value, larger than all others. The rows themselves are a gather at `first`.
    ```mlir
    %first, %inverse, %sizes, %n = nn.unique %x sorted counts 0
      : tensor<6x1xf32> -> tensor<?xi64, #nn.dims<()[s0] -> (s0)>>, tensor<6xi64>, tensor<?xi64, #nn.dims<()[s0] -> (s0)>>, tensor<1xi64>
    ```
  }];
  let arguments = (ins NN_Tensor:$rows, UnitAttr:$sorted, I64Attr:$counts);
  let results = (outs NN_IndexTensor:$first, NN_IndexTensor:$inverse, NN_IndexTensor:$sizes, NN_IndexTensor:$count);
  let assemblyFormat = [{
    $rows (`sorted` $sorted^)? `counts` $counts attr-dict
    `:` type($rows) `->` type($first) `,` type($inverse) `,` type($sizes) `,` type($count)
  }];
  let hasVerifier = 1;
}

def NN_ComputedDimOp : NN_Op<"computed_dim", [NN_DataSized]> {
  let summary = "A computed number as a dimension, for an If with branches of different shapes or for the number of steps of a Loop.";
  let description = [{
    The number is clamped to the range from 0 to the bound of the symbol `counts`.
    ```mlir
    %n = nn.computed_dim %x counts 0 : tensor<i64> -> tensor<1xi64>
    ```
  }];
  let arguments = (ins NN_TensorOf<[I64], "i64">:$value, I64Attr:$counts);
  let results = (outs NN_IndexTensor:$count);
  let assemblyFormat = "$value `counts` $counts attr-dict `:` type($value) `->` type($count)";
  let hasVerifier = 1;
}

#endif // KILN_NN_DATA_SIZED_OPS
