//===- Passes.td - Decisions that depend on the target, in pipeline order --===//
#ifndef KILN_PASSES_TARGET
#define KILN_PASSES_TARGET

include "mlir/Pass/PassBase.td"

def InlineComposites : Pass<"nn-inline-composites", "mlir::ModuleOp"> {
  let summary = "Inlines the body of each nn.composite for which no target has a function.";
  let description = [{
    A composite stays if its name is in the module's target or in `keep`, which lists the names that the other targets of the library have.
    `decompose` has the values that nn-decompose-composites takes: `all`, `composite` and names of composites inline these even if a target has a
    function. With the option `all` every composite is inlined. The module attribute `kernel.composites` gets one dictionary for each inlined composite.
  }];
  let options = [ListOption<"keep", "keep", "std::string", "names of composites to leave to the target stage">,
                 ListOption<"decompose", "decompose", "std::string", "auto, all, none, or the names of operations to decompose">,
                 Option<"all", "all", "bool", "false", "inline every composite">];
}

def ProveShortcuts : Pass<"nn-prove-shortcuts", "mlir::ModuleOp"> {
  let summary = "Removes what value ranges prove unnecessary: the maximum of a softmax, and clamps that change nothing.";
  let description = [{
    A softmax whose input is bounded tightly enough for its type and row length gets `shift`, the constant that replaces the row's maximum, and
    `proof`, the reason in words. docs/ValueRanges.md derives the bound. A clamp or relu is removed if its input lies within its limits.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect"];
}

def ChooseAccuracy : Pass<"nn-choose-accuracy", "mlir::ModuleOp"> {
  let summary = "Sets the accuracy of the exp inside each operation.";
  let description = [{
    `fast` sets `ulp4` on every operation with the attribute, or `half` if its results are rounded to f16 or bf16; f64 stays exact. `OP=exact`,
    `OP=ulp4` and `OP=half` set it for the operations of one name and take precedence. All other operations keep their attribute.
  }];
  let options = [ListOption<"accuracy", "accuracy", "std::string", "fast, or OP=exact, OP=ulp4, OP=half">];
}

def DecomposeComposites : Pass<"nn-decompose-composites", "mlir::ModuleOp"> {
  let summary = "Replaces composites by simpler operations where the target has no fused kernel or the user asks for it.";
  let description = [{
    `auto` and `none` keep every composite that has a fused kernel for the module's target; `all` keeps none; names of operations
    decompose these and treat the others as `auto`. A composite without a fused kernel is always decomposed. The attribute `nn.form` of a kept
    composite, and of the operations that replace one, says what was decided and why. The module attribute `kernel.composites` has one
    dictionary for each composite: `nodes`, `composite`, `form` (`fused` or `split`), `reason`, and for static sizes `fused_bytes` and
    `split_bytes`, the bytes that each form reads and writes. With `strict`, a composite without a fused kernel is an error.
  }];
  let options = [ListOption<"decompose", "decompose", "std::string", "auto, all, none, or the names of operations to decompose">,
                 Option<"strict", "strict", "bool", "false", "a composite without a fused kernel is an error">];
}

def PropagateLayout : Pass<"nn-propagate-layout", "mlir::ModuleOp"> {
  let summary = "Makes convolutions and pools channels_last and moves the necessary transposes to the edges of the graph.";
  let description = [{
    Convolutions of single pixels in groups become products where no other spatial operation is near: transposes would take longer than they do.
    One-dimensional convolutions and pools become two-dimensional. Transposes of constants stay, because weight packing absorbs them.
    The module attribute `nn.transposes` counts the remaining transposes, which move data at run time.
  }];
}

def RoundFactors : Pass<"nn-round-factors", "mlir::ModuleOp"> {
  let summary = "Rounds both factors of f32 products and convolutions to a narrower type where a step of the target multiplies such numbers faster.";
  let description = [{
    TYPE (`bf16`, `f16`, `bf16x2` or `f32`) is for all, NODE=TYPE for those of one ONNX node. Constant weights are rounded, others get an nn.cast. With
    `bf16x2`, each factor is the sum of two numbers of bf16, and the product of the sums takes three products. `nn.rounding` says what was done, with the bound,
    or why it was not. Sums are f32.
  }];
  let options = [ListOption<"types", "types", "std::string", "TYPE, or NODE=TYPE">,
                 Option<"strict", "strict", "bool", "false", "there will be no Winograd's convolutions, which some are compared with">];
}

def EmulateFactors : Pass<"nn-emulate-factors", "mlir::ModuleOp"> {
  let summary = "Rounds the factors of products and convolutions as a target's steps would, and multiplies them in f32.";
  let description = [{
    For the reference of a comparison with kernels that RoundFactors gave such steps: both sides of the f32 products of the given ONNX nodes are cast to the
    node's type and back.
  }];
  let options = [ListOption<"types", "types", "std::string", "NODE=TYPE, where TYPE is bf16 or f16">];
}

def WidenOperands : Pass<"nn-widen-operands", "mlir::ModuleOp"> {
  let summary = "Casts the left side of products and convolutions of f16 and bf16 to f32.";
  let description = [{
    What a register tile reads element by element is widened once, by its producer, instead of at each read. Weights, which are read in
    vectors, stay as they are, and so does the result's type.
  }];
}

def WidenRecurrences : Pass<"nn-widen-recurrences", "mlir::ModuleOp"> {
  let summary = "Computes recurrent layers of f16 and bf16 in f32.";
  let description = [{
    Casts stand around each layer. Those of weights are folded, so the library holds them as f32.
  }];
}

def MaterializePadding : Pass<"nn-materialize-padding", "mlir::ModuleOp"> {
  let summary = "Moves the padding of convolutions into a separate nn.pad.";
}

def OrderFilters : Pass<"nn-order-filters", "mlir::ModuleOp"> {
  let summary = "Moves computed filters of convolutions, so that the kernel finds output channels side by side.";
  let description = [{
    For filters of f32, f16 and bf16 that a run computes, under a window of known size. Constant ones are packed at compile time.
  }];
}

#endif // KILN_PASSES_TARGET
