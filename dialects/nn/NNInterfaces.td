//===- NNInterfaces.td - What passes ask of an operation -------------------===//
#ifndef KILN_NN_INTERFACES
#define KILN_NN_INTERFACES

include "mlir/IR/OpBase.td"

def NN_ScalarBody : OpInterface<"ScalarBody"> {
  let cppNamespace = "::kiln::nn";
  let description = [{
    The operation is element-wise: all operands and the result have one shape, and result element i depends on element i of each operand only.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the computation of one element, or of a vector of elements: `args` holds one value per operand, scalars or 1-D vectors of the
      operand's compute type (see `computeType`). Given ranked tensors of equal shape, it builds nn operations instead: that is the
      operation's decomposition.
    }], "::mlir::Value", "buildScalar", (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$args)>
  ];
}

def NN_IndexMap : OpInterface<"IndexMap"> {
  let cppNamespace = "::kiln::nn";
  let description = [{
    The operation only moves data: result element at index (d0, ..., dn) is the operand's element at `getIndexMap()(d0, ..., dn)[s0, ...]`.
    The first operand is the moved one. The symbols are the module's.
  }];
  let methods = [
    InterfaceMethod<"The map from result index to operand index, or a null map if this instance has none.",
      "::mlir::AffineMap", "getIndexMap", (ins)>
  ];
}

def NN_AlongAxis : OpInterface<"AlongAxis"> {
  let cppNamespace = "::kiln::nn";
  let description = [{
    The operation works along the rows of its first operand: a row is dimension `axis`, or all the dimensions from `axis` on. What it gives for a row depends on
    that row, and on operands that have the dimensions of a row, only.
  }];
  let methods = [
    InterfaceMethod<"The first dimension of a row.", "uint64_t", "getAxis", (ins)>,
    InterfaceMethod<"Changes it.", "void", "setAxis", (ins "uint64_t":$axis)>,
    InterfaceMethod<"Whether a row is all the dimensions from the axis on.", "bool", "hasTrailingRows", (ins), "", "return false;">,
    InterfaceMethod<"The dimension behind those of a row.", "uint64_t", "getRowEnd", (ins), "", [{
      return $_op.hasTrailingRows() ? ::llvm::cast<::mlir::RankedTensorType>($_op->getOperand(0).getType()).getRank() : $_op.getAxis() + 1;
    }]>
  ];
}

def NN_Windowed : OpInterface<"Windowed"> {
  let cppNamespace = "::kiln::nn";
  let description = [{
    The operation slides a window over the spatial dimensions of its first operand. `pads` lists the begins of all spatial dimensions, then the ends.
  }];
  let methods = [
    InterfaceMethod<"Where the channels are.", "::kiln::nn::Layout", "getLayout", (ins)>,
    InterfaceMethod<"Changes it.", "void", "setLayout", (ins "::kiln::nn::Layout":$layout)>,
    InterfaceMethod<"The step of the window in each dimension.", "::llvm::ArrayRef<int64_t>", "getStrides", (ins)>,
    InterfaceMethod<"Changes it.", "void", "setStrides", (ins "::llvm::ArrayRef<int64_t>":$strides)>,
    InterfaceMethod<"The distance of the window's elements in each dimension.", "::llvm::ArrayRef<int64_t>", "getDilations", (ins)>,
    InterfaceMethod<"Changes it.", "void", "setDilations", (ins "::llvm::ArrayRef<int64_t>":$dilations)>,
    InterfaceMethod<"The padding.", "::llvm::ArrayRef<int64_t>", "getPads", (ins)>,
    InterfaceMethod<"Changes it.", "void", "setPads", (ins "::llvm::ArrayRef<int64_t>":$pads)>
  ];
}

def NN_Pooling : OpInterface<"Pooling"> {
  let cppNamespace = "::kiln::nn";
  let description = "The operation reduces each window; its size is an attribute and not the shape of a weight.";
  let methods = [
    InterfaceMethod<"The size of the window.", "::llvm::ArrayRef<int64_t>", "getKernel", (ins)>,
    InterfaceMethod<"Changes it.", "void", "setKernel", (ins "::llvm::ArrayRef<int64_t>":$kernel)>
  ];
}

