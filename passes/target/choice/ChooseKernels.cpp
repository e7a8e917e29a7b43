//===- ChooseKernels.cpp - The target's first matching kernel for each group -===//
//
//   nn.group(%x) : ... { nn.softmax }
// becomes
//   nn.group(%x) {plan = #kernel.plan<kernel = "softmax_rows">, reason = "kept whole: ..."} : ... { nn.softmax }
// unless the module has a profile of measured choices, which goes first.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/ModuleAttributeNames.h"
#include "dialects/kernel/Refusal.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/NodeNames.h"
#include "dialects/nn/Rounding.h"
#include "passes/Passes.h"
#include "passes/target/choice/CostModel.h"
#include "passes/target/choice/KernelTable.h"
#include "passes/target/choice/LibraryMapping.h"

#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_CHOOSEKERNELS
#include "passes/Passes.h.inc"

/// Puts what was measured in place of the model's own numbers. False when the kernel has no such numbers, or vectors of another width.
static bool applyMeasured(const KernelRow &row, kernel::PlanAttr measured, PlanNumbers &numbers) {
  if (DenseI64ArrayAttr tile = measured.getTile()) {
    if (!row.isTunable || tile[2] != numbers.tile[2])
      return false;
    numbers.tile.assign(tile.asArrayRef().begin(), tile.asArrayRef().end());
  }
  if (measured.getChunk() && !(row.isTunable && numbers.chunk))
    return false;
  numbers.chunk = measured.getChunk() ? measured.getChunk() : numbers.chunk;
  if (!measured.getStep().empty())
    numbers.step = measured.getStep().str();
  return true;
}

/// Takes the plan that the profile has for this work. False when there is none, or when it does not fit here.
static bool chooseMeasured(nn::GroupOp group, kernel::TargetAttr target, DictionaryAttr profile) {
  std::string work = profile ? describeWork(group) : std::string();
  auto measured = profile ? profile.getAs<kernel::PlanAttr>(work) : kernel::PlanAttr();
  if (!measured)
    return false;
  const KernelRow *row = findKernelRow(measured.getKernel());
  KernelMatch match = row ? row->match(group, target) : refuse("");
  bool fits = match && applyMeasured(*row, measured, match.numbers);
  if (fits) {
    // Another target's step may be none here.
    group.setPlanAttr(row->makePlan(group.getContext(), match.numbers, /*measured=*/static_cast<bool>(measured.getTile())));
    fits = findPlanFault(group).empty();
  }
  recordProfileUse(group->getParentOfType<ModuleOp>(), work, fits);
  if (!fits)
    return false;
  group.setReason("profile: measured to be the fastest; " + match.reason);
  return true;
}

/// What a generated kernel's reason says of the libraries of the target; empty when they have nothing for the anchor. Failure: `strict` forbids it.
static FailureOr<std::string> explainLibraries(Operation *anchor, kernel::TargetAttr target, bool strict) {
  std::optional<LibraryAnswer> answer = askLibraries(anchor, target);
  if (!answer)
    return std::string();
  std::string why = answer->takes ? "its operands are views that it has no form for" : answer->reason;
  if (strict && answer->isAsked)
    return kernel::emitRefusal(anchor) << anchor->getName() << " would not go to library '" << answer->library << "': " << why
                                       << "; --strict allows no fallback";
  return "; not " + answer->library.str() + ": " + why;
}

/// Writes down what keeps the best special kernel from a product or convolution that the general loops compute.
static void noteFallback(nn::GroupOp group, const KernelRow &chosen, kernel::TargetAttr target) {
  if (chosen.fit.function || !isa<nn::MatmulOp, nn::ConvOp>(getAnchor(group)))
    return;
  for (const KernelRow *row : getKernelTable())
    if (row->library.empty() && row->name != chosen.name && row->concerns(group))
      if (KernelMatch match = row->match(group, target); !match)
        return group.setRefusalsAttr(ArrayAttr::get(group.getContext(), kernel::RefusalAttr::get(group.getContext(), row->name, match.reason)));
}

