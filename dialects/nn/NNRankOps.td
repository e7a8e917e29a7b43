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
// `ranks` are those that take part, in the order in which their parts are combined; `index` is the place of this rank among them.
class NN_Collective<string mnemonic, list<Trait> traits = [], dag attributes = (ins)> : NN_Op<mnemonic, !listconcat(traits,
    [DeclareOpInterfaceMethods<NN_RuntimeFunction, ["reportsFaults", "callsHook"]>])> {
  let arguments = !con((ins NN_Tensor:$input, DenseI32ArrayAttr:$ranks, I64Attr:$index), attributes);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$input `ranks` $ranks `index` $index attr-dict `:` type($input) `->` type($result)";
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
    %r = nn.all_reduce %x #nn<reduce_kind sum> ranks [0, 1] index 1 : tensor<4x8xf32>
    ```
  }];
  let assemblyFormat = "$input $reduction `ranks` $ranks `index` $index attr-dict `:` type($result)";
}

def NN_ReduceScatterOp : NN_Collective<"reduce_scatter", [], (ins NN_RankReductionAttr:$reduction)> {
  let summary = "A rank's slice of the combination of all ranks' tensors. The first dimension has a slice for each rank.";
  let description = [{
    ```mlir
    %r = nn.reduce_scatter %x #nn<reduce_kind sum> ranks [0, 1] index 1 : tensor<2x4x8xf32> -> tensor<4x8xf32>
    ```
  }];
  let assemblyFormat = "$input $reduction `ranks` $ranks `index` $index attr-dict `:` type($input) `->` type($result)";
}

def NN_AllGatherOp : NN_Collective<"all_gather"> {
  let summary = "The tensors of all ranks, one behind the other in a new first dimension.";
  let description = [{
    ```mlir
    %r = nn.all_gather %x ranks [0, 1] index 1 : tensor<4x8xf32> -> tensor<2x4x8xf32>
    ```
  }];
}

def NN_AllToAllOp : NN_Collective<"all_to_all", [AllTypesMatch<["input", "result"]>]> {
  let summary = "Slice i of the first dimension goes to rank i; slice i of the result came from there.";
  let description = [{
    ```mlir
    %r = nn.all_to_all %x ranks [0, 1] index 1 : tensor<2x4x8xf32>
    ```
  }];
  let assemblyFormat = "$input `ranks` $ranks `index` $index attr-dict `:` type($result)";
}

def NN_HaloOp : NN_Collective<"halo", [], (ins I64Attr:$before, I64Attr:$after, I64Attr:$give_before, I64Attr:$give_after)> {
  let summary = "The tensor with the neighbours' nearest slices of the first dimension before and behind it.";
  let description = [{
    `before` and `after` count the slices that come from the rank before this one and from the rank behind it. The rank before gets the first `give_before`
    slices of the input, the rank behind the last `give_after`. The first rank has none before it, the last none behind.
    ```mlir
    %r = nn.halo %x ranks [0, 1] index 1 before 1 after 0 give 1 and 0 : tensor<8x4xf32> -> tensor<9x4xf32>
    ```
  }];
  let assemblyFormat = [{
    $input `ranks` $ranks `index` $index `before` $before `after` $after `give` $give_before `and` $give_after attr-dict `:` type($input) `->` type($result)
  }];
}

#endif // KILN_NN_RANK_OPS
