//===- Passes.td - Decisions that depend on the target, in pipeline order --===//
#ifndef KILN_PASSES_TARGET
#define KILN_PASSES_TARGET

include "mlir/Pass/PassBase.td"

def InlineComposites : Pass<"nn-inline-composites", "mlir::ModuleOp"> {
  let summary = "Puts the body of each nn.composite that no target has a function for in its place.";
  let description = [{
    What stays is listed, by name, in the module's target and in `keep`, the names that the other targets of the library have. `decompose`
    is what nn-decompose-composites takes: `all`, `composite` and names of composites inline these whoever has them. With `all` everything is
    inlined. The module attribute `kernel.composites` gets one dictionary for each inlined composite.
  }];
  let options = [ListOption<"keep", "keep", "std::string", "names of composites to leave to the target stage">,
                 ListOption<"decompose", "decompose", "std::string", "auto, all, none, or the names of operations to decompose">,
                 Option<"all", "all", "bool", "false", "leave none">];
}

def ProveShortcuts : Pass<"nn-prove-shortcuts", "mlir::ModuleOp"> {
  let summary = "Drops what the ranges of values prove to be needless: the maximum of a softmax, clamps that change nothing.";
  let description = [{
    A softmax whose input is bounded closely enough for its type and its row gets `shift`, the constant that takes the place of the row's
    maximum, and `proof`, the reason in words. docs/ValueRanges.md derives the bound. A clamp or relu goes when its input lies within its limits.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect"];
}

def ChooseAccuracy : Pass<"nn-choose-accuracy", "mlir::ModuleOp"> {
  let summary = "Sets how well the exp inside each operation is computed.";
  let description = [{
    `fast` gives every operation that has the choice `ulp4`, or `half` where its results are rounded to f16 or bf16; f64 stays exact. `OP=exact`,
    `OP=ulp4` and `OP=half` say it for the operations of one name and come after that. What an operation says itself stays otherwise.
  }];
  let options = [ListOption<"accuracy", "accuracy", "std::string", "fast, or OP=exact, OP=ulp4, OP=half">];
}

def DecomposeComposites : Pass<"nn-decompose-composites", "mlir::ModuleOp"> {
  let summary = "Replaces composites by simpler operations where the target has no fused kernel or the user says so.";
  let description = [{
    `auto` and `none` keep every composite that has a fused kernel for the module's target; `all` keeps none; names of operations
    decompose these and treat the others as `auto`. What has no fused kernel is always decomposed. The attribute `form` of a kept
    composite, and of the operations that replace one, says what was decided and why. The module attribute `kernel.composites` has one
    dictionary for each: `nodes`, `composite`, `form` (`fused` or `split`), `reason`, and where sizes are static `fused_bytes` and
    `split_bytes`, what either form reads and writes. With `strict` a composite that the target cannot hold whole is an error.
  }];
  let options = [ListOption<"decompose", "decompose", "std::string", "auto, all, none, or the names of operations to decompose">,
                 Option<"strict", "strict", "bool", "false", "a composite without a fused kernel is an error">];
}

def PropagateLayout : Pass<"nn-propagate-layout", "mlir::ModuleOp"> {
  let summary = "Makes convolutions and pools channels_last and moves the transposes that this needs to the edges of the graph.";
  let description = [{
    One-dimensional convolutions and pools become two-dimensional. Transposes of constants stay: the kernel's weight packing takes them up.
    The module attribute `nn.transposes` counts those that are left and move data at run time.
  }];
}

def WidenOperands : Pass<"nn-widen-operands", "mlir::ModuleOp"> {
  let summary = "Casts the left side of products and convolutions of f16 and bf16 to f32.";
  let description = [{
    What a register tile reads element by element is widened once, by its producer, instead of at each read. Weights, which are read in
    vectors, stay as they are, and so does the result's type.
  }];
}

def MaterializePadding : Pass<"nn-materialize-padding", "mlir::ModuleOp"> {
  let summary = "Makes the padding of convolutions an nn.pad of its own.";
}

#endif // KILN_PASSES_TARGET
