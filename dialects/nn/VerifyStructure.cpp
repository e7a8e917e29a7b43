//===- VerifyStructure.cpp - Verifiers of structure and data movement ------===//
#include "dialects/nn/BlockQuantized.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Verify.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

LogicalResult SplatOp::verify() {
  Type have = getValue().getType(), want = getType().getElementType();
  return have == want ? success() : emitOpError() << "value has type " << have << ", the tensor's elements are " << want;
}

LogicalResult DimValuesOp::verify() {
  auto type = getType();
  int64_t count = type.getRank() == 0 ? 1 : type.getRank() == 1 ? type.getDimSize(0) : -1;
  if (count != static_cast<int64_t>(getMap().getNumResults()))
    return emitOpError() << "expected a rank 0 or 1 result with " << getMap().getNumResults() << " elements";
  return success();
}

/// Whether the body has as many operations of these kinds as are between `least` and `most`.
template <typename... Ops>
static bool hasCount(GroupOp group, int64_t least, int64_t most) {
  int64_t count = llvm::count_if(group.getBody().front(), llvm::IsaPred<Ops...>);
  return count >= least && count <= most;
}

static bool hasForm(GroupOp group) {
  switch (group.getForm()) {
  case GroupForm::Plain:
    return true;
  case GroupForm::Strips:
    return hasCount<ConvOp>(group, 2, 3);
  case GroupForm::ProductSoftmax:
    return hasCount<MatmulOp, ConvOp>(group, 1, 1) && hasCount<SoftmaxOp, LogSoftmaxOp>(group, 1, 1);
  case GroupForm::SoftmaxScan:
    return hasCount<SoftmaxOp>(group, 1, 1) && hasCount<ArgReduceOp, TopKOp>(group, 1, 1);
  case GroupForm::GatheredProduct:
    return hasCount<GatherOp>(group, 1, 1) && hasCount<MatmulOp, BlockQuantizedMatmulOp>(group, 1, 1);
  }
  return false;
}

/// Whether a place is a map from the indices of a value to an element of a buffer; unit if the value is dense.
static bool isPlace(Attribute place, Type type) {
  auto map = dyn_cast<AffineMapAttr>(place);
  return isa<UnitAttr>(place) || (map && map.getValue().getNumResults() == 1 &&
                                  static_cast<int64_t>(map.getValue().getNumDims()) == cast<RankedTensorType>(type).getRank());
}

static LogicalResult verifyPlaces(GroupOp group) {
  SmallVector<Type> types(group.getOperandTypes());
  llvm::append_range(types, group.getResultTypes());
  if (ArrayAttr places = group.getPlacesAttr(); places && (places.size() != types.size() || !llvm::all_of_zip(places, types, isPlace)))
    return group.emitOpError("expects in 'places' a map to one element, or unit, for each input and result");
  auto isInput = [&](int64_t input) { return input >= 0 && input < static_cast<int64_t>(group.getInputs().size()); };
  if (auto inputs = group.getInPlace(); inputs && !llvm::all_of(*inputs, isInput))
    return group.emitOpError("expects inputs of its own in 'in_place'; got [") << *inputs << "]";
  if (group.getView() && (group.getInputs().size() != 1 || group.getNumResults() != 1))
    return group.emitOpError("is a 'view', but has not one input and one result");
  return success();
}

LogicalResult GroupOp::verify() {
  if (failed(verifyBody(*this)) || failed(verifyPlaces(*this)))
    return failure();
  return hasForm(*this) ? success() : emitOpError() << "has not the anchors of the form " << stringifyGroupForm(getForm());
}

/// The type of all rows, one for each of `steps`.
static RankedTensorType stackedType(Type row, int64_t axis, AffineExpr steps) {
  DimExprs dims = getDims(row);
  dims.insert(dims.begin() + axis, steps);
  return makeTensorType(dims, getElementTypeOrSelf(row));
}

