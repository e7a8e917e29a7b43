//===- NNElementwiseOps.td - One line per element-wise operator -------------===//
//
// The text in [{ }] is the scalar computation, in terms of `Scalar` (dialects/nn/Scalar.h). The same text yields the kernel's arithmetic and,
// for composites, the decomposition into simpler operations.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_NN_ELEMENTWISE_OPS
#define KILN_NN_ELEMENTWISE_OPS

include "dialects/nn/NNBase.td"
include "dialects/nn/NNInterfaces.td"

class NN_Elementwise<string mnemonic, string body, string unpack, list<Trait> traits> : NN_Op<mnemonic, !listconcat(traits, [
    Pure, NN_Permutable, DeclareOpInterfaceMethods<NN_ScalarBody>])> {
  let summary = "Element-wise: " # body;
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::mlir::Value $cppClass::buildScalar(::mlir::OpBuilder &builder, ::mlir::Location loc, ::mlir::ValueRange args) {
      }] # unpack # [{
      Scalar result = }] # body # [{;
      return result.value();
    }
    ::llvm::LogicalResult $cppClass::verify() { return verifyElementwise(*this); }
  }];
}

class NN_Unary<string mnemonic, string body, list<Trait> traits = [], dag attributes = (ins)>
    : NN_Elementwise<mnemonic, body, "Scalar x(builder, loc, args[0], getX().getType(), accuracyOf(*this));",
                     !listconcat([SameOperandsAndResultType], traits)> {
  let description = "```mlir\n%r = nn." # mnemonic # " %x : tensor<2x3xf32>\n```";
  let arguments = !con((ins NN_Tensor:$x), attributes);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($result)";
}

class NN_Predicate<string mnemonic, string body>
    : NN_Elementwise<mnemonic, body, "Scalar x(builder, loc, args[0], getX().getType(), accuracyOf(*this));", [SameOperandsAndResultShape]> {
  let description = "```mlir\n%r = nn." # mnemonic # " %x : tensor<2x3xf32> -> tensor<2x3xi1>\n```";
  let arguments = (ins NN_Tensor:$x);
  let results = (outs NN_BoolTensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
}

class NN_Binary<string mnemonic, string body, list<Trait> traits = [], dag attributes = (ins)>
    : NN_Elementwise<mnemonic, body,
        "Scalar x(builder, loc, args[0], getX().getType(), accuracyOf(*this)); Scalar y(builder, loc, args[1], getY().getType());",
        !listconcat([SameOperandsAndResultType], traits)> {
  let description = "```mlir\n%r = nn." # mnemonic # " %x, %y : tensor<2x3xf32>\n```";
  let arguments = !con((ins NN_Tensor:$x, NN_Tensor:$y), attributes);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($result)";
}

class NN_Compare<string mnemonic, string body>
    : NN_Elementwise<mnemonic, body,
        "Scalar x(builder, loc, args[0], getX().getType(), accuracyOf(*this)); Scalar y(builder, loc, args[1], getY().getType());",
        [SameTypeOperands, SameOperandsAndResultShape]> {
  let description = "```mlir\n%r = nn." # mnemonic # " %x, %y : tensor<2x3xf32> -> tensor<2x3xi1>\n```";
  let arguments = (ins NN_Tensor:$x, NN_Tensor:$y);
  let results = (outs NN_BoolTensor:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x) `->` type($result)";
}

// Element-wise composites stay whole until the target stage decides: the text becomes code in one kernel, or separate operations.
class NN_ComposedElementwise<string body, string unpack> {
  list<Trait> traits = [DeclareOpInterfaceMethods<NN_Decomposable>, DeclareOpInterfaceMethods<NN_FusedKernel>];
  code definition = [{
    ::mlir::Value $cppClass::buildScalar(::mlir::OpBuilder &builder, ::mlir::Location loc, ::mlir::ValueRange args) {
      }] # unpack # [{
      Scalar result = }] # body # [{;
      return result.value();
    }
    ::llvm::LogicalResult $cppClass::verify() { return verifyElementwise(*this); }
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>> $cppClass::decompose(::mlir::OpBuilder &builder) {
      return ::llvm::SmallVector<::mlir::Value>{buildScalar(builder, getLoc(), getOperation()->getOperands())};
    }
    bool $cppClass::hasFusedKernel(::kiln::kernel::TargetAttr) { return true; }
  }];
}

