//===- NNBlockOps.td - Products with weights of a few bits in blocks --------===//
//
// Operations with a header of their own (dialects/nn/BlockQuantized.h): few passes know them, so few files depend on it.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_NN_BLOCK_OPS
#define KILN_NN_BLOCK_OPS

include "dialects/nn/NNBase.td"

def NN_BlockQuantizedMatmulOp : NN_Op<"block_quantized_matmul", [Pure, AttrSizedOperandSegments]> {
  let summary = "A product with weights of 4 or 8 bits that have a scale for each block: MatMulNBits, MatMul of a blocked DequantizeLinear.";
  let description = [{
    result[.., n] = sum over k of lhs[.., k] * (number[n, k] - zero_point[n, k / block]) * scale[n, k / block], in f32. The weight is [N, blocks, bytes]. With 8
    bits, byte i of a block is its number i. With 4 bits, byte i has number i in its low half and number i + block / 2 in its high half, so that vectors of
    bytes become two vectors of neighbouring numbers. Without zero points, numbers count from the middle of their range.

    The left side is f32, or i8 with a scale for each block of a row, and the sum of each block's bytes.
    ```mlir
    %r = nn.block_quantized_matmul %a, %w scales %s bits 4 : tensor<2x64xf32>, tensor<16x2x16xui8>, tensor<16x2xf32> -> tensor<2x16xf32>
    %q = nn.block_quantized_matmul %b, %w scales %s rounded_by %t : tensor<2x2xf32> sums %u : tensor<2x2xi32> bits 4
      : tensor<2x64xi8>, tensor<16x2x16xui8>, tensor<16x2xf32> -> tensor<2x16xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$lhs, NN_Tensor:$weight, NN_Tensor:$scale, Optional<NN_Tensor>:$zero_point, Optional<NN_Tensor>:$lhs_scale,
                       Optional<NN_Tensor>:$lhs_sum, I64Attr:$bits);
  let results = (outs NN_TensorOf<[F32], "f32">:$result);
  let assemblyFormat = [{
    $lhs `,` $weight `scales` $scale (`zero_points` $zero_point^ `:` type($zero_point))? (`rounded_by` $lhs_scale^ `:` type($lhs_scale))?
    (`sums` $lhs_sum^ `:` type($lhs_sum))? `bits` $bits attr-dict `:` type($lhs) `,` type($weight) `,` type($scale) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t countColumns() { return getWeight().getType().getDimSize(0); }
    int64_t countBlocks() { return getWeight().getType().getDimSize(1); }
    /// Weights of a block.
    int64_t getBlock() { return getWeight().getType().getDimSize(2) * 8 / static_cast<int64_t>(getBits()); }
  }];
}

#endif // KILN_NN_BLOCK_OPS
