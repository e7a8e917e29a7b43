//===- Work.h - What a launch counts as for the profiler --------------------===//
#ifndef KILN_DIALECTS_KERNEL_WORK_H
#define KILN_DIALECTS_KERNEL_WORK_H

#include "dialects/kernel/EntryAttributeNames.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/KernelOps.h"

namespace kiln::kernel {

/// The map of `kernel.work`; none where there is no such attribute, or one that does not fit the launch.
inline std::optional<mlir::AffineMap> getWork(LaunchOp launch) {
  auto attr = launch->getAttrOfType<mlir::AffineMapAttr>(workAttrName);
  if (!attr || attr.getValue().getNumDims() != 0 || attr.getValue().getNumResults() != 2)
    return std::nullopt;
  unsigned symbols = attr.getValue().getNumSymbols();
  mlir::OperandRange operands = launch.getOperands_();
  bool fits = symbols <= operands.size() && llvm::all_of(operands.take_back(symbols).getTypes(), [](mlir::Type type) { return type.isIndex(); });
  return fits ? std::optional(attr.getValue()) : std::nullopt;
}

} // namespace kiln::kernel

#endif // KILN_DIALECTS_KERNEL_WORK_H
