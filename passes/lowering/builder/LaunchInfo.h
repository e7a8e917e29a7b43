//===- LaunchInfo.h - What the entry must know to launch a kernel ----------===//
#ifndef KILN_PASSES_LOWERING_BUILDER_LAUNCHINFO_H
#define KILN_PASSES_LOWERING_BUILDER_LAUNCHINFO_H

#include "mlir/IR/AffineExpr.h"

namespace kiln {

struct LaunchInfo {
  /// The number of independent tasks, an expression of symbols.
  mlir::AffineExpr tasks;
  /// The work of the whole launch, as expressions of symbols.
  mlir::AffineExpr flops;
  mlir::AffineExpr bytes;
  /// There are as many tasks as the caller's context has threads, or only one if more would not pay.
  bool byThreads = false;
  /// The bits that an operation computes: those of an element, of which a core does as many in a time as of whole vectors. 0: of a vector.
  int64_t operationBits = 0;
};

} // namespace kiln

#endif // KILN_PASSES_LOWERING_BUILDER_LAUNCHINFO_H
