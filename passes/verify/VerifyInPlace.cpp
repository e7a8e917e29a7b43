//===- VerifyInPlace.cpp - The pairs that the user asked for ---------------===//
//
// `nn.asked_in_place` has the pairs of an input and an output that must be one buffer, `kernel.in_place` of the entry those that the kernels allow.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/EntryAttributeNames.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/kernel/Refusal.h"
#include "dialects/nn/SignatureAttributeNames.h"
#include "passes/Passes.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_VERIFYINPLACE
#include "passes/Passes.h.inc"

static std::string nameOf(ArrayAttr signature, int64_t position) {
  return cast<StringAttr>(cast<DictionaryAttr>(signature[position]).get("name")).str();
}

/// The launches that take an argument of the entry, in their order.
static SmallVector<kernel::LaunchOp> listLaunches(kernel::EntryOp entry, unsigned argument) {
  SmallVector<kernel::LaunchOp> launches;
  entry.walk<WalkOrder::PreOrder>([&](kernel::LaunchOp launch) {
    for (Value operand : launch.getOperands_()) {
      while (auto cast = operand.getDefiningOp<memref::CastOp>())
        operand = cast.getSource();
      if (operand == entry.getBody().getArgument(argument)) {
        launches.push_back(launch);
        return;
      }
    }
  });
  return launches;
}

static ArrayRef<int64_t> getPairs(Operation *op, StringRef name) {
  auto pairs = op->getAttrOfType<DenseI64ArrayAttr>(name);
  return pairs ? pairs.asArrayRef() : ArrayRef<int64_t>();
}

static bool hasPair(ArrayRef<int64_t> pairs, int64_t input, int64_t output) {
  for (size_t i = 0; i + 1 < pairs.size(); i += 2)
    if (pairs[i] == input && pairs[i + 1] == output)
      return true;
  return false;
}

/// Says at the launch that is in the way why the two cannot be one buffer.
static void explain(kernel::EntryOp entry, int64_t input, int64_t output) {
  std::string in = nameOf(entry.getInputs(), input), out = nameOf(entry.getOutputs(), output), option = "--in-place=" + out + "=" + in + ": ";
  SmallVector<kernel::LaunchOp> readers = listLaunches(entry, input), writers = listLaunches(entry, entry.getInputs().size() + output);
  if (writers.empty() || readers.empty()) {
    kernel::emitRefusal(entry) << option << "no kernel " << (writers.empty() ? "writes '" + out : "reads '" + in) << "' at run time";
    return;
  }
  kernel::LaunchOp writer = writers.front(), last = readers.back();
  if (!llvm::is_contained(readers, writer))
    kernel::emitRefusal(writer) << option << "the output is computed from other values than the input";
  else if (last != writer)
    kernel::emitRefusal(last) << option << "its kernel reads the input after the output has been written";
  else
    kernel::emitRefusal(writer) << option << "its kernel " << writer.getKernel() << " does not read every element before it writes there";
}

namespace {
struct VerifyInPlace : impl::VerifyInPlaceBase<VerifyInPlace> {
  LogicalResult verify(kernel::EntryOp entry, int64_t input, int64_t output) {
    if (input < 0 || output < 0 || input >= static_cast<int64_t>(entry.getInputs().size()) || output >= static_cast<int64_t>(entry.getOutputs().size()))
      return entry.emitOpError("does not have the input ") << input << " and the output " << output << " that " << nn::askedInPlaceAttrName << " names";
    if (hasPair(getPairs(entry, kernel::inPlaceAttrName), input, output))
      return success();
    explain(entry, input, output);
    return failure();
  }

  void runOnOperation() override {
    ArrayRef<int64_t> asked = getPairs(getOperation(), nn::askedInPlaceAttrName);
    for (auto entry : getOperation().getOps<kernel::EntryOp>())
      for (size_t i = 0; i + 1 < asked.size(); i += 2)
        if (failed(verify(entry, asked[i], asked[i + 1])))
          signalPassFailure();
  }
};
} // namespace

} // namespace kiln
