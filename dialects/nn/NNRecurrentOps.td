//===- NNRecurrentOps.td - Recurrent layers --------------------------------===//
#ifndef KILN_NN_RECURRENT_OPS
#define KILN_NN_RECURRENT_OPS

include "dialects/nn/NNBase.td"
include "dialects/nn/NNInterfaces.td"

// A layer with D = 1 or 2 directions whose input products have been computed: `gates` [T, B, D*G*H] holds X * W^T plus biases for all steps (a matmul
// outside), `recurrence` [D, H, G*H] is R transposed, states are [D, B, H]. Two directions run forward and in reverse; one runs in reverse when
// `reverse` is set. With `lengths` [B] row b takes part in its first lengths[b] steps only (reverse starts at the last of them): its state stays
// then, and its later states are zero.
class NN_Recurrent<string mnemonic, list<Trait> traits = []> : NN_Op<mnemonic, [Pure] # traits> {
  let hasVerifier = 1;
}

def NN_RnnOp : NN_Recurrent<"rnn"> {
  let summary = "A plain recurrent layer whose input products have been computed: the recurrent part of ONNX RNN.";
  let description = [{
    As `nn.lstm`, with one gate and one activation per step: H' = f(gates + H * R^T).
    ```mlir
    %y, %h = nn.rnn gates(%g) recurrence(%r) hidden(%h0) activations ["Tanh"]
      : (tensor<5x1x4xf32>, tensor<1x4x4xf32>, tensor<1x1x4xf32>) -> (tensor<5x1x1x4xf32>, tensor<1x1x4xf32>)
    ```
  }];
  let arguments = (ins NN_FloatTensor:$gates, NN_FloatTensor:$recurrence, NN_FloatTensor:$hidden, Optional<NN_Tensor>:$lengths,
                       StrArrayAttr:$activations, UnitAttr:$reverse, OptionalAttr<F64Attr>:$clip);
  let results = (outs NN_FloatTensor:$states, NN_FloatTensor:$last_hidden);
  let assemblyFormat = [{
    `gates` `(` $gates `)` `recurrence` `(` $recurrence `)` `hidden` `(` $hidden `)` (`lengths` `(` $lengths^ `)`)?
    `activations` $activations (`reverse` $reverse^)? attr-dict `:` functional-type(operands, results)
  }];
}

def NN_LstmOp : NN_Recurrent<"lstm", [AttrSizedOperandSegments]> {
  let summary = "An LSTM layer whose input products have been computed: the recurrent part of ONNX LSTM.";
  let description = [{
    `gates` [T, B, D*4H] holds X * W^T plus both biases for all steps and directions, gate order i, o, f, c as in ONNX; `recurrence` is R
    transposed, [D, H, 4H]; `hidden` and `cell` [D, B, H] are the states before the first step; `peephole` [D, 3H] in the order i, o, f.
    D is 1, or 2 (forward, then reverse); `reverse` makes a single direction run from the last step. With `lengths` [B] (i32) each row of
    the batch has its own number of steps: its state stays after them and its later hidden states are zero. `activations` are f, g, h of the
    standard. Results: all hidden states [T, D, B, H], the last hidden and cell state [D, B, H].
    ```mlir
    %y, %h, %c = nn.lstm gates(%g) recurrence(%r) hidden(%h0) cell(%c0) activations ["Sigmoid", "Tanh", "Tanh"]
      : (tensor<5x1x16xf32>, tensor<1x4x16xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>) -> (tensor<5x1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>)
    ```
  }];
  let arguments = (ins NN_FloatTensor:$gates, NN_FloatTensor:$recurrence, NN_FloatTensor:$hidden, NN_FloatTensor:$cell,
                       Optional<NN_FloatTensor>:$peephole, Optional<NN_Tensor>:$lengths, StrArrayAttr:$activations,
                       UnitAttr:$reverse, UnitAttr:$input_forget, OptionalAttr<F64Attr>:$clip);
  let results = (outs NN_FloatTensor:$states, NN_FloatTensor:$last_hidden, NN_FloatTensor:$last_cell);
  let assemblyFormat = [{
    `gates` `(` $gates `)` `recurrence` `(` $recurrence `)` `hidden` `(` $hidden `)` `cell` `(` $cell `)` (`peephole` `(` $peephole^ `)`)?
    (`lengths` `(` $lengths^ `)`)? `activations` $activations (`reverse` $reverse^)? (`input_forget` $input_forget^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def NN_GruOp : NN_Recurrent<"gru", [AttrSizedOperandSegments]> {
  let summary = "A GRU layer whose input products have been computed: the recurrent part of ONNX GRU.";
  let description = [{
    As `nn.lstm`, with gate order z, r, h. `linear_before_reset` is as in the standard. `recurrence_bias` [D, H] is Rb of the hidden gate, which is
    added to the product before the reset gate multiplies it. The other biases are in `gates`.
    ```mlir
    %y, %h = nn.gru gates(%g) recurrence(%r) hidden(%h0) recurrence_bias(%b) activations ["Sigmoid", "Tanh"] linear_before_reset
      : (tensor<5x1x12xf32>, tensor<1x4x12xf32>, tensor<1x1x4xf32>, tensor<1x4xf32>) -> (tensor<5x1x1x4xf32>, tensor<1x1x4xf32>)
    ```
  }];
  let arguments = (ins NN_FloatTensor:$gates, NN_FloatTensor:$recurrence, NN_FloatTensor:$hidden, Optional<NN_FloatTensor>:$recurrence_bias,
                       Optional<NN_Tensor>:$lengths, StrArrayAttr:$activations, UnitAttr:$reverse, UnitAttr:$linear_before_reset,
                       OptionalAttr<F64Attr>:$clip);
  let results = (outs NN_FloatTensor:$states, NN_FloatTensor:$last_hidden);
  let assemblyFormat = [{
    `gates` `(` $gates `)` `recurrence` `(` $recurrence `)` `hidden` `(` $hidden `)` (`recurrence_bias` `(` $recurrence_bias^ `)`)?
    (`lengths` `(` $lengths^ `)`)? `activations` $activations (`reverse` $reverse^)? (`linear_before_reset` $linear_before_reset^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

#endif // KILN_NN_RECURRENT_OPS
