//===- InPlace.h - Outputs in the buffers of inputs ------------------------===//
//
// `--in-place OUTPUT=INPUT` requires that an output may be an input's own buffer, as for the caches of a decoder. The kernel stage finds such pairs by
// itself (`kernel.in_place`); with the option, it is an error if the pair is not among them. `OUTPUT=INPUT:ROWS` is for a cache that grows by a
// concatenation: both tensors become the whole buffer, with room for ROWS rows, and the new rows are written behind those in use:
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

/// Records the pairs of `--in-place` in a module before any pass has run, and gives caches their whole buffer. False, with a line in `errors`, if
/// names or shapes do not allow it.
bool prepareInPlace(const CompileOptions &options, mlir::ModuleOp module, std::vector<std::string> &errors);

/// False, with a line in `errors` that names the node, if the chosen kernels need two buffers for a requested pair.
bool checkInPlace(mlir::ModuleOp module, std::vector<std::string> &errors);

/// A pair that the kernels allow.
struct InPlacePair {
  std::string output, input;
  /// The bytes that are copied if they are separate buffers; -1: depends on dimensions.
  int64_t bytes = -1;
};
std::vector<InPlacePair> listInPlace(mlir::ModuleOp module);

} // namespace kiln

#endif // KILN_COMPILER_INPLACE_H
