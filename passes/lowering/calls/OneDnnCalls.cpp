//===- OneDnnCalls.cpp - Kernels that call oneDNN --------------------------===//
//
//   nn.group { nn.conv, nn.add of a bias, nn.relu }   =>   const int64_t shape[21] = {flags, layout, ...};
//                                                          kiln::report(status, kiln_onednn_conv(state, begin, end, threads, in, weight0, ...));
//
// runtime/include/kiln/onednn.h says what the numbers of `shape` are. The buffers go to the library as they are.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/lowering/contraction/ContractionLoops.h"
#include "passes/target/choice/Kernels.h"
#include "passes/target/choice/LibraryMapping.h"

#include "kiln/onednn.h"

using namespace mlir;

namespace kiln {

using namespace nn;

namespace {
/// What goes with the anchor.
struct Epilogue {
  int64_t flags = 0;
  /// The bias's argument of the group.
  unsigned bias = 0;
};
} // namespace

/// A vector along dimension `dim` that lies dense in one of the group's inputs: its argument.
static std::optional<unsigned> findVector(Value value, unsigned dim) {
  auto view = traceLinearView(value);
  if (!view || !isa<AffineDimExpr>(view->offset) || cast<AffineDimExpr>(view->offset).getPosition() != dim)
    return std::nullopt;
  return view->argument;
}

/// nullopt when something behind the anchor is none of what the library has.
static std::optional<Epilogue> readEpilogue(GroupOp group, Operation *anchor) {
  Epilogue epilogue;
  Operation *last = anchor;
  while (true) {
    if (!last->hasOneUse())
      return std::nullopt;
    Operation *next = *last->user_begin();
    if (next == group.getTerminator())
      return next->getNumOperands() == 1 ? std::optional(epilogue) : std::nullopt;
    if (isa<ReluOp>(next) && !(epilogue.flags & KILN_ONEDNN_RELU)) {
      epilogue.flags |= KILN_ONEDNN_RELU;
    } else if (isa<AddOp>(next) && !epilogue.flags) {
      Value other = next->getOperand(next->getOperand(0) == last->getResult(0) ? 1 : 0);
      auto bias = findVector(other, getBiasDim(anchor));
      if (!bias)
        return std::nullopt;
      epilogue.flags |= KILN_ONEDNN_BIAS;
      epilogue.bias = *bias;
    } else {
      return std::nullopt;
    }
    last = next;
  }
}

static std::string describeEpilogue(const Epilogue &epilogue) {
  if (!epilogue.flags)
    return "";
  bool both = (epilogue.flags & KILN_ONEDNN_BIAS) && (epilogue.flags & KILN_ONEDNN_RELU);
  return std::string(" with its ") + (both ? "bias and relu" : epilogue.flags & KILN_ONEDNN_BIAS ? "bias" : "relu");
}

/// Whether oneDNN takes the anchor and what is behind it.
static KernelMatch matchCall(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  std::optional<LibraryAnswer> answer = askLibraries(anchor, target);
  if (!answer)
    return refuse("the target does not list the library for " + anchor->getName().getStringRef());
  if (!answer->takes)
    return refuse(answer->reason);
  std::optional<Epilogue> epilogue = readEpilogue(group, anchor);
  if (!epilogue)
    return refuse("more than a bias and a relu follow in the group");
  return accept("library onednn: " + answer->reason + "; " + anchor->getName().stripDialect() + (usesLibraryWinograd(anchor) ? " by Winograd" : "") +
                describeEpilogue(*epilogue));
}

/// What a function that takes buffers only says of other operands.
static KernelMatch refuseViews() { return refuse("its operands are views that it has no form for"); }
static bool isBuffer(Value value) { return isa<BlockArgument>(value); }

/// Calls `name` with the state, the tasks, their number, then `operands`, then the array of numbers.
static void callOneDnn(KernelBuilder &k, StringRef name, ArrayRef<Value> operands, ArrayRef<AffineExpr> numbers) {
  SmallVector<Value> values;
  for (AffineExpr number : numbers)
    values.push_back(k.emit(number));
  OpBuilder &b = k.builder();
  auto fixed = MemRefType::get({static_cast<int64_t>(values.size())}, b.getI64Type()), any = MemRefType::get({ShapedType::kDynamic}, b.getI64Type());
  Value shape = kernel::NumbersOp::create(b, NameLoc::get(b.getStringAttr("shape")), fixed, values);
  // Each task is a part; there are as many as threads.
  Value state = k.state(KILN_ONEDNN_STATE_BYTES), parts = k.threads();
  SmallVector<Value> all{state, k.firstTaskValue(), k.endTaskValue(), parts};
  llvm::append_range(all, operands);
  all.push_back(memref::CastOp::create(b, k.loc(), any, shape));
  Value out = k.resultBuffer(0);
  int64_t written = llvm::find(all, out) - all.begin();
  k.callExternal(name, all, {0, written}, "kiln/onednn.h", "onednn");
}

//===- Convolution ----------------------------------------------------------===//

KernelMatch matchOneDnnConv(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto conv = cast<ConvOp>(anchor);
  return isBuffer(conv.getInput()) && isBuffer(conv.getWeight()) ? matchCall(group, anchor, target) : refuseViews();
}

FailureOr<LaunchInfo> lowerOneDnnConv(KernelBuilder &k, Operation *anchor) {
  auto conv = cast<ConvOp>(anchor);
  std::optional<Epilogue> epilogue = readEpilogue(k.group(), anchor);
  bool last = conv.getLayout() == Layout::ChannelsLast;
  DimExprs in = getDims(conv.getInput().getType()), out = getDims(conv.getType()), weight = getDims(conv.getWeight().getType());
  size_t spatial = conv.getStrides().size(), first = last ? 1 : 2, channel = last ? spatial + 1 : 1;
  int64_t flags = epilogue->flags | (usesLibraryWinograd(conv) ? KILN_ONEDNN_WINOGRAD : 0);
  SmallVector<AffineExpr> numbers{k.constant(flags), k.constant(last), k.constant(spatial), in[0], k.constant(conv.getGroups()), in[channel], out[channel]};
  auto add = [&](ArrayRef<AffineExpr> dims) { llvm::append_range(numbers, dims); };
  auto addConstants = [&](ArrayRef<int64_t> values) {
    for (int64_t value : values)
      numbers.push_back(k.constant(value));
  };
  add(ArrayRef(in).slice(first, spatial));
  add(ArrayRef(out).slice(first, spatial));
  add(ArrayRef(weight).drop_front(2));
  addConstants(conv.getStrides());
  addConstants(conv.getDilations());
  addConstants(conv.getPads());
  Value input = k.buffer(cast<BlockArgument>(conv.getInput()).getArgNumber()), filters = k.buffer(cast<BlockArgument>(conv.getWeight()).getArgNumber());
  Value bias = epilogue->flags & KILN_ONEDNN_BIAS ? k.buffer(epilogue->bias) : filters;
  callOneDnn(k, "kiln_onednn_conv", {input, filters, bias, k.resultBuffer(0)}, numbers);
  AffineExpr products = getNumElements(out, k.context());
  for (AffineExpr extent : ArrayRef(weight).drop_front())
    products = products * extent;
  AffineExpr elements = getNumElements(in, k.context()) + getNumElements(out, k.context()) + getNumElements(weight, k.context());
  return LaunchInfo{k.constant(1), simplifyDim(products * 2), simplifyDim(elements * 4), /*byThreads=*/true};
}

//===- Matrix products ------------------------------------------------------===//

namespace {
/// A product whose operands are strided matrices.
struct StridedProduct {
  TracedView lhs, rhs;
  /// Result dims without the last; the rows of all batches when there is one right side for them.
  DimExprs rows;
  SmallVector<AffineExpr> lhsStrides, rhsStrides;
  AffineExpr columns, depth;

