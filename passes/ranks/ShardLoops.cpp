//===- ShardLoops.cpp - How the nn operations can be cut --------------------===//
#include "passes/ranks/ShardLoops.h"
#include "dialects/nn/BlockQuantized.h"
#include "dialects/nn/Dims.h"
#include "passes/ranks/RecurrentGates.h"

#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Shard/Interfaces/ShardingInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {

using namespace nn;
using shard::ReductionKind;

namespace {

/// The loops of one operation.
class Loops {
public:
  explicit Loops(Operation *op) : op(op) {}

  AffineExpr parallel() {
    types.push_back(utils::IteratorType::parallel);
    return getAffineDimExpr(types.size() - 1, op->getContext());
  }
  AffineExpr reduction(ReductionKind kind) {
    types.push_back(utils::IteratorType::reduction);
    kinds.push_back(kind);
    return getAffineDimExpr(types.size() - 1, op->getContext());
  }
  /// A dimension that is not cut.
  AffineExpr whole() const { return getAffineConstantExpr(0, op->getContext()); }
  SmallVector<AffineExpr> wholes(size_t count) const { return SmallVector<AffineExpr>(count, whole()); }
  SmallVector<AffineExpr> parallels(size_t count) {
    SmallVector<AffineExpr> exprs;
    for (size_t i = 0; i < count; ++i)
      exprs.push_back(parallel());
    return exprs;
  }
  /// The map of the next operand or result.
  void map(ArrayRef<AffineExpr> exprs) { results.emplace_back(exprs); }

  std::vector<AffineMap> maps() const {
    std::vector<AffineMap> all;
    for (ArrayRef<AffineExpr> exprs : results)
      all.push_back(AffineMap::get(types.size(), 0, exprs, op->getContext()));
    return all;
  }

  SmallVector<utils::IteratorType> types;
  SmallVector<ReductionKind> kinds;

private:
  Operation *op;
  std::vector<SmallVector<AffineExpr>> results;
};

} // namespace

static size_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

//===- Families of operations ------------------------------------------------===//

/// All tensors have one shape.
static void describeElementwise(Operation *op, Loops &loops) {
  SmallVector<AffineExpr> all = loops.parallels(rankOf(op->getResult(0)));
  for (unsigned i = 0; i < op->getNumOperands() + op->getNumResults(); ++i)
    loops.map(all);
}

/// A dimension of a view is cut with that of the operand that it shows as it is.
static void describeView(Operation *op, AffineMap index, Loops &loops) {
  DimExprs from = getDims(op->getOperand(0).getType()), to = getDims(op->getResult(0).getType());
  SmallVector<AffineExpr> operand = loops.wholes(from.size()), result;
  for (size_t i = 0; i < to.size(); ++i) {
    AffineExpr loop = loops.whole();
    auto shows = [&](AffineExpr expr) { return expr.isFunctionOfDim(i); };
    auto found = llvm::find_if(index.getResults(), shows);
    // Repeated elements, too, are cut with the result.
    if (found == index.getResults().end()) {
      loop = loops.parallel();
    } else if (size_t place = found - index.getResults().begin(); isa<AffineDimExpr>(*found) && provablyEqual(from[place], to[i])) {
      loop = loops.parallel();
      operand[place] = loop;
    }
    result.push_back(loop);
  }
  loops.map(operand);
  loops.map(result);
}

static void describeMatmul(MatmulOp op, Loops &loops) {
  SmallVector<AffineExpr> batch = loops.parallels(rankOf(op.getLhs()) - 2);
  AffineExpr m = loops.parallel(), n = loops.parallel(), k = loops.reduction(ReductionKind::Sum);
  auto with = [&](bool batched, AffineExpr row, AffineExpr column) {
    SmallVector<AffineExpr> exprs(batched ? batch : SmallVector<AffineExpr>());
    exprs.append({row, column});
    loops.map(exprs);
  };
  with(true, m, k);
  with(rankOf(op.getRhs()) > 2, k, n);
  with(true, m, n);
}

static void describeBlockProduct(BlockQuantizedMatmulOp op, Loops &loops) {
  SmallVector<AffineExpr> rows = loops.parallels(rankOf(op.getLhs()) - 1);
  AffineExpr n = loops.parallel(), k = loops.reduction(ReductionKind::Sum);
  auto behindRows = [&](AffineExpr last) {
    SmallVector<AffineExpr> exprs(rows);
    exprs.push_back(last);
    loops.map(exprs);
  };
  behindRows(k);
  loops.map({n, k, loops.whole()});
  loops.map({n, k});
  if (op.getZeroPoint())
    loops.map({n, k});
  if (op.getLhsScale())
    behindRows(k);
  if (op.getLhsSum())
    behindRows(k);
  behindRows(n);
}

