//===- KernelOps.td - Operations of the kernel dialect ---------------------===//
#ifndef KILN_KERNEL_OPS
#define KILN_KERNEL_OPS

include "dialects/kernel/KernelBase.td"
include "mlir/Interfaces/FunctionInterfaces.td"

def Kernel_WeightOp : Kernel_Op<"weight", [Symbol]> {
  let summary = "A constant array of the library, stored in the order that `pack` says.";
  let description = [{
    `offset` (bytes, 64-byte aligned) is its place among the model's weights, given by the planner.
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
    Block arguments: the inputs, the outputs, the workspace (memref<?xi8>), then one index for each symbol of the module that the caller gives
    (all but those of `nn.computed_symbols`).
    `inputs` and `outputs` are dictionaries {name, type} with the tensor types of the signature. `kernel.in_place` lists pairs of an input and an
    output that may be one buffer (the planner writes it).
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
}

def Kernel_CheckOp : Kernel_Op<"check"> {
  let summary = "Ends the run with a status when the condition is false.";
  let description = [{
    ```mlir
    kernel.check %ok, "KILN_STATUS_DIMENSION_MISMATCH", "past + seq = total"
    ```
  }];
  let arguments = (ins I1:$condition, StrAttr:$status, StrAttr:$message);
  let assemblyFormat = "$condition `,` $status `,` $message attr-dict";
}

def Kernel_ReportOp : Kernel_Op<"report"> {
  let summary = "Tells the caller the value of a symbol that the model has computed.";
  let description = "```mlir\nkernel.report %count as 1\n```";
  let arguments = (ins Index:$value, I64Attr:$symbol);
  let assemblyFormat = "$value `as` $symbol attr-dict";
}

def Kernel_LaunchOp : Kernel_Op<"launch"> {
  let summary = "Runs a kernel over tasks [0, n).";
  let description = [{
    The operands are the kernel's arguments without its task range. `parallel` lets the context's `parallel_for` split the tasks.
    `flops` and `bytes` are estimates for one launch with all symbols at their default, for the profiler.
    ```mlir
    kernel.launch @relu(%x, %y) tasks(%n) parallel : memref<4xf32>, memref<4xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyType>:$operands_, Index:$tasks, UnitAttr:$parallel,
                       OptionalAttr<I64Attr>:$flops, OptionalAttr<I64Attr>:$bytes);
  let assemblyFormat = [{
    $kernel `(` $operands_ `)` `tasks` `(` $tasks `)` (`parallel` $parallel^)? attr-dict (`:` type($operands_)^)?
  }];
}

def Kernel_FailOp : Kernel_Op<"fail"> {
  let summary = "Inside a kernel: records that an input value is at fault (an index out of bounds); the run goes on safely and returns the status.";
  let description = [{
    The first operand is the kernel's status buffer (memref<1xi32>, argument attribute `kernel.status`).
    ```mlir
    kernel.fail %status, "KILN_STATUS_INDEX_OUT_OF_BOUNDS" : memref<1xi32>
    ```
  }];
  let arguments = (ins MemRefRankOf<[I32], [1]>:$status, StrAttr:$code);
  let assemblyFormat = "$status `,` $code attr-dict `:` type($status)";
}

def Kernel_StridedLoadOp : Kernel_Op<"strided_load", [MemoryEffects<[MemRead]>]> {
  let summary = "A vector of elements at a constant distance.";
  let description = "```mlir\n%v = kernel.strided_load %m[%i] stride 4 : memref<?xf32> -> vector<8xf32>\n```";
  let arguments = (ins MemRefRankOf<[AnyType], [1]>:$source, Index:$index, I64Attr:$stride);
  let results = (outs VectorOfAnyRankOf<[AnyType]>:$result);
  let assemblyFormat = "$source `[` $index `]` `stride` $stride attr-dict `:` type($source) `->` type($result)";
}

def Kernel_SameBufferOp : Kernel_Op<"same_buffer", [Pure, AllTypesMatch<["first", "second"]>]> {
  let summary = "Whether two of a kernel's buffers begin at the same place: a result that overwrites its input needs no copy of it.";
  let description = "```mlir\n%same = kernel.same_buffer %in, %out : memref<?xf32>\n```";
  let arguments = (ins MemRefRankOf<[AnyType], [1]>:$first, MemRefRankOf<[AnyType], [1]>:$second);
  let results = (outs I1:$result);
  let assemblyFormat = "$first `,` $second attr-dict `:` type($first)";
}

def Kernel_CallOp : Kernel_Op<"call"> {
  let summary = "Calls a function of the runtime's kernel headers.";
  let description = [{
    Arguments are the operands, then the literals: a number as it is, a string as a kiln_string, a list of strings or 32-bit integers as table and length.
    ```mlir
    kernel.call "kiln::random_uniform"(%out, %n) [7, 0.0 : f64, 1.0 : f64] : memref<?xf32>, index
    ```
  }];
  let arguments = (ins StrAttr:$callee, Variadic<AnyType>:$operands_, ArrayAttr:$literals);
  let assemblyFormat = "$callee `(` $operands_ `)` $literals attr-dict `:` type($operands_)";
}

#endif // KILN_KERNEL_OPS
