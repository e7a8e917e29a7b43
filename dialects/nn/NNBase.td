//===- NNBase.td - The nn dialect, its attributes and base classes ---------===//
#ifndef KILN_NN_BASE
#define KILN_NN_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def NN_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::kiln::nn";
  let summary = "The meaning of a neural network, with value semantics on ranked tensors.";
  let description = [{
    There is one operation for each ONNX operator that graph passes recognise. Import removes the differences between opsets, broadcasts are explicit,
    and every dimension is either static or an expression of the module's symbols (`#nn.dims`), so two dimensions are equal exactly
    when their expressions are.

    The module attributes `nn.symbols`, `nn.constraints` and others describe the symbolic dimensions, and `func.func @main` has `nn.name` on its arguments
    and results, the ONNX names. docs/Architecture.md lists all discardable attributes; those that it does not list are refused.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
  private:
#define NN_FAMILY(name) void add##name##Ops();
#include "dialects/nn/Families.def"
  }];
}

def NN_DimsAttr : AttrDef<NN_Dialect, "Dims", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "dims";
  let summary = "The dimensions of a tensor as expressions of the module's symbols.";
  let description = [{
    The encoding of a tensor type that has a dynamic dimension. One result of the map per dimension; symbol `sN` is entry N of the module's
    `nn.symbols`. Example: `tensor<?x?x768xf32, #nn.dims<()[s0, s1] -> (s0, s1, 768)>>`.
  }];
  let parameters = (ins "::mlir::AffineMap":$map);
  let assemblyFormat = "`<` $map `>`";
}

class NN_Op<string mnemonic, list<Trait> traits = []> : Op<NN_Dialect, mnemonic, traits>;

def NN_Number : AnyTypeOf<[F64, F32, F16, BF16, I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64]>;

// A ranked tensor each of whose dynamic dimensions is covered by an #nn.dims encoding.
class NN_TensorOf<list<Type> elements, string what> : Type<
    And<[RankedTensorOf<elements>.predicate, CPred<"::kiln::nn::hasDims($_self)">]>,
    "ranked tensor of " # what # " with an expression for each dynamic dimension", "::mlir::RankedTensorType">;

// A string: the address and size of its bytes, kiln_string of the ABI. Operations move it and ask the runtime's functions; nothing computes with it.
def NN_String : I<128>;

def NN_FloatTensor : NN_TensorOf<[F64, F32, F16, BF16], "floating-point numbers">;
def NN_Tensor : NN_TensorOf<[NN_Number], "numbers">;
def NN_StringTensor : NN_TensorOf<[NN_String], "strings (i128)">;
def NN_DataTensor : NN_TensorOf<[NN_Number, NN_String], "numbers or strings">;
def NN_BoolTensor : NN_TensorOf<[I1], "bools">;
def NN_IndexTensor : NN_TensorOf<[I32, I64], "i32 or i64">;

def NN_Layout : I32EnumAttr<"Layout", "where a spatial operator's channels are", [
    I32EnumAttrCase<"ChannelsFirst", 0, "channels_first">,
    I32EnumAttrCase<"ChannelsLast", 1, "channels_last">]> {
  let cppNamespace = "::kiln::nn";
  let genSpecializedAttr = 0;
}
// The kernel dialect's #kernel.accuracy (whose .td is not included: enums would be generated twice).
def NN_AccuracyAttr : Attr<CPred<"::llvm::isa<::kiln::kernel::AccuracyAttr>($_self)">, "#kernel.accuracy"> {
  let storageType = "::kiln::kernel::AccuracyAttr";
  let returnType = "::kiln::kernel::Accuracy";
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall = "::kiln::kernel::AccuracyAttr::get($_builder.getContext(), $0)";
}
// Of the exp inside an operation; travels to the parts when it is decomposed, and to the kernel's math.exp.
def NN_Accuracy : DefaultValuedAttr<NN_AccuracyAttr, "::kiln::kernel::Accuracy::Exact">;

// The kernel dialect's #kernel.plan and #kernel.refusal.
def NN_PlanAttr : Attr<CPred<"::llvm::isa<::kiln::kernel::PlanAttr>($_self)">, "#kernel.plan"> {
  let storageType = "::kiln::kernel::PlanAttr";
  let returnType = "::kiln::kernel::PlanAttr";
  let convertFromStorage = "$_self";
}
def NN_RefusalAttr : Attr<CPred<"::llvm::isa<::kiln::kernel::RefusalAttr>($_self)">, "#kernel.refusal">;

def NN_GroupForm : I32EnumAttr<"GroupForm", "which anchors a group has", [
    I32EnumAttrCase<"Plain", 0, "plain">,
    I32EnumAttrCase<"Strips", 1, "strips">,
    I32EnumAttrCase<"ProductSoftmax", 2, "product_softmax">,
    I32EnumAttrCase<"SoftmaxScan", 3, "softmax_scan">,
    I32EnumAttrCase<"GatheredProduct", 4, "gathered_product">]> {
  let cppNamespace = "::kiln::nn";
  let genSpecializedAttr = 0;
}
def NN_GroupFormAttr : EnumAttr<NN_Dialect, NN_GroupForm, "group_form"> {
  let assemblyFormat = "`<` $value `>`";
}

def NN_LayoutAttr : EnumAttr<NN_Dialect, NN_Layout, "layout">;

#endif // KILN_NN_BASE