/// [N, C, spatial...] with either layout.
static SmallVector<AffineExpr> imageDims(Layout layout, AffineExpr batch, AffineExpr channels, size_t rank, const Loops &loops) {
  SmallVector<AffineExpr> exprs = loops.wholes(rank);
  exprs[0] = batch;
  exprs[layout == Layout::ChannelsFirst ? 1 : rank - 1] = channels;
  return exprs;
}

/// Filters are cut into parts that make the channels of the result. In a depthwise convolution, or another one in groups, the channels of the operand go with
/// them; otherwise the sum over these channels can be cut.
static void describeConv(ConvOp op, Loops &loops) {
  size_t rank = rankOf(op.getInput());
  AffineExpr batch = loops.parallel(), filters = loops.parallel();
  bool isGrouped = op.getGroups() > 1;
  AffineExpr sum = isGrouped ? loops.whole() : loops.reduction(ReductionKind::Sum);
  loops.map(imageDims(op.getLayout(), batch, isGrouped ? filters : sum, rank, loops));
  SmallVector<AffineExpr> weight = loops.wholes(rank);
  weight[0] = filters;
  weight[1] = sum;
  loops.map(weight);
  loops.map(imageDims(op.getLayout(), batch, filters, rank, loops));
}

/// The weight is [in, out, kernel...]. In groups, channels are those of one group each.
static void describeConvTranspose(ConvTransposeOp op, Loops &loops) {
  size_t rank = rankOf(op.getInput());
  AffineExpr batch = loops.parallel();
  AffineExpr filters = op.getGroups() == 1 ? loops.parallel() : loops.whole(), sum = op.getGroups() == 1 ? loops.reduction(ReductionKind::Sum) : loops.whole();
  loops.map(imageDims(op.getLayout(), batch, sum, rank, loops));
  SmallVector<AffineExpr> weight = loops.wholes(rank);
  weight[0] = sum;
  weight[1] = filters;
  loops.map(weight);
  loops.map(imageDims(op.getLayout(), batch, filters, rank, loops));
}

static void describePool(Operation *op, Loops &loops) {
  AffineExpr batch = loops.parallel(), channels = loops.parallel();
  for (Value tensor : {op->getOperand(0), Value(op->getResult(0))})
    loops.map(imageDims(cast<Windowed>(op).getLayout(), batch, channels, rankOf(tensor), loops));
}

/// Everything but the dimensions from `first` to `last` is computed by itself. All tensors but those of these dimensions alone have the shape of the result.
static void describeRows(Operation *op, size_t first, size_t last, Loops &loops) {
  SmallVector<AffineExpr> all = loops.parallels(rankOf(op->getResult(0)));
  for (size_t i = first; i < last; ++i)
    all[i] = loops.whole();
  auto add = [&](Value tensor) { loops.map(rankOf(tensor) == all.size() ? all : loops.wholes(rankOf(tensor))); };
  llvm::for_each(op->getOperands(), add);
  llvm::for_each(op->getResults(), add);
}

static void describeAttention(AttentionOp op, Loops &loops) {
  SmallVector<AffineExpr> batch = loops.parallels(rankOf(op.getQuery()) - 2);
  // Where a query stands decides what it sees.
  AffineExpr query = op.getCausal() ? loops.whole() : loops.parallel(), feature = loops.parallel();
  auto behindBatch = [&](AffineExpr row, AffineExpr column) {
    SmallVector<AffineExpr> exprs(batch);
    exprs.append({row, column});
    loops.map(exprs);
  };
  behindBatch(query, loops.whole());
  behindBatch(loops.whole(), loops.whole());
  behindBatch(loops.whole(), feature);
  if (op.getBias())
    behindBatch(query, loops.whole());
  if (op.getKeep())
    behindBatch(query, loops.whole());
  behindBatch(query, feature);
}

static void describeReduce(ReduceOp op, Loops &loops) {
  SmallVector<AffineExpr> operand, result;
  for (size_t i = 0; i < rankOf(op.getInput()); ++i) {
    bool isReduced = llvm::is_contained(op.getAxes(), static_cast<int64_t>(i));
    auto kind = op.getKind();
    std::optional<ReductionKind> combination;
    // The mean of means of equal parts is their mean, too.
    if (kind == ReduceKind::Sum || (kind == ReduceKind::Mean && isa<FloatType>(op.getType().getElementType())))
      combination = ReductionKind::Sum;
    else if (kind == ReduceKind::Max)
      combination = ReductionKind::Max;
    else if (kind == ReduceKind::Min)
      combination = ReductionKind::Min;
    else if (kind == ReduceKind::Prod)
      combination = ReductionKind::Product;
    AffineExpr loop = !isReduced ? loops.parallel() : combination ? loops.reduction(*combination) : loops.whole();
    operand.push_back(loop);
    result.push_back(isReduced ? loops.whole() : loop);
  }
  loops.map(operand);
  loops.map(result);
}

