//===- SplitConcats.cpp - Concatenations of very many operands -------------===//
//
//   %r = nn.concat %0, ..., %127, %128      =>      %a = nn.concat %0, ..., %63
//                                                   %b = nn.concat %64, ..., %127
//                                                   %r = nn.concat %a, %b, %128
//
// Nothing is copied twice: the inner concatenations write into their places in the outer one (passes/target/groups/PlaceResults.cpp).
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "passes/Passes.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln {
#define GEN_PASS_DEF_SPLITCONCATS
#include "passes/Passes.h.inc"

/// Operands of one concatenation. A kernel with an argument for each of thousands takes a C++ compiler longer than linearly.
static constexpr size_t mostOperands = 64;

static Value concatenate(OpBuilder &builder, Location loc, ArrayRef<Value> operands, uint64_t axis) {
  if (operands.size() == 1)
    return operands.front();
  DimExprs dims = getDims(operands.front().getType());
  for (Value operand : operands.drop_front())
    dims[axis] = dims[axis] + getDim(operand.getType(), axis);
  return ConcatOp::create(builder, loc, makeTensorType(dims, getElementTypeOrSelf(operands.front())), operands, axis);
}

static void splitConcat(ConcatOp concat) {
  OpBuilder builder(concat);
  SmallVector<Value> operands(concat.getInputs());
  while (operands.size() > mostOperands) {
    SmallVector<Value> joined;
    for (ArrayRef<Value> rest = operands; !rest.empty(); rest = rest.drop_front(std::min(rest.size(), mostOperands)))
      joined.push_back(concatenate(builder, concat.getLoc(), rest.take_front(mostOperands), concat.getAxis()));
    operands = joined;
  }
  concat.getInputsMutable().assign(operands);
}

namespace {
struct SplitConcats : impl::SplitConcatsBase<SplitConcats> {
  void runOnOperation() override {
    getOperation().walk([](ConcatOp concat) { splitConcat(concat); });
  }
};
} // namespace

} // namespace kiln
