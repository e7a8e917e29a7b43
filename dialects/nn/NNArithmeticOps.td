//===- NNArithmeticOps.td - Element-wise operations that passes build -----===//
//
// Passes and other importers name these operations, so many files depend on them. An operator that only its importer names belongs to NNElementwiseOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_NN_ARITHMETIC_OPS
#define KILN_NN_ARITHMETIC_OPS

include "dialects/nn/NNElementwise.td"

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
def NN_LogOp : NN_Unary<"log", [{ log(x) }]>;
def NN_TanhOp : NN_Unary<"tanh", [{ tanh(x) }]>;

//===- Activations (composites) --------------------------------------------===//
// The formulas keep the precision of small results: none adds a small number to 1, or subtracts 1 from a number close to 1.
def NN_SigmoidOp : NN_Unary<"sigmoid", [{ sigmoid(x) }], [NN_Approximate], (ins NN_Accuracy:$accuracy)>;
def NN_ReluOp : NN_Unary<"relu", [{ max(x, 0.0) }]>;
def NN_ClampOp : NN_Unary<"clamp", [{ min(max(x, getMin().convertToDouble()), getMax().convertToDouble()) }], [], (ins F64Attr:$min, F64Attr:$max)>;
def NN_SwishOp : NN_UnaryComposite<"swish", [{ x * sigmoid(x * getAlpha().convertToDouble()) }], (ins F64Attr:$alpha, NN_Accuracy:$accuracy), [NN_Approximate]>;

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

#endif // KILN_NN_ARITHMETIC_OPS