LogicalResult LoopOp::verify() {
  Block &block = getBody().front();
  size_t states = getCarried().size(), rows = getAxes().size();
  if (block.empty() || !isa<YieldOp>(block.back()))
    return emitOpError("expected a body that ends in nn.yield");
  if (block.getArgumentTypes() != TypeRange(getOperandTypes()))
    return emitOpError("body arguments do not have the types of the operands");
  if (getSteps().getNumResults() != 1 || getSteps().getNumDims() != 0 || getBackwards().size() != rows)
    return emitOpError("expected one number of steps, and one direction for each axis");
  auto yielded = TypeRange(block.getTerminator()->getOperandTypes());
  if (yielded.size() != states + rows || getNumResults() != states + rows || yielded.take_front(states) != TypeRange(getCarried().getTypes()) ||
      TypeRange(getResultTypes()).take_front(states) != TypeRange(getCarried().getTypes()))
    return emitOpError("expected the carried values and rows to keep their types");
  for (auto [axis, row, result] : llvm::zip_equal(getAxes(), yielded.drop_front(states), TypeRange(getResultTypes()).drop_front(states)))
    if (axis < 0 || axis > cast<RankedTensorType>(row).getRank() || stackedType(row, axis, getStepCount()) != result)
      return emitOpError() << "rows of type " << row << " do not become " << result;
  auto goesOn = getConditional() && states > 0 ? dyn_cast<RankedTensorType>(getCarried().front().getType()) : RankedTensorType();
  if (getConditional() && !(goesOn && goesOn.getRank() == 0 && goesOn.getElementType().isInteger(1)))
    return emitOpError("expected a first carried value of type tensor<i1>, the condition");
  return success();
}

LogicalResult ChooseOp::verify() {
  auto type = getCondition().getType();
  return type.getRank() == 0 ? success() : emitOpError() << "expected a condition of rank 0, got " << type;
}

LogicalResult ReshapeOp::verify() {
  AffineExpr from = getNumElements(getDims(getInput().getType()), getContext());
  AffineExpr to = getNumElements(getDims(getType()), getContext());
  if (getInput().getType().getElementType() != getType().getElementType())
    return emitOpError("changes the element type");
  // Symbolic counts may be equal without our being able to show it; static ones may not differ.
  if (isa<AffineConstantExpr>(from) && isa<AffineConstantExpr>(to) && from != to)
    return emitOpError() << "has " << formatDim(from) << " elements before and " << formatDim(to) << " after";
  return success();
}

LogicalResult TransposeOp::verify() {
  DimExprs from = getDims(getInput().getType());
  SmallVector<bool> seen(from.size());
  if (getPermutation().size() != from.size())
    return emitOpError() << "permutation has " << getPermutation().size() << " entries for rank " << from.size();
  DimExprs expected;
  for (int64_t dim : getPermutation()) {
    if (dim < 0 || dim >= static_cast<int64_t>(from.size()) || seen[dim])
      return emitOpError() << "expected a permutation of the dimensions, got entry " << dim;
    seen[dim] = true;
    expected.push_back(from[dim]);
  }
  return verifyDims(*this, getType(), expected, "the result");
}

LogicalResult ConstantOp::verify() {
  return getValue().getType() == getType() ? success() : emitOpError() << "value has type " << getValue().getType();
}

LogicalResult BroadcastToOp::verify() {
  DimExprs from = getDims(getInput().getType()), to = getDims(getType());
  if (from.size() > to.size())
    return emitOpError("lowers the rank");
  for (auto [i, dim] : llvm::enumerate(from)) {
    AffineExpr want = to[to.size() - from.size() + i];
    // A version for special sizes has numbers where others have not: the constraints demand that the result's size is this one.
    bool isDemanded = getConstantDim(dim) && !getConstantDim(want);
    if (getConstantDim(dim) != 1 && !provablyEqual(dim, want) && !mayBroadcast(dim, want) && !isDemanded)
      return emitOpError() << "dimension " << i << " of size " << formatDim(dim) << " does not broadcast to " << formatDim(want);
  }
  return success();
}