class NN_UnaryComposite<string mnemonic, string body, dag attributes = (ins), list<Trait> more = []>
    : NN_Unary<mnemonic, body, !listconcat(NN_ComposedElementwise<"", "">.traits, more), attributes> {
  let extraClassDefinition = NN_ComposedElementwise<body, "Scalar x(builder, loc, args[0], getX().getType(), accuracyOf(*this));">.definition;
}

class NN_BinaryComposite<string mnemonic, string body, dag attributes = (ins), list<Trait> more = []>
    : NN_Binary<mnemonic, body, !listconcat(NN_ComposedElementwise<"", "">.traits, more), attributes> {
  let extraClassDefinition = NN_ComposedElementwise<body,
      "Scalar x(builder, loc, args[0], getX().getType(), accuracyOf(*this)); Scalar y(builder, loc, args[1], getY().getType());">.definition;
}

//===- Arithmetic ---------------------------------------------------------===//
def NN_AddOp : NN_Binary<"add", [{ x + y }], [Commutative]>;
def NN_SubOp : NN_Binary<"sub", [{ x - y }]>;
def NN_MulOp : NN_Binary<"mul", [{ x * y }], [Commutative]>;
def NN_DivOp : NN_Binary<"div", [{ x / y }]>;
def NN_ModOp : NN_Binary<"mod", [{ floorMod(x, y) }]>;
def NN_FmodOp : NN_Binary<"fmod", [{ truncMod(x, y) }]>;
def NN_PowOp : NN_Binary<"pow", [{ pow(x, y) }]>;
def NN_MinimumOp : NN_Binary<"minimum", [{ min(x, y) }], [Commutative]>;
def NN_MaximumOp : NN_Binary<"maximum", [{ max(x, y) }], [Commutative]>;
def NN_PreluOp : NN_Binary<"prelu", [{ select(x < 0.0, x * y, x) }]>;
def NN_NegOp : NN_Unary<"neg", [{ -x }]>;
def NN_AbsOp : NN_Unary<"abs", [{ abs(x) }]>;
def NN_SignOp : NN_Unary<"sign", [{ sign(x) }]>;
def NN_ReciprocalOp : NN_Unary<"reciprocal", [{ x.like(1.0) / x }]>;
def NN_SqrtOp : NN_Unary<"sqrt", [{ sqrt(x) }]>;
def NN_FloorOp : NN_Unary<"floor", [{ floor(x) }]>;
def NN_CeilOp : NN_Unary<"ceil", [{ ceil(x) }]>;
def NN_RoundOp : NN_Unary<"round", [{ roundEven(x) }]>;

//===- Transcendental functions --------------------------------------------===//
def NN_ExpOp : NN_Unary<"exp", [{ exp(x) }], [NN_Approximate], (ins NN_Accuracy:$accuracy)>;
def NN_Expm1Op : NN_Unary<"expm1", [{ expm1(x) }]>;
def NN_LogOp : NN_Unary<"log", [{ log(x) }]>;
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
def NN_TanhOp : NN_Unary<"tanh", [{ tanh(x) }]>;
def NN_AsinhOp : NN_Unary<"asinh", [{ asinh(x) }]>;
def NN_AcoshOp : NN_Unary<"acosh", [{ acosh(x) }]>;
def NN_AtanhOp : NN_Unary<"atanh", [{ atanh(x) }]>;

//===- Activations (composites) --------------------------------------------===//
// The formulas keep the precision of small results: none adds a small number to 1, or subtracts 1 from a number close to 1.
def NN_SigmoidOp : NN_Unary<"sigmoid", [{ sigmoid(x) }], [NN_Approximate], (ins NN_Accuracy:$accuracy)>;
def NN_ReluOp : NN_Unary<"relu", [{ max(x, 0.0) }]>;
def NN_ClampOp : NN_Unary<"clamp", [{ min(max(x, getMin().convertToDouble()), getMax().convertToDouble()) }], [], (ins F64Attr:$min, F64Attr:$max)>;
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
def NN_SwishOp : NN_UnaryComposite<"swish", [{ x * sigmoid(x * getAlpha().convertToDouble()) }], (ins F64Attr:$alpha, NN_Accuracy:$accuracy), [NN_Approximate]>;
def NN_SwigluOp : NN_BinaryComposite<"swiglu", [{ x * sigmoid(x * getAlpha().convertToDouble()) * y }],
  (ins F64Attr:$alpha, NN_Accuracy:$accuracy), [NN_Approximate]>;
