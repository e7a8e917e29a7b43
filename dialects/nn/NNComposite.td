//===- NNComposite.td - Base classes of composites -------------------------===//
#ifndef KILN_NN_COMPOSITE
#define KILN_NN_COMPOSITE

include "dialects/nn/NNBase.td"
include "dialects/nn/NNInterfaces.td"

class NN_Composite<string mnemonic, list<Trait> traits = []> : NN_Op<mnemonic, !listconcat(traits, [
    Pure, DeclareOpInterfaceMethods<NN_Decomposable>, DeclareOpInterfaceMethods<NN_FusedKernel>])>;

class NN_RowComposite<string mnemonic, list<Trait> traits = [], dag attributes = (ins)> : NN_Composite<mnemonic, !listconcat(traits, [
    SameOperandsAndResultType, NN_AlongAxis, DeclareOpInterfaceMethods<NN_Permutable, ["permuteAttributes"]>])> {
  let arguments = !con((ins NN_FloatTensor:$input, I64Attr:$axis), attributes);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$input `axis` $axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}

// Composites without a kernel on any target: graph passes see them whole, and the target stage splits them.
class NN_SplitComposite<string mnemonic, list<Trait> traits = []> : NN_Op<mnemonic, !listconcat(traits, [
    Pure, DeclareOpInterfaceMethods<NN_Decomposable>])>;

#endif // KILN_NN_COMPOSITE
