//===- kiln-translate.cpp - A module of the kernel stage as C++ text -------===//
//
// For tests and for a look at the text: prints NAME.h and the translation units one after the other, each behind a line `//--- FILE` as
// split-file reads it.
//
//===----------------------------------------------------------------------===//
#include "compiler/Recursion.h"
#include "compiler/emit/Sources.h"
#include "dialects/nn/NN.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"

using namespace mlir;

static LogicalResult printAll(Operation *op, raw_ostream &out) {
  auto module = dyn_cast<ModuleOp>(op);
  auto signature = module ? kiln::readSignature(module, "") : FailureOr<kiln::Signature>();
  if (failed(signature))
    return failure();
  auto sources = kiln::printSources(*signature);
  if (failed(sources))
    return failure();
  auto print = [&](const kiln::SourceFile &file) { out << "//--- " << file.name << "\n" << file.text; };
  for (const kiln::SourceFile &header : sources->headers())
    print(header);
  for (const kiln::SourceFile &unit : sources->units)
    print(unit);
  return success();
}

int main(int argc, char **argv) {
  TranslateFromMLIRRegistration toCpp("kernel-to-cpp", "print a module of the kernel stage as C++", printAll, [](DialectRegistry &registry) {
    registry.insert<kiln::nn::NNDialect, kiln::kernel::KernelDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect, memref::MemRefDialect,
                    scf::SCFDialect, vector::VectorDialect>();
  });
  return kiln::runOnIR(argc, argv, [&] { return failed(mlirTranslateMain(argc, argv, "Kiln's printer of C++")); });
}
