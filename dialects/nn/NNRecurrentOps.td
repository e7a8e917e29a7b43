//===- NNRecurrentOps.td - Recurrent layers --------------------------------===//
#ifndef KILN_NN_RECURRENT_OPS
#define KILN_NN_RECURRENT_OPS

include "dialects/nn/NNBase.td"
include "dialects/nn/NNInterfaces.td"

class NN_Recurrent<string mnemonic> : NN_Op<mnemonic, [Pure, AttrSizedOperandSegments]>;

def NN_LstmOp : NN_Recurrent<"lstm"> {
  let summary = "One direction of an LSTM layer whose input products are done: the recurrent part of ONNX LSTM.";
  let description = [{
    `gates` [T, B, 4H] holds X * W^T plus both biases for all steps (a matmul outside), gate order i, o, f, c as in ONNX;
    `recurrence` is R [4H, H]; `peephole` [3H] in the order i, o, f. `lengths` [B] i32. `reverse` runs from the last step.
    `activations` are f, g, h of the standard. Results: all hidden states [T, B, H], the last hidden and cell state [B, H].
    ```mlir
    %y, %h, %c = nn.lstm gates(%g) recurrence(%r) hidden(%h0) cell(%c0) activations ["Sigmoid", "Tanh", "Tanh"]
      : (tensor<5x1x16xf32>, tensor<16x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) -> (tensor<5x1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
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
  let hasVerifier = 1;
}

def NN_GruOp : NN_Recurrent<"gru"> {
  let summary = "One direction of a GRU layer whose input products are done: the recurrent part of ONNX GRU.";
  let description = [{
    `gates` [T, B, 3H] holds X * W^T + Wb (and Rb for z and r), gate order z, r, h; `recurrence` is R [3H, H];
    `recurrence_bias` [H] is Rb of the hidden gate. `linear_before_reset` as in the standard.
    ```mlir
    %y, %h = nn.gru gates(%g) recurrence(%r) hidden(%h0) recurrence_bias(%b) activations ["Sigmoid", "Tanh"]
      : (tensor<5x1x12xf32>, tensor<12x4xf32>, tensor<1x4xf32>, tensor<4xf32>) -> (tensor<5x1x4xf32>, tensor<1x4xf32>)
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
  let hasVerifier = 1;
}

#endif // KILN_NN_RECURRENT_OPS
