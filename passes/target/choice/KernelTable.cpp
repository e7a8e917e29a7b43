//===- KernelTable.cpp - The ordered list of kernel implementations --------===//
#include "passes/target/choice/KernelTable.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "passes/target/groups/RowFusion.h"

using namespace mlir;

namespace kiln {

using namespace nn;

bool isPointwise(Operation *op) {
  if (isa<ScalarBody, SplatOp, IotaOp, DimValuesOp, ReshapeOp>(op))
    return true;
  auto view = dyn_cast<IndexMap>(op);
  return view && view.getIndexMap();
}

llvm::SetVector<Value> collectSources(Value value) {
  llvm::SetVector<Value> sources;
  sources.insert(value);
  for (size_t i = 0; i < sources.size(); ++i)
    if (Operation *op = sources[i].getDefiningOp(); op && isPointwise(op))
      sources.insert(op->operand_begin(), op->operand_end());
  return sources;
}

Operation *getAnchor(GroupOp group) {
  for (Operation &op : group.getBody().front().without_terminator())
    if (!isPointwise(&op))
      return &op;
  return nullptr;
}

/// A maximum and a minimum that one walk computes count as one.
static int64_t countAnchors(GroupOp group) {
  Operation *first = getAnchor(group);
  return llvm::count_if(group.getBody().front().without_terminator(), [&](Operation &op) { return !isPointwise(&op) && !areExtremes(first, &op); });
}

bool KernelRow::concerns(GroupOp group) const {
  return form == group.getForm() && (form != GroupForm::Plain || countAnchors(group) <= 1) && computes(getAnchor(group));
}

/// Which operand of the anchor is computed on the way, though the kernel does not do that, in words; empty: none. FormGroups makes no such groups.
static std::string findOperandFault(const KernelRow &row, Operation *anchor) {
  if (!anchor || row.form != GroupForm::Plain || !row.library.empty())
    return "";
  for (OpOperand &operand : anchor->getOpOperands()) {
    PrologueSupport support = row.prologue ? row.prologue(anchor, operand.getOperandNumber()) : PrologueSupport::None;
    if (support == PrologueSupport::All)
      continue;
    for (Value source : collectSources(operand.get()))
      if (Operation *op = source.getDefiningOp(); op && (support == PrologueSupport::None || !isa<IndexMap>(op)))
        return ("loads operand " + Twine(operand.getOperandNumber()) + " from a buffer, but the group computes it by " + op->getName().getStringRef()).str();
  }
  return "";
}

KernelMatch KernelRow::match(GroupOp group, kernel::TargetAttr target) const {
  Operation *anchor = getAnchor(group);
  if (form != group.getForm())
    return refuse("computes groups of the form " + stringifyGroupForm(form) + ", this one is " + stringifyGroupForm(group.getForm()));
  if (int64_t anchors = countAnchors(group); form == GroupForm::Plain && anchors > 1)
    return refuse("computes one anchor, the group has " + Twine(anchors));
  if (!computes(anchor))
    return refuse("computes " + (anchor ? "no " + anchor->getName().getStringRef().str() : "an anchor, the group has element-wise operations and views only"));
  if (std::string fault = findOperandFault(*this, anchor); !fault.empty())
    return refuse(fault);
  return fit.function ? fit.function(group, anchor, target) : accept(fit.reason);
}

kernel::PlanAttr makePlan(MLIRContext *context, StringRef kernel, const PlanNumbers &numbers, bool measured) {
  auto list = [&](ArrayRef<int64_t> tile) { return tile.empty() ? DenseI64ArrayAttr() : DenseI64ArrayAttr::get(context, tile); };
  return kernel::PlanAttr::get(context, kernel, list(numbers.tile), list(numbers.projection), numbers.chunk, numbers.streams, numbers.strip,
                               numbers.lines, numbers.pixels, numbers.bands, numbers.rows, numbers.keys, numbers.piece, numbers.near, list(numbers.ahead),
                               list(numbers.coming), numbers.blocks, numbers.inRegisters, numbers.columns, numbers.block, numbers.stride, numbers.depth,
                               numbers.winograd, numbers.inside, numbers.dots, list(numbers.squares), list(numbers.border), numbers.step, measured);
}

kernel::PlanAttr KernelRow::makePlan(MLIRContext *context, const PlanNumbers &numbers, bool measured) const {
  return kiln::makePlan(context, name, numbers, measured);
}

PlanNumbers readNumbers(kernel::PlanAttr plan) {
  auto list = [](DenseI64ArrayAttr tile) { return tile ? SmallVector<int64_t, 3>(tile.asArrayRef()) : SmallVector<int64_t, 3>(); };
  SmallVector<int64_t, 4> border;
  if (plan.getBorder())
    border.assign(plan.getBorder().asArrayRef().begin(), plan.getBorder().asArrayRef().end());
  return {list(plan.getTile()), list(plan.getProjection()), plan.getChunk(), plan.getStreams(), plan.getStrip(), plan.getLines(), plan.getPixels(),
          plan.getBands(), plan.getRows(), plan.getKeys(), plan.getBlock(), plan.getStride(), plan.getDepth(), plan.getWinograd(), plan.getPiece(),
          plan.getNear(), plan.getBlocks(), plan.getColumns(), list(plan.getAhead()), list(plan.getComing()), plan.getInRegisters(), plan.getInside(),
          plan.getDots(), list(plan.getSquares()), border, plan.getStep().str()};
}

namespace {
/// Numbers of a plan that a kernel needs or does not have, in words.
struct PlanPart {
  PlanParts part;
  bool isThere;
  llvm::StringLiteral text;
  bool mayBeLeftOut = false;
};
} // namespace

static SmallVector<PlanPart> listParts(kernel::PlanAttr plan) {
  return {{PlanTile, static_cast<bool>(plan.getTile()), "tile"},
          {PlanChunk, plan.getChunk() != 0, "chunk"},
          {PlanBlock, plan.getBlock() && plan.getStride(), "block with a stride"},
          {PlanDepth, plan.getDepth() != 0, "depth"},
          {PlanStreams, plan.getStreams() != 0, "streams"},
          {PlanStrip, plan.getStrip() != 0, "strip"},
          {PlanLines, plan.getLines() != 0, "lines"},
          {PlanPixels, plan.getPixels() != 0, "pixels"},
          {PlanBands, plan.getBands() != 0, "bands"},
          {PlanRows, plan.getRows() && plan.getKeys(), "rows and keys"},
          {PlanSquares, static_cast<bool>(plan.getSquares()), "squares"},
          {PlanInside, plan.getInside(), "channels inside of pixels", /*mayBeLeftOut=*/true},
          {PlanBorder, static_cast<bool>(plan.getBorder()), "zeros around its input", /*mayBeLeftOut=*/true},
          {PlanRows, plan.getDots() != 0, "rows of dot products", /*mayBeLeftOut=*/true},
          {PlanBlocks, plan.getBlocks() != 0, "blocks"},
          {PlanPrefetch, plan.getPiece() || plan.getNear() || plan.getAhead() || plan.getComing(), "numbers for prefetching", /*mayBeLeftOut=*/true},
          {PlanSoftmax, plan.getInRegisters() || plan.getColumns(), "columns or rows in registers", /*mayBeLeftOut=*/true}};
}

std::string findPlanFault(GroupOp group) {
  std::optional<kernel::PlanAttr> plan = group.getPlan();
  if (!plan)
    return "it has no plan";
  const KernelRow *row = findKernelRow(plan->getKernel());
  std::string name = "kernel '" + plan->getKernel().str() + "' ";
  if (!row)
    return name + "is not known";
  kernel::TargetAttr target = kernel::getTarget(group);
  if (!target)
    return "the module has no target";
  KernelMatch match = row->match(group, target);
  if (!match)
    return name + "does not compute this group: " + match.reason;
  for (const PlanPart &number : listParts(*plan)) {
    bool isNeeded = row->parts & number.part;
    if (isNeeded != number.isThere && !(isNeeded && number.mayBeLeftOut))
      return name + (!isNeeded ? "has no " : number.text.ends_with("s") ? "needs " : "needs a ") + number.text.str();
  }
  // A group whose kernel has a step by what `fit` says needs one, and no other group has one.
  if (bool isNeeded = !match.numbers.step.empty(); isNeeded == plan->getStep().empty())
    return name + (isNeeded ? "needs a step" : "has no step");
  std::string fault = row->findFault ? row->findFault(group, getAnchor(group), *plan) : "";
  return fault.empty() ? "" : name + "cannot follow it: " + fault;
}

/// The next row of the table that fits a group whose inputs lie where `row` reads them, but no longer as it needs them.
static void chooseOtherKernel(GroupOp group, kernel::TargetAttr target, const KernelRow &row) {
  for (const KernelRow *other : getKernelTable()) {
    if (other->form != row.form || other->places < row.places || !other->library.empty())
      continue;
    if (KernelMatch match = other->match(group, target)) {
      group.setPlanAttr(other->makePlan(group.getContext(), match.numbers));
      group.setReason(match.reason);
      return;
    }
  }
}

void updatePlan(GroupOp group, kernel::TargetAttr target) {
  std::optional<kernel::PlanAttr> plan = group.getPlan();
  const KernelRow *row = plan ? findKernelRow(plan->getKernel()) : nullptr;
  if (!row)
    return;
  KernelMatch match = row->match(group, target);
  if (!match)
    return chooseOtherKernel(group, target, *row);
  if (!(row->parts & PlanTile) || plan->getMeasured())
    return;
  match.numbers.chunk = plan->getChunk();
  match.numbers.step = plan->getStep().str();
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
