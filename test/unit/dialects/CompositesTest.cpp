// Every composite can be taken apart, and everything that is element-wise commutes with a permutation.
#include "dialects/nn/NN.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace kiln::nn;

namespace {

TEST(Composites, EveryFusedKernelIsDecomposable) {
  MLIRContext context;
  context.loadDialect<NNDialect, kiln::kernel::KernelDialect>();
  int composites = 0;
  for (RegisteredOperationName name : context.getRegisteredOperationsByDialect("nn")) {
    if (!name.hasInterface<FusedKernel>())
      continue;
    ++composites;
    EXPECT_TRUE(name.hasInterface<Decomposable>()) << name.getStringRef().str();
  }
  // Softmax, log softmax, hardmax, two norms and the activations: an empty loop must not pass.
  EXPECT_GE(composites, 15);
}

TEST(Composites, EveryScalarBodyIsPermutable) {
  MLIRContext context;
  context.loadDialect<NNDialect, kiln::kernel::KernelDialect>();
  for (RegisteredOperationName name : context.getRegisteredOperationsByDialect("nn"))
    if (name.hasInterface<ScalarBody>())
      EXPECT_TRUE(name.hasInterface<Permutable>()) << name.getStringRef().str();
}

} // namespace
