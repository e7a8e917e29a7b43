//===- NNStructureOps.td - Constants, groups, shapes as values -------------===//
#ifndef KILN_NN_STRUCTURE_OPS
#define KILN_NN_STRUCTURE_OPS

include "dialects/nn/NNBase.td"
include "dialects/nn/NNInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def NN_ConstantOp : NN_Op<"constant", [Pure, ConstantLike]> {
  let summary = "A tensor known at compile time.";
  let description = [{
    Holds a DenseResourceElementsAttr (1 KiB and more; the bytes are those of the model file and are never copied) or a DenseElementsAttr.
    Read the bytes with `ConstantData`.
    ```mlir
    %w = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs NN_Tensor:$result);
  let hasFolder = 1;
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value), [{ build($_builder, $_state, value.getType(), value); }]>];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def NN_SplatOp : NN_Op<"splat", [Pure, NN_Permutable]> {
  let summary = "A tensor of any shape whose elements are all equal.";
  let description = [{
    ```mlir
    %z = nn.splat 0.0 : f32 -> tensor<?x4xf32, #nn.dims<()[s0] -> (s0, 4)>>
    ```
  }];
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "attr-dict $value `->` type($result)";
  let hasVerifier = 1;
}

def NN_DimValuesOp : NN_Op<"dim_values", [Pure]> {
  let summary = "Expressions of the symbolic dimensions as an integer tensor (rank 0 or 1).";
  let description = [{
    The part of ONNX Shape arithmetic whose value is needed as data at run time. Rank 0 takes a map with one result.
    ```mlir
    %s = nn.dim_values affine_map<()[s0] -> (s0, 768)> : tensor<2xi64>
    ```
  }];
  let arguments = (ins AffineMapAttr:$map);
  let results = (outs NN_IndexTensor:$result);
  let assemblyFormat = "attr-dict $map `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def NN_ChooseOp : NN_Op<"choose", [Pure, AllTypesMatch<["then", "otherwise", "result"]>]> {
  let summary = "One of two tensors, selected by a run-time condition; what only the other one needs is not computed.";
  let description = [{
    Both branches of an ONNX If precede it in straight-line code. The uses of an operation tell whether only one branch needs it, and the entry
    puts the launches of such kernels under the condition (passes/lowering/entry/Guards.h).
    ```mlir
    %r = nn.choose %c ? %a : %b : tensor<i1>, tensor<4xf32>
    ```
  }];
  let arguments = (ins NN_TensorOf<[I1], "bool">:$condition, NN_DataTensor:$then, NN_DataTensor:$otherwise);
  let results = (outs NN_DataTensor:$result);
  let assemblyFormat = "$condition `?` $then `:` $otherwise attr-dict `:` type($condition) `,` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def NN_LoopOp : NN_Op<"loop", [IsolatedFromAbove, SingleBlock, AttrSizedOperandSegments]> {
  let summary = "A loop whose number of steps is known only at run time: ONNX Scan over a symbolic dimension, and Loop.";
  let description = [{
    The arguments of the body are the carried values and then the values that it uses from outside. It yields the carried values of the next step, of the
    same types, and the rows of this step. The results are the carried values after the last step and, for each row, a tensor of the rows of all steps:
    `axes` gives its dimension that counts steps, and `backwards` says whether the first step's row comes last. `steps` is the number of steps, and the
    symbol `step` is the number of the current step in the body. With `conditional`, the loop ends when the first carried value, an i1, is false.
    ```mlir
    %sum, %sums = nn.loop steps affine_map<()[s0] -> (s0)> step 1 carries(%zero) uses(%x) axes [0] backwards [0]
        : (tensor<4xf32>, tensor<?x4xf32, #nn.dims<()[s0] -> (s0, 4)>>) -> (tensor<4xf32>, tensor<?x4xf32, #nn.dims<()[s0] -> (s0, 4)>>) {
    ^bb0(%c: tensor<4xf32>, %xs: tensor<?x4xf32, #nn.dims<()[s0] -> (s0, 4)>>):
      %row = nn.slice %xs starts affine_map<()[s0, s1] -> (s1, 0)> ...
      %r = nn.reshape %row ...
      %n = nn.add %c, %r : tensor<4xf32>
      nn.yield %n, %n : tensor<4xf32>, tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins AffineMapAttr:$steps, I64Attr:$step, UnitAttr:$conditional, Variadic<NN_DataTensor>:$carried, Variadic<NN_DataTensor>:$used,
                       DenseI64ArrayAttr:$axes, DenseI64ArrayAttr:$backwards);
  let results = (outs Variadic<NN_DataTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `steps` $steps `step` $step (`conditional` $conditional^)? `carries` `(` $carried `)` `uses` `(` $used `)` `axes` $axes `backwards` $backwards attr-dict
    `:` functional-type(operands, $results) $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Operation *getTerminator() { return getBody().front().getTerminator(); }
    /// The number of steps, or the most.
    ::mlir::AffineExpr getStepCount() { return getSteps().getResult(0); }
  }];
}

def NN_GroupOp : NN_Op<"group", [IsolatedFromAbove, SingleBlock]> {
  let summary = "Operations that become one kernel.";
  let description = [{
    At most one operation of the body is an anchor (a contraction, reduction, normalization, pooling, ...); all others are `ScalarBody` or
    `IndexMap` operations that run on the anchor's loads (prologue) or on its value before the store (epilogue). A `form` other than `plain` has
    several anchors, in this order: `strips` a pointwise convolution, a padding or none, a depthwise convolution and a pointwise one or none;
    `product_softmax` a product and the softmax of its rows; `softmax_scan` a softmax and the scan of its rows; `gathered_product` a gather and the
    product of the rows that it picks. The target stage writes its decision here: `plan` is how the group is computed, `reason` says why,
    and `refusals`, where a user asks for them, why other kernels do not compute it. `places` says which values lie inside of larger buffers: for each input
    and then for each result an affine map from its index to an element, or unit. `in_place` lists the inputs that are written straight into the group's
    result, and a `view` has its result in its input's buffer.
    ```mlir
    %r = nn.group(%a, %b) {plan = #kernel.plan<kernel = "loops">, reason = "element-wise"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
      %s = nn.add %x, %y : tensor<4xf32>
      nn.yield %s : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<NN_DataTensor>:$inputs,
                       DefaultValuedAttr<NN_GroupFormAttr, "::kiln::nn::GroupForm::Plain">:$form, OptionalAttr<NN_PlanAttr>:$plan,
                       OptionalAttr<StrAttr>:$reason, OptionalAttr<TypedArrayAttrBase<NN_RefusalAttr, "a list of refusals">>:$refusals,
                       OptionalAttr<ArrayAttr>:$places, OptionalAttr<DenseI64ArrayAttr>:$in_place, UnitAttr:$view);
  let results = (outs Variadic<NN_DataTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$results, "::mlir::ValueRange":$inputs, "GroupForm":$form), [{
    build($_builder, $_state, results, inputs, form, ::kiln::kernel::PlanAttr(), ::mlir::StringAttr(), ::mlir::ArrayAttr(), ::mlir::ArrayAttr(),
          ::mlir::DenseI64ArrayAttr(), false);
  }]>];
  let assemblyFormat = "`(` $inputs `)` attr-dict `:` functional-type($inputs, $results) $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Operation *getTerminator() { return getBody().front().getTerminator(); }
    /// Whether an input is a constant of the graph, such as a weight.
    bool isConstantInput(unsigned input) { return getInputs()[input].getDefiningOp<ConstantOp>() != nullptr; }
    /// The name of the kernel that the plan says; empty without a plan.
    ::llvm::StringRef getKernel() { return getPlan() ? getPlan()->getKernel() : ::llvm::StringRef(); }
  }];
}

def NN_CompositeOp : NN_Op<"composite", [
    IsolatedFromAbove, SingleBlock, RecursiveMemoryEffects, RecursivelySpeculatable, DeclareOpInterfaceMethods<NN_Decomposable>,
    DeclareOpInterfaceMethods<NN_FusedKernel>,
    DeclareOpInterfaceMethods<RegionBranchOpInterface, ["getEntrySuccessorOperands", "getRegionInvocationBounds"]>]> {
  let summary = "A composite declared by the user: a call of a model-local function (ONNX FunctionProto), with its body.";
  let description = [{
    `name` is the function's domain, a dot and its name, followed by a colon and the overload if there is one. `version` is the version of the domain
    that the caller imports, or 0 if it imports none. `parameters` holds the call's attributes and the defaults of those that it omits. The operands
    are the function's inputs and the results its outputs, in their order, without those that the call omits at the end. The body computes the results
    from the operands and uses nothing else of the graph.

    A target that lists the name and the version has a function for the call (`#kernel.composite`). Otherwise the body replaces it at the start of
    the graph stage. Unused operands and results are kept, because the operation's signature is the function's.
    ```mlir
    %r = nn.composite "com.acme.Gate" version 1(%a) {parameters = {alpha = 2.0}} : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%x: tensor<4xf32>):
      %s = nn.sigmoid %x : tensor<4xf32>
      nn.yield %s : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$version, Variadic<NN_Tensor>:$inputs, OptionalAttr<DictionaryAttr>:$parameters);
  let results = (outs Variadic<NN_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name `version` $version `(` $inputs `)` attr-dict `:` functional-type($inputs, $results) $body";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = [{
    ::mlir::Operation *getTerminator() { return getBody().front().getTerminator(); }
    /// Why the target has no function for this instance, though it may have one of that name; empty when it has one.
    std::string whyNotExternal(::kiln::kernel::TargetAttr target);
  }];
}

def NN_YieldOp : NN_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["GroupOp", "CompositeOp", "LoopOp"]>]> {
  let summary = "The results of a group, of a composite's body or of a step.";
  let description = "```mlir\nnn.yield %r : tensor<4xf32>\n```";
  let arguments = (ins Variadic<NN_DataTensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // KILN_NN_STRUCTURE_OPS
