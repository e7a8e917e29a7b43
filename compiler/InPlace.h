//===- InPlace.h - Outputs in the buffers of inputs ------------------------===//
//
// `--in-place OUTPUT=INPUT` asks that an output may be an input's own buffer, as a decoder wants it for its caches. The kernel stage finds such pairs
// by itself (`kernel.in_place`); the option makes a missing one an error that says why. `OUTPUT=INPUT:ROWS` is for a cache that grows by a
// concatenation: both tensors become the whole buffer, with room for so many rows, and the new rows are written behind those in use:
//
//   %present = nn.concat %past, %new axis 2     =>    %all = nn.scatter_elements %buffer, (size of %past + 0, 1, ...), %new axis 2
//                                                     %present = nn.slice %all, the rows in use
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_INPLACE_H
#define KILN_COMPILER_INPLACE_H

#include "compiler/CompileOptions.h"
#include "mlir/IR/BuiltinOps.h"

namespace kiln {

/// Notes the pairs of `--in-place` in a module that no pass has seen yet, and gives caches their whole buffer. False, with a line in `errors`, when
/// names or shapes do not allow it.
bool prepareInPlace(const CompileOptions &options, mlir::ModuleOp module, std::vector<std::string> &errors);

/// False, with a line in `errors` that names the node, when a pair that was asked for needs two buffers after all: kernels decide that.
bool checkInPlace(mlir::ModuleOp module, std::vector<std::string> &errors);

/// A pair that the kernels allow.
struct InPlacePair {
  std::string output, input;
  /// The bytes that are copied from one buffer to the other when they are two; -1: dimensions decide.
  int64_t bytes = -1;
};
std::vector<InPlacePair> listInPlace(mlir::ModuleOp module);

} // namespace kiln

#endif // KILN_COMPILER_INPLACE_H
