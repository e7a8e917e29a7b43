//===- NNElementwiseOps.td - One line per element-wise operator -----------===//
//
// The text in [{ }] is the scalar computation, in terms of `Scalar` (dialects/nn/Scalar.h). The same text yields the kernel's arithmetic and,
// for composites, the decomposition into simpler operations. Few files name these operations, so a new line compiles few of them.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_NN_ELEMENTWISE_OPS
#define KILN_NN_ELEMENTWISE_OPS

include "dialects/nn/NNElementwise.td"

//===- Transcendental functions --------------------------------------------===//
def NN_Expm1Op : NN_Unary<"expm1", [{ expm1(x) }]>;
def NN_Log1pOp : NN_Unary<"log1p", [{ log1p(x) }]>;
def NN_ErfOp : NN_Unary<"erf", [{ erf(x) }]>;
def NN_ErfcOp : NN_Unary<"erfc", [{ erfc(x) }]>;
def NN_SinOp : NN_Unary<"sin", [{ sin(x) }]>;
def NN_CosOp : NN_Unary<"cos", [{ cos(x) }]>;
def NN_TanOp : NN_Unary<"tan", [{ tan(x) }]>;
def NN_AsinOp : NN_Unary<"asin", [{ asin(x) }]>;
def NN_AcosOp : NN_Unary<"acos", [{ acos(x) }]>;
def NN_AtanOp : NN_Unary<"atan", [{ atan(x) }]>;
def NN_SinhOp : NN_Unary<"sinh", [{ sinh(x) }]>;
def NN_CoshOp : NN_Unary<"cosh", [{ cosh(x) }]>;
def NN_AsinhOp : NN_Unary<"asinh", [{ asinh(x) }]>;
def NN_AcoshOp : NN_Unary<"acosh", [{ acosh(x) }]>;
def NN_AtanhOp : NN_Unary<"atanh", [{ atanh(x) }]>;

//===- Activations (composites) --------------------------------------------===//
// The formulas keep the precision of small results: none adds a small number to 1, or subtracts 1 from a number close to 1.
def NN_PreluOp : NN_Binary<"prelu", [{ select(x < 0.0, x * y, x) }]>;
def NN_LeakyReluOp : NN_UnaryComposite<"leaky_relu", [{ select(x < 0.0, x * getAlpha().convertToDouble(), x) }], (ins F64Attr:$alpha)>;
def NN_ThresholdedReluOp : NN_UnaryComposite<"thresholded_relu", [{ select(x > getAlpha().convertToDouble(), x, x.like(0.0)) }], (ins F64Attr:$alpha)>;
def NN_EluOp : NN_UnaryComposite<"elu", [{ select(x < 0.0, expm1(x) * getAlpha().convertToDouble(), x) }], (ins F64Attr:$alpha)>;
def NN_CeluOp : NN_UnaryComposite<"celu",
  [{ max(x, 0.0) + min(expm1(x / getAlpha().convertToDouble()) * getAlpha().convertToDouble(), 0.0) }], (ins F64Attr:$alpha)>;
def NN_SeluOp : NN_UnaryComposite<"selu",
  [{ select(x > 0.0, x, expm1(x) * getAlpha().convertToDouble()) * getGamma().convertToDouble() }], (ins F64Attr:$alpha, F64Attr:$gamma)>;
def NN_SoftplusOp : NN_UnaryComposite<"softplus", [{ max(x, 0.0) + log1p(exp(-abs(x))) }]>;
def NN_SoftsignOp : NN_UnaryComposite<"softsign", [{ x / (abs(x) + 1.0) }]>;
def NN_MishOp : NN_UnaryComposite<"mish", [{ x * tanhOfSoftplus(x) }]>;
def NN_SwigluOp : NN_BinaryComposite<"swiglu", [{ x * sigmoid(x * getAlpha().convertToDouble()) * y }],
  (ins F64Attr:$alpha, NN_Accuracy:$accuracy), [NN_Approximate]>;
def NN_HardSigmoidOp : NN_UnaryComposite<"hard_sigmoid",
  [{ max(min(x * getAlpha().convertToDouble() + getBeta().convertToDouble(), 1.0), 0.0) }], (ins F64Attr:$alpha, F64Attr:$beta)>;
def NN_HardSwishOp : NN_UnaryComposite<"hard_swish", [{ x * max(min(x * (1.0 / 6.0) + 0.5, 1.0), 0.0) }]>;
def NN_GeluOp : NN_UnaryComposite<"gelu", [{ x * 0.5 * erfc(x * -0.70710678118654752440) }]>;
def NN_GeluTanhOp : NN_UnaryComposite<"gelu_tanh", [{ x * sigmoid((x + x * x * x * 0.044715) * 1.59576912160573071176) }]>;
def NN_ShrinkOp : NN_UnaryComposite<"shrink", [{ select(x < -getLambda().convertToDouble(), x + getBias().convertToDouble(),
    select(x > getLambda().convertToDouble(), x - getBias().convertToDouble(), x.like(0.0))) }], (ins F64Attr:$lambda, F64Attr:$bias)>;

#endif // KILN_NN_ELEMENTWISE_OPS
