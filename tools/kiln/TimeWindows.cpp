//===- TimeWindows.cpp - How a model cuts time into windows -----------------===//
#include "tools/kiln/TimeWindows.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNContractionOps.h"

using namespace mlir;

namespace kiln {

std::optional<TimeWindows> findTimeWindows(ModuleOp module) {
  std::optional<TimeWindows> found;
  module.walk([&](nn::ConvOp conv) {
    if (conv.getStrides().size() != 1 || conv.getStrides()[0] == 1 || conv.getPads() != ArrayRef<int64_t>{0, 0})
      return WalkResult::advance();
    auto input = cast<RankedTensorType>(conv.getInput().getType()), weight = cast<RankedTensorType>(conv.getWeight().getType());
    int64_t samples = input.getDimSize(conv.getLayout() == nn::Layout::ChannelsFirst ? 2 : 1), window = weight.getDimSize(2);
    int64_t stride = conv.getStrides()[0], extent = (window - 1) * conv.getDilations()[0] + 1;
    if (ShapedType::isDynamic(samples) || ShapedType::isDynamic(window) || extent < stride)
      return WalkResult::advance();
    found = TimeWindows{stride, (samples - extent) % stride};
    return WalkResult::interrupt();
  });
  return found;
}

} // namespace kiln
