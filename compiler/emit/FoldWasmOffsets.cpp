//===- FoldWasmOffsets.cpp - Offsets in the loads of WebAssembly ------------===//
//
//   %at = getelementptr i8, ptr %row, i32 6144           %at = getelementptr nuw i8, ptr %row, i32 6144
//   %x = load float, ptr %at                             %x = load float, ptr %at
//
// A load of WebAssembly adds its offset without wrapping around, so LLVM takes an addition into it only if that does not either. What lies at the sum is an
// object, so the sum wraps around only if that object lies below the offset. No object does: linkers put the stack first, which ends at 64 KiB or above and is
// used from there downwards, and this takes offsets that are small beside it.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/FoldWasmOffsets.h"

#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Pass.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace kiln {

namespace {
class OffsetFolding : public FunctionPass {
public:
  static char ID;
  OffsetFolding() : FunctionPass(ID) {}

  bool runOnFunction(Function &function) override {
    bool changed = false;
    for (Instruction &instruction : instructions(function))
      if (auto *address = dyn_cast<GetElementPtrInst>(&instruction); address && isFolded(*address)) {
        address->setNoWrapFlags(address->getNoWrapFlags() | GEPNoWrapFlags::noUnsignedWrap());
        changed = true;
      }
    return changed;
  }

  void getAnalysisUsage(AnalysisUsage &usage) const override { usage.setPreservesAll(); }

private:
  static bool isFolded(GetElementPtrInst &address) {
    APInt offset(32, 0);
    const DataLayout &layout = address.getModule()->getDataLayout();
    if (!address.getType()->isPointerTy() || !address.accumulateConstantOffset(layout, offset) || offset.ugt(mostBytes))
      return false;
    return all_of(address.users(), [&](User *user) { return getLoadStorePointerOperand(user) == &address; });
  }

  /// Less than the part of a stack that is never in use.
  static constexpr uint64_t mostBytes = 24 << 10;
};
} // namespace

char OffsetFolding::ID = 0;
static RegisterPass<OffsetFolding> registration("kiln-fold-wasm-offsets", "Constant offsets in the loads and stores of WebAssembly");

void foldWasmOffsets() {
  static RegisterTargetPassConfigCallback callback([](TargetMachine &machine, legacy::PassManagerBase &, TargetPassConfig *passes) {
    if (!machine.getTargetTriple().isWasm())
      return;
    static const AnalysisID last = std::unique_ptr<Pass>(createCodeGenPrepareLegacyPass())->getPassID();
    passes->insertPass(last, &OffsetFolding::ID);
  });
}

} // namespace kiln