LogicalResult SliceOp::verify() {
  size_t rank = getType().getRank();
  if (getSteps().size() != rank || getStarts().getNumResults() != rank || getInput().getType().getRank() != static_cast<int64_t>(rank))
    return emitOpError("expected one start and one step for each dimension");
  for (auto [i, step] : llvm::enumerate(getSteps())) {
    auto start = getConstantDim(getStarts().getResult(i)), size = getConstantDim(getDim(getInput().getType(), i));
    auto extent = getConstantDim(getDim(getType(), i));
    if (step == 0)
      return emitOpError() << "step of dimension " << i << " is zero";
    if (!start || !size || !extent || *extent == 0)
      continue;
    int64_t last = *start + step * (*extent - 1);
    if (*start < 0 || *start >= *size || last < 0 || last >= *size)
      return emitOpError() << "reads [" << *start << ", " << last << "] of dimension " << i << " of size " << *size;
  }
  return success();
}

LogicalResult PadOp::verify() {
  DimExprs from = getDims(getInput().getType()), expected;
  if (getMode() == PadMode::Constant && getValue().getType().getRank() != 0)
    return emitOpError("expected a value of rank 0");
  if (llvm::any_of(getInterior(), [&](int64_t count) { return count < 0 || (count > 0 && getMode() != PadMode::Constant); }))
    return emitOpError("interior elements must be of mode constant and not negative in number");
  if (getLow().getNumResults() != from.size() || getHigh().getNumResults() != from.size() || getInterior().size() != from.size())
    return emitOpError("expected low, high and interior for each dimension");
  for (auto [i, dim] : llvm::enumerate(from)) {
    AffineExpr inner = getInterior()[i] ? dim + (dim - 1) * getInterior()[i] : dim;
    expected.push_back(inner + getLow().getResult(i) + getHigh().getResult(i));
  }
  return verifyDims(*this, getType(), expected, "the result");
}

LogicalResult ConcatOp::verify() {
  if (getInputs().empty())
    return emitOpError("expected at least one operand");
  if (failed(verifyAxis(*this, getAxis(), getType())))
    return failure();
  AffineExpr sum = getAffineConstantExpr(0, getContext());
  DimExprs expected = getDims(getType());
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    if (cast<RankedTensorType>(input.getType()).getRank() != static_cast<int64_t>(expected.size()))
      return emitOpError() << "operand " << i << " has another rank than the result";
    if (getElementTypeOrSelf(input) != getType().getElementType())
      return emitOpError() << "operand " << i << " has another element type than the result";
    AffineExpr extent = getDim(input.getType(), getAxis());
    DimExprs own = expected;
    own[getAxis()] = extent;
    if (failed(verifyDims(*this, input.getType(), own, "operand " + std::to_string(i))))
      return failure();
    sum = sum + extent;
  }
  expected[getAxis()] = sum;
  return verifyDims(*this, getType(), expected, "the result");
}

LogicalResult GatherOp::verify() {
  if (failed(verifyAxis(*this, getAxis(), getInput().getType())))
    return failure();
  DimExprs expected = getDims(getInput().getType()), indices = getDims(getIndices().getType());
  expected.erase(expected.begin() + getAxis());
  expected.insert(expected.begin() + getAxis(), indices.begin(), indices.end());
  return verifyDims(*this, getType(), expected, "the result");
}

