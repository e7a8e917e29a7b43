//===- kiln-reduce.cpp - Makes IR smaller while a fault stays --------------===//
#include "compiler/Recursion.h"
#include "dialects/nn/NN.h"
#include "tools/kiln-reduce/Reduce.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

static llvm::cl::OptionCategory category("Options");
static llvm::cl::opt<std::string> input(llvm::cl::Positional, llvm::cl::Required, llvm::cl::desc("FILE.mlir"), llvm::cl::cat(category));
static llvm::cl::opt<std::string> test("test", llvm::cl::Required, llvm::cl::value_desc("PROGRAM"), llvm::cl::cat(category),
                                       llvm::cl::desc("Gets a file with IR and exits with 1 while the fault is there"));
static llvm::cl::opt<std::string> output("o", llvm::cl::init("-"), llvm::cl::value_desc("FILE"), llvm::cl::cat(category),
                                         llvm::cl::desc("Where the smaller IR goes (default: standard output)"));

/// Whether the test exits with 1 for this module.
static bool isInteresting(ModuleOp module) {
  SmallString<128> path;
  int descriptor = -1;
  if (llvm::sys::fs::createTemporaryFile("kiln-reduce", "mlir", descriptor, path))
    return false;
  llvm::FileRemover remover(path);
  {
    llvm::raw_fd_ostream file(descriptor, /*shouldClose=*/true);
    module.print(file);
  }
  return llvm::sys::ExecuteAndWait(test, {test, path}) == 1;
}

static int run() {
  DialectRegistry registry;
  registry.insert<kiln::nn::NNDialect, kiln::kernel::KernelDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect, memref::MemRefDialect,
                  scf::SCFDialect, vector::VectorDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(input, &context);
  if (!module)
    return 1;
  if (!llvm::sys::fs::can_execute(test)) {
    llvm::errs() << "error: --test: " << test << " is no program that can be run\n";
    return 1;
  }
  if (!isInteresting(*module)) {
    llvm::errs() << "error: " << test << " does not exit with 1 for " << input << " itself\n";
    return 1;
  }
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(output, &message);
  if (!file) {
    llvm::errs() << "error: " << message << "\n";
    return 1;
  }
  kiln::reduce(std::move(module), isInteresting)->print(file->os());
  file->keep();
  return 0;
}

int main(int argc, char **argv) {
  return kiln::runOnIR(argc, argv, [&] {
    llvm::cl::HideUnrelatedOptions(category);
    llvm::cl::ParseCommandLineOptions(argc, argv, "Makes IR smaller for as long as a fault stays\n");
    return run();
  });
}
