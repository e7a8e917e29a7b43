// What holds of every operation of the dialect: composites can be taken apart, element-wise ones permuted, all have their tests.
#include "dialects/nn/NN.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
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

/// The text of a test.
std::string readTest(StringRef name) {
  auto file = llvm::MemoryBuffer::getFile((KILN_SOURCE_DIR "/test/" + name).str());
  return file ? (*file)->getBuffer().str() : std::string();
}

/// Whether the text has the operation, and not only one whose name begins like it.
bool mentions(StringRef text, StringRef operation) {
  for (size_t at = text.find(operation); at != StringRef::npos; at = text.find(operation, at + 1)) {
    StringRef rest = text.drop_front(at + operation.size());
    if (rest.empty() || !(llvm::isAlnum(rest.front()) || rest.front() == '_'))
      return true;
  }
  return false;
}

TEST(Composites, EachIsRecognizedInItsPartsOrSaidNotToBe) {
  MLIRContext context;
  context.loadDialect<NNDialect, kiln::kernel::KernelDialect>();
  std::string parts = readTest("passes/graph/recognize-parts.mlir");
  int composites = 0;
  for (RegisteredOperationName name : context.getRegisteredOperationsByDialect("nn")) {
    if (!name.hasInterface<Decomposable>())
      continue;
    ++composites;
    EXPECT_TRUE(mentions(parts, name.getStringRef())) << name.getStringRef().str() << " is not in recognize-parts.mlir";
  }
  EXPECT_GE(composites, 24);
}

TEST(DialectTests, NameEveryOperation) {
  MLIRContext context;
  context.loadDialect<NNDialect, kiln::kernel::KernelDialect>();
  std::string roundTrip = readTest("dialects/nn/round-trip.mlir"), invalid = readTest("dialects/nn/invalid.mlir");
  int operations = 0;
  for (RegisteredOperationName name : context.getRegisteredOperationsByDialect("nn")) {
    ++operations;
    EXPECT_TRUE(mentions(roundTrip, name.getStringRef())) << name.getStringRef().str() << " has no round trip";
    // Element-wise operations share one verifier.
    if (!name.hasInterface<ScalarBody>())
      EXPECT_TRUE(mentions(invalid, name.getStringRef())) << name.getStringRef().str() << " has no verifier test";
  }
  EXPECT_GE(operations, 90);
}

} // namespace
