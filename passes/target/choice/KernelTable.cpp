//===- KernelTable.cpp - The ordered list of kernel implementations --------===//
#include "passes/target/choice/KernelTable.h"

using namespace mlir;

namespace kiln {

using namespace nn;

bool isPointwise(Operation *op) {
  if (isa<ScalarBody, SplatOp, IotaOp, DimValuesOp, ReshapeOp>(op))
    return true;
  auto view = dyn_cast<IndexMap>(op);
  return view && view.getIndexMap();
}

Operation *getAnchor(GroupOp group) {
  for (Operation &op : group.getBody().front().without_terminator())
    if (!isPointwise(&op))
      return &op;
  return nullptr;
}

bool KernelRow::fits(GroupOp group, kernel::TargetAttr target, std::string &reason) const {
  bool several = llvm::count_if(group.getBody().front().without_terminator(), [](Operation &op) { return !isPointwise(&op); }) > 1;
  Operation *anchor = getAnchor(group);
  return several == severalAnchors && computes(anchor) && matches(group, anchor, target, reason);
}

/// The least of what the rows say that may be chosen for a group with this anchor alone; `none` when there are none.
template <typename Support>
static Support findLeast(Operation *anchor, Support none, llvm::function_ref<Support(const KernelRow &)> get) {
  std::optional<Support> least;
  for (const KernelRow *row : getKernelTable())
    if (!row->severalAnchors && row->library.empty() && row->computes(anchor))
      least = std::min(least.value_or(get(*row)), get(*row));
  return least.value_or(none);
}

PrologueSupport getPrologueSupport(Operation *anchor, unsigned operand) {
  return findLeast<PrologueSupport>(anchor, PrologueSupport::None, [&](const KernelRow &row) {
    return row.prologue ? row.prologue(anchor, operand) : PrologueSupport::None;
  });
}

EpilogueSupport getEpilogueSupport(Operation *anchor) {
  return findLeast<EpilogueSupport>(anchor, EpilogueSupport::None, [](const KernelRow &row) { return row.epilogue; });
}

bool checksValues(GroupOp group) {
  const KernelRow *row = findKernelRow(group.getKernel().value_or(""));
  return row && row->checksValues && row->checksValues(getAnchor(group));
}

ArrayRef<const KernelRow *> getKernelTable() {
  static const std::vector<const KernelRow *> table = [] {
    std::vector<const KernelRow *> rows;
    for (auto family : {getCallKernels, getContractionKernels, getConvolutionKernels, getRowKernels, getRecurrentKernels, getDataSizedKernels,
                        getMovementKernels})
      llvm::append_range(rows, llvm::make_pointer_range(family()));
    return rows;
  }();
  return table;
}

const KernelRow *findKernelRow(StringRef name) {
  for (const KernelRow *row : getKernelTable())
    if (row->name == name)
      return row;
  return nullptr;
}

} // namespace kiln