  static std::optional<StridedProduct> match(MatmulOp op);
  bool isSupported() const;

private:
  void mergeRows();
};
} // namespace

/// The element at index zero.
static AffineExpr firstElement(AffineExpr offset) {
  SmallVector<AffineExpr> zeros(16, getAffineConstantExpr(0, offset.getContext()));
  return simplifyDim(offset.replaceDims(zeros));
}

std::optional<StridedProduct> StridedProduct::match(MatmulOp op) {
  auto lhs = traceLinearView(op.getLhs()), rhs = traceLinearView(op.getRhs());
  if (!lhs || !rhs)
    return std::nullopt;
  DimExprs extents = getDims(op.getType());
  unsigned rank = extents.size(), rhsRank = cast<RankedTensorType>(op.getRhs().getType()).getRank(), missing = rank - rhsRank;
  StridedProduct product{*lhs, *rhs, DimExprs(ArrayRef(extents).drop_back()), {}, {}, extents.back(), getDims(op.getLhs().getType()).back()};
  AffineExpr zero = getAffineConstantExpr(0, op.getContext());
  for (unsigned i = 0; i < rank; ++i) {
    product.lhsStrides.push_back(linearCoefficient(lhs->offset, i));
    product.rhsStrides.push_back(i < missing ? zero : linearCoefficient(rhs->offset, i - missing));
  }
  product.mergeRows();
  return product;
}

/// One right side for all: batches are rows where they lie evenly.
void StridedProduct::mergeRows() {
  auto isZero = [](AffineExpr expr) { return expr == getAffineConstantExpr(0, expr.getContext()); };
  while (rows.size() > 1) {
    size_t row = rows.size() - 1, outer = row - 1;
    if (!isZero(rhsStrides[outer]) || simplifyDim(lhsStrides[row] * rows[row]) != lhsStrides[outer])
      return;
    rows[outer] = simplifyDim(rows[outer] * rows[row]);
    lhsStrides[outer] = lhsStrides[row];
    rows.erase(rows.begin() + row);
    lhsStrides.erase(lhsStrides.begin() + row);
    // The strides of the right side's rows are for the depth.
    rhsStrides.erase(rhsStrides.begin() + outer);
  }
}

/// oneDNN's fast products want one dimension of each matrix without gaps; other strides that are 0 repeat what it does not repeat.
bool StridedProduct::isSupported() const {
  auto isNumber = [](AffineExpr expr, int64_t number) { return getConstantDim(expr) == number; };
  auto isMatrix = [&](ArrayRef<AffineExpr> strides, AffineExpr outer, AffineExpr inner) {
    AffineExpr first = strides[strides.size() - 2], second = strides.back();
    bool repeats = (isNumber(first, 0) && !isNumber(outer, 1)) || (isNumber(second, 0) && !isNumber(inner, 1));
    return !repeats && (isNumber(first, 1) || isNumber(second, 1));
  };
  bool repeatsBatch = false;
  for (size_t i = 0; i + 1 < rows.size(); ++i)
    repeatsBatch |= isNumber(lhsStrides[i], 0);
  auto isPositive = [](AffineExpr stride) { return getConstantDim(stride).value_or(0) >= 0; };
  return rows.size() <= 5 && !repeatsBatch && isMatrix(lhsStrides, rows.back(), depth) && isMatrix(rhsStrides, depth, columns) &&
         llvm::all_of(lhsStrides, isPositive) && llvm::all_of(rhsStrides, isPositive);
}

KernelMatch matchOneDnnMatmul(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto product = StridedProduct::match(cast<MatmulOp>(anchor));
  return product && product->isSupported() ? matchCall(group, anchor, target) : refuseViews();
}

FailureOr<LaunchInfo> lowerOneDnnMatmul(KernelBuilder &k, Operation *anchor) {
  auto op = cast<MatmulOp>(anchor);
  auto product = StridedProduct::match(op);
  std::optional<Epilogue> epilogue = readEpilogue(k.group(), anchor);
  bool constant = k.isConstant(product->rhs.argument);
  int64_t flags = epilogue->flags | (constant ? KILN_ONEDNN_CONSTANT : 0);
  AffineExpr lhsAt = firstElement(product->lhs.offset), rhsAt = firstElement(product->rhs.offset);
  SmallVector<AffineExpr> numbers{k.constant(flags), k.constant(product->rows.size() + 1), lhsAt, rhsAt};
  llvm::append_range(numbers, product->rows);
  numbers.append({product->columns, product->depth});
  llvm::append_range(numbers, product->lhsStrides);
  llvm::append_range(numbers, product->rhsStrides);
  Value lhs = k.buffer(product->lhs.argument), rhs = k.buffer(product->rhs.argument);
  Value bias = epilogue->flags & KILN_ONEDNN_BIAS ? k.buffer(epilogue->bias) : rhs;
  callOneDnn(k, "kiln_onednn_matmul", {lhs, rhs, bias, k.resultBuffer(0)}, numbers);
  DimExprs out = getDims(op.getType());
  AffineExpr elements = getNumElements(out, k.context());
  AffineExpr read = getNumElements(getDims(op.getLhs().getType()), k.context()) + getNumElements(getDims(op.getRhs().getType()), k.context());
  return LaunchInfo{k.constant(1), simplifyDim(elements * product->depth * 2), simplifyDim((elements + read) * 4), /*byThreads=*/true};
}

//===- Rows -----------------------------------------------------------------===//

/// All but the normalized dimensions together, and these.
static std::pair<AffineExpr, AffineExpr> splitRows(KernelBuilder &k, Value tensor, unsigned axis) {
  DimExprs dims = getDims(tensor.getType());
  return {simplifyDim(getNumElements(ArrayRef(dims).take_front(axis), k.context())), simplifyDim(getNumElements(ArrayRef(dims).drop_front(axis), k.context()))};
}

KernelMatch matchOneDnnSoftmax(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  return isBuffer(anchor->getOperand(0)) ? matchCall(group, anchor, target) : refuseViews();
}

FailureOr<LaunchInfo> lowerOneDnnSoftmax(KernelBuilder &k, Operation *anchor) {
  Value input = anchor->getOperand(0);
  auto [rows, length] = splitRows(k, input, cast<RankedTensorType>(input.getType()).getRank() - 1);
  int64_t flags = isa<LogSoftmaxOp>(anchor) ? KILN_ONEDNN_LOG : 0;
  Value buffer = k.buffer(cast<BlockArgument>(input).getArgNumber());
  callOneDnn(k, "kiln_onednn_softmax", {buffer, k.resultBuffer(0)}, {k.constant(flags), rows, length});
  return LaunchInfo{k.constant(1), simplifyDim(rows * length * 5), simplifyDim(rows * length * 8), /*byThreads=*/true};
}

KernelMatch matchOneDnnLayerNorm(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  return llvm::all_of(anchor->getOperands(), isBuffer) ? matchCall(group, anchor, target) : refuseViews();
}

FailureOr<LaunchInfo> lowerOneDnnLayerNorm(KernelBuilder &k, Operation *anchor) {
  auto norm = cast<LayerNormOp>(anchor);
  auto [rows, length] = splitRows(k, norm.getInput(), norm.getAxis());
  auto buffer = [&](Value value) { return k.buffer(cast<BlockArgument>(value).getArgNumber()); };
  Value scale = buffer(norm.getScale()), bias = norm.getBias() ? buffer(norm.getBias()) : scale;
  Value epsilon = k.number(norm.getType().getElementType(), norm.getEpsilon().convertToDouble());
  callOneDnn(k, "kiln_onednn_layer_norm", {buffer(norm.getInput()), scale, bias, k.resultBuffer(0), epsilon},
             {k.constant(norm.getBias() ? KILN_ONEDNN_BIAS : 0), rows, length});
  return LaunchInfo{k.constant(1), simplifyDim(rows * length * 8), simplifyDim(rows * length * 8), /*byThreads=*/true};
}

} // namespace kiln
