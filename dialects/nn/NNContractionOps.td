//===- NNContractionOps.td - Matrix products and convolutions --------------===//
#ifndef KILN_NN_CONTRACTION_OPS
#define KILN_NN_CONTRACTION_OPS

include "dialects/nn/NNBase.td"
include "dialects/nn/NNInterfaces.td"

def NN_MatmulOp : NN_Op<"matmul", [Pure]> {
  let summary = "Matrix product of the last two dimensions: ONNX MatMul, Gemm (whose transposes, scales and bias become separate operations).";
  let description = [{
    [batch..., M, K] x [K, N] -> [batch..., M, N] with the same right side for all batches, or [batch..., M, K] x [batch..., K, N] with
    equal batch dimensions. Integer operands accumulate in the result's type.
    ```mlir
    %r = nn.matmul %a, %b : tensor<2x4x8xf32>, tensor<8x16xf32> -> tensor<2x4x16xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$lhs, NN_Tensor:$rhs);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
}

def NN_ConvOp : NN_Op<"conv", [Pure, NN_Windowed]> {
  let summary = "Convolution over 1 to 3 spatial dimensions: ONNX Conv. The bias is a following nn.add.";
  let description = [{
    The input is [N, C, spatial...] or, with layout channels_last, [N, spatial..., C]; the result likewise. The weight is always
    [out channels, C / groups, kernel...], as in the file. `pads` lists the begins of all spatial dimensions, then the ends.
    ```mlir
    %r = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1] groups 1 layout channels_first
      : tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32> -> tensor<1x16x8x8xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$input, NN_Tensor:$weight, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$pads, I64Attr:$groups, NN_LayoutAttr:$layout);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $input `,` $weight `strides` $strides `dilations` $dilations `pads` $pads `groups` $groups `layout` $layout attr-dict
    `:` type($input) `,` type($weight) `->` type($result)
  }];
  let hasVerifier = 1;
}

def NN_WinogradFilterOp : NN_Op<"winograd_filter", [Pure]> {
  let summary = "The filters of a 3x3 convolution, transformed for nn.winograd_conv.";
  let description = [{
    [out, in, 3, 3] -> [(tile + 2)^2, panels, rows, width]: transformed (dialects/nn/Winograd.h), in panels of `width` output channels, of which the
    last is filled up with zeros. Rows beyond the input channels are undefined; they keep places from sharing the sets of the first-level cache.
    --nn-choose-winograd makes it. It runs with the model: the library holds the untransformed filters, which take a quarter of the memory.
    ```mlir
    %u = nn.winograd_filter %w tile 4 : tensor<40x16x3x3xf32> -> tensor<36x2x17x32xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$weight, I64Attr:$tile);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$weight `tile` $tile attr-dict `:` type($weight) `->` type($result)";
  let hasVerifier = 1;
}

def NN_WinogradConvOp : NN_Op<"winograd_conv", [Pure]> {
  let summary = "A 3x3 convolution of stride 1 by Winograd's minimal filtering, F(tile x tile, 3x3) (Lavin and Gray, arXiv:1509.09308).";
  let description = [{
    The input is [N, H, W, C] including its padding, the result [N, H - 2, W - 2, out channels]. The weight is a convolution's, [out channels, C, 3, 3],
    and `transformed` is what nn.winograd_filter makes of it; without it, the kernel transforms the weight on the way. Tiles of the result whose inputs
    differ too much in magnitude are computed directly (docs/CostModel.md). `tile` is 2 or 4. --nn-choose-winograd makes it, with the `plan` of its
    group: the order of the filters depends on it.
    ```mlir
    %r = nn.winograd_conv %x, %w transformed %u tile 4
      : tensor<1x30x30x16xf32>, tensor<40x16x3x3xf32>, tensor<36x2x17x32xf32> -> tensor<1x28x28x40xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$input, NN_Tensor:$weight, Optional<NN_Tensor>:$transformed, I64Attr:$tile, OptionalAttr<NN_PlanAttr>:$plan);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $input `,` $weight (`transformed` $transformed^)? `tile` $tile attr-dict `:` type($input) `,` type($weight) (`,` type($transformed)^)?
    `->` type($result)
  }];
  let hasVerifier = 1;
}

def NN_ConvTransposeOp : NN_Op<"conv_transpose", [Pure, NN_Windowed, DeclareOpInterfaceMethods<NN_Decomposable>]> {
  let summary = "The transpose (gradient) of a convolution: ONNX ConvTranspose. The bias is a following nn.add.";
  let description = [{
    The weight is [C, out channels / groups, kernel...]. `pads` cut the full result; the result type includes output_padding.
    Decomposes into nn.pad with interior zeros and nn.conv with the flipped weight.
    ```mlir
    %r = nn.conv_transpose %x, %w strides [2, 2] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
      : tensor<1x8x4x4xf32>, tensor<8x4x2x2xf32> -> tensor<1x4x8x8xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$input, NN_Tensor:$weight, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$pads, I64Attr:$groups, NN_LayoutAttr:$layout);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $input `,` $weight `strides` $strides `dilations` $dilations `pads` $pads `groups` $groups `layout` $layout attr-dict
    `:` type($input) `,` type($weight) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // KILN_NN_CONTRACTION_OPS
