//===- kiln-reduce.cpp - mlir-reduce for Kiln's dialects and passes --------===//
#include "compiler/Recursion.h"
#include "compiler/pipeline/Stages.h"
#include "dialects/nn/NN.h"
#include "passes/Passes.h"

#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<kiln::nn::NNDialect, kiln::kernel::KernelDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::math::MathDialect,
                  mlir::memref::MemRefDialect, mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  mlir::registerTransformsPasses();
  kiln::registerStagePipelines();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  return kiln::runOnIR(argc, argv, [&] { return failed(mlir::mlirReduceMain(argc, argv, context)); });
}
