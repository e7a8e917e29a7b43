//===- DeduplicateKernels.cpp - One kernel for many launches ---------------===//
//
//   kernel.launch @gemm_0(...)  kernel.launch @gemm_7(...)   with equal bodies
// becomes
//   kernel.launch @gemm_0(...)  kernel.launch @gemm_0(...)   and @gemm_0 lists the ONNX nodes of both.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/KernelAttributeNames.h"
#include "dialects/kernel/KernelOps.h"
#include "passes/Passes.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_DEDUPLICATEKERNELS
#include "passes/Passes.h.inc"

/// A hash of the body that does not depend on names or locations.
static llvm::hash_code hashBody(func::FuncOp kernel) {
  llvm::hash_code hash = llvm::hash_value(kernel.getFunctionType().getAsOpaquePointer());
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    hash = llvm::hash_combine(hash, OperationEquivalence::computeHash(op, OperationEquivalence::ignoreHashValue,
                                                                      OperationEquivalence::ignoreHashValue, OperationEquivalence::IgnoreLocations));
  });
  return hash;
}

static bool sameBody(func::FuncOp a, func::FuncOp b) {
  return a.getFunctionType() == b.getFunctionType() && a.getAllArgAttrs() == b.getAllArgAttrs() &&
         OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

/// Where a reason begins to speak of the kernel's weights: each that is stored in fewer bits has an error of its own, or stays f32 for a reason of its own.
static size_t findWeightNote(StringRef reason) { return std::min(reason.find("weights stored as "), reason.find("weights stay f32: ")); }

/// Adds what the reason of a kernel that another one replaces says of its weights to that one's.
static void mergeWeightNotes(func::FuncOp kept, func::FuncOp dropped) {
  auto reason = kept->getAttrOfType<StringAttr>(kernel::reasonAttrName), other = dropped->getAttrOfType<StringAttr>(kernel::reasonAttrName);
  size_t at = other ? findWeightNote(other.getValue()) : StringRef::npos;
  auto nodes = dropped->getAttrOfType<ArrayAttr>(kernel::nodesAttrName);
  if (!reason || !nodes || at == StringRef::npos)
    return;
  std::string text = reason.str() + ";";
  for (auto node : nodes.getAsRange<StringAttr>())
    text += " " + node.str();
  kept->setAttr(kernel::reasonAttrName, StringAttr::get(kept.getContext(), text + ": " + other.getValue().substr(at)));
}

/// Adds the nodes and shapes of a kernel that another one replaces to that one's heading.
static void mergeHeading(func::FuncOp kept, func::FuncOp dropped) {
  mergeWeightNotes(kept, dropped);
  llvm::SetVector<Attribute> nodes;
  for (func::FuncOp kernel : {kept, dropped})
    if (auto list = kernel->getAttrOfType<ArrayAttr>(kernel::nodesAttrName))
      nodes.insert(list.begin(), list.end());
  kept->setAttr(kernel::nodesAttrName, ArrayAttr::get(kept.getContext(), nodes.getArrayRef()));
}

namespace {
struct DeduplicateKernels : impl::DeduplicateKernelsBase<DeduplicateKernels> {
  void runOnOperation() override {
    llvm::MapVector<size_t, SmallVector<func::FuncOp>> byHash;
    llvm::DenseMap<StringAttr, FlatSymbolRefAttr> replacements;
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (!kernel->hasAttr(kernel::nodesAttrName))
        continue;
      SmallVector<func::FuncOp> &candidates = byHash[static_cast<size_t>(hashBody(kernel))];
      auto *twin = llvm::find_if(candidates, [&](func::FuncOp other) { return sameBody(other, kernel); });
      if (twin == candidates.end()) {
        candidates.push_back(kernel);
        continue;
      }
      replacements[kernel.getSymNameAttr()] = FlatSymbolRefAttr::get(twin->getSymNameAttr());
      mergeHeading(*twin, kernel);
      kernel.erase();
    }
    getOperation().walk([&](kernel::LaunchOp launch) {
      if (auto to = replacements.lookup(launch.getKernelAttr().getAttr()))
        launch.setKernelAttr(to);
    });
  }
};
} // namespace

} // namespace kiln
