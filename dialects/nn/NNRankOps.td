//===- NNRankOps.td - What the ranks of a sharded model exchange ------------===//
//
// Operations with a header of their own (dialects/nn/Ranks.h): few passes know them, so few files depend on it.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_NN_RANK_OPS
#define KILN_NN_RANK_OPS

include "dialects/nn/NNBase.td"
include "dialects/nn/NNInterfaces.td"

// A collective is not `Pure`: all ranks must take part in it, so it stays, and stays in order, even if one rank has no use for the result.
// `ranks` are those that take part, in the order in which their parts are combined; `index` is the place of this rank among them. All ranks run the
// collectives of their modules in the order of `number`, which is the same on each for the same one.
class NN_Collective<string mnemonic, list<Trait> traits = [], dag attributes = (ins)> : NN_Op<mnemonic, !listconcat(traits,
    [DeclareOpInterfaceMethods<NN_RuntimeFunction, ["reportsFaults", "callsHook"]>])> {
  let arguments = !con((ins NN_Tensor:$input, DenseI32ArrayAttr:$ranks, I64Attr:$index, I64Attr:$number), attributes);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$input `ranks` $ranks `index` $index `number` $number attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

// nn.reduce's #nn<reduce_kind>, whose .td is not included: its operations would be generated twice. Not the mean.
def NN_RankReductionAttr : Attr<CPred<"::llvm::isa<::kiln::nn::ReduceKindAttr>($_self)">, "#nn<reduce_kind>"> {
  let storageType = "::kiln::nn::ReduceKindAttr";
  let returnType = "::kiln::nn::ReduceKind";
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall = "::kiln::nn::ReduceKindAttr::get($_builder.getContext(), $0)";
}

def NN_AllReduceOp : NN_Collective<"all_reduce", [AllTypesMatch<["input", "result"]>], (ins NN_RankReductionAttr:$reduction)> {
  let summary = "The combination of all ranks' tensors, on each of them.";
  let description = [{
    ```mlir
    %r = nn.all_reduce %x sum ranks [0, 1] index 1 number 0 : tensor<4x8xf32>
    ```
  }];
  let assemblyFormat = "$input $reduction `ranks` $ranks `index` $index `number` $number attr-dict `:` type($result)";
}

def NN_ReduceScatterOp : NN_Collective<"reduce_scatter", [], (ins NN_RankReductionAttr:$reduction)> {
  let summary = "A rank's slice of the combination of all ranks' tensors. The first dimension has a slice for each rank.";
  let description = [{
    ```mlir
    %r = nn.reduce_scatter %x sum ranks [0, 1] index 1 number 0 : tensor<2x4x8xf32> -> tensor<4x8xf32>
    ```
  }];
  let assemblyFormat = "$input $reduction `ranks` $ranks `index` $index `number` $number attr-dict `:` type($input) `->` type($result)";
}

def NN_AllGatherOp : NN_Collective<"all_gather"> {
  let summary = "The tensors of all ranks, one behind the other in a new first dimension.";
  let description = [{
    ```mlir
    %r = nn.all_gather %x ranks [0, 1] index 1 number 0 : tensor<4x8xf32> -> tensor<2x4x8xf32>
    ```
  }];
}

def NN_AllToAllOp : NN_Collective<"all_to_all", [AllTypesMatch<["input", "result"]>]> {
  let summary = "Slice i of the first dimension goes to rank i; slice i of the result came from there.";
  let description = [{
    ```mlir
    %r = nn.all_to_all %x ranks [0, 1] index 1 number 0 : tensor<2x4x8xf32>
    ```
  }];
  let assemblyFormat = "$input `ranks` $ranks `index` $index `number` $number attr-dict `:` type($result)";
}

def NN_ShiftOp : NN_Collective<"shift", [AllTypesMatch<["input", "result"]>], (ins I64Attr:$offset)> {
  let summary = "The tensor goes `offset` places on among the ranks, 1 or -1; the result is what came from the other side.";
  let description = [{
    Where nothing comes from, at the first or the last rank, the result is zero. Windows that reach over the border of a part need the neighbour's rows.
    ```mlir
    %r = nn.shift %x by 1 ranks [0, 1] index 1 number 0 : tensor<1x8x1x4xf32>
    ```
  }];
  let assemblyFormat = "$input `by` $offset `ranks` $ranks `index` $index `number` $number attr-dict `:` type($result)";
}

def NN_MergedExchangeOp : NN_Op<"merged_exchange", [DeclareOpInterfaceMethods<NN_RuntimeFunction, ["reportsFaults", "callsHook"]>]> {
  let summary = "Several collectives of one kind among the same ranks as one call, so that what goes to another rank is one message.";
  let description = [{
  `kind` is the name of the collectives, whose operands and results these are, one by one. Those that combine have one reduction and one element type, and those
    that shift one offset.
    ```mlir
    %k, %v = nn.merged_exchange "all_gather"(%x, %y) ranks [0, 1] index 1 number 0 : (tensor<4xf32>, tensor<8xf32>) -> (tensor<2x4xf32>, tensor<2x8xf32>)
    ```
  }];
  let arguments = (ins StrAttr:$kind, Variadic<NN_Tensor>:$inputs, DenseI32ArrayAttr:$ranks, I64Attr:$index, I64Attr:$number,
                       OptionalAttr<NN_RankReductionAttr>:$reduction, OptionalAttr<I64Attr>:$offset);
  let results = (outs Variadic<NN_Tensor>:$results);
  let assemblyFormat = "$kind `(` $inputs `)` `ranks` $ranks `index` $index `number` $number attr-dict `:` functional-type($inputs, $results)";
  let hasVerifier = 1;
}

#endif // KILN_NN_RANK_OPS
