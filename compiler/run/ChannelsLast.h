//===- ChannelsLast.h - Tensors in the layouts of --io-layout -------------===//
#ifndef KILN_COMPILER_RUN_CHANNELSLAST_H
#define KILN_COMPILER_RUN_CHANNELSLAST_H

#include "compiler/run/Tensor.h"

namespace kiln {

/// The same elements with dimension 1 behind all others: [N, C, H, W] becomes [N, H, W, C]. A tensor of rank 2 or less stays. Fails for lack of memory.
llvm::Expected<Tensor> moveChannelsLast(const Tensor &tensor);

} // namespace kiln

#endif // KILN_COMPILER_RUN_CHANNELSLAST_H
