//===- kiln-lsp-server.cpp - The language server for Kiln's IR -------------===//
#include "dialects/nn/NN.h"
#include "passes/Passes.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<kiln::nn::NNDialect, kiln::kernel::KernelDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::math::MathDialect,
                  mlir::memref::MemRefDialect, mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
