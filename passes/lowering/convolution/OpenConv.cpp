//===- OpenConv.cpp - A convolution as a product, whatever its filters are -===//
#include "passes/lowering/convolution/OpenConv.h"
#include "passes/target/groups/Places.h"

using namespace mlir;

namespace kiln {

using namespace nn;

OpenConv::OpenConv(ConvOp conv)
    : op(conv), input(cast<BlockArgument>(conv.getInput())), spatial(static_cast<unsigned>(conv.getStrides().size())), groups(conv.getGroups()) {
  DimExprs dims = getDims(conv.getWeight().getType());
  kernel = llvm::map_to_vector(ArrayRef(dims).drop_front(2), [](AffineExpr dim) { return *getConstantDim(dim); });
  inPerGroup = simplifyDim(getDims(input.getType()).back().floorDiv(groups));
  outPerGroup = simplifyDim(dims[0].floorDiv(groups));
}

std::optional<int64_t> OpenConv::rowsApart() const {
  IndexExprs at;
  for (unsigned i = 0; i < spatial + 2; ++i)
    at.push_back(getAffineDimExpr(i, input.getContext()));
  AffineExpr pixel = linearCoefficient(getElementOffset(input, at), spatial);
  return pixel ? getConstantDim(simplifyDim(pixel * op.getStrides().back())) : std::nullopt;
}

AffineExpr OpenConv::tapStride(KernelBuilder &k, unsigned i) const { return simplifyDim(k.elementStride(input, i + 1) * op.getDilations()[i]); }

Contraction OpenConv::pixels(KernelBuilder &k) const {
  Contraction c;
  c.result = op.getResult();
  c.element = op.getType().getElementType();
  c.tile = getTile(k.group());
  c.lhs = k.buffer(input.getArgNumber());
  if (groups > 1)
    c.batch.push_back(k.constant(groups));
  DimExprs output = getDims(op.getType());
  c.rows.assign(output.begin(), output.end() - 1);
  c.columns = outPerGroup;
  c.lhsAt = [&k, conv = *this](ArrayRef<AffineExpr> batch, ArrayRef<AffineExpr> rows) {
    IndexExprs at(rows);
    for (unsigned i = 0; i < conv.spatial; ++i)
      at[i + 1] = at[i + 1] * conv.op.getStrides()[i];
    at.push_back(batch.empty() ? k.constant(0) : batch.front() * conv.inPerGroup);
    return k.elementOffset(conv.input, at);
  };
  c.resultAt = [out = outPerGroup](ArrayRef<AffineExpr> batch, ArrayRef<AffineExpr> rows, AffineExpr column) {
    IndexExprs at(rows);
    at.push_back(batch.empty() ? column : batch.front() * out + column);
    return at;
  };
  c.laneStride = k.constant(1);
  return c;
}

SmallVector<ReductionLoop> OpenConv::reduction(KernelBuilder &k, int64_t width, int64_t together) const {
  AffineExpr steps = simplifyDim(inPerGroup.floorDiv(together));
  SmallVector<ReductionLoop> loops = {{steps, simplifyDim(k.elementStride(input, spatial + 1) * together), k.constant(width * together)}};
  AffineExpr behind = inPerGroup * width;
  for (unsigned i = spatial; i-- > 0;) {
    loops.insert(loops.begin(), {k.constant(kernel[i]), tapStride(k, i), simplifyDim(behind)});
    behind = behind * kernel[i];
  }
  return mergeReduction(loops);
}

} // namespace kiln