/// Each extent of `small` fits in that of `large`, the axis excepted; dimensions that are not known are taken on trust.
static LogicalResult verifyFits(Operation *op, ArrayRef<AffineExpr> small, ArrayRef<AffineExpr> large, uint64_t axis, StringRef what) {
  if (small.size() != large.size())
    return op->emitOpError() << what << " have rank " << small.size() << ", the input has rank " << large.size();
  for (auto [i, a, b] : llvm::enumerate(small, large)) {
    auto have = getConstantDim(a), limit = getConstantDim(b);
    if (i != axis && have && limit && *have > *limit)
      return op->emitOpError() << "dimension " << i << " of " << what << " is " << *have << ", but the input has only " << *limit;
  }
  return success();
}

LogicalResult GatherElementsOp::verify() {
  if (failed(verifyAxis(*this, getAxis(), getInput().getType())))
    return failure();
  DimExprs indices = getDims(getIndices().getType());
  if (failed(verifyFits(*this, indices, getDims(getInput().getType()), getAxis(), "the indices")))
    return failure();
  return verifyDims(*this, getType(), indices, "the result");
}

/// The extent of the last dimension of indices that are coordinate tuples; -1 when the operation is wrong.
static int64_t tupleSize(Operation *op, ArrayRef<AffineExpr> indices, int64_t limit) {
  auto size = indices.empty() ? std::nullopt : getConstantDim(indices.back());
  if (!size || *size < 1 || *size > limit) {
    op->emitOpError() << "expected indices that end in tuples of 1 to " << limit << " coordinates";
    return -1;
  }
  return *size;
}

LogicalResult GatherNdOp::verify() {
  DimExprs input = getDims(getInput().getType()), indices = getDims(getIndices().getType());
  int64_t batch = getBatchDims(), rank = input.size();
  if (batch < 0 || batch >= rank || batch >= static_cast<int64_t>(indices.size()))
    return emitOpError() << batch << " batch dimensions do not leave one of the input and one of the indices";
  int64_t size = tupleSize(*this, indices, rank - batch);
  if (size < 0)
    return failure();
  DimExprs expected(indices.begin(), indices.end() - 1);
  expected.append(input.begin() + batch + size, input.end());
  return verifyDims(*this, getType(), expected, "the result");
}

LogicalResult ScatterElementsOp::verify() {
  if (failed(verifyAxis(*this, getAxis(), getInput().getType())))
    return failure();
  DimExprs indices = getDims(getIndices().getType());
  if (failed(verifyFits(*this, indices, getDims(getInput().getType()), getAxis(), "the indices")))
    return failure();
  return verifyDims(*this, getUpdates().getType(), indices, "the updates");
}

LogicalResult ScatterNdOp::verify() {
  DimExprs input = getDims(getInput().getType()), indices = getDims(getIndices().getType());
  int64_t size = tupleSize(*this, indices, input.size());
  if (size < 0)
    return failure();
  DimExprs expected(indices.begin(), indices.end() - 1);
  expected.append(input.begin() + size, input.end());
  return verifyDims(*this, getUpdates().getType(), expected, "the updates");
}

LogicalResult IotaOp::verify() { return verifyAxis(*this, getAxis(), getType()); }

LogicalResult ResizeOp::verify() {
  size_t rank = getInput().getType().getRank();
  if (getType().getRank() != static_cast<int64_t>(rank) || getScales().size() != rank)
    return emitOpError() << "expected a result of rank " << rank << " and as many scales";
  if (getRoi() && getRoi()->size() != 2 * rank)
    return emitOpError() << "expected " << 2 * rank << " numbers in the region, got " << getRoi()->size();
  static constexpr StringRef transforms[] = {"half_pixel",           "asymmetric", "align_corners", "pytorch_half_pixel",
                                             "half_pixel_symmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"};
  if (!llvm::is_contained(transforms, getCoordinates()))
    return emitOpError() << "unknown coordinates \"" << getCoordinates() << "\"";
  static constexpr StringRef roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  if (getMode() == ResizeMode::Nearest && !llvm::is_contained(roundings, getNearest()))
    return emitOpError() << "unknown rounding \"" << getNearest() << "\"";
  return success();
}
