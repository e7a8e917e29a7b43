//===- NNReductionOps.td - Reductions, scans and sorts ---------------------===//
#ifndef KILN_NN_REDUCTION_OPS
#define KILN_NN_REDUCTION_OPS

include "dialects/nn/NNBase.td"
include "dialects/nn/NNInterfaces.td"

def NN_ReduceKind : I32EnumAttr<"ReduceKind", "the combination", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Mean", 1, "mean">, I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">,
    I32EnumAttrCase<"Prod", 4, "prod">]> {
  let cppNamespace = "::kiln::nn";
  let genSpecializedAttr = 0;
}
def NN_ReduceKindAttr : EnumAttr<NN_Dialect, NN_ReduceKind, "reduce_kind">;

def NN_ReduceOp : NN_Op<"reduce", [Pure, DeclareOpInterfaceMethods<NN_Permutable, ["permuteAttributes"]>]> {
  let summary = "Combines all elements along axes; reduced dimensions are kept with size one: ONNX Reduce*, GlobalAveragePool.";
  let description = [{
    `axes` is sorted and has no duplicates. Max and min propagate NaN; an empty sum is 0, an empty product 1, an empty max -inf.
    f16 and bf16 accumulate in f32. keepdims = 0 is a following nn.reshape.
    ```mlir
    %r = nn.reduce sum %x [1] : tensor<2x3xf32> -> tensor<2x1xf32>
    ```
  }];
  let arguments = (ins NN_ReduceKindAttr:$kind, NN_Tensor:$input, DenseI64ArrayAttr:$axes);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$kind $input $axes attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def NN_ArgReduceOp : NN_Op<"arg_reduce", [Pure, NN_AlongAxis, DeclareOpInterfaceMethods<NN_Permutable, ["permuteAttributes"]>]> {
  let summary = "The index of the largest or smallest element along an axis, which is kept with size one: ONNX ArgMax, ArgMin.";
  let description = "```mlir\n%r = nn.arg_reduce max %x axis 1 : tensor<2x3xf32> -> tensor<2x1xi64>\n```";
  let arguments = (ins NN_ReduceKindAttr:$kind, NN_Tensor:$input, I64Attr:$axis, UnitAttr:$select_last);
  let results = (outs NN_IndexTensor:$result);
  let assemblyFormat = "$kind $input `axis` $axis (`last` $select_last^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def NN_CumulativeOp : NN_Op<"cumulative", [Pure, NN_AlongAxis, DeclareOpInterfaceMethods<NN_Permutable, ["permuteAttributes"]>, SameOperandsAndResultType]> {
  let summary = "Running sum or product along an axis: ONNX CumSum, CumProd.";
  let description = "```mlir\n%r = nn.cumulative sum %x axis 1 : tensor<2x3xf32>\n```";
  let arguments = (ins NN_ReduceKindAttr:$kind, NN_Tensor:$input, I64Attr:$axis, UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$kind $input `axis` $axis (`exclusive` $exclusive^)? (`reverse` $reverse^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def NN_TopKOp : NN_Op<"top_k", [Pure, NN_AlongAxis, DeclareOpInterfaceMethods<NN_Permutable, ["permuteAttributes"]>]> {
  let summary = "The k largest (or smallest) elements along an axis in order, with their indices; of equal elements, the lower index comes first: ONNX TopK.";
  let description = [{
    k is the result's extent along the axis.
    ```mlir
    %v, %i = nn.top_k %x axis 1 largest : tensor<3x4xf32> -> tensor<3x2xf32>, tensor<3x2xi64>
    ```
  }];
  let arguments = (ins NN_Tensor:$input, I64Attr:$axis, UnitAttr:$largest);
  let results = (outs NN_Tensor:$values, NN_IndexTensor:$indices);
  let assemblyFormat = "$input `axis` $axis (`largest` $largest^)? attr-dict `:` type($input) `->` type($values) `,` type($indices)";
  let hasVerifier = 1;
}

def NN_MaxPoolOp : NN_Op<"max_pool", [Pure, NN_Windowed, NN_Pooling]> {
  let summary = "The largest element of each window: ONNX MaxPool. Padding is -inf.";
  let description = [{
    Windows that extend beyond the padded input (ceil_mode) are clipped. `pads` lists the begins of all spatial dimensions, then the ends.
    ```mlir
    %r = nn.max_pool %x kernel [2, 2] strides [2, 2] dilations [1, 1] pads [0, 0, 0, 0] layout channels_first
      : tensor<1x8x4x4xf32> -> tensor<1x8x2x2xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$input, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$pads, NN_LayoutAttr:$layout);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $input `kernel` $kernel `strides` $strides `dilations` $dilations `pads` $pads `layout` $layout attr-dict `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
}

def NN_AvgPoolOp : NN_Op<"avg_pool", [Pure, NN_Windowed, NN_Pooling]> {
  let summary = "The mean of each window: ONNX AveragePool.";
  let description = [{
    The divisor is the number of elements of the window inside the input, or inside the padded input with `count_include_pad`.
    ```mlir
    %r = nn.avg_pool %x kernel [2, 2] strides [2, 2] dilations [1, 1] pads [0, 0, 0, 0] layout channels_first
      : tensor<1x8x4x4xf32> -> tensor<1x8x2x2xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$pads, NN_LayoutAttr:$layout, UnitAttr:$count_include_pad);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input `kernel` $kernel `strides` $strides `dilations` $dilations `pads` $pads `layout` $layout (`count_include_pad` $count_include_pad^)?
    attr-dict `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // KILN_NN_REDUCTION_OPS
