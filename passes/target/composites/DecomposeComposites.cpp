//===- DecomposeComposites.cpp - The form of each composite ----------------===//
//
//   %r = nn.softmax %x axis 1 : tensor<2x10xf32>
//
// stays, with form = "fused: ...", or becomes (shortened)
//
//   %m = nn.reduce max %x [1]
//   %e = nn.exp (%x - %m)
//   %s = nn.reduce sum %e [1]
//   %r = %e / %s
//
// each with form = "part of nn.softmax: ...". The module attribute kernel.composites lists what was decided.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/ModuleAttributeNames.h"
#include "dialects/kernel/Refusal.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/OperationAttributeNames.h"
#include "passes/Passes.h"
#include "passes/target/composites/CompositeForms.h"
#include "passes/target/choice/LibraryMapping.h"
#include "passes/target/composites/OperationNames.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace kiln {
#define GEN_PASS_DEF_DECOMPOSECOMPOSITES
#include "passes/Passes.h.inc"
} // namespace kiln

namespace {

/// What the user asked for.
struct FormRequest {
  bool all = false;
  llvm::StringSet<> names;
};

/// Why a composite is split; an empty text keeps it whole.
struct Choice {
  std::string reason;
  /// The target lacks the fused kernel, and nobody asked for the parts.
  bool isFallback = false;
};

struct DecomposeCompositesPass : kiln::impl::DecomposeCompositesBase<DecomposeCompositesPass> {
  using DecomposeCompositesBase::DecomposeCompositesBase;
  void runOnOperation() override;
  LogicalResult decide(const FormRequest &request, SmallVectorImpl<Operation *> &worklist);
};

} // namespace

/// Whether the module has, or had before it was inlined, a composite of the user's of that name.
static bool isDeclared(ModuleOp module, StringRef name) {
  if (auto forms = module->getAttrOfType<ArrayAttr>(kernel::compositesAttrName))
    for (auto form : forms.getAsRange<DictionaryAttr>())
      if (form.getAs<StringAttr>("composite") == name)
        return true;
  return module.walk([&](CompositeOp op) { return op.getName() == name ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
}

static FailureOr<FormRequest> parseFormRequest(ModuleOp module, ArrayRef<std::string> words) {
  FormRequest request;
  for (StringRef word : words) {
    if (word == "all")
      request.all = true;
    if (word == "all" || word == "auto" || word == "none")
      continue;
    if (isDeclared(module, word)) {
      request.names.insert(word);
      continue;
    }
    auto name = findOperation(word, module.getContext());
    if (!name)
      return kernel::emitRefusal(module) << "cannot decompose '" << word << "': no such operation; expected auto, all, none or names among "
                                << listOperations<Decomposable>(module.getContext());
    if (!name->hasInterface<Decomposable>())
      return kernel::emitRefusal(module) << "cannot decompose '" << word << "': it is not made of simpler operations";
    request.names.insert(name->stripDialect());
  }
  return request;
}

/// Composites that the target says it lacks must be composites.
static LogicalResult checkTarget(ModuleOp module) {
  kernel::TargetAttr target = kernel::getTarget(module);
  if (!target)
    return success();
  for (auto feature : target.getFeatures().getAsRange<StringAttr>()) {
    StringRef composite = feature.getValue();
    if (!composite.consume_front("-"))
      continue;
    auto name = RegisteredOperationName::lookup(composite, module.getContext());
    if (!name || !name->hasInterface<Decomposable>())
      return kernel::emitRefusal(module) << "target '" << target.getName() << "' is without '" << composite << "', which is no composite; expected names among "
                                << listOperations<Decomposable>(module.getContext());
  }
  return success();
}

static Choice chooseForm(Operation *op, const FormRequest &request) {
  if (request.all)
    return {"--decompose=all"};
  for (StringRef name : {op->getName().stripDialect(), getCompositeName(op)})
    if (request.names.contains(name))
      return {("--decompose=" + name).str()};
  auto fused = dyn_cast<FusedKernel>(op);
  if (!fused)
    return {"there is no fused kernel for it"};
  kernel::TargetAttr target = kernel::getTarget(op);
  std::string targetName = target ? " " + target.getName().str() : "";
  if (goesToLibrary(op))
    return {};
  if (target && target.hasFeature(("-" + op->getName().getStringRef()).str()))
    return {"the target" + targetName + " is without " + op->getName().getStringRef().str(), /*isFallback=*/true};
  if (auto composite = dyn_cast<CompositeOp>(op); composite && !(target && target.findComposite(composite.getName())))
    return {"the target" + targetName + " has no function for it"};
  if (!fused.hasFusedKernel(target) && isa<CompositeOp>(op))
    return {cast<CompositeOp>(op).whyNotExternal(target), /*isFallback=*/true};
  if (!fused.hasFusedKernel(target))
    return {"the target" + targetName + " has no fused kernel for it", /*isFallback=*/true};
  return {};
}

static LogicalResult decomposeOne(Decomposable op, StringRef reason, SmallVectorImpl<Operation *> &worklist) {
  CreatedOps created;
  FailureOr<SmallVector<Value>> results = buildParts(op, created);
  Builder builder(op->getContext());
  if (failed(results))
    return kernel::emitRefusal(op) << getCompositeName(op) << " must be decomposed (" << reason << "), but this instance cannot be";
  StringAttr form = builder.getStringAttr("part of " + op->getName().getStringRef() + ": " + reason);
  for (Operation *part : created.ops)
    if (part->getNumOperands() > 0)
      part->setAttr(nn::formAttrName, form);
  op->replaceAllUsesWith(*results);
  op->erase();
  llvm::append_range(worklist, llvm::reverse(created.ops));
  return success();
}

/// Splits what must be and what its parts hold; fails where that is not allowed. A composite that stays whole keeps its body as it is.
LogicalResult DecomposeCompositesPass::decide(const FormRequest &request, SmallVectorImpl<Operation *> &worklist) {
  SmallVector<Attribute> forms;
  // Parts of a composite may be composites.
  while (!worklist.empty()) {
    auto op = dyn_cast<Decomposable>(worklist.pop_back_val());
    if (!op || op->getParentOfType<CompositeOp>())
      continue;
    auto [reason, isFallback] = chooseForm(op, request);
    if (isFallback && strict)
      return kernel::emitRefusal(op) << getCompositeName(op) << " would be split: " << reason << "; --strict allows no fallback";
    forms.push_back(describeForm(op, reason));
    if (reason.empty())
      op->setAttr(nn::formAttrName, StringAttr::get(&getContext(), "fused: " + explainWhole(op)));
    else if (auto composite = dyn_cast<CompositeOp>(*op))
      inlineBody(composite);
    else if (failed(decomposeOne(op, reason, worklist)))
      return failure();
  }
  addForms(getOperation(), forms);
  return success();
}

void DecomposeCompositesPass::runOnOperation() {
  FailureOr<FormRequest> request = parseFormRequest(getOperation(), decompose);
  if (failed(request) || failed(checkTarget(getOperation())))
    return signalPassFailure();
  SmallVector<Operation *> worklist;
  // Operations inside a composite come before it: the last, taken first, is the outermost.
  getOperation().walk([&](Decomposable op) { worklist.push_back(op); });
  if (failed(decide(*request, worklist)))
    signalPassFailure();
}
