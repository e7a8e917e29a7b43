//===- ChooseKernels.cpp - The target's first matching kernel for each group -===//
//
//   nn.group(%x) : ... { nn.softmax }
// becomes
//   nn.group(%x) {kernel = "softmax_rows", reason = "kept whole: ..."} : ... { nn.softmax }
// unless the module has a profile of measured choices, which goes first.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/Refusal.h"
#include "passes/Passes.h"
#include "passes/target/choice/CostModel.h"
#include "passes/target/choice/KernelTable.h"
#include "passes/target/choice/LibraryMapping.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_CHOOSEKERNELS
#include "passes/Passes.h.inc"

/// Takes the kernel that the profile names for this work, with its parameters. False when there is none, or when it does not fit here.
static bool chooseMeasured(nn::GroupOp group, kernel::TargetAttr target, DictionaryAttr profile) {
  std::string work = profile ? describeWork(group) : std::string(), reason;
  auto choice = profile ? profile.getAs<DictionaryAttr>(work) : DictionaryAttr();
  auto algorithm = choice ? choice.getAs<StringAttr>(algorithmChoiceName) : StringAttr();
  if (!algorithm)
    return false;
  const KernelRow *row = llvm::find_if(getKernelTable(), [&](const KernelRow &row) { return row.name == algorithm.getValue(); });
  bool fits = row != getKernelTable().end() && row->fits(group, target, reason);
  recordProfileUse(group->getParentOfType<ModuleOp>(), work, fits);
  if (!fits)
    return false;
  group.setKernel(row->name);
  group.setReason("profile: measured to be the fastest; " + reason);
  for (StringRef parameter : {tileChoiceName, chunkChoiceName})
    if (Attribute value = choice.get(parameter))
      group->setAttr(parameter, value);
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

static LogicalResult chooseKernel(nn::GroupOp group, kernel::TargetAttr target, bool plainest, bool strict) {
  Operation *anchor = getAnchor(group);
  SmallVector<const KernelRow *> rows = llvm::to_vector(llvm::make_pointer_range(getKernelTable()));
  if (plainest)
    std::reverse(rows.begin(), rows.end());
  for (const KernelRow *row : rows) {
    std::string reason;
    if (!row->fits(group, target, reason))
      continue;
    group.setKernel(row->name);
    FailureOr<std::string> libraries = plainest || !row->library.empty() ? std::string() : explainLibraries(anchor, target, strict);
    if (failed(libraries))
      return failure();
    reason += *libraries;
    group.setReason(plainest ? "the least special kernel was asked for" : reason);
    return success();
  }
  InFlightDiagnostic error = kernel::emitRefusal(group) << "no kernel of target '" << target.getName() << "' computes ";
  return anchor ? error << anchor->getName() << " of type " << anchor->getResult(0).getType() : error << "this group";
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
    auto profile = plainest ? DictionaryAttr() : getOperation()->getAttrOfType<DictionaryAttr>(profileAttrName);
    getOperation().walk([&](nn::GroupOp group) {
      ok &= chooseMeasured(group, target, profile) || succeeded(chooseKernel(group, target, plainest, strict));
    });
    // It has served.
    getOperation()->removeAttr(profileAttrName);
    if (!ok)
      signalPassFailure();
  }
};
} // namespace

} // namespace kiln