def NN_Decomposable : OpInterface<"Decomposable"> {
  let cppNamespace = "::kiln::nn";
  let description = "The operation equals a graph of simpler nn operations.";
  let methods = [
    InterfaceMethod<[{
      Builds that graph at the builder's insertion point and returns the values that replace the results; fails only for an instance
      whose parts cannot be expressed (the caller emits the reason as a remark).
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "decompose", (ins "::mlir::OpBuilder &":$builder)>
  ];
}

def NN_FusedKernel : OpInterface<"FusedKernel"> {
  let cppNamespace = "::kiln::nn";
  let description = "The operation can be emitted as one kernel.";
  let methods = [
    InterfaceMethod<"Whether the target has a fused kernel for this instance; otherwise the target stage decomposes it.",
      "bool", "hasFusedKernel", (ins "::kiln::kernel::TargetAttr":$target)>
  ];
}

def NN_Approximate : OpInterface<"Approximate"> {
  let cppNamespace = "::kiln::nn";
  let description = [{
    The operation computes exp, with the accuracy of its attribute `accuracy`. Its result may have that relative error, so an operation that
    subtracts from an exp does not implement this.
  }];
  let methods = [
    InterfaceMethod<"The accuracy of the exp.", "::kiln::kernel::Accuracy", "getAccuracy", (ins)>,
    InterfaceMethod<"Changes it.", "void", "setAccuracy", (ins "::kiln::kernel::Accuracy":$accuracy)>
  ];
}

def NN_Permutable : OpInterface<"Permutable"> {
  let cppNamespace = "::kiln::nn";
  let description = [{
    The operation commutes with a permutation of the dimensions: if all operands are transposed by the same permutation and the attributes are
    remapped, its result is the transposed result. Operands whose rank differs from the result's are not transposed.
  }];
  let methods = [
    InterfaceMethod<[{
      Remaps the attributes that refer to dimensions: dimension i of the new operands is dimension permutation[i] of the old ones.
    }], "void", "permuteAttributes", (ins "::llvm::ArrayRef<int64_t>":$permutation), "", "(void)permutation;">
  ];
}

def NN_DataSized : OpInterface<"DataSized"> {
  let cppNamespace = "::kiln::nn";
  let description = [{
    The size of the results depends on the data: the operation computes one of the module's symbols, which appears in the types of its other
    results. Its last result is the count, a tensor of one i64. The operation does not have the trait `Pure`, because shapes may need the symbol
    even if nothing reads the values.
  }];
  let methods = [
    InterfaceMethod<"The symbol that it computes.", "unsigned", "getCountedSymbol", (ins), "", "return $_op.getCounts();">,
    InterfaceMethod<"The count.", "::mlir::Value", "getCountResult", (ins), "", "return $_op->getResult($_op->getNumResults() - 1);">
  ];
}

def NN_RuntimeFunction : OpInterface<"RuntimeFunction"> {
  let cppNamespace = "::kiln::nn";
  let description = [{
    The operation is a call of a function of the runtime's kernel headers. Its arguments are the buffers of operands and results; a status cell if it
    reports faults; the caller's context if it calls a hook; the range of elements to compute if it is element-wise, otherwise the number of elements of the
    first operand (or of the result if there is none); and literals: numbers, strings, and tables of strings or 32-bit integers, each followed by its length.
  }];
  let methods = [
    InterfaceMethod<"The function.", "::llvm::StringRef", "getFunction">,
    InterfaceMethod<"The literal arguments.", "::mlir::ArrayAttr", "getLiterals">,
    InterfaceMethod<"Whether it computes each element independently.", "bool", "isElementwise", (ins), "", "return false;">,
    InterfaceMethod<"Whether it reports faults of the data.", "bool", "reportsFaults", (ins), "", "return false;">,
    InterfaceMethod<"Whether it calls a hook of the caller's context, whose failure ends the run immediately.", "bool", "callsHook", (ins), "",
      "return false;">
  ];
}

#endif // KILN_NN_INTERFACES
