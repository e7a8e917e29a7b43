//===- Passes.td - Every pass of Kiln, in the order of the pipeline --------===//
#ifndef KILN_PASSES
#define KILN_PASSES

include "mlir/Pass/PassBase.td"
include "passes/analysis/Passes.td"
include "passes/graph/Passes.td"
include "passes/target/Passes.td"

//===- graph: the promise ---------------------------------------------------===//

def VerifyGraph : Pass<"nn-verify-graph", "mlir::ModuleOp"> {
  let summary = "Checks the promise of the graph stage: one function @main of nn operations whose values have known dimensions.";
}

//===- target: the part of each rank -----------------------------------------===//

def ChooseShardings : Pass<"nn-choose-shardings", "mlir::ModuleOp"> {
  let summary = "Decides which part of each tensor each rank of a sharded model has, and annotates the values in terms of the shard dialect.";
  let options = [Option<"gridText", "grid", "std::string", "\"\"", "the ranks, such as 4 or 2x4">,
                 ListOption<"wishList", "wishes", "std::string", "TENSOR=DIM of an input, an output or an ONNX node, with a dimension or - for each axis">];
}

def PartitionRanks : Pass<"nn-partition-ranks", "mlir::ModuleOp"> {
  let summary = "Makes of an annotated module that of one rank, with the collectives that it takes part in.";
  let options = [Option<"rank", "rank", "int64_t", "0", "the rank">];
}

//===- target: decisions ----------------------------------------------------===//

def ChooseWinograd : Pass<"nn-choose-winograd", "mlir::ModuleOp"> {
  let summary = "Makes 3x3 convolutions Winograd's where the cost model says that is faster; transforms their weights.";
  let description = [{
    Takes channels_last convolutions of stride 1 without padding, with constant f32 weights. Lines and pixels that only run time knows are
    estimated, and have the kernel for any number of tiles. The choice between the direct form, F(2x2) and F(4x4) follows
    passes/target/choice/WinogradPlan.h; `tile` forces one of the latter.
  }];
  let options = [Option<"tile", "tile", "int64_t", "0", "2 or 4: that tile for every convolution that can have it; 0: what is fastest">];
}

def SplitConcats : Pass<"nn-split-concats", "mlir::ModuleOp"> {
  let summary = "Makes a concatenation of very many operands one of concatenations, so that no kernel has an argument for each.";
}

def FormGroups : Pass<"nn-form-groups", "mlir::ModuleOp"> {
  let summary = "Puts every operation into an nn.group: one anchor with its prologue and epilogue, or a chain of element-wise operations.";
  let options = [Option<"fuse", "fuse", "bool", "true", "false: one operation a group">,
                 Option<"explain", "explain", "bool", "false", "write down why a softmax is not computed with the product before it">];
}

def ChooseKernels : Pass<"nn-choose-kernels", "mlir::ModuleOp"> {
  let summary = "Writes into each group the plan of the first kernel in the target's ordered list that can compute it, and the reason.";
  let options = [Option<"plainest", "plainest", "bool", "false", "take the last row that matches instead of the first: the least special kernel">,
                 Option<"strict", "strict", "bool", "false", "what should go to a library by its name, and cannot, is an error">,
                 Option<"explain", "explain", "bool", "false", "write down why better kernels do not compute a group">,
                 Option<"explainNode", "explain-node", "std::string", "\"\"", "the same of all kernels, for groups of this ONNX node">];
}

def PlaceResults : Pass<"nn-place-results", "mlir::ModuleOp"> {
  let summary = "Lets kernels write straight into concatenations and padded tensors: their results are places of the larger buffer.";
}

def VerifyTarget : Pass<"nn-verify-target", "mlir::ModuleOp"> {
  let summary = "Checks the promise of the target stage: constants, reshapes and groups only, each group with a plan that its kernel can follow.";
}

//===- kernel: loops and buffers -------------------------------------------===//

def LowerGroups : Pass<"nn-lower-groups", "mlir::ModuleOp"> {
  let summary = "Makes a kernel function of each group and the entry that launches them.";
  let dependentDialects = ["::kiln::kernel::KernelDialect", "mlir::arith::ArithDialect", "mlir::func::FuncDialect", "mlir::math::MathDialect",
                           "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect", "mlir::vector::VectorDialect"];
}

def RoundProducts : Pass<"kernel-round-products", "mlir::ModuleOp"> {
  let summary = "Rounds products before they are added on the way to integers, so that these are the same on every target.";
  let dependentDialects = ["kernel::KernelDialect"];
}

def SimplifyQuantized : Pass<"kernel-simplify-quantized", "mlir::ModuleOp"> {
  let summary = "Divides by constants within kernel.quantize, and leaves out integers that only become real numbers again.";
  let dependentDialects = ["kernel::KernelDialect"];
}

def DropUnusedArguments : Pass<"kernel-drop-unused-arguments", "mlir::ModuleOp"> {
  let summary = "Takes away the sizes that a kernel does not use, from it and from its launches.";
}

def DeduplicateKernels : Pass<"kernel-deduplicate-kernels", "mlir::ModuleOp"> {
  let summary = "Keeps one of kernels with the same body.";
}

def OrderLaunches : Pass<"kernel-order-launches", "mlir::ModuleOp"> {
  let summary = "Moves launches of the entry so that fewer bytes of buffers live at the same time.";
}

def PlanMemory : Pass<"kernel-plan-memory", "mlir::ModuleOp"> {
  let summary = "Gives every buffer of the entry a place in the workspace; buffers that never live together may share it.";
  let options = [Option<"most", "most", "int64_t", "-1", "the largest workspace that is allowed; -1: any">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::func::FuncDialect", "mlir::memref::MemRefDialect"];
}

def SplitEntry : Pass<"kernel-split-entry", "mlir::ModuleOp"> {
  let summary = "Puts the launches of a long entry into regions that are printed as functions of their own.";
  let options = [Option<"mostLaunches", "most-launches", "unsigned", "128", "entries with more launches are split">,
                 Option<"partLaunches", "part-launches", "unsigned", "64", "the launches of one region">];
  let dependentDialects = ["mlir::scf::SCFDialect"];
}

def VerifyKernel : Pass<"kernel-verify-kernel", "mlir::ModuleOp"> {
  let summary = "Checks the promise of the kernel stage: flat buffers, no allocation, one entry, every launch fits its kernel.";
}

def VerifyInPlace : Pass<"kernel-verify-in-place", "mlir::ModuleOp"> {
  let summary = "Checks that the kernels allow the pairs of inputs and outputs that must be one buffer (`nn.asked_in_place`), and says what prevents it.";
}

#endif // KILN_PASSES
