//===- kiln.cpp - The compiler's command line ------------------------------===//
#include "compiler/Recursion.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/Reporting.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/PrettyStackTrace.h"

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::setBugReportMsg("");
  kiln::watchForCrashes(argc, argv);
  kiln::followTerminal();
  return kiln::runOnLargeStack([&] { return kiln::dispatch(argc, argv); });
}
