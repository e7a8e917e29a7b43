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
  /// Operations are of single elements: a core does as many of them in a time as of whole vectors.
  bool isScalar = false;
};

} // namespace kiln

#endif // KILN_PASSES_LOWERING_BUILDER_LAUNCHINFO_H