def NN_HardSigmoidOp : NN_UnaryComposite<"hard_sigmoid",
  [{ max(min(x * getAlpha().convertToDouble() + getBeta().convertToDouble(), 1.0), 0.0) }], (ins F64Attr:$alpha, F64Attr:$beta)>;
def NN_HardSwishOp : NN_UnaryComposite<"hard_swish", [{ x * max(min(x * (1.0 / 6.0) + 0.5, 1.0), 0.0) }]>;
def NN_GeluOp : NN_UnaryComposite<"gelu", [{ x * 0.5 * erfc(x * -0.70710678118654752440) }]>;
def NN_GeluTanhOp : NN_UnaryComposite<"gelu_tanh", [{ x * sigmoid((x + x * x * x * 0.044715) * 1.59576912160573071176) }]>;
def NN_ShrinkOp : NN_UnaryComposite<"shrink", [{ select(x < -getLambda().convertToDouble(), x + getBias().convertToDouble(),
    select(x > getLambda().convertToDouble(), x - getBias().convertToDouble(), x.like(0.0))) }], (ins F64Attr:$lambda, F64Attr:$bias)>;

//===- Logic and bits --------------------------------------------------------===//
def NN_AndOp : NN_Binary<"and", [{ x & y }], [Commutative]>;
def NN_OrOp : NN_Binary<"or", [{ x | y }], [Commutative]>;
def NN_XorOp : NN_Binary<"xor", [{ x ^ y }], [Commutative]>;
def NN_NotOp : NN_Unary<"not", [{ ~x }]>;
def NN_ShiftLeftOp : NN_Binary<"shift_left", [{ shiftLeft(x, y) }]>;
def NN_ShiftRightOp : NN_Binary<"shift_right", [{ shiftRight(x, y) }]>;

//===- Comparison and choice -------------------------------------------------===//
def NN_EqualOp : NN_Compare<"equal", [{ x == y }]>;
def NN_LessOp : NN_Compare<"less", [{ x < y }]>;
def NN_LessEqualOp : NN_Compare<"less_equal", [{ x <= y }]>;
def NN_GreaterOp : NN_Compare<"greater", [{ x > y }]>;
def NN_GreaterEqualOp : NN_Compare<"greater_equal", [{ x >= y }]>;
def NN_IsNanOp : NN_Predicate<"is_nan", [{ isNan(x) }]>;

def NN_SelectOp : NN_Elementwise<"select", [{ select(c, x, y) }],
    [{Scalar c(builder, loc, args[0], getCondition().getType()); Scalar x(builder, loc, args[1], getX().getType());
      Scalar y(builder, loc, args[2], getY().getType());}], [AllTypesMatch<["x", "y", "result"]>, SameOperandsAndResultShape]> {
  let summary = "Element-wise choice: ONNX Where.";
  let description = "```mlir\n%r = nn.select %c, %x, %y : tensor<2xi1>, tensor<2xf32>\n```";
  let arguments = (ins NN_BoolTensor:$condition, NN_Tensor:$x, NN_Tensor:$y);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$condition `,` $x `,` $y attr-dict `:` type($condition) `,` type($result)";
}

def NN_CastOp : NN_Elementwise<"cast", [{ castTo(x, getResult().getType()) }], "Scalar x(builder, loc, args[0], getX().getType(), accuracyOf(*this));",
    [SameOperandsAndResultShape]> {
  let summary = "Element-wise conversion: ONNX Cast (float to integer truncates; to bool compares with zero).";
  let description = "```mlir\n%r = nn.cast %x : tensor<2xf32> -> tensor<2xi64>\n```";
  let arguments = (ins NN_Tensor:$x);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasFolder = 1;
}

def NN_BitcastOp : NN_Elementwise<"bitcast", [{ bitsAs(x, getResult().getType()) }], "Scalar x(builder, loc, args[0], getX().getType());",
    [SameOperandsAndResultShape]> {
  let summary = "The same bits as another type of the same width: ONNX BitCast. Bools, which are held as bytes, are left to nn.cast.";
  let description = "```mlir\n%r = nn.bitcast %x : tensor<2xf32> -> tensor<2xi32>\n```";
  let arguments = (ins NN_Tensor:$x);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
}

#endif // KILN_NN_ELEMENTWISE_OPS
