//===- NNAttentionOps.td - Attention as one operation ----------------------===//
#ifndef KILN_NN_ATTENTION_OPS
#define KILN_NN_ATTENTION_OPS

include "dialects/nn/NNBase.td"
include "dialects/nn/NNInterfaces.td"

def NN_AttentionOp : NN_Op<"attention", [Pure, AttrSizedOperandSegments, DeclareOpInterfaceMethods<NN_Decomposable>,
                                         DeclareOpInterfaceMethods<NN_FusedKernel>, NN_Approximate]> {
  let summary = "softmax(scale * query * key^T, masked) * value: the core of ONNX Attention 23 and of what exporters write for it.";
  let description = [{
    query [batch..., M, D], key [batch..., N, D], value [batch..., N, E]; the result is [batch..., M, E]. A score is
    `scale` times the product of a query and a key. It is replaced by `fill` where `keep` is false. With `causal` it is also replaced where key j comes
    after query i, which is at position i + N - M, or `window` or more positions before it. Then `bias` is added. `bias` and `keep` have the shape of the
    scores [batch..., M, N] (broadcasts are explicit). The softmax runs along the keys. A row without any visible key (all scores are -inf) is NaN.
    ```mlir
    %r = nn.attention query(%q) key(%k) value(%v) scale 1.250000e-01 causal window 4
      : (tensor<1x2x5x64xf32>, tensor<1x2x7x64xf32>, tensor<1x2x7x64xf32>) -> tensor<1x2x5x64xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$query, NN_FloatTensor:$key, NN_FloatTensor:$value, Optional<NN_FloatTensor>:$bias,
                       Optional<NN_BoolTensor>:$keep, F64Attr:$scale, UnitAttr:$causal, OptionalAttr<I64Attr>:$window,
                       DefaultValuedAttr<F64Attr, "-::std::numeric_limits<double>::infinity()">:$fill,
                       NN_Accuracy:$accuracy);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    `query` `(` $query `)` `key` `(` $key `)` `value` `(` $value `)` (`bias` `(` $bias^ `)`)? (`keep` `(` $keep^ `)`)? `scale` $scale
    (`causal` $causal^)? (`window` $window^)? attr-dict `:` functional-type(operands, $result)
  }];
  let extraClassDeclaration = [{
    /// The shape of the scores: [batch..., M, N].
    ::llvm::SmallVector<::mlir::AffineExpr> getScoreDims();
  }];
  let hasVerifier = 1;
}

#endif // KILN_NN_ATTENTION_OPS
