//===- CompositeForms.cpp - What each composite became, and its price ------===//
//
// A composite reads its operands and writes its results once. Split, what lies between its parts goes through memory wherever a group of
// operations ends: at the result of a reduction or product, and at an element-wise value that such a one and another operation read.
// Element-wise operations and broadcasts between these are computed where they are read. Neighbours outside the composite are not looked at.
//
//===----------------------------------------------------------------------===//
#include "passes/target/composites/CompositeForms.h"
#include "passes/target/choice/LibraryMapping.h"
#include "dialects/kernel/ModuleAttributeNames.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NodeNames.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln {

FailureOr<SmallVector<Value>> buildParts(Decomposable op, CreatedOps &created) {
  OpBuilder builder(op->getContext(), &created);
  builder.setInsertionPoint(op);
  return op.decompose(builder);
}

/// What is computed where it is read, and takes no memory.
static bool isComputedInPlace(Operation *op) { return isa<ScalarBody, IndexMap, BroadcastToOp, ReshapeOp, SplatOp, ConstantOp>(op); }

static bool goesThroughMemory(Operation *op) {
  if (!isComputedInPlace(op))
    return true;
  return isa<ScalarBody>(op) && !op->hasOneUse() && llvm::any_of(op->getUsers(), [](Operation *user) { return !isComputedInPlace(user); });
}

namespace {
/// Adds up static sizes; none once one is not.
struct Bytes {
  std::optional<int64_t> sum = 0;
  void add(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    if (!type.hasStaticShape())
      sum = std::nullopt;
    else if (sum)
      *sum += type.getNumElements() * elementBytes(type.getElementType());
  }
};
} // namespace

/// The values in memory that `op` reads through what is computed in place.
static void collectReads(Operation *op, const llvm::SmallPtrSetImpl<Operation *> &parts, llvm::SmallPtrSetImpl<Operation *> &seen,
                         llvm::SetVector<Value> &reads) {
  if (!seen.insert(op).second)
    return;
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    bool isPart = producer && parts.contains(producer);
    if (producer && isa<SplatOp>(producer))
      continue;
    if (isPart && !goesThroughMemory(producer))
      collectReads(producer, parts, seen, reads);
    else
      reads.insert(operand);
  }
}

static std::optional<int64_t> countSplitBytes(Decomposable op) {
  CreatedOps created;
  FailureOr<SmallVector<Value>> results = buildParts(op, created);
  llvm::SmallPtrSet<Operation *, 16> parts(created.ops.begin(), created.ops.end());
  Bytes bytes;
  for (Operation *part : created.ops) {
    bool isResult = succeeded(results) && llvm::any_of(part->getResults(), [&](Value value) { return llvm::is_contained(*results, value); });
    if (isa<ConstantOp, SplatOp>(part) || !(goesThroughMemory(part) || isResult))
      continue;
    llvm::SetVector<Value> reads;
    llvm::SmallPtrSet<Operation *, 16> seen;
    collectReads(part, parts, seen, reads);
    for (Value read : reads)
      bytes.add(read);
    for (Value result : part->getResults())
      bytes.add(result);
  }
  for (Operation *part : llvm::reverse(created.ops))
    part->erase();
  return succeeded(results) ? bytes.sum : std::nullopt;
}

static std::optional<int64_t> countFusedBytes(Operation *op) {
  Bytes bytes;
  llvm::SetVector<Value> operands(op->operand_begin(), op->operand_end());
  for (Value operand : operands)
    bytes.add(operand);
  for (Value result : op->getResults())
    bytes.add(result);
  return bytes.sum;
}

static std::string nodesOf(Location location) { return llvm::join(listNodes(location), " "); }

StringRef getCompositeName(Operation *op) {
  auto composite = dyn_cast<CompositeOp>(op);
  return composite ? composite.getName() : op->getName().getStringRef();
}

void inlineBody(CompositeOp op) {
  Block &body = op.getBody().front();
  for (auto [argument, input] : llvm::zip_equal(body.getArguments(), op.getInputs()))
    argument.replaceAllUsesWith(input);
  Operation *terminator = body.getTerminator();
  op->replaceAllUsesWith(terminator->getOperands());
  terminator->erase();
  op->getBlock()->getOperations().splice(op->getIterator(), body.getOperations());
  op->erase();
}

std::string explainWhole(Operation *op) {
  kernel::TargetAttr target = kernel::getTarget(op);
  if (isa<CompositeOp>(op))
    return "the target " + target.getName().str() + " has " + target.findComposite(getCompositeName(op)).getFunction().str() + " for it";
  std::optional<LibraryAnswer> answer = askLibraries(op, target);
  return answer && answer->takes ? "library " + answer->library.str() + " has it, " + answer->reason : "the target has a kernel for it";
}

void addForms(ModuleOp module, ArrayRef<Attribute> forms) {
  SmallVector<Attribute> all;
  if (auto before = module->getAttrOfType<ArrayAttr>(kernel::compositesAttrName))
    llvm::append_range(all, before);
  llvm::append_range(all, forms);
  if (!all.empty())
    module->setAttr(kernel::compositesAttrName, ArrayAttr::get(module.getContext(), all));
}

DictionaryAttr describeForm(Decomposable op, StringRef reasonToSplit, bool countsBytes) {
  Builder builder(op->getContext());
  bool whole = reasonToSplit.empty();
  NamedAttrList entry;
  entry.append("nodes", builder.getStringAttr(nodesOf(op->getLoc())));
  entry.append("composite", builder.getStringAttr(getCompositeName(op)));
  entry.append("form", builder.getStringAttr(whole ? "fused" : "split"));
  entry.append("reason", builder.getStringAttr(whole ? explainWhole(op) : reasonToSplit.str()));
  if (!countsBytes)
    return entry.getDictionary(op->getContext());
  std::optional<int64_t> fused = countFusedBytes(op), split = countSplitBytes(op);
  if (fused && split) {
    entry.append("fused_bytes", builder.getI64IntegerAttr(*fused));
    entry.append("split_bytes", builder.getI64IntegerAttr(*split));
  }
  return entry.getDictionary(op->getContext());
}

} // namespace kiln
