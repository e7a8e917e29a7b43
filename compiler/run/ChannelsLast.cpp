//===- ChannelsLast.cpp - Tensors in the layouts of --io-layout -----------===//
#include "compiler/run/ChannelsLast.h"
#include <cstring>

using namespace llvm;

namespace kiln {

Expected<Tensor> moveChannelsLast(const Tensor &tensor) {
  ArrayRef<int64_t> dims = tensor.getDims();
  if (dims.size() < 3)
    return tensor.copy();
  SmallVector<int64_t, 6> moved{dims[0]};
  append_range(moved, dims.drop_front(2));
  moved.push_back(dims[1]);
  Expected<Tensor> result = Tensor::create(tensor.getType(), moved);
  if (!result)
    return result.takeError();
  int64_t channels = dims[1], pixels = 1;
  for (int64_t size : dims.drop_front(2))
    pixels *= size;
  int64_t bytes = getByteSize(tensor.getType());
  for (int64_t batch = 0, to = 0; batch < dims[0]; ++batch)
    for (int64_t pixel = 0; pixel < pixels; ++pixel)
      for (int64_t channel = 0; channel < channels; ++channel, ++to) {
        int64_t from = (batch * channels + channel) * pixels + pixel;
        if (tensor.getType() == KILN_ELEMENT_STRING)
          result->setText(to, tensor.getText(from));
        else
          std::memcpy(result->getData() + to * bytes, tensor.getData() + from * bytes, size_t(bytes));
      }
  return result;
}

} // namespace kiln