static void describeGather(GatherOp op, Loops &loops) {
  size_t axis = op.getAxis();
  SmallVector<AffineExpr> input = loops.parallels(rankOf(op.getInput())), indices = loops.parallels(rankOf(op.getIndices())), result;
  input[axis] = loops.whole();
  result.append(input.begin(), input.begin() + axis);
  result.append(indices);
  result.append(input.begin() + axis + 1, input.end());
  loops.map(input);
  loops.map(indices);
  loops.map(result);
}

/// Updates go where the input's elements of the same other dimensions are.
static void describeScatter(ScatterElementsOp op, Loops &loops) {
  SmallVector<AffineExpr> all;
  for (size_t i = 0; i < rankOf(op.getInput()); ++i) {
    bool isAligned = i != op.getAxis() && provablyEqual(getDim(op.getInput().getType(), i), getDim(op.getUpdates().getType(), i));
    all.push_back(isAligned ? loops.parallel() : loops.whole());
  }
  for (int i = 0; i < 4; ++i)
    loops.map(all);
}

static void describePad(PadOp op, Loops &loops) {
  SmallVector<AffineExpr> all;
  for (auto [low, high, interior] : llvm::zip(op.getLow().getResults(), op.getHigh().getResults(), op.getInterior())) {
    bool isKept = getConstantDim(low) == 0 && getConstantDim(high) == 0 && interior == 0;
    all.push_back(isKept ? loops.parallel() : loops.whole());
  }
  loops.map(all);
  loops.map({});
  loops.map(all);
}

static void describeResize(ResizeOp op, Loops &loops) {
  SmallVector<AffineExpr> all;
  for (auto [i, scale] : llvm::enumerate(op.getScales()))
    all.push_back(scale == 1.0 && provablyEqual(getDim(op.getInput().getType(), i), getDim(op.getType(), i)) ? loops.parallel() : loops.whole());
  loops.map(all);
  loops.map(all);
}

static void describeBatchNorm(BatchNormOp op, Loops &loops) {
  SmallVector<AffineExpr> all = loops.parallels(rankOf(op.getInput()));
  loops.map(all);
  for (int i = 0; i < 4; ++i)
    loops.map({all[1]});
  loops.map(all);
}

/// Recurrent layers by rows of the batch, and two directions by themselves: their columns lie one behind the other. RecurrentGates.h has the cut by units.
static void describeGatedLayer(const GatedLayer &layer, Loops &loops) {
  AffineExpr batch = loops.parallel(), direction = layer.countDirections() > 1 ? loops.parallel() : loops.whole(), none = loops.whole();
  for (LayerRole role : layer.roles) {
    if (role == Gates)
      loops.map({none, batch, direction});
    else if (role == Lengths)
      loops.map({batch});
    else if (role == Hidden || role == Cell)
      loops.map({direction, batch, none});
    else if (role == Recurrence)
      loops.map({direction, none, none});
    else
      loops.map({direction, none});
  }
  loops.map({none, direction, batch, none});
  for (unsigned i = 1; i < layer.op->getNumResults(); ++i)
    loops.map({direction, batch, none});
}

/// A branch's values are cut with the result; every rank takes the same branch.
static void describeChoose(ChooseOp op, Loops &loops) {
  SmallVector<AffineExpr> all = loops.parallels(rankOf(op.getResult()));
  loops.map(loops.wholes(rankOf(op.getCondition())));
  for (int i = 0; i < 3; ++i)
    loops.map(all);
}

/// The dimensions of the result but one.
static void describeMade(Operation *op, std::optional<size_t> axis, Loops &loops) {
  SmallVector<AffineExpr> all = loops.parallels(rankOf(op->getResult(0)));
  if (axis)
    all[*axis] = loops.whole();
  loops.map(all);
}

//===- Each operation --------------------------------------------------------===//

static bool hasOneShape(Operation *op) {
  DimExprs dims = getDims(op->getResult(0).getType());
  return llvm::all_of(op->getOperandTypes(), [&](Type type) {
    DimExprs own = getDims(type);
    return own.size() == dims.size() && llvm::all_of(llvm::zip(own, dims), [](auto pair) { return provablyEqual(std::get<0>(pair), std::get<1>(pair)); });
  });
}

