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

static int64_t countAnchors(GroupOp group) {
  return llvm::count_if(group.getBody().front().without_terminator(), [](Operation &op) { return !isPointwise(&op); });
}

bool KernelRow::concerns(GroupOp group) const {
  return form == group.getForm() && (form != GroupForm::Plain || countAnchors(group) <= 1) && computes(getAnchor(group));
}

KernelMatch KernelRow::match(GroupOp group, kernel::TargetAttr target) const {
  Operation *anchor = getAnchor(group);
  if (form != group.getForm())
    return refuse("computes groups of the form " + stringifyGroupForm(form) + ", this one is " + stringifyGroupForm(group.getForm()));
  if (int64_t anchors = countAnchors(group); form == GroupForm::Plain && anchors > 1)
    return refuse("computes one anchor, the group has " + Twine(anchors));
  if (!computes(anchor))
    return refuse("computes " + (anchor ? "no " + anchor->getName().getStringRef().str() : "an anchor, the group has element-wise operations and views only"));
  return fit.function ? fit.function(group, anchor, target) : accept(fit.reason);
}

kernel::PlanAttr KernelRow::makePlan(MLIRContext *context, const PlanNumbers &numbers, bool measured) const {
  auto list = [&](ArrayRef<int64_t> tile) { return tile.empty() ? DenseI64ArrayAttr() : DenseI64ArrayAttr::get(context, tile); };
  return kernel::PlanAttr::get(context, name, list(numbers.tile), list(numbers.projection), numbers.chunk, numbers.block, numbers.stride, numbers.depth,
                               numbers.winograd, measured);
}

std::string findPlanFault(GroupOp group) {
  std::optional<kernel::PlanAttr> plan = group.getPlan();
  if (!plan)
    return "it has no plan";
  const KernelRow *row = findKernelRow(plan->getKernel());
  std::string name = "kernel '" + plan->getKernel().str() + "' ";
  if (!row)
    return name + "is not known";
  if (!row->concerns(group))
    return name + "is for other groups";
  unsigned have = (plan->getTile() ? PlanTile : 0) | (plan->getChunk() ? PlanChunk : 0) | (plan->getBlock() && plan->getStride() ? PlanBlock : 0) |
                  (plan->getDepth() ? PlanDepth : 0);
  std::string fault;
  for (auto [part, text] : {std::pair(PlanTile, "tile"), std::pair(PlanChunk, "chunk"), std::pair(PlanBlock, "block with a stride"),
                            std::pair(PlanDepth, "depth")})
    if ((have & part) != (row->parts & part))
      fault = name + (row->parts & part ? "needs a " : "has no ") + text;
  return fault;
}

void updateTile(GroupOp group, kernel::TargetAttr target) {
  std::optional<kernel::PlanAttr> plan = group.getPlan();
  const KernelRow *row = plan ? findKernelRow(plan->getKernel()) : nullptr;
  if (!row || !(row->parts & PlanTile) || plan->getMeasured())
    return;
  KernelMatch match = row->match(group, target);
  if (!match)
    return;
  match.numbers.chunk = plan->getChunk();
  group.setPlanAttr(row->makePlan(group.getContext(), match.numbers));
}

/// The least of what the rows say that may be chosen for a group with this anchor alone; `none` when there are none.
template <typename Support>
static Support findLeast(Operation *anchor, Support none, llvm::function_ref<Support(const KernelRow &)> get) {
  std::optional<Support> least;
  for (const KernelRow *row : getKernelTable())
    if (row->form == GroupForm::Plain && row->library.empty() && row->computes(anchor))
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
  const KernelRow *row = findKernelRow(group.getKernel());
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
