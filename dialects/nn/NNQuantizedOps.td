//===- NNQuantizedOps.td - Quantised numbers and products ------------------===//
#ifndef KILN_NN_QUANTIZED_OPS
#define KILN_NN_QUANTIZED_OPS

include "dialects/nn/NNBase.td"
include "dialects/nn/NNElementwise.td"
include "dialects/nn/NNInterfaces.td"

// An integer q stands for the number (q - zero_point) * scale. Scales and zero points have the shape of what they belong to: one number, one for each slice
// along an axis or one for each block is a broadcast, as everywhere in the dialect.
class NN_QuantizedElementwise<string mnemonic, string body, string zeroType> : NN_Elementwise<mnemonic, body, [{
      Scalar x(builder, loc, args[0], getX().getType());
      Scalar scale(builder, loc, args[1], getScale().getType());
      Scalar zeroPoint(builder, loc, args[2], getZeroPoint().getType());
    }], [AllTypesMatch<["zero_point", zeroType]>, DeclareOpInterfaceMethods<NN_Decomposable>, DeclareOpInterfaceMethods<NN_FusedKernel>]> {
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$x `,` $scale `,` $zero_point attr-dict `:` type($x) `,` type($scale) `->` type($result)";
}

def NN_QuantizeOp : NN_QuantizedElementwise<"quantize",
    [{ quantizeTo(x / scale, zeroPoint, getType()) }], "result"> {
  let summary = "Real numbers as integers of 8 or 16 bits, to the nearest and halves to even: ONNX QuantizeLinear.";
  let description = [{
    ```mlir
    %q = nn.quantize %x, %scale, %zero_point : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xui8>
    ```
  }];
  let arguments = (ins NN_Tensor:$x, NN_Tensor:$scale, NN_Tensor:$zero_point);
}

def NN_DequantizeOp : NN_QuantizedElementwise<"dequantize",
    [{ castTo(castTo(x, builder.getI32Type()) - castTo(zeroPoint, builder.getI32Type()), scale.elementType()) * scale }], "x"> {
  let summary = "The real numbers that integers stand for: ONNX DequantizeLinear.";
  let description = [{
    ```mlir
    %r = nn.dequantize %x, %scale, %zero_point : tensor<2x3xui8>, tensor<2x3xf32> -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$x, NN_Tensor:$scale, NN_Tensor:$zero_point);
}

def NN_LookupOp : NN_Elementwise<"lookup", [{ lookUp(x, getTable(), getType()) }], "Scalar x(builder, loc, args[0], getX().getType());",
                                 [SameOperandsAndResultShape]> {
  let summary = "Bytes replaced by those of a table: a chain of element-wise operations that depends on one tensor of bytes.";
  let description = [{
    `table` has 256 bytes; a byte of `x` counts as an unsigned number.
    ```mlir
    %r = nn.lookup %x in [1, 2, 3, ...] : tensor<2x3xui8> -> tensor<2x3xi8>
    ```
  }];
  let arguments = (ins NN_Tensor:$x, DenseI8ArrayAttr:$table);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$x `in` $table attr-dict `:` type($x) `->` type($result)";
}

def NN_QuantizedMatmulOp : NN_Op<"quantized_matmul", [
    Pure, AllTypesMatch<["lhs", "lhs_zero"]>, AllTypesMatch<["rhs", "rhs_zero"]>, DeclareOpInterfaceMethods<NN_Decomposable>]> {
  let summary = "Sums of products of quantised numbers, without their scales: ONNX MatMulInteger, and the inside of QLinearMatMul.";
  let description = [{
    The nn.matmul of lhs - lhs_zero and rhs - rhs_zero, which are i8 or ui8, in i32. With constant weights it decomposes into the product of unsigned by signed
    bytes and an addend for each column (dialects/nn/QuantizedProducts.h).
    ```mlir
    %r = nn.quantized_matmul %a, %b zero_points %za, %zb : tensor<2x8xui8>, tensor<8x16xi8> -> tensor<2x16xi32>
    ```
  }];
  let arguments = (ins NN_Tensor:$lhs, NN_Tensor:$rhs, NN_Tensor:$lhs_zero, NN_Tensor:$rhs_zero);
  let results = (outs NN_TensorOf<[I32], "i32">:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `zero_points` $lhs_zero `,` $rhs_zero attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
}

def NN_QuantizedConvOp : NN_Op<"quantized_conv", [
    Pure, AllTypesMatch<["input", "input_zero"]>, AllTypesMatch<["weight", "weight_zero"]>, DeclareOpInterfaceMethods<NN_Decomposable>]> {
  let summary = "A convolution of quantised numbers, without their scales: ONNX ConvInteger, and the inside of QLinearConv.";
  let description = [{
    The nn.conv of input - input_zero and weight - weight_zero, which are i8 or ui8, in i32. What lies in the padding counts as zero.
    ```mlir
    %r = nn.quantized_conv %x, %w zero_points %zx, %zw strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1] groups 1 layout channels_first
      : tensor<1x3x8x8xui8>, tensor<16x3x3x3xi8> -> tensor<1x16x8x8xi32>
    ```
  }];
  let arguments = (ins NN_Tensor:$input, NN_Tensor:$weight, NN_Tensor:$input_zero, NN_Tensor:$weight_zero, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads, I64Attr:$groups, NN_LayoutAttr:$layout);
  let results = (outs NN_TensorOf<[I32], "i32">:$result);
  let assemblyFormat = [{
    $input `,` $weight `zero_points` $input_zero `,` $weight_zero `strides` $strides `dilations` $dilations `pads` $pads `groups` $groups
    `layout` $layout attr-dict `:` type($input) `,` type($weight) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // KILN_NN_QUANTIZED_OPS
