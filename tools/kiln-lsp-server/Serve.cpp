//===- Serve.cpp - The language server for Kiln's IR -----------------------===//
#include "tools/kiln-lsp-server/Serve.h"
#include "dialects/nn/NN.h"
#include "passes/Passes.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

namespace kiln {

int serve(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<nn::NNDialect, kernel::KernelDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::math::MathDialect,
                  mlir::memref::MemRefDialect, mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}

} // namespace kiln
