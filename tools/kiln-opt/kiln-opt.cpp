//===- kiln-opt.cpp - mlir-opt for Kiln's dialects and passes --------------===//
#include "compiler/Recursion.h"
#include "compiler/pipeline/Stages.h"
#include "compiler/target/SetTarget.h"
#include "dialects/nn/ConstantPart.h"
#include "dialects/nn/NN.h"
#include "passes/Passes.h"
#include "passes/graph/PatternReasons.h"
#include "passes/ranks/ShardLoops.h"
#include "tools/kiln-opt/WhyNot.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<kiln::nn::NNDialect, kiln::kernel::KernelDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::math::MathDialect,
                  mlir::memref::MemRefDialect, mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  kiln::registerShardLoops(registry);
  // In front of the upstream one of that name, which would say nothing of its patterns.
  mlir::registerPass(kiln::createCanonicalizer);
  mlir::registerTransformsPasses();
  kiln::registerStagePipelines();
  kiln::registerSetTarget();
  // Threads of LLVM's pool run waiting tasks inside of each other: verifying many composites at once would take a stack as deep as they are many.
  static char noThreads[] = "--mlir-disable-threading";
  llvm::SmallVector<char *> arguments(argv, argv + argc);
  if (!llvm::is_contained(llvm::map_range(arguments, [](char *argument) { return llvm::StringRef(argument); }), noThreads))
    arguments.push_back(noThreads);
  arguments.push_back(nullptr);
  // Whatever passes leave is printed.
  kiln::nn::holdAllParts();
  return kiln::runOnIR(argc, argv, [&] {
    return mlir::asMainReturnCode(kiln::runOpt(arguments.size() - 1, arguments.data(), registry));
  });
}
