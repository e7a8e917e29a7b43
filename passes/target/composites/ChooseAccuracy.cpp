//===- ChooseAccuracy.cpp - How well each exp is computed ------------------===//
//
//   %r = nn.softmax %x axis 1 : tensor<2x10xf32>
//
// becomes, with accuracy=fast or accuracy=softmax=ulp4,
//
//   %r = nn.softmax %x axis 1 {accuracy = #kernel.accuracy<ulp4>} : tensor<2x10xf32>
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/Refusal.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "passes/Passes.h"
#include "passes/target/composites/OperationNames.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;
using kernel::Accuracy;

namespace kiln {
#define GEN_PASS_DEF_CHOOSEACCURACY
#include "passes/Passes.h.inc"
} // namespace kiln

namespace {

struct AccuracyRequest {
  bool fast = false;
  llvm::StringMap<Accuracy> named;
};

struct ChooseAccuracyPass : kiln::impl::ChooseAccuracyBase<ChooseAccuracyPass> {
  using ChooseAccuracyBase::ChooseAccuracyBase;
  void runOnOperation() override;
};

} // namespace

static FailureOr<AccuracyRequest> parseAccuracyRequest(ModuleOp module, ArrayRef<std::string> words) {
  AccuracyRequest request;
  for (StringRef word : words) {
    if (word == "fast") {
      request.fast = true;
      continue;
    }
    auto [op, level] = word.split('=');
    std::optional<Accuracy> accuracy = kernel::symbolizeAccuracy(level);
    if (!accuracy)
      return kernel::emitRefusal(module) << "accuracy '" << word << "': expected OP=exact, OP=ulp4 or OP=half";
    auto name = findOperation(op, module.getContext());
    if (!name || !name->hasInterface<Approximate>())
      return kernel::emitRefusal(module) << "accuracy '" << word << "': '" << op << "' has no choice of accuracy; expected one of "
                                << listOperations<Approximate>(module.getContext());
    request.named[name->stripDialect()] = *accuracy;
  }
  return request;
}

/// The cheapest exp whose error the operation's results hardly show.
static Accuracy fastest(Operation *op) {
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  if (type.isF64())
    return Accuracy::Exact;
  // The log of a sum near 1 is small beside the sum's error.
  return type.isF32() || isa<LogSoftmaxOp>(op) ? Accuracy::Ulp4 : Accuracy::Half;
}

void ChooseAccuracyPass::runOnOperation() {
  FailureOr<AccuracyRequest> request = parseAccuracyRequest(getOperation(), accuracy);
  if (failed(request))
    return signalPassFailure();
  getOperation().walk([&](Approximate op) {
    if (auto named = request->named.find(op->getName().stripDialect()); named != request->named.end())
      op.setAccuracy(named->second);
    else if (request->fast && op.getAccuracy() == Accuracy::Exact)
      op.setAccuracy(fastest(op));
  });
}
