//===- kiln.cpp - The compiler's command line ------------------------------===//
#include "tools/kiln/Commands.h"
#include "llvm/Support/InitLLVM.h"

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  return kiln::runProgram(argc, argv);
}
