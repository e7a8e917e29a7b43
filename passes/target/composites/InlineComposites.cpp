//===- InlineComposites.cpp - The bodies of composites that nobody has --------===//
//
//   %r = nn.composite "com.acme.Gate" version 1(%x) {        %s = nn.sigmoid %x
//   ^bb0(%a):                                          =>    %r = nn.mul %x, %s
//     %s = nn.sigmoid %a
//     nn.yield (nn.mul %a, %s) }
//
// before anything else is done with the graph, so that what stands around a call and what is in it are one.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNStructureOps.h"
#include "passes/Passes.h"
#include "passes/target/composites/CompositeForms.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_INLINECOMPOSITES
#include "passes/Passes.h.inc"

using namespace nn;

namespace {
struct InlineComposites : impl::InlineCompositesBase<InlineComposites> {
  using InlineCompositesBase::InlineCompositesBase;

  /// Why the body takes the composite's place now; empty: it is left to the target stage.
  std::string findReason(CompositeOp op) const {
    if (all)
      return "the plainest form has no composites";
    for (StringRef word : decompose)
      if (word == "all" || word == op.getName() || word == "composite" || word == "nn.composite")
        return ("--decompose=" + word).str();
    kernel::TargetAttr target = kernel::getTarget(op);
    if (llvm::is_contained(keep, op.getName()) || (target && target.findComposite(op.getName())))
      return "";
    return target ? "the target " + target.getName().str() + " has no function for it" : "there is no function for it";
  }

  void runOnOperation() override {
    SmallVector<CompositeOp> composites;
    getOperation().walk<WalkOrder::PreOrder>([&](CompositeOp op) { composites.push_back(op); });
    SmallVector<Attribute> forms;
    for (CompositeOp op : composites) {
      std::string reason = findReason(op);
      if (reason.empty())
        continue;
      forms.push_back(describeForm(cast<Decomposable>(op.getOperation()), reason, /*countsBytes=*/false));
      inlineBody(op);
    }
    addForms(getOperation(), forms);
  }
};
} // namespace

} // namespace kiln