static void describeLoops(Operation *op, Loops &loops) {
  if (isa<ScalarBody>(op))
    return hasOneShape(op) ? describeElementwise(op, loops) : void();
  if (auto view = dyn_cast<IndexMap>(op))
    return view.getIndexMap() ? describeView(op, view.getIndexMap(), loops) : void();
  if (auto layer = matchGatedLayer(op))
    return describeGatedLayer(*layer, loops);
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](ChooseOp choose) { describeChoose(choose, loops); })
      .Case<ConstantOp, SplatOp>([&](auto) { describeMade(op, std::nullopt, loops); })
      .Case([&](IotaOp iota) { describeMade(op, iota.getAxis(), loops); })
      .Case([&](MatmulOp product) { describeMatmul(product, loops); })
      .Case([&](BlockQuantizedMatmulOp product) { describeBlockProduct(product, loops); })
      .Case([&](ConvOp conv) { describeConv(conv, loops); })
      .Case([&](ConvTransposeOp conv) { describeConvTranspose(conv, loops); })
      .Case<MaxPoolOp, AvgPoolOp>([&](auto) { describePool(op, loops); })
      .Case([&](AttentionOp attention) { describeAttention(attention, loops); })
      .Case([&](ReduceOp reduce) { describeReduce(reduce, loops); })
      .Case([&](GatherOp gather) { describeGather(gather, loops); })
      .Case([&](ScatterElementsOp scatter) { describeScatter(scatter, loops); })
      .Case([&](PadOp pad) { describePad(pad, loops); })
      .Case([&](ResizeOp resize) { describeResize(resize, loops); })
      .Case([&](BatchNormOp norm) { describeBatchNorm(norm, loops); })
      .Case<LayerNormOp, RmsNormOp>([&](auto norm) { describeRows(op, norm.getAxis(), rankOf(op->getResult(0)), loops); })
      .Case<SoftmaxOp, LogSoftmaxOp, HardmaxOp, LpNormOp, CumulativeOp, ArgReduceOp, TopKOp>(
          [&](auto row) { describeRows(op, row.getAxis(), row.getAxis() + 1, loops); })
      .Case([&](ConcatOp concat) { describeRows(op, concat.getAxis(), concat.getAxis() + 1, loops); });
}

template <typename Op> struct ShardModel : shard::ShardingInterface::ExternalModel<ShardModel<Op>, Op> {
  static Loops describe(Operation *op) {
    Loops loops(op);
    describeLoops(op, loops);
    return loops;
  }
  SmallVector<utils::IteratorType> getLoopIteratorTypes(Operation *op) const { return describe(op).types; }
  SmallVector<ReductionKind> getReductionLoopIteratorKinds(Operation *op) const { return describe(op).kinds; }
  SmallVector<AffineMap> getIndexingMaps(Operation *op) const { return llvm::to_vector(describe(op).maps()); }
};

template <typename... Ops> static void attach(MLIRContext *context) { (Ops::template attachInterface<ShardModel<Ops>>(*context), ...); }

void registerShardLoops(DialectRegistry &registry) {
  registry.insert<shard::ShardDialect>();
  registry.addExtension(+[](MLIRContext *context, NNDialect *) {
    attach<
#define GET_OP_LIST
#include "dialects/nn/NNOps.cpp.inc"
        >(context);
    attach<
#define GET_OP_LIST
#include "dialects/nn/NNBlockOps.cpp.inc"
        >(context);
  });
}

//===- Reshapes --------------------------------------------------------------===//

SmallVector<std::pair<unsigned, unsigned>> matchReshapedDims(Operation *reshape, ArrayRef<int64_t> operandSizes, ArrayRef<int64_t> resultSizes,
                                                             int64_t parts) {
  DimExprs from = getDims(reshape->getOperand(0).getType()), to = getDims(reshape->getResult(0).getType());
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  size_t i = 0, j = 0;
  // Groups of dimensions with equal products, as small as possible. The outermost dimensions of a group, sizes of one left out, are cut together.
  while (i < from.size() && j < to.size()) {
    auto skipOnes = [&](const DimExprs &dims, size_t &k) {
      while (k < dims.size() && getConstantDim(dims[k]) == 1)
        ++k;
    };
    skipOnes(from, i);
    skipOnes(to, j);
    if (i == from.size() || j == to.size())
      break;
    size_t outermost = i, outermostOfResult = j;
    AffineExpr left = from[i++], right = to[j++];
    while (!provablyEqual(left, right)) {
      auto a = getConstantDim(left), b = getConstantDim(right);
      if (i == from.size() && j == to.size())
        return pairs;
      bool growsLeft = a && b ? *a < *b : i < from.size();
      if (growsLeft ? i == from.size() : j == to.size())
        return pairs;
      if (growsLeft)
        left = simplifyDim(left * from[i++]);
      else
        right = simplifyDim(right * to[j++]);
    }
    int64_t size = operandSizes[outermost], resultSize = resultSizes[outermostOfResult];
    if (size > 0 && resultSize > 0 && size % parts == 0 && resultSize % parts == 0)
      pairs.emplace_back(outermost, outermostOfResult);
  }
  return pairs;
}

} // namespace kiln
