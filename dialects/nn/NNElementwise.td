//===- NNElementwise.td - Base classes of element-wise operations --------------===//
//
// The text in [{ }] is the scalar computation, in terms of `Scalar` (dialects/nn/Scalar.h). The same text yields the kernel's arithmetic and,
// for composites, the decomposition into simpler operations.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_NN_ELEMENTWISE
#define KILN_NN_ELEMENTWISE

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

#endif // KILN_NN_ELEMENTWISE
