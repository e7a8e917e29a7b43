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
// each with form = "part of nn.softmax: ...".
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"

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

constexpr llvm::StringLiteral formAttrName = "form";

/// What the user asked for.
struct Request {
  bool all = false;
  llvm::StringSet<> names;
};

/// Collects what an operation's decomposition builds.
struct CreatedOps : OpBuilder::Listener {
  SmallVector<Operation *> ops;
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { ops.push_back(op); }
};

struct DecomposeCompositesPass : kiln::impl::DecomposeCompositesBase<DecomposeCompositesPass> {
  using DecomposeCompositesBase::DecomposeCompositesBase;
  void runOnOperation() override;
};

} // namespace

/// The names of all operations that can be split, for the user who misspelt one.
static std::string listDecomposable(MLIRContext *context) {
  SmallVector<StringRef> names;
  for (RegisteredOperationName name : context->getRegisteredOperationsByDialect("nn"))
    if (name.hasInterface<Decomposable>())
      names.push_back(name.stripDialect());
  llvm::sort(names);
  return llvm::join(names, ", ");
}

static FailureOr<Request> parseRequest(ModuleOp module, ArrayRef<std::string> words) {
  Request request;
  for (StringRef word : words) {
    if (word == "all")
      request.all = true;
    if (word == "all" || word == "auto" || word == "none")
      continue;
    word.consume_front("nn.");
    auto name = RegisteredOperationName::lookup(("nn." + word).str(), module.getContext());
    if (!name)
      return module.emitError() << "cannot decompose '" << word << "': no such operation; expected auto, all, none or names among "
                                << listDecomposable(module.getContext());
    if (!name->hasInterface<Decomposable>())
      return module.emitError() << "cannot decompose '" << word << "': it is not made of simpler operations";
    request.names.insert(word);
  }
  return request;
}

/// Why the composite must be decomposed; empty when it stays whole.
static std::string reasonToDecompose(Operation *op, const Request &request) {
  if (request.all)
    return "--decompose=all";
  StringRef name = op->getName().stripDialect();
  if (request.names.contains(name))
    return ("--decompose=" + name).str();
  auto fused = dyn_cast<FusedKernel>(op);
  if (!fused)
    return "there is no fused kernel for it";
  kernel::TargetAttr target = kernel::getTarget(op);
  if (!fused.hasFusedKernel(target))
    return "the target" + (target ? " " + target.getName().str() : std::string()) + " has no fused kernel for it";
  return "";
}

static LogicalResult decomposeOne(Decomposable op, StringRef reason, SmallVectorImpl<Operation *> &worklist) {
  CreatedOps created;
  OpBuilder builder(op->getContext(), &created);
  builder.setInsertionPoint(op);
  FailureOr<SmallVector<Value>> results = op.decompose(builder);
  if (failed(results))
    return op->emitOpError() << "must be decomposed (" << reason << "), but this instance cannot be";
  StringAttr form = builder.getStringAttr("part of " + op->getName().getStringRef() + ": " + reason);
  for (Operation *part : created.ops)
    if (part->getNumOperands() > 0)
      part->setAttr(formAttrName, form);
  op->replaceAllUsesWith(*results);
  op->erase();
  llvm::append_range(worklist, llvm::reverse(created.ops));
  return success();
}

void DecomposeCompositesPass::runOnOperation() {
  FailureOr<Request> request = parseRequest(getOperation(), decompose);
  if (failed(request))
    return signalPassFailure();
  SmallVector<Operation *> worklist;
  getOperation().walk([&](Decomposable op) { worklist.push_back(op); });
  // Parts of a composite may be composites.
  while (!worklist.empty()) {
    auto op = dyn_cast<Decomposable>(worklist.pop_back_val());
    if (!op)
      continue;
    std::string reason = reasonToDecompose(op, *request);
    if (reason.empty()) {
      op->setAttr(formAttrName, StringAttr::get(&getContext(), "fused: the target has a kernel for it"));
    } else if (failed(decomposeOne(op, reason, worklist))) {
      return signalPassFailure();
    }
  }
}
