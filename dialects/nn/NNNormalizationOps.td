//===- NNNormalizationOps.td - Composites over rows ------------------------===//
#ifndef KILN_NN_NORMALIZATION_OPS
#define KILN_NN_NORMALIZATION_OPS

include "dialects/nn/NNComposite.td"

def NN_SoftmaxOp : NN_RowComposite<"softmax", [NN_Approximate],
                                    (ins NN_Accuracy:$accuracy, OptionalAttr<F64Attr>:$shift, OptionalAttr<StrAttr>:$proof)> {
  let summary = "exp(x - max) / sum(exp(x - max)) along one axis: ONNX Softmax 13; earlier versions reshape around it.";
  let description = [{
    --nn-prove-shortcuts sets `shift`, the constant to subtract in place of each row's maximum, and `proof`, why that is safe.
    ```mlir
    %r = nn.softmax %x axis 1 : tensor<2x10xf32>
    ```
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$input, "::mlir::IntegerAttr":$axis), [{
      build($_builder, $_state, type, input, axis.getInt(), ::kiln::kernel::Accuracy::Exact);
    }]>,
    OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$input, "uint64_t":$axis, "::kiln::kernel::Accuracy":$accuracy), [{
      build($_builder, $_state, type, input, axis, accuracy, ::mlir::FloatAttr(), ::mlir::StringAttr());
    }]>];
}

def NN_LogSoftmaxOp : NN_RowComposite<"log_softmax", [NN_Approximate], (ins NN_Accuracy:$accuracy)> {
  let summary = "x - max - log(sum(exp(x - max))) along one axis: ONNX LogSoftmax. Never log(softmax(x)).";
  let description = "```mlir\n%r = nn.log_softmax %x axis 1 : tensor<2x10xf32>\n```";
}

def NN_HardmaxOp : NN_RowComposite<"hardmax"> {
  let summary = "One at the first of the largest elements along an axis, zero elsewhere: ONNX Hardmax.";
  let description = "```mlir\n%r = nn.hardmax %x axis 1 : tensor<2x10xf32>\n```";
}

def NN_LayerNormOp : NN_Composite<"layer_norm", [NN_AlongAxis, AllTypesMatch<["input", "result"]>]> {
  let summary = "(x - mean) / sqrt(variance + epsilon) * scale + bias over the trailing dimensions from `axis`: ONNX LayerNormalization 17.";
  let description = [{
    scale and bias have the shape of the normalized dimensions (broadcasts are explicit).
    ```mlir
    %r = nn.layer_norm %x, %scale, %bias axis 1 epsilon 1.0e-5 : tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, NN_FloatTensor:$scale, Optional<NN_FloatTensor>:$bias, I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $scale (`,` $bias^)? `axis` $axis `epsilon` $epsilon attr-dict `:` type($input) `,` type($scale) (`,` type($bias)^)?
  }];
  let extraClassDeclaration = "bool hasTrailingRows() { return true; }";
  let hasVerifier = 1;
}

def NN_RmsNormOp : NN_Composite<"rms_norm", [NN_AlongAxis, AllTypesMatch<["input", "result"]>]> {
  let summary = "x / sqrt(mean(x * x) + epsilon) * scale over the trailing dimensions from `axis`: ONNX RMSNormalization 23.";
  let description = "```mlir\n%r = nn.rms_norm %x, %scale axis 1 epsilon 1.0e-5 : tensor<2x8xf32>, tensor<8xf32>\n```";
  let arguments = (ins NN_FloatTensor:$input, NN_FloatTensor:$scale, I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$input `,` $scale `axis` $axis `epsilon` $epsilon attr-dict `:` type($input) `,` type($scale)";
  let extraClassDeclaration = "bool hasTrailingRows() { return true; }";
  let hasVerifier = 1;
}

def NN_LpNormOp : NN_SplitComposite<"lp_norm", [NN_AlongAxis, SameOperandsAndResultType]> {
  let summary = "x / (sum of |x|^p)^(1/p) along one axis, zero where the sum is zero; p is 1 or 2: ONNX LpNormalization.";
  let description = "```mlir\n%r = nn.lp_norm %x axis 1 p 2 : tensor<2x10xf32>\n```";
  let arguments = (ins NN_FloatTensor:$input, I64Attr:$axis, I64Attr:$p);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$input `axis` $axis `p` $p attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def NN_MeanVarianceNormOp : NN_SplitComposite<"mean_variance_norm", [SameOperandsAndResultType]> {
  let summary = "(x - mean) / (standard deviation + 1e-9) over any axes: ONNX MeanVarianceNormalization.";
  let description = "```mlir\n%r = nn.mean_variance_norm %x [0, 2] : tensor<2x3x4xf32>\n```";
  let arguments = (ins NN_FloatTensor:$input, DenseI64ArrayAttr:$axes);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$input $axes attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def NN_BatchNormOp : NN_SplitComposite<"batch_norm", [AllTypesMatch<["input", "result"]>, AllTypesMatch<["scale", "bias", "mean", "variance"]>]> {
  let summary = "(x - mean) / sqrt(variance + epsilon) * scale + bias with given statistics of each channel: ONNX BatchNormalization in inference.";
  let description = [{
    The input is [N, C, ...], the parameters are [C]. With constant parameters --nn-fold-constants makes it one factor and one addend per channel.
    ```mlir
    %r = nn.batch_norm %x scale %s bias %b mean %m variance %v epsilon 1.0e-5 : tensor<2x3x4xf32>, tensor<3xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input, NN_FloatTensor:$scale, NN_FloatTensor:$bias, NN_FloatTensor:$mean, NN_FloatTensor:$variance,
                       F64Attr:$epsilon);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input `scale` $scale `bias` $bias `mean` $mean `variance` $variance `epsilon` $epsilon attr-dict `:` type($input) `,` type($scale)
  }];
  let hasVerifier = 1;
}

#endif // KILN_NN_NORMALIZATION_OPS
