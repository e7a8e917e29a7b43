//===- NNLossOps.td - Losses that models carry for evaluation --------------===//
#ifndef KILN_NN_LOSS_OPS
#define KILN_NN_LOSS_OPS

include "dialects/nn/NNComposite.td"

def NN_LossReduction : I32EnumAttr<"LossReduction", "how the losses of all positions are reduced", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Sum", 1, "sum">, I32EnumAttrCase<"Mean", 2, "mean">]> {
  let cppNamespace = "::kiln::nn";
  let genSpecializedAttr = 0;
}
def NN_LossReductionAttr : EnumAttr<NN_Dialect, NN_LossReduction, "loss_reduction">;

// The input is [N, C, ...], the target [N, ...] and the weight [C]. A position whose class is `ignore_index` has weight 0; the mean is weighted.
class NN_LossOp<string mnemonic, list<Trait> traits = []> : NN_SplitComposite<mnemonic, traits> {
  dag lossOperands = (ins NN_LossReductionAttr:$reduction, NN_FloatTensor:$input, NN_IndexTensor:$target, Optional<NN_FloatTensor>:$weight,
                          OptionalAttr<I64Attr>:$ignore_index);
  let hasVerifier = 1;
}

def NN_NegativeLogLikelihoodOp : NN_LossOp<"negative_log_likelihood"> {
  let summary = "-input[n, target[n, ...], ...] * weight[target[n, ...]] for each position, reduced: ONNX NegativeLogLikelihoodLoss.";
  let description = [{
    ```mlir
    %l = nn.negative_log_likelihood mean %x, %t weight %w ignore -1 : tensor<3x5xf32>, tensor<3xi64>, tensor<5xf32> -> tensor<f32>
    ```
  }];
  let arguments = lossOperands;
  let results = (outs NN_FloatTensor:$loss);
  let assemblyFormat = [{
    $reduction $input `,` $target (`weight` $weight^)? (`ignore` $ignore_index^)? attr-dict
    `:` type($input) `,` type($target) (`,` type($weight)^)? `->` type($loss)
  }];
}

def NN_SoftmaxCrossEntropyOp : NN_LossOp<"softmax_cross_entropy", [NN_Approximate, AllTypesMatch<["input", "log_prob"]>]> {
  let summary = "The negative log likelihood of the log softmax of scores along the classes, and that log softmax: ONNX SoftmaxCrossEntropyLoss.";
  let description = [{
    ```mlir
    %l, %p = nn.softmax_cross_entropy mean %x, %t ignore -1 : tensor<3x5xf32>, tensor<3xi64> -> tensor<f32>
    ```
  }];
  let arguments = !con(lossOperands, (ins NN_Accuracy:$accuracy));
  let results = (outs NN_FloatTensor:$loss, NN_FloatTensor:$log_prob);
  let assemblyFormat = [{
    $reduction $input `,` $target (`weight` $weight^)? (`ignore` $ignore_index^)? attr-dict
    `:` type($input) `,` type($target) (`,` type($weight)^)? `->` type($loss)
  }];
}

#endif // KILN_NN_LOSS_OPS
