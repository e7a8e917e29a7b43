//===- KernelOps.td - Operations of the kernel dialect ---------------------===//
#ifndef KILN_KERNEL_OPS
#define KILN_KERNEL_OPS

include "dialects/kernel/KernelBase.td"
include "mlir/Interfaces/FunctionInterfaces.td"

def Kernel_WeightOp : Kernel_Op<"weight", [Symbol]> {
  let summary = "A constant array of the library, stored in the order that `pack` says.";
  let description = [{
    `offset` (in bytes, 64-byte aligned) is its place among the model's weights. The memory planner sets it.
    ```mlir
    kernel.weight @w0 : memref<2xf32> = dense<[1.0, 2.0]> : tensor<2xf32>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<MemRefRankOf<[AnyType], [1]>>:$type, ElementsAttr:$value,
                       OptionalAttr<Kernel_PackAttr>:$pack, OptionalAttr<I64Attr>:$offset);
  let assemblyFormat = "$sym_name `:` $type `=` $value (`packed` $pack^)? (`at` $offset^)? attr-dict";
}

def Kernel_GetWeightOp : Kernel_Op<"get_weight", [Pure]> {
  let summary = "The buffer of a weight.";
  let description = "```mlir\n%w = kernel.get_weight @w0 : memref<2xf32>\n```";
  let arguments = (ins FlatSymbolRefAttr:$weight);
  let results = (outs MemRefRankOf<[AnyType], [1]>:$result);
  let assemblyFormat = "$weight attr-dict `:` type($result)";
}

def Kernel_EntryOp : Kernel_Op<"entry", [IsolatedFromAbove, Symbol, SingleBlock, NoTerminator]> {
  let summary = "The function that a program calls: checks, then launches in order.";
  let description = [{
    The block arguments are the inputs, the outputs, the workspace (memref<?xi8>), and one index for each symbol of the module that the caller
    passes (all but those of `nn.computed_symbols`).
    `inputs` and `outputs` are dictionaries {name, type} with the tensor types of the signature. `kernel.in_place` lists the pairs of an
    input and an output that may be the same buffer; the memory planner sets it.
    ```mlir
    kernel.entry @run inputs [ {name = "x", type = tensor<4xf32>} ] outputs [ {name = "y", type = tensor<4xf32>} ] {
    ^bb0(%x: memref<4xf32>, %y: memref<4xf32>, %workspace: memref<?xi8>):
      %c4 = arith.constant 4 : index
      kernel.launch @relu(%x, %y) tasks(%c4) : memref<4xf32>, memref<4xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ArrayAttr:$inputs, ArrayAttr:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `inputs` $inputs `outputs` $outputs attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Kernel_CheckOp : Kernel_Op<"check"> {
  let summary = "Ends the run with a status if the condition is false.";
  let description = [{
    The status is an enumerator of kiln_status other than KILN_STATUS_OK.
    ```mlir
    kernel.check %ok, "KILN_STATUS_DIMENSION_MISMATCH", "past + seq = total"
    ```
  }];
  let arguments = (ins I1:$condition, StrAttr:$status, StrAttr:$message);
  let assemblyFormat = "$condition `,` $status `,` $message attr-dict";
  let hasVerifier = 1;
}

def Kernel_ReportOp : Kernel_Op<"report"> {
  let summary = "Reports to the caller the value of a symbol that the model has computed.";
  let description = "```mlir\nkernel.report %count as 1\n```";
  let arguments = (ins Index:$value, I64Attr:$symbol);
  let assemblyFormat = "$value `as` $symbol attr-dict";
}

def Kernel_LaunchOp : Kernel_Op<"launch"> {
  let summary = "Runs a kernel over tasks [0, n).";
  let description = [{
    The operands are the kernel's arguments without its task range. `parallel` lets the context's `parallel_for` split the tasks.
    `flops` and `bytes` count one launch, for the profiler. If they depend on sizes, these are the last operands, and the attribute
    `kernel.work` has both counts as expressions of them. With `ends_on_fault`, the run returns the status in the kernel's status buffer before
    anything else is launched.
    ```mlir
    kernel.launch @relu(%x, %y) tasks(%n) parallel : memref<4xf32>, memref<4xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyType>:$operands_, Index:$tasks, UnitAttr:$parallel, UnitAttr:$ends_on_fault,
                       OptionalAttr<I64Attr>:$flops, OptionalAttr<I64Attr>:$bytes);
  let assemblyFormat = [{
    $kernel `(` $operands_ `)` `tasks` `(` $tasks `)` (`parallel` $parallel^)? (`ends_on_fault` $ends_on_fault^)? attr-dict (`:` type($operands_)^)?
  }];
}

def Kernel_FailOp : Kernel_Op<"fail"> {
  let summary = "Inside a kernel: records that an input value is invalid, such as an index out of bounds. The run continues safely and returns the status.";
  let description = [{
    The first operand is the kernel's status buffer (memref<1xi32>, argument attribute `kernel.status`). The code is an enumerator of kiln_status other
    than KILN_STATUS_OK.
    ```mlir
    kernel.fail %status, "KILN_STATUS_INDEX_OUT_OF_BOUNDS" : memref<1xi32>
    ```
  }];
  let arguments = (ins MemRefRankOf<[I32], [1]>:$status, StrAttr:$code);
  let assemblyFormat = "$status `,` $code attr-dict `:` type($status)";
  let hasVerifier = 1;
}

def Kernel_StridedLoadOp : Kernel_Op<"strided_load", [MemoryEffects<[MemRead]>]> {
  let summary = "Loads a vector of elements at a constant distance.";
  let description = "```mlir\n%v = kernel.strided_load %m[%i] stride 4 : memref<?xf32> -> vector<8xf32>\n```";
  let arguments = (ins MemRefRankOf<[AnyType], [1]>:$source, Index:$index, I64Attr:$stride);
  let results = (outs VectorOfAnyRankOf<[AnyType]>:$result);
  let assemblyFormat = "$source `[` $index `]` `stride` $stride attr-dict `:` type($source) `->` type($result)";
}

def Kernel_StepOp : Kernel_Op<"step", [Pure, AllTypesMatch<["sum", "result"]>]> {
  let summary = "Multiplies and adds by an instruction that the target lists.";
  let description = [{
    `function` is that of a #kernel.step with one row: `lhs` has `depth` elements and `rhs` has `lanes` times as many. If `lhs` has as many as `rhs`, each sum
    has a left side of its own. C++ calls `kiln::FUNCTION<lanes>(lhs, rhs, sum)`.
    ```mlir
    %r = kernel.step "dot_u8s8"(%a, %b, %sum) : vector<4xi8>, vector<64xi8>, vector<16xi32>
    ```
  }];
  let arguments = (ins StrAttr:$function, VectorOfRankAndType<[1], [AnyType]>:$lhs, VectorOfRankAndType<[1], [AnyType]>:$rhs,
                       VectorOfRankAndType<[1], [AnyType]>:$sum);
  let results = (outs VectorOfRankAndType<[1], [AnyType]>:$result);
  let assemblyFormat = "$function `(` $lhs `,` $rhs `,` $sum `)` attr-dict `:` type($lhs) `,` type($rhs) `,` type($sum)";
  let hasVerifier = 1;
}

def Kernel_QuantizeOp : Kernel_Op<"quantize", [Pure]> {
  let summary = "Real numbers to the nearest integer, halves to the even one, plus a zero point, saturated. NaN gives the lowest integer.";
  let description = [{
    Numbers of f32 and zero points of i32 become integers of 8 or 16 bits, which are unsigned if the attribute says so. With `by`, the numbers are divided
    first and the quotients rounded to f32; the divisor is one for which C++ may multiply instead (`isDividedByProduct`, dialects/kernel/Quotient.h).
    ```mlir
    %q = kernel.quantize %x, %zero {is_unsigned} : vector<16xf32>, vector<16xi32> -> vector<16xi8>
    %r = kernel.quantize %x by 0.02, %zero : vector<16xf32>, vector<16xi32> -> vector<16xi8>
    ```
  }];
  let arguments = (ins AnyType:$x, OptionalAttr<F32Attr>:$divisor, AnyType:$zero, UnitAttr:$is_unsigned);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$x (`by` $divisor^)? `,` $zero attr-dict `:` type($x) `,` type($zero) `->` type($result)";
  let hasVerifier = 1;
}

def Kernel_QuotientOp : Kernel_Op<"quotient", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "Quotients by a number that is the same for all lanes, on their way to integers of up to 16 bits.";
  let description = [{
    The same as arith.divf where a quotient is less than 2^17. Greater ones, and NaN, are any that kernel.quantize makes the same integers of. CPUs that
    multiply and add at once need no division for each vector.
    ```mlir
    %q = kernel.quotient %x by %scale : vector<16xf32>
    ```
  }];
  let arguments = (ins VectorOfAnyRankOf<[F32]>:$x, F32:$divisor);
  let results = (outs VectorOfAnyRankOf<[F32]>:$result);
  let assemblyFormat = "$x `by` $divisor attr-dict `:` type($result)";
}

def Kernel_QuantizedStepsOp : Kernel_Op<"quantized_steps", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "The integers of kernel.quantize less their zero points, as real numbers: what nn.dequantize multiplies by the scale.";
  let description = [{
    ```mlir
    %s = kernel.quantized_steps %x by 0.02, %zero as ui8 : vector<16xf32>, vector<16xi32>
    ```
  }];
  let arguments = (ins AnyType:$x, OptionalAttr<F32Attr>:$divisor, AnyType:$zero, TypeAttr:$integer);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$x (`by` $divisor^)? `,` $zero `as` $integer attr-dict `:` type($x) `,` type($zero)";
  let hasVerifier = 1;
}

def Kernel_RoundedOp : Kernel_Op<"rounded", [Pure, AllTypesMatch<["product", "result"]>]> {
  let summary = "A product that is rounded before it is added, on targets that multiply and add at once, too.";
  let description = [{
    ```mlir
    %r = kernel.rounded %product : vector<16xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[AnyFloat, VectorOfAnyRankOf<[AnyFloat]>]>:$product);
  let results = (outs AnyTypeOf<[AnyFloat, VectorOfAnyRankOf<[AnyFloat]>]>:$result);
  let assemblyFormat = "$product attr-dict `:` type($result)";
}

def Kernel_AfterOp : Kernel_Op<"after", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "A number as it is, of which compilers compute nothing before another one is done.";
  let description = [{
    Compilers mix independent chains of operations, so that all of them are under way at once, and move vectors to the stack where registers run out. An
    order between them keeps few under way. No instruction comes of it: CPUs still mix what they see. Targets whose compilers have no register of their own
    for vectors in assembly ignore it.
    ```mlir
    %r = kernel.after %x, %before : vector<4xf32>, vector<4xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[AnyFloat, VectorOfAnyRankOf<[AnyFloat]>]>:$x, AnyTypeOf<[AnyFloat, VectorOfAnyRankOf<[AnyFloat]>]>:$before);
  let results = (outs AnyTypeOf<[AnyFloat, VectorOfAnyRankOf<[AnyFloat]>]>:$result);
  let assemblyFormat = "$x `,` $before attr-dict `:` type($x) `,` type($before)";
}

def Kernel_LookupOp : Kernel_Op<"lookup", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "Bytes replaced by those of a table.";
  let description = [{
    `table` has 256 bytes; a byte counts as an unsigned number.
    ```mlir
    %r = kernel.lookup %x in [1, 2, 3, ...] : vector<16xi8>
    ```
  }];
  let arguments = (ins AnyType:$x, DenseI8ArrayAttr:$table);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$x `in` $table attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Kernel_QuadsOp : Kernel_Op<"quads", [Pure, AllTypesMatch<["first", "second", "third", "fourth", "result"]>]> {
  let summary = "Four vectors of bytes woven into one: the four bytes of each of its lanes of 32 bits lie side by side.";
  let description = [{
    Result byte 4 i + j is byte i of operand j, counted from the part's beginning: the vectors have four parts.
    ```mlir
    %q = kernel.quads %a, %b, %c, %d part 1 : vector<64xi8>
    ```
  }];
  let arguments = (ins VectorOfRankAndType<[1], [I8]>:$first, VectorOfRankAndType<[1], [I8]>:$second, VectorOfRankAndType<[1], [I8]>:$third,
                       VectorOfRankAndType<[1], [I8]>:$fourth, I64Attr:$part);
  let results = (outs VectorOfRankAndType<[1], [I8]>:$result);
  let assemblyFormat = "$first `,` $second `,` $third `,` $fourth `part` $part attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Kernel_SameBufferOp : Kernel_Op<"same_buffer", [Pure, AllTypesMatch<["first", "second"]>]> {
  let summary = "Whether two of a kernel's buffers start at the same address: a result that overwrites its input needs no copy of it.";
  let description = "```mlir\n%same = kernel.same_buffer %in, %out : memref<?xf32>\n```";
  let arguments = (ins MemRefRankOf<[AnyType], [1]>:$first, MemRefRankOf<[AnyType], [1]>:$second);
  let results = (outs I1:$result);
  let assemblyFormat = "$first `,` $second attr-dict `:` type($first)";
}

def Kernel_ExternalOp : Kernel_Op<"external", [Symbol]> {
  let summary = "A C function outside of Kiln that kernels call. The program that links the model provides it.";
  let description = [{
    The symbol is the function's name in C. Buffers are pointers, and pointers to const unless `writes` lists the argument. An index is an int64_t.
    A function with the result i32 returns a kiln_status. `library` names the library to link, one of those that Kiln knows (docs/Libraries.md). Without it,
    the user links the function. `header` is the library's header, which declares the function. Without it, the emitter declares the function.
    ```mlir
    kernel.external @scale : (memref<?xf32>, memref<?xf32>, index) -> i32 writes [1]
    kernel.external @kiln_onednn_softmax : (memref<?xi8>, memref<?xf32>, memref<?xf32>) -> i32 writes [0, 2] header "kiln/onednn.h" library "onednn"
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$type, DenseI64ArrayAttr:$writes, OptionalAttr<StrAttr>:$header,
                       OptionalAttr<StrAttr>:$library);
  let assemblyFormat = "$sym_name `:` $type `writes` $writes (`header` $header^)? (`library` $library^)? attr-dict";
  let hasVerifier = 1;
}

def Kernel_CallOp : Kernel_Op<"call", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Inside a kernel: calls a kernel.external.";
  let description = [{
    A kernel that calls a function on all of its data has one task. The status that a function returns is stored in the kernel's status buffer, as with
    `kernel.fail`: the run continues safely and returns it.
    ```mlir
    kernel.call @scale(%x, %y, %n) reports %status : memref<?xf32>, memref<?xf32>, index to memref<1xi32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$operands_, Optional<MemRefRankOf<[I32], [1]>>:$status);
  let results = (outs);
  let assemblyFormat = [{
    $callee `(` $operands_ `)` (`reports` $status^)? attr-dict (`:` type($operands_)^)? (`to` type($status)^)?
  }];
}

def Kernel_NumbersOp : Kernel_Op<"numbers", [Pure]> {
  let summary = "Inside a kernel: an array of 64-bit numbers that an external function takes, such as sizes and strides.";
  let description = "```mlir\n%shape = kernel.numbers %rows, %columns : memref<2xi64>\n```";
  let arguments = (ins Variadic<Index>:$values);
  let results = (outs MemRefRankOf<[I64], [1]>:$result);
  let assemblyFormat = "$values attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Kernel_ThreadsOp : Kernel_Op<"threads", [Pure]> {
  let summary = "In the entry: the number of threads of the caller's context, or 1 without a context.";
  let description = "```mlir\n%threads = kernel.threads\n```";
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def Kernel_ContextOp : Kernel_Op<"context", [Pure]> {
  let summary = "In the entry: the caller's kiln_context, for a kernel that calls one of its hooks. It may be NULL.";
  let description = "```mlir\n%context = kernel.context : memref<1xi8>\n```";
  let results = (outs MemRefRankOf<[I8], [1]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Kernel_StateOp : Kernel_Op<"state", [MemoryEffects<[MemAlloc]>]> {
  let summary = "In the entry: static memory of the model for what an external function keeps between runs.";
  let description = [{
    It is zero when the program starts, and all threads share it. Each operation has its own memory.
    ```mlir
    %state = kernel.state : memref<64xi8>
    ```
  }];
  let results = (outs MemRefRankOf<[I8], [1]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Kernel_RuntimeCallOp : Kernel_Op<"runtime_call"> {
  let summary = "Inside a kernel: calls a function of the runtime's kernel headers.";
  let description = [{
    The callee is one of the functions that dialects/kernel/Names.cpp lists. The arguments are the operands, then the literals: numbers as
    they are, a string as a kiln_string, a list of strings or 32-bit integers as a table and its length.
    ```mlir
    kernel.runtime_call "kiln::random_uniform"(%out, %n) [7, 0.0 : f64, 1.0 : f64] : memref<?xf32>, index
    ```
  }];
  let arguments = (ins StrAttr:$callee, Variadic<AnyType>:$operands_, ArrayAttr:$literals);
  let assemblyFormat = "$callee `(` $operands_ `)` $literals attr-dict `:` type($operands_)";
  let hasVerifier = 1;
}

#endif // KILN_KERNEL_OPS
