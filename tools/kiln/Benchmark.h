//===- Benchmark.h - What kiln bench measures, for other commands ----------===//
#ifndef KILN_TOOLS_KILN_BENCHMARK_H
#define KILN_TOOLS_KILN_BENCHMARK_H

#include "compiler/CompileOptions.h"
#include "llvm/Support/JSON.h"

namespace kiln {

/// Compiles, runs and measures the model with the options of the command line, and gives what `kiln bench --json` prints. Reports errors and returns the
/// exit status.
int measureModel(const CompileOptions &options, llvm::json::Object &result);

} // namespace kiln

#endif // KILN_TOOLS_KILN_BENCHMARK_H
