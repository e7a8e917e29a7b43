//===- PointwiseProducts.cpp - Convolutions of single pixels as products ---===//
//
//   %c = nn.conv %x, %w ... pads [0, 0, 0, 0] groups 2 layout channels_first : tensor<1x8x4x4xf32>, tensor<6x4x1x1xf32> -> tensor<1x6x4x4xf32>
//
// becomes
//
//   %a = nn.reshape %w : tensor<6x4x1x1xf32> -> tensor<1x2x3x4xf32>
//   %b = nn.reshape %x : tensor<1x8x4x4xf32> -> tensor<1x2x4x16xf32>
//   %p = nn.matmul %a, %b : tensor<1x2x3x4xf32>, tensor<1x2x4x16xf32> -> tensor<1x2x3x16xf32>
//   %c = nn.reshape %p : tensor<1x2x3x16xf32> -> tensor<1x6x4x4xf32>
//
//===----------------------------------------------------------------------===//
#include "passes/target/layout/PointwiseProducts.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "passes/target/choice/LibraryMapping.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

/// The limit of operations around a convolution that are looked at.
static constexpr size_t mostSeen = 64;

bool kiln::isSpatial(Operation *op) { return isa<ConvOp, MaxPoolOp, AvgPoolOp>(op); }

/// Whether transposes of this convolution may meet those of another spatial operation: they move past what is Permutable, and past some reshapes.
static bool meetsOthers(ConvOp conv) {
  llvm::SmallSetVector<Operation *, 16> seen;
  auto look = [&](Operation *op) {
    if (op && op != conv && (isSpatial(op) || isa<Permutable, ReshapeOp>(op)))
      seen.insert(op);
  };
  auto lookAround = [&](Operation *op) {
    for (Operation *user : op->getUsers())
      look(user);
    for (Value operand : op->getOperands())
      look(operand.getDefiningOp());
  };
  lookAround(conv);
  for (size_t i = 0; i < seen.size(); ++i) {
    if (isSpatial(seen[i]) || i == mostSeen)
      return true;
    lookAround(seen[i]);
  }
  return false;
}

static bool isPointwiseInGroups(ConvOp conv) {
  auto areAll = [](ArrayRef<int64_t> values, int64_t value) { return llvm::all_of(values, [&](int64_t v) { return v == value; }); };
  Type element = getElementTypeOrSelf(conv.getType());
  RankedTensorType weight = conv.getWeight().getType();
  if (conv.getLayout() != Layout::ChannelsFirst || conv.getGroups() == 1 || !weight.hasStaticShape() || !(element.isF32() || element.isF64()) ||
      getElementTypeOrSelf(conv.getInput()) != element || weight.getElementType() != element)
    return false;
  // A group of one channel in and out is a factor, not a product.
  bool isDepthwise = weight.getDimSize(1) == 1 && weight.getDimSize(0) == static_cast<int64_t>(conv.getGroups());
  return !isDepthwise && areAll(weight.getShape().drop_front(2), 1) && areAll(conv.getStrides(), 1) && areAll(conv.getPads(), 0) && !goesToLibrary(conv);
}

static void makeProduct(ConvOp conv) {
  OpBuilder builder(conv);
  Location loc = conv.getLoc();
  Type element = conv.getType().getElementType();
  DimExprs in = getDims(conv.getInput().getType()), out = getDims(conv.getType());
  auto constant = [&](int64_t value) { return builder.getAffineConstantExpr(value); };
  auto reshape = [&](Value value, DimExprs dims) -> Value { return ReshapeOp::create(builder, loc, makeTensorType(dims, element), value); };
  RankedTensorType weight = conv.getWeight().getType();
  AffineExpr groups = constant(conv.getGroups()), depth = constant(weight.getDimSize(1)), filters = constant(weight.getDimSize(0) / conv.getGroups());
  AffineExpr pixels = getNumElements(ArrayRef(in).drop_front(2), builder.getContext());
  Value left = reshape(conv.getWeight(), {constant(1), groups, filters, depth}), right = reshape(conv.getInput(), {in[0], groups, depth, pixels});
  if (getConstantDim(in[0]) != 1)
    left = BroadcastToOp::create(builder, loc, makeTensorType({in[0], groups, filters, depth}, element), left);
  Value product = MatmulOp::create(builder, loc, makeTensorType({in[0], groups, filters, pixels}, element), left, right);
  conv.replaceAllUsesWith(reshape(product, out));
  conv.erase();
}

void kiln::makePointwiseProducts(ModuleOp module) {
  SmallVector<ConvOp> found;
  module.walk([&](ConvOp conv) {
    if (isPointwiseInGroups(conv) && !meetsOthers(conv))
      found.push_back(conv);
  });
  llvm::for_each(found, makeProduct);
}
