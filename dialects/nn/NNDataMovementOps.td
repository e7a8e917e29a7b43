//===- NNDataMovementOps.td - Operations that only move data ---------------===//
#ifndef KILN_NN_DATA_MOVEMENT_OPS
#define KILN_NN_DATA_MOVEMENT_OPS

include "dialects/nn/NNBase.td"
include "dialects/nn/NNInterfaces.td"

def NN_ReshapeOp : NN_Op<"reshape", [Pure]> {
  let summary = "The same elements in the same row-major order under another shape: ONNX Reshape, Flatten, Squeeze, Unsqueeze.";
  let description = [{
    The result type has the new shape, including symbolic dimensions. A reshape never copies: its result is another name for the operand's buffer.
    ```mlir
    %r = nn.reshape %x : tensor<2x6xf32> -> tensor<3x4xf32>
    ```
  }];
  let arguments = (ins NN_DataTensor:$input);
  let results = (outs NN_DataTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def NN_TransposeOp : NN_Op<"transpose", [Pure, DeclareOpInterfaceMethods<NN_IndexMap>]> {
  let summary = "Result dimension i is operand dimension permutation[i]: ONNX Transpose.";
  let description = "```mlir\n%r = nn.transpose %x [0, 2, 1] : tensor<1x2x3xf32> -> tensor<1x3x2xf32>\n```";
  let arguments = (ins NN_DataTensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs NN_DataTensor:$result);
  let assemblyFormat = "$input $permutation attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def NN_BroadcastToOp : NN_Op<"broadcast_to", [Pure, NN_Permutable, DeclareOpInterfaceMethods<NN_IndexMap>]> {
  let summary = "Repeats dimensions of size one and adds leading dimensions: explicit numpy broadcasting (ONNX Expand).";
  let description = [{
    A dynamic dimension may become a dimension of another size: at run time it is 1 or has that size, which `nn.constraints` ensures.
    ```mlir
    %r = nn.broadcast_to %x : tensor<3x1xf32> -> tensor<2x3x4xf32>
    ```
  }];
  let arguments = (ins NN_DataTensor:$input);
  let results = (outs NN_DataTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def NN_SliceOp : NN_Op<"slice", [Pure, DeclareOpInterfaceMethods<NN_Permutable, ["permuteAttributes"]>, DeclareOpInterfaceMethods<NN_IndexMap>]> {
  let summary = "Result index d is operand index starts[d] + steps[d] * d: ONNX Slice and Split after normalization.";
  let description = [{
    `starts` is a map of the module's symbols with one result per dimension, already normalized (not negative, in range);
    `steps` may be negative. The result type has the extents.
    ```mlir
    %r = nn.slice %x starts affine_map<() -> (0, 2)> steps [1, 1] : tensor<4x8xf32> -> tensor<4x6xf32>
    ```
  }];
  let arguments = (ins NN_DataTensor:$input, AffineMapAttr:$starts, DenseI64ArrayAttr:$steps);
  let results = (outs NN_DataTensor:$result);
  let assemblyFormat = "$input `starts` $starts `steps` $steps attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def NN_PadMode : I32EnumAttr<"PadMode", "the values outside the operand", [
    I32EnumAttrCase<"Constant", 0, "constant">, I32EnumAttrCase<"Edge", 1, "edge">, I32EnumAttrCase<"Reflect", 2, "reflect">,
    I32EnumAttrCase<"Wrap", 3, "wrap">]> {
  let cppNamespace = "::kiln::nn";
  let genSpecializedAttr = 0;
}
def NN_PadModeAttr : EnumAttr<NN_Dialect, NN_PadMode, "pad_mode">;

def NN_PadOp : NN_Op<"pad", [Pure, DeclareOpInterfaceMethods<NN_Permutable, ["permuteAttributes"]>]> {
  let summary = "Adds a border and, with `interior`, elements between neighbours: ONNX Pad.";
  let description = [{
    `low` and `high` are maps of the module's symbols, one result per dimension; negative amounts crop. `interior[d]` elements of the
    constant value are put between neighbours of dimension d (mode constant only). `value` is a rank 0 tensor, constant mode only.
    ```mlir
    %r = nn.pad %x, %v low affine_map<() -> (0, 1)> high affine_map<() -> (0, 1)> interior [0, 0] mode constant
      : tensor<4x8xf32>, tensor<f32> -> tensor<4x10xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$input, NN_Tensor:$value, AffineMapAttr:$low, AffineMapAttr:$high, DenseI64ArrayAttr:$interior,
                       NN_PadModeAttr:$mode);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $input `,` $value `low` $low `high` $high `interior` $interior `mode` $mode attr-dict `:` type($input) `,` type($value) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def NN_ConcatOp : NN_Op<"concat", [Pure, DeclareOpInterfaceMethods<NN_Permutable, ["permuteAttributes"]>]> {
  let summary = "Concatenates the operands along an axis: ONNX Concat.";
  let description = "```mlir\n%r = nn.concat %a, %b axis 1 : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>\n```";
  let arguments = (ins Variadic<NN_DataTensor>:$inputs, I64Attr:$axis);
  let results = (outs NN_DataTensor:$result);
  let assemblyFormat = "$inputs `axis` $axis attr-dict `:` functional-type($inputs, $result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def NN_GatherOp : NN_Op<"gather", [Pure]> {
  let summary = "Slices of the input along an axis, chosen by indices; negative indices count from the end: ONNX Gather.";
  let description = "```mlir\n%r = nn.gather %x, %i axis 0 : tensor<100x8xf32>, tensor<2x3xi64> -> tensor<2x3x8xf32>\n```";
  let arguments = (ins NN_DataTensor:$input, NN_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs NN_DataTensor:$result);
  let assemblyFormat = "$input `,` $indices `axis` $axis attr-dict `:` type($input) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}

def NN_GatherElementsOp : NN_Op<"gather_elements", [Pure, DeclareOpInterfaceMethods<NN_Permutable, ["permuteAttributes"]>]> {
  let summary = "Result element at i is input element at i with coordinate `axis` replaced by indices[i]: ONNX GatherElements.";
  let description = "```mlir\n%r = nn.gather_elements %x, %i axis 1 : tensor<3x3xf32>, tensor<2x3xi64> -> tensor<2x3xf32>\n```";
  let arguments = (ins NN_DataTensor:$input, NN_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs NN_DataTensor:$result);
  let assemblyFormat = "$input `,` $indices `axis` $axis attr-dict `:` type($input) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}

def NN_GatherNdOp : NN_Op<"gather_nd", [Pure]> {
  let summary = "Slices of the input at coordinate tuples: ONNX GatherND.";
  let description = "```mlir\n%r = nn.gather_nd %x, %i batch_dims 0 : tensor<2x2xf32>, tensor<2x2xi64> -> tensor<2xf32>\n```";
  let arguments = (ins NN_DataTensor:$input, NN_IndexTensor:$indices, I64Attr:$batch_dims);
  let results = (outs NN_DataTensor:$result);
  let assemblyFormat = "$input `,` $indices `batch_dims` $batch_dims attr-dict `:` type($input) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}

def NN_ScatterReduction : I32EnumAttr<"ScatterReduction", "how an update is combined with the existing element", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Add", 1, "add">, I32EnumAttrCase<"Mul", 2, "mul">,
    I32EnumAttrCase<"Min", 3, "min">, I32EnumAttrCase<"Max", 4, "max">]> {
  let cppNamespace = "::kiln::nn";
  let genSpecializedAttr = 0;
}
def NN_ScatterReductionAttr : EnumAttr<NN_Dialect, NN_ScatterReduction, "scatter_reduction">;

def NN_ScatterElementsOp : NN_Op<"scatter_elements", [
    Pure, DeclareOpInterfaceMethods<NN_Permutable, ["permuteAttributes"]>, AllTypesMatch<["input", "result"]>]> {
  let summary = "A copy of the input with single elements updated, in the order of the updates: ONNX ScatterElements.";
  let description = [{
    ```mlir
    %r = nn.scatter_elements %x, %i, %u axis 0 reduction none : tensor<3x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$input, NN_IndexTensor:$indices, NN_Tensor:$updates, I64Attr:$axis, NN_ScatterReductionAttr:$reduction);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $input `,` $indices `,` $updates `axis` $axis `reduction` $reduction attr-dict `:` type($input) `,` type($indices) `,` type($updates)
  }];
  let hasVerifier = 1;
}

def NN_ScatterNdOp : NN_Op<"scatter_nd", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "A copy of the input with slices at coordinate tuples updated: ONNX ScatterND.";
  let description = [{
    ```mlir
    %r = nn.scatter_nd %x, %i, %u reduction add : tensor<4x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$input, NN_IndexTensor:$indices, NN_Tensor:$updates, NN_ScatterReductionAttr:$reduction);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $input `,` $indices `,` $updates `reduction` $reduction attr-dict `:` type($input) `,` type($indices) `,` type($updates)
  }];
  let hasVerifier = 1;
}

def NN_IotaOp : NN_Op<"iota", [Pure, DeclareOpInterfaceMethods<NN_Permutable, ["permuteAttributes"]>]> {
  let summary = "The coordinate of each element along one axis: the base of Range, Trilu, EyeLike, OneHot.";
  let description = "```mlir\n%r = nn.iota axis 1 : tensor<2x4xi64>\n```";
  let arguments = (ins I64Attr:$axis);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "`axis` $axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def NN_ResizeMode : I32EnumAttr<"ResizeMode", "interpolation", [
    I32EnumAttrCase<"Nearest", 0, "nearest">, I32EnumAttrCase<"Linear", 1, "linear">, I32EnumAttrCase<"Cubic", 2, "cubic">]> {
  let cppNamespace = "::kiln::nn";
  let genSpecializedAttr = 0;
}
def NN_ResizeModeAttr : EnumAttr<NN_Dialect, NN_ResizeMode, "resize_mode">;

def NN_ResizeOp : NN_Op<"resize", [Pure, DeclareOpInterfaceMethods<NN_Permutable, ["permuteAttributes"]>]> {
  let summary = "Resamples dimensions: ONNX Resize and Upsample.";
  let description = [{
    `scales` (one per dimension, 1.0 = unchanged) are the factors used in the coordinate formulas named by `coordinates` (half_pixel,
    asymmetric, align_corners, pytorch_half_pixel, half_pixel_symmetric, tf_crop_and_resize); an entry of 0.0 means "result size / input size" (dynamic sizes).
    With align_corners the last input element is at input size * scale - 1, even if that is not the result's last element: the result's size is rounded down.
    `nearest` is ONNX nearest_mode. `roi` (2 * rank numbers) serves tf_crop_and_resize.
    ```mlir
    %r = nn.resize %x mode nearest coordinates "asymmetric" nearest "floor" scales [1.0, 1.0, 2.0, 2.0]
      : tensor<1x3x4x4xf32> -> tensor<1x3x8x8xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$input, NN_ResizeModeAttr:$mode, StrAttr:$coordinates, StrAttr:$nearest, DenseF64ArrayAttr:$scales,
                       DefaultValuedOptionalAttr<F64Attr, "-0.75">:$cubic_coefficient, DefaultValuedOptionalAttr<BoolAttr, "false">:$exclude_outside,
                       DefaultValuedOptionalAttr<F64Attr, "0.0">:$extrapolation_value,
                       OptionalAttr<DenseF64ArrayAttr>:$roi);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $input `mode` $mode `coordinates` $coordinates `nearest` $nearest `scales` $scales attr-dict `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // KILN_NN_DATA_MOVEMENT_OPS
