//===- OrderFilters.cpp - Computed filters with output channels side by side ===//
//
//   %r = nn.conv %x, %w ... layout channels_last : tensor<1x9x9x8xf32>, tensor<16x8x3x3xf32> -> tensor<1x7x7x16xf32>
//
// becomes, where a run computes %w,
//
//   %a = nn.reshape %w : tensor<16x8x3x3xf32> -> tensor<16x8x9xf32>
//   %b = nn.transpose %a [2, 1, 0] : tensor<16x8x9xf32> -> tensor<9x8x16xf32>
//   %c = nn.reshape %b : tensor<9x8x16xf32> -> tensor<3x3x8x16xf32>
//   %d = nn.transpose %c [3, 2, 0, 1] : tensor<3x3x8x16xf32> -> tensor<16x8x3x3xf32>
//   %r = nn.conv %x, %d ...
//
// The first transpose moves the elements once in a run. The second one is a view that the kernel of the convolution looks through, so that its vectors run
// across the output channels. Constant filters are packed at compile time instead.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Permute.h"
#include "dialects/nn/Scalar.h"
#include "passes/Passes.h"
#include "passes/target/choice/LibraryMapping.h"
#include "passes/target/groups/PackedInputs.h"
#include "passes/target/groups/Views.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace kiln {
#define GEN_PASS_DEF_ORDERFILTERS
#include "passes/Passes.h.inc"
} // namespace kiln

/// Whether a kernel should read its filters so: computed ones of real numbers, under a window of known size, that do not lie so already.
static bool readsOrdered(ConvOp conv) {
  Value weight = conv.getWeight();
  ArrayRef<int64_t> shape = conv.getWeight().getType().getShape();
  bool isOpen = ShapedType::isDynamicShape(shape.drop_front(conv.getGroups() == 1 ? 2 : 0));
  return conv.getLayout() == Layout::ChannelsLast && !weight.getDefiningOp<ConstantOp>() && !isPacked(weight) && !areOrderedFilters(weight) && !isOpen &&
         !llvm::is_contained(shape, 0) && computesInF32(weight.getType()) && computesInF32(conv.getInput().getType()) && computesInF32(conv.getType()) &&
         !goesToLibrary(conv);
}

static Value orderFilters(OpBuilder &builder, Location loc, Value weight) {
  DimExprs dims = getDims(weight.getType());
  Type element = getElementTypeOrSelf(weight);
  AffineExpr taps = builder.getAffineConstantExpr(1);
  for (AffineExpr dim : ArrayRef(dims).drop_front(2))
    taps = simplifyDim(taps * dim);
  Value flat = ReshapeOp::create(builder, loc, makeTensorType({dims[0], dims[1], taps}, element), weight);
  SmallVector<int64_t> reversed{2, 1, 0}, back{static_cast<int64_t>(dims.size()) - 1, static_cast<int64_t>(dims.size()) - 2};
  Value moved = TransposeOp::create(builder, loc, permuteType(flat.getType(), reversed), flat, reversed);
  DimExprs ordered(ArrayRef(dims).drop_front(2));
  ordered.append({dims[1], dims[0]});
  Value window = ReshapeOp::create(builder, loc, makeTensorType(ordered, element), moved);
  llvm::append_range(back, llvm::seq<int64_t>(0, static_cast<int64_t>(dims.size()) - 2));
  return TransposeOp::create(builder, loc, weight.getType(), window, back);
}

namespace {
struct OrderFiltersPass : kiln::impl::OrderFiltersBase<OrderFiltersPass> {
  void runOnOperation() override {
    // Convolutions of one block share what they have in common.
    DenseMap<std::pair<Value, Block *>, Value> ordered;
    getOperation().walk([&](ConvOp conv) {
      if (!readsOrdered(conv))
        return;
      Value &filters = ordered[{conv.getWeight(), conv->getBlock()}];
      if (!filters) {
        OpBuilder builder(conv);
        filters = orderFilters(builder, conv.getLoc(), conv.getWeight());
      }
      conv.getWeightMutable().assign(filters);
    });
  }
};
} // namespace