static LogicalResult chooseKernel(nn::GroupOp group, kernel::TargetAttr target, bool plainest, bool strict) {
  Operation *anchor = getAnchor(group);
  SmallVector<const KernelRow *> rows(getKernelTable());
  if (plainest)
    std::reverse(rows.begin(), rows.end());
  for (const KernelRow *row : rows) {
    if (!row->concerns(group))
      continue;
    KernelMatch match = row->match(group, target);
    if (!match)
      continue;
    group.setPlanAttr(row->makePlan(group.getContext(), match.numbers));
    FailureOr<std::string> libraries = plainest || !row->library.empty() ? std::string() : explainLibraries(anchor, target, strict);
    if (failed(libraries))
      return failure();
    group.setReason(plainest ? "the least special kernel was asked for" : match.reason + *libraries);
    if (!plainest && anchor)
      noteFallback(group, *row, target);
    return success();
  }
  InFlightDiagnostic error = kernel::emitRefusal(group) << "no kernel of target '" << target.getName() << "' computes ";
  return anchor ? error << anchor->getName() << " of type " << anchor->getResult(0).getType() : error << "this group";
}

/// Adds what was rounded on request, or was not: products, and the constants that the group reads.
static void explainRounding(nn::GroupOp group) {
  llvm::SmallSetVector<StringRef, 4> texts;
  for (Operation &op : group.getBody().front())
    texts.insert(nn::getRounding(&op));
  for (Value input : group.getInputs())
    if (Operation *constant = input.getDefiningOp())
      texts.insert(nn::getRounding(constant));
  texts.remove("");
  if (!texts.empty())
    group.setReason((group.getReason().value_or("") + "; " + llvm::join(texts, "; ")).str());
}

/// The reason that FormGroups has noted of a row, or an empty text.
static StringRef findNote(ArrayAttr notes, StringRef kernel) {
  if (notes)
    for (auto note : notes.getAsRange<kernel::RefusalAttr>())
      if (note.getKernel() == kernel)
        return note.getWhy();
  return "";
}

/// Writes down why rows do not compute the group: those before its own that are written for such groups or would compute it with its producer, or all that are
/// written for such an anchor.
static void explainRefusals(nn::GroupOp group, kernel::TargetAttr target, bool all, ArrayAttr notes) {
  SmallVector<Attribute> refusals;
  Operation *anchor = getAnchor(group);
  bool isBetter = true;
  for (const KernelRow *row : getKernelTable()) {
    if (row->name == group.getKernel()) {
      isBetter = false;
      continue;
    }
    StringRef note = findNote(notes, row->name);
    bool computesAnchor = row->computes(anchor), takesAnchor = !note.empty() && !computesAnchor;
    // What libraries say is part of the reason.
    if (all ? !computesAnchor && !takesAnchor : !takesAnchor && !(isBetter && row->library.empty() && row->concerns(group)))
      continue;
    KernelMatch match = row->match(group, target);
    std::string why = !note.empty() ? note.str()
                      : !match      ? match.reason
                      : isBetter    ? "it could, but another was measured or asked for"
                                    : "it could, but stands further down the list";
    refusals.push_back(kernel::RefusalAttr::get(group.getContext(), row->name, why));
  }
  if (!refusals.empty())
    group.setRefusalsAttr(ArrayAttr::get(group.getContext(), refusals));
}

/// Whether the group computes the ONNX node, which is given as `name` or `name(Operator)`.
static bool computesNode(nn::GroupOp group, StringRef node) {
  auto look = [&](Operation *op) { return nn::isOfNode(op->getLoc(), node) ? WalkResult::interrupt() : WalkResult::advance(); };
  return group.getBody().walk(look).wasInterrupted();
}

namespace {
struct ChooseKernels : impl::ChooseKernelsBase<ChooseKernels> {
  using ChooseKernelsBase::ChooseKernelsBase;
  void runOnOperation() override {
    kernel::TargetAttr target = kernel::getTarget(getOperation());
    if (!target) {
      kernel::emitRefusal(getOperation()) << "expected the module attribute kernel.target";
      return signalPassFailure();
    }
    bool ok = true;
    auto profile = plainest ? DictionaryAttr() : getOperation()->getAttrOfType<DictionaryAttr>(kernel::profileAttrName);
    getOperation().walk([&](nn::GroupOp group) {
      ArrayAttr notes = group.getRefusalsAttr();
      group.removeRefusalsAttr();
      ok &= chooseMeasured(group, target, profile) || succeeded(chooseKernel(group, target, plainest, strict));
      explainRounding(group);
      bool all = !explainNode.empty() && computesNode(group, explainNode);
      if (group.getPlan() && (explain || all))
        explainRefusals(group, target, all, notes);
    });
    // The profile has been consumed.
    getOperation()->removeAttr(kernel::profileAttrName);
    if (!ok)
      signalPassFailure();
  }
};
} // namespace

} // namespace kiln
