//===- CallKernels.cpp - Kernels of what calls functions: of libraries, of users, of the runtime ---===//
#include "dialects/nn/NNCallOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/lowering/builder/KernelBuilder.h"
#include "passes/lowering/calls/TreeRows.h"
#include "passes/lowering/calls/UserCalls.h"
#include "passes/target/choice/Kernels.h"

using namespace mlir;

namespace kiln {

using namespace nn;

static bool reportsFaults(Operation *anchor) { return cast<RuntimeFunction>(anchor).reportsFaults(); }

ArrayRef<KernelRow> getCallKernels() {
  constexpr llvm::StringLiteral oneDnn = "onednn";
  static const KernelRow rows[] = {
      KernelRow{"onednn_conv", computes<ConvOp>, matchOneDnnConv, lowerOneDnnConv}.calling(oneDnn),
      KernelRow{"onednn_matmul", computes<MatmulOp>, matchOneDnnMatmul, lowerOneDnnMatmul}.calling(oneDnn),
      KernelRow{"onednn_softmax", computes<SoftmaxOp, LogSoftmaxOp>, matchOneDnnSoftmax, lowerOneDnnSoftmax}.calling(oneDnn),
      KernelRow{"onednn_layer_norm", computes<LayerNormOp>, matchOneDnnLayerNorm, lowerOneDnnLayerNorm}.calling(oneDnn),
      KernelRow{"composite_call", computes<CompositeOp>, matchCompositeCall, lowerCompositeCall}.storing(EpilogueSupport::None),
      KernelRow{"extern_call", computes<ExternCallOp>, matchExternCall, lowerExternCall}.storing(EpilogueSupport::None),
      KernelRow{"col2im_planes", computes<Col2ImOp>, matchCol2ImPlanes, lowerCol2ImPlanes}.storing(EpilogueSupport::None),
      KernelRow{"distance_panels", computes<DistancesOp>, matchDistancePanels, lowerDistancePanels}.storing(EpilogueSupport::None),
      KernelRow{"fourier_rows", computes<FourierOp>, matchFourierRows, lowerFourierRows}.storing(EpilogueSupport::None),
      KernelRow{"tree_rows", computes<TreeEnsembleOp>, matchTreeRows, lowerTreeRows}.storing(EpilogueSupport::None),
      KernelRow{"runtime_call", computes<RuntimeFunction>, matchRuntimeCall, lowerRuntimeCall}
          .storing(EpilogueSupport::None)
          .checking(reportsFaults),
  };
  return rows;
}

} // namespace kiln
