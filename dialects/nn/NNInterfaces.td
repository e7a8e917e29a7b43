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
    InterfaceMethod<"The map from result index to operand index, or a null map when this instance cannot be so expressed.",
      "::mlir::AffineMap", "getIndexMap", (ins)>
  ];
}

def NN_Decomposable : OpInterface<"Decomposable"> {
  let cppNamespace = "::kiln::nn";
  let description = "The operation equals a graph of simpler nn operations.";
  let methods = [
    InterfaceMethod<[{
      Builds that graph at the builder's insertion point and returns the values that replace the results; fails only for an instance whose
      parts cannot be expressed (the reason is emitted as a remark by the caller).
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "decompose", (ins "::mlir::OpBuilder &":$builder)>
  ];
}

def NN_FusedKernel : OpInterface<"FusedKernel"> {
  let cppNamespace = "::kiln::nn";
  let description = "The operation can be emitted as one kernel.";
  let methods = [
    InterfaceMethod<"Whether a target with these features has the fused kernel for this instance; false makes the target stage decompose.",
      "bool", "hasFusedKernel", (ins "::kiln::kernel::TargetAttr":$target)>
  ];
}

def NN_Approximate : OpInterface<"Approximate"> {
  let cppNamespace = "::kiln::nn";
  let description = [{
    The operation computes exp, and has an attribute `accuracy` that says how well. Its result may carry that relative error: an operation that
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
    The operation commutes with a permutation of the dimensions: applied to operands all transposed alike, with its attributes remapped, it
    gives the transposed result. Operands of another rank than the result are left as they are.
  }];
  let methods = [
    InterfaceMethod<[{
      Remaps the attributes that speak of dimensions: dimension i of the new operands is dimension permutation[i] of the old ones.
    }], "void", "permuteAttributes", (ins "::llvm::ArrayRef<int64_t>":$permutation), "", "(void)permutation;">
  ];
}

def NN_DataSized : OpInterface<"DataSized"> {
  let cppNamespace = "::kiln::nn";
  let description = [{
    Only the data tells the size of the results: the operation computes one of the module's symbols, which stands in the types of its other
    results. Its last result is the count, a tensor of one i64. The operation has no `Pure` trait: shapes may need the symbol when nobody
    reads the values.
  }];
  let methods = [
    InterfaceMethod<"The symbol that it computes.", "unsigned", "getCountedSymbol", (ins), "", "return $_op.getCounts();">,
    InterfaceMethod<"The count.", "::mlir::Value", "getCountResult", (ins), "", "return $_op->getResult($_op->getNumResults() - 1);">
  ];
}

def NN_RuntimeFunction : OpInterface<"RuntimeFunction"> {
  let cppNamespace = "::kiln::nn";
  let description = [{
    The operation is a call of a function of the runtime's kernel headers. It gets the buffers of operands and results; a status cell if it reports faults;
    the caller's context if it calls a hook; the range of elements to do if it treats each by itself, otherwise the number of elements of the first operand
    (of the result without any); and literals: numbers, strings, and tables of strings or 32-bit integers, each with its length behind it.
  }];
  let methods = [
    InterfaceMethod<"The function.", "::llvm::StringRef", "getFunction">,
    InterfaceMethod<"What it gets besides buffers.", "::mlir::ArrayAttr", "getLiterals">,
    InterfaceMethod<"Whether it treats each element by itself.", "bool", "isElementwise", (ins), "", "return false;">,
    InterfaceMethod<"Whether data may be at fault.", "bool", "reportsFaults", (ins), "", "return false;">,
    InterfaceMethod<"Whether it calls a hook of the caller's context; what fails there ends the run at once.", "bool", "callsHook", (ins), "",
      "return false;">
  ];
}

#endif // KILN_NN_INTERFACES
