//===- KernelBase.td - The kernel dialect and its attributes ---------------===//
#ifndef KILN_KERNEL_BASE
#define KILN_KERNEL_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::kiln::kernel";
  let summary = "The program to run: kernels on flat buffers, launches, weights, the entry point.";
  let description = [{
    The dialect has only what the upstream dialects scf, memref, arith, math and vector cannot express for the runtime ABI and the emitted C++.
    A kernel is a private `func.func` on flat 1-D memrefs and index values whose last two arguments are its range of tasks. Its attributes
    `kernel.nodes`, `kernel.algorithm`, `kernel.reason` and `kernel.shapes` become the comment above the emitted function. Argument attributes are
    `kernel.name` (the C++ name) and `kernel.written` (an output; all other buffers are const). The module attribute `kernel.target` carries the
    target description. docs/Architecture.md lists all discardable attributes; those that it does not list are refused.
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
}

def Kernel_CompositeAttr : AttrDef<Kernel_Dialect, "Composite"> {
  let mnemonic = "composite";
  let summary = "A composite that a target implements by a C function, which the program links.";
  let description = [{
    `name` and `version` are those of the nn.composite; for a model-local function, the name is its domain, a dot and its name. `parameters` names
    the attributes of the call that are passed to the function. docs/AddATarget.md describes the function's signature. Example:
    `#kernel.composite<name = "com.acme.Gate", version = 1, function = "acme_gate", parameters = ["alpha"]>`.
  }];
  let parameters = (ins StringRefParameter<"">:$name, "int64_t":$version, StringRefParameter<"">:$function,
                        OptionalArrayRefParameter<"::mlir::StringAttr">:$parameters);
  let genVerifyDecl = 1;
  let assemblyFormat = [{
    `<` `name` `=` $name `,` `version` `=` $version `,` `function` `=` $function (`,` `parameters` `=` `[` $parameters^ `]`)? `>`
  }];
}

def Kernel_StepAttr : AttrDef<Kernel_Dialect, "Step"> {
  let mnemonic = "step";
  let summary = "An instruction that multiplies and adds, as kernels of products use it.";
  let description = [{
    `shape` is [rows, lanes, depth]. One step adds to rows x lanes sums the products of rows x depth elements of the left side and depth x lanes elements
    of the right side: `sum[r, l] += left[r, 0] * right[0, l] + ... + left[r, depth - 1] * right[depth - 1, l]`. The `depth` elements of a column lie side
    by side. `lhs`, `rhs` and `sum` are the types of the elements.
    `function` is an inline function of the kernel headers (runtime/include/kiln), a template over the number of lanes:
    `kiln::FUNCTION<lanes>(left, right, sum)` returns the new sums. Without a function, the step is the expression `a * b + c` on vectors, for which the
    C++ compiler takes the instruction that the target has. Example:
    `#kernel.step<lhs = ui8, rhs = i8, sum = i32, shape = [1, 16, 4], function = "dot_u8s8">`.
  }];
  let parameters = (ins "::mlir::Type":$lhs, "::mlir::Type":$rhs, "::mlir::Type":$sum, ArrayRefParameter<"int64_t">:$shape,
                        StringRefParameter<"", [{""}]>:$function);
  let genVerifyDecl = 1;
  let assemblyFormat = [{
    `<` `lhs` `=` $lhs `,` `rhs` `=` $rhs `,` `sum` `=` $sum `,` `shape` `=` `[` $shape `]` (`,` `function` `=` $function^)? `>`
  }];
  let extraClassDeclaration = [{
    int64_t getRows() const { return getShape()[0]; }
    int64_t getLanes() const { return getShape()[1]; }
    int64_t getDepth() const { return getShape()[2]; }
    /// Whether it multiplies and adds such elements.
    bool takes(::mlir::Type lhs, ::mlir::Type rhs, ::mlir::Type sum) const { return lhs == getLhs() && rhs == getRhs() && sum == getSum(); }
  }];
}

def Kernel_TuningAttr : AttrDef<Kernel_Dialect, "Tuning"> {
  let mnemonic = "tuning";
  let summary = "Numbers that were measured on a target.";
  let description = [{
    Choices that no formula over the vector unit and the caches gives. dialects/kernel/Tuning.def lists the numbers, with their meaning and the usual value,
    which the text leaves out. The target's file says where its values come from. Example: `#kernel.tuning<tall_rows = 28, depthwise_lines = 2>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$values);
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<std::pair<::kiln::kernel::Tuned, int64_t>>":$measured)>];
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
}

def Kernel_TargetAttr : AttrDef<Kernel_Dialect, "Target"> {
  let mnemonic = "target";
  let summary = "The machine that the generated code runs on.";
  let description = [{
    It is an attribute of the module, so passes need not link any target and a test can write its own.
    `vector_bits` and `registers` describe the vector unit, `l1` to `l3` the caches in bytes, `features` the instruction sets (LLVM's names).
    `libraries` lists what may be called instead of a generated kernel: a library, or one of its operations (`onednn`, `onednn:conv`).
    `steps [...]` lists the instructions that multiply and add, besides `a * b + c` on vectors, the better ones first.
    `tuned` has the numbers that were measured on it (#kernel.tuning).
    `with [...]` lists the composites for which the user provides a function. All four may be omitted.
    Names, triple, cpu and features may contain only letters, digits, `.`, `_`, `+` and `-`, because they become compiler options and CMake text.
    Example: `#kernel.target<name = "x86-64-v3", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", vector_bits = 256, registers = 16,
    l1 = 32768, l2 = 1048576, l3 = 33554432, features = ["avx2", "fma"]>`.
  }];
  let parameters = (ins StringRefParameter<"">:$name, StringRefParameter<"">:$triple, StringRefParameter<"">:$cpu,
                        "unsigned":$vector_bits, "unsigned":$registers, "int64_t":$l1, "int64_t":$l2, "int64_t":$l3,
                        "::mlir::ArrayAttr":$features, OptionalParameter<"::mlir::ArrayAttr">:$libraries,
                        OptionalArrayRefParameter<"::kiln::kernel::StepAttr">:$steps,
                        OptionalParameter<"::kiln::kernel::TuningAttr">:$tuning,
                        OptionalArrayRefParameter<"::kiln::kernel::CompositeAttr">:$composites);
  let genVerifyDecl = 1;
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$name, "::llvm::StringRef":$triple, "::llvm::StringRef":$cpu, "unsigned":$vector_bits,
                                   "unsigned":$registers, "int64_t":$l1, "int64_t":$l2, "int64_t":$l3, "::mlir::ArrayAttr":$features,
                                   CArg<"::kiln::kernel::TuningAttr", "{}">:$tuning,
                                   CArg<"::llvm::ArrayRef<::kiln::kernel::StepAttr>", "{}">:$steps), [{
    return $_get($_ctxt, name, triple, cpu, vector_bits, registers, l1, l2, l3, features, ::mlir::ArrayAttr(), steps, tuning,
                 ::llvm::ArrayRef<::kiln::kernel::CompositeAttr>());
  }]>];
  let assemblyFormat = [{
    `<` `name` `=` $name `,` `triple` `=` $triple `,` `cpu` `=` $cpu `,` `vector_bits` `=` $vector_bits `,` `registers` `=` $registers `,`
    `l1` `=` $l1 `,` `l2` `=` $l2 `,` `l3` `=` $l3 `,` `features` `=` $features
    (`,` `libraries` `=` $libraries^)?
    (`steps` `[` $steps^ `]`)?
    (`tuned` $tuning^)?
    (`with` `[` $composites^ `]`)? `>`
  }];
  let extraClassDeclaration = [{
    bool hasFeature(::llvm::StringRef feature) const;
    /// Whether `libraries` names all of it, such as onednn or onednn:conv.
    bool hasLibrary(::llvm::StringRef entry) const;
    /// The same target with these entries behind those that it has.
    TargetAttr withLibraries(::llvm::ArrayRef<std::string> entries) const;
    /// What the target has for the composite of that name, whatever the version; null: nothing.
    CompositeAttr findComposite(::llvm::StringRef name) const;
    /// The first step of at most `mostRows` rows for such elements: one of `steps`, else the plain one; null: the target has none.
    StepAttr findStep(::mlir::Type lhs, ::mlir::Type rhs, ::mlir::Type sum, int64_t mostRows = 1) const;
    /// `a * b + c` on vectors of that type, f32, f64 or an integer of 32 or 64 bits; null for all others.
    StepAttr getPlainStep(::mlir::Type type) const;
    /// A number that was measured on the target, or the usual one.
    int64_t tuned(::kiln::kernel::Tuned number) const;
    /// What measured choices depend on: the CPU and its vector unit.
    std::string describeUnit() const;
    /// Lanes of one vector register for elements of `bits` bits.
    unsigned lanes(unsigned bits) const { return getVectorBits() / bits; }
  }];
}

def Kernel_PackAttr : AttrDef<Kernel_Dialect, "Pack"> {
  let mnemonic = "pack";
  let summary = "The order in which a weight is stored.";
  let description = [{
    The stored array has `shape` and is row-major. Its element at index d is the source element at `map(d)`, or zero if that is outside the
    source. The map is linear. Example, [K, N] in panels of 32 columns:
    `#kernel.pack<shape = [4, 64, 32], map = affine_map<(p, k, n) -> (k, p * 32 + n)>>`.
    `tail = [dimension, extent]`: at the last index of that dimension, the innermost dimension has only `extent` elements. The example with `tail = [0, 16]`
    is for N = 112: the last panel has 16 columns.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::AffineMap":$map, OptionalArrayRefParameter<"int64_t">:$tail);
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::AffineMap":$map), [{
    return $_get($_ctxt, shape, map, ::llvm::ArrayRef<int64_t>());
  }]>];
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` `shape` `=` `[` $shape `]` `,` `map` `=` $map (`,` `tail` `=` `[` $tail^ `]`)? `>`";
  let extraClassDeclaration = [{
    /// How many elements are stored.
    int64_t getNumElements() const;
    /// How many of them lie in the innermost row at `index`, the place in all other dimensions.
    int64_t getRowElements(::llvm::ArrayRef<int64_t> index) const;
  }];
}

def Kernel_PlanAttr : AttrDef<Kernel_Dialect, "Plan"> {
  let mnemonic = "plan";
  let summary = "How a group is computed: the kernel and the numbers that it works with.";
  let description = [{
    The target stage writes it; the kernel's lowering reads it and chooses nothing. `kernel` is a row of the kernel table. A kernel has the numbers
    that it works with, and no others:
    - `tile` is the register tile of a product: rows, vectors, and the elements of a vector. Of a recurrent layer it is rows of the batch by a vector of units;
      of a transposed read, a square of elements. `projection` is that of a second product, behind the first (conv_strips).
    - `step` is the inline function that multiplies and adds: that of one of the target's steps for the group's types, or of the step that is written for
      any CPU. Without it, the kernel computes `a * b + c` on vectors.
    - `chunk` bytes of a product's right side stay in the cache while rows go by.
    - `streams`: the sum of a tile of one row runs as this many sums side by side, those of a recurrent layer's tile as enough to make this many.
    - Where one block of rows has the right side of a product for itself, a task takes `piece` bytes of it. One of at most `near` bytes stays in the
      first-level cache while blocks of rows go by. Others are prefetched: `ahead` elements before their use, into the first- and the second-level cache,
      and, while from `coming[0]` to `coming[1]` blocks of rows go by, the next chunk, a line every `coming[2]` steps at least. Without the numbers there is
      no prefetching.
    - `blocks` blocks of rows (or columns) are a task. They share a panel of the right side, `depth` rows of it at a time, that is packed at run time. Of
      Winograd's filters it is input channels; of a transposed read, `squares` are a task's squares along both dimensions.
    - `strip` columns of a product go through its softmax together.
    - `lines` lines of `pixels` pixels of a depthwise convolution are computed together, all channels of a block of pixels before the
      next block where they run `inside`. `bands` is the number of parts of an image (conv_strips), or the most parts that the tiles of Winograd's form go in.
    - A softmax along rows has each row `in_registers`, or in the cache. One across rows copies `columns` of them at a time into an array.
    - `rows` rows of queries are a task of attention, which looks at `keys` keys at a time. Fewer rows than `dots` read the keys where they lie.
    - In Winograd's form `winograd` is the side of a tile of the result; `block` tiles go together, `stride` elements apart, and meet the filters of `depth`
      input channels at a time.
    - `border` has the zeros before the picture that a convolution reads and the picture's extent, for one spatial dimension after the other. Tiles pass over
      taps that lie in these zeros.
    - `measured` says that the tile is from a profile and not from the cost model.

    Example: `#kernel.plan<kernel = "gemm_tiled", tile = [14, 2, 16], chunk = 262144, streams = 8>`.
  }];
  let parameters = (ins StringRefParameter<"">:$kernel, OptionalParameter<"::mlir::DenseI64ArrayAttr">:$tile,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$projection, DefaultValuedParameter<"int64_t", "0">:$chunk,
                        DefaultValuedParameter<"int64_t", "0">:$streams, DefaultValuedParameter<"int64_t", "0">:$strip,
                        DefaultValuedParameter<"int64_t", "0">:$lines, DefaultValuedParameter<"int64_t", "0">:$pixels,
                        DefaultValuedParameter<"int64_t", "0">:$bands, DefaultValuedParameter<"int64_t", "0">:$rows,
                        DefaultValuedParameter<"int64_t", "0">:$keys,
                        DefaultValuedParameter<"int64_t", "0">:$piece, DefaultValuedParameter<"int64_t", "0">:$near,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$ahead, OptionalParameter<"::mlir::DenseI64ArrayAttr">:$coming,
                        DefaultValuedParameter<"int64_t", "0">:$blocks, DefaultValuedParameter<"bool", "false">:$in_registers,
                        DefaultValuedParameter<"int64_t", "0">:$columns,
                        DefaultValuedParameter<"int64_t", "0">:$block, DefaultValuedParameter<"int64_t", "0">:$stride,
                        DefaultValuedParameter<"int64_t", "0">:$depth, DefaultValuedParameter<"int64_t", "0">:$winograd,
                        DefaultValuedParameter<"bool", "false">:$inside, DefaultValuedParameter<"int64_t", "0">:$dots,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$squares,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$border, StringRefParameter<"", [{""}]>:$step,
                        DefaultValuedParameter<"bool", "false">:$measured);
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` struct(params) `>`";
}

def Kernel_RefusalAttr : AttrDef<Kernel_Dialect, "Refusal"> {
  let mnemonic = "refusal";
  let summary = "A kernel that does not compute a group, and why.";
  let description = "Example: `#kernel.refusal<kernel = \"gemm_dots\", why = \"there are 12 columns, expected one\">`.";
  let parameters = (ins StringRefParameter<"">:$kernel, StringRefParameter<"">:$why);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Kernel_Accuracy : I32EnumAttr<"Accuracy", "the accuracy of the exp that an operation computes", [
    I32EnumAttrCase<"Exact", 0, "exact">,
    I32EnumAttrCase<"Ulp4", 1, "ulp4">,
    I32EnumAttrCase<"Half", 2, "half">]> {
  let cppNamespace = "::kiln::kernel";
  let genSpecializedAttr = 0;
}

// Bounds in units of the last place: runtime/include/kiln/math/bounds.h. `half` is for results that are rounded to f16 or bf16.
def Kernel_AccuracyAttr : EnumAttr<Kernel_Dialect, Kernel_Accuracy, "accuracy"> {
  let assemblyFormat = "`<` $value `>`";
}

class Kernel_Op<string mnemonic, list<Trait> traits = []> : Op<Kernel_Dialect, mnemonic, traits>;

#endif // KILN_KERNEL_BASE
