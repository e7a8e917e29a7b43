//===- ShardLoops.cpp - How the nn operations can be cut --------------------===//
#include "passes/ranks/ShardLoops.h"
#include "passes/ranks/BodyLoops.h"
#include "dialects/nn/BlockQuantized.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNAttentionOps.h"
#include "dialects/nn/NNCallOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNQuantizedOps.h"
#include "dialects/nn/NNRankOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNStructureOps.h"
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

/// The zero points of quantised numbers lie as the numbers do.
static void describeMatmul(Operation *op, Loops &loops) {
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  if (rankOf(lhs) < 2 || rankOf(rhs) < 2)
    return;
  SmallVector<AffineExpr> batch = loops.parallels(rankOf(lhs) - 2);
  AffineExpr m = loops.parallel(), n = loops.parallel(), k = loops.reduction(ReductionKind::Sum);
  auto with = [&](bool batched, AffineExpr row, AffineExpr column) {
    SmallVector<AffineExpr> exprs(batched ? batch : SmallVector<AffineExpr>());
    exprs.append({row, column});
    loops.map(exprs);
  };
  for (unsigned i = 0; i < op->getNumOperands(); i += 2) {
    with(true, m, k);
    with(rankOf(rhs) > 2, k, n);
  }
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
template <typename Conv> static void describeConv(Conv op, Loops &loops) {
  size_t rank = rankOf(op.getInput());
  AffineExpr batch = loops.parallel(), filters = loops.parallel();
  bool isGrouped = op.getGroups() > 1;
  AffineExpr sum = isGrouped ? loops.whole() : loops.reduction(ReductionKind::Sum);
  SmallVector<AffineExpr> weight = loops.wholes(rank);
  weight[0] = filters;
  weight[1] = sum;
  for (unsigned i = 0; i < op->getNumOperands(); i += 2) {
    loops.map(imageDims(op.getLayout(), batch, isGrouped ? filters : sum, rank, loops));
    loops.map(weight);
  }
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

/// Every element is picked among those that differ from its place along the axis only.
static void describeGatherElements(GatherElementsOp op, Loops &loops) {
  SmallVector<AffineExpr> input, result = loops.parallels(rankOf(op.getIndices()));
  for (auto [i, loop] : llvm::enumerate(result)) {
    bool isAligned = provablyEqual(getDim(op.getInput().getType(), i), getDim(op.getIndices().getType(), i));
    // Along the axis, the indices alone can be cut.
    if (i != op.getAxis() && !isAligned)
      loop = loops.whole();
    input.push_back(i == op.getAxis() ? loops.whole() : loop);
  }
  loops.map(input);
  loops.map(result);
  loops.map(result);
}

/// Tuples of indices pick slices: [batch, tuples] of the result are those of the indices, and what is left of the input is a slice.
static void describeGatherNd(GatherNdOp op, Loops &loops) {
  SmallVector<AffineExpr> indices = loops.parallels(rankOf(op.getIndices()) - 1), input = loops.wholes(rankOf(op.getInput())), result = indices;
  std::copy(indices.begin(), indices.begin() + op.getBatchDims(), input.begin());
  size_t sliced = input.size() + indices.size() - rankOf(op.getResult());
  for (size_t i = sliced; i < input.size(); ++i)
    result.push_back(input[i] = loops.parallel());
  indices.push_back(loops.whole());
  loops.map(input);
  loops.map(indices);
  loops.map(result);
}

/// Slices of the updates go to the places that tuples name. Any part of all slices is updated by itself.
static void describeScatterNd(ScatterNdOp op, Loops &loops) {
  size_t tuples = rankOf(op.getIndices()) - 1, sliced = rankOf(op.getInput()) + tuples - rankOf(op.getUpdates());
  SmallVector<AffineExpr> input = loops.wholes(rankOf(op.getInput())), updates = loops.wholes(tuples);
  for (size_t i = sliced; i < input.size(); ++i)
    updates.push_back(input[i] = loops.parallel());
  loops.map(input);
  loops.map(loops.wholes(tuples + 1));
  loops.map(updates);
  loops.map(input);
}

/// Every row goes down all trees.
static void describeTrees(TreeEnsembleOp op, Loops &loops) {
  AffineExpr row = loops.parallel(), all = loops.whole();
  loops.map({row, all});
  for (int i = 0; i < 4; ++i)
    loops.map({all});
  loops.map({row, all, all});
}

/// Images are added up by themselves.
static void describeCol2Im(Col2ImOp op, Loops &loops) {
  AffineExpr image = loops.parallel(), all = loops.whole();
  loops.map({image, all, all});
  SmallVector<AffineExpr> result(op.getBlock().size() + 2, all);
  result[0] = image;
  loops.map(result);
}

/// Each pair of rows.
static void describeDistances(Loops &loops) {
  AffineExpr left = loops.parallel(), right = loops.parallel(), all = loops.whole();
  loops.map({left, all});
  loops.map({right, all});
  loops.map({left, right});
}

/// Everything but the last two dimensions, points and their parts.
static void describeFourier(FourierOp op, Loops &loops) {
  SmallVector<AffineExpr> all = loops.parallels(rankOf(op.getInput()) - 2);
  all.append(2, loops.whole());
  loops.map(all);
  loops.map({loops.whole()});
  loops.map(all);
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

//===- Composites ------------------------------------------------------------===//

/// The loops of a body that equals the operation.
static void describeBody(Operation *op, ValueRange arguments, Block &body, ValueRange results, Loops &loops) {
  BodyLoops found(arguments, llvm::make_range(body.begin(), body.end()), results);
  SmallVector<AffineExpr> exprs = loops.parallels(found.countLoops());
  auto map = [&](Value value) {
    SmallVector<AffineExpr> dims;
    for (unsigned dim = 0; dim < rankOf(value); ++dim) {
      int loop = found.findLoop(value, dim);
      dims.push_back(loop < 0 ? loops.whole() : exprs[loop]);
    }
    loops.map(dims);
  };
  llvm::for_each(arguments, map);
  llvm::for_each(results, map);
}

/// A composite of the user's, if its body says how its function reads each operand.
static void describeComposite(CompositeOp op, Loops &loops) {
  Block &body = op.getBody().front();
  if (llvm::none_of(body.getArguments(), [](Value argument) { return argument.use_empty() && rankOf(argument) > 0; }))
    describeBody(op, body.getArguments(), body, op.getTerminator()->getOperands(), loops);
}

/// An operation that can be asked for its body: it is built where nothing is known of the operands.
static void describeDecomposed(Operation *op, Loops &loops) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(op->getLoc());
  (*module)->setDiscardableAttrs(op->getParentOfType<ModuleOp>()->getDiscardableAttrDictionary());
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto function = func::FuncOp::create(builder, op->getLoc(), "main", builder.getFunctionType(op->getOperandTypes(), op->getResultTypes()));
  Block &body = *function.addEntryBlock();
  builder.setInsertionPointToEnd(&body);
  Operation *copy = builder.clone(*op);
  copy->setOperands(body.getArguments());
  builder.setInsertionPoint(copy);
  FailureOr<SmallVector<Value>> results = cast<Decomposable>(copy).decompose(builder);
  copy->erase();
  if (succeeded(results))
    describeBody(op, body.getArguments(), body, *results, loops);
}

//===- Each operation --------------------------------------------------------===//

static bool hasOneShape(Operation *op) {
  DimExprs dims = getDims(op->getResult(0).getType());
  return llvm::all_of(op->getOperandTypes(), [&](Type type) {
    DimExprs own = getDims(type);
    return own.size() == dims.size() && llvm::all_of(llvm::zip(own, dims), [](auto pair) { return provablyEqual(std::get<0>(pair), std::get<1>(pair)); });
  });
}

/// Strings lie in the memory of their rank.
static bool hasStrings(Operation *op) {
  auto isText = [](Type type) { return isString(getElementTypeOrSelf(type)); };
  return llvm::any_of(op->getOperandTypes(), isText) || llvm::any_of(op->getResultTypes(), isText);
}

static void describeLoops(Operation *op, Loops &loops) {
  if (hasStrings(op))
    return;
  if (isa<ScalarBody>(op))
    return hasOneShape(op) ? describeElementwise(op, loops) : void();
  if (auto view = dyn_cast<IndexMap>(op))
    return view.getIndexMap() ? describeView(op, view.getIndexMap(), loops) : void();
  if (auto rows = dyn_cast<AlongAxis>(op))
    return describeRows(op, rows.getAxis(), rows.getRowEnd(), loops);
  if (auto layer = matchGatedLayer(op))
    return describeGatedLayer(*layer, loops);
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](ChooseOp choose) { describeChoose(choose, loops); })
      .Case<ConstantOp, SplatOp>([&](auto) { describeMade(op, std::nullopt, loops); })
      .Case([&](IotaOp iota) { describeMade(op, iota.getAxis(), loops); })
      .Case<MatmulOp, QuantizedMatmulOp>([&](auto) { describeMatmul(op, loops); })
      .Case([&](BlockQuantizedMatmulOp product) { describeBlockProduct(product, loops); })
      .Case<ConvOp, QuantizedConvOp>([&](auto conv) { describeConv(conv, loops); })
      .Case([&](ConvTransposeOp conv) { describeConvTranspose(conv, loops); })
      .Case<MaxPoolOp, AvgPoolOp>([&](auto) { describePool(op, loops); })
      .Case([&](AttentionOp attention) { describeAttention(attention, loops); })
      .Case([&](ReduceOp reduce) { describeReduce(reduce, loops); })
      .Case([&](GatherOp gather) { describeGather(gather, loops); })
      .Case([&](GatherElementsOp gather) { describeGatherElements(gather, loops); })
      .Case([&](GatherNdOp gather) { describeGatherNd(gather, loops); })
      .Case([&](ScatterElementsOp scatter) { describeScatter(scatter, loops); })
      .Case([&](ScatterNdOp scatter) { describeScatterNd(scatter, loops); })
      .Case([&](TreeEnsembleOp trees) { describeTrees(trees, loops); })
      .Case([&](Col2ImOp blocks) { describeCol2Im(blocks, loops); })
      .Case([&](DistancesOp) { describeDistances(loops); })
      .Case([&](FourierOp transform) { describeFourier(transform, loops); })
      .Case([&](PadOp pad) { describePad(pad, loops); })
      .Case([&](ResizeOp resize) { describeResize(resize, loops); })
      .Case([&](BatchNormOp norm) { describeBatchNorm(norm, loops); })
      .Case([&](ConcatOp concat) { describeRows(op, concat.getAxis(), concat.getAxis() + 1, loops); })
      .Case([&](CompositeOp composite) { describeComposite(composite, loops); })
      .Default([&](Operation *) {
        if (isa<Decomposable>(op))
          describeDecomposed(op, loops);
      });
}

/// One model serves all operations, because `describeLoops` looks at the operation itself.
struct ShardModel : shard::ShardingInterface::ExternalModel<ShardModel, shard::ShardingInterface> {
  static Loops describe(Operation *op) {
    Loops loops(op);
    describeLoops(op, loops);
    return loops;
  }
  SmallVector<utils::IteratorType> getLoopIteratorTypes(Operation *op) const { return describe(op).types; }
  SmallVector<ReductionKind> getReductionLoopIteratorKinds(Operation *op) const { return describe(op).kinds; }
  SmallVector<AffineMap> getIndexingMaps(Operation *op) const { return llvm::to_vector(describe(op).maps()); }
};

template <typename... Ops> static bool isOneOf(RegisteredOperationName name) { return ((name.getTypeID() == TypeID::get<Ops>()) || ...); }

void registerShardLoops(DialectRegistry &registry) {
  registry.insert<shard::ShardDialect>();
  registry.addExtension(+[](MLIRContext *context, NNDialect *nn) {
    for (RegisteredOperationName name : context->getRegisteredOperationsByDialect(nn->getNamespace())) {
      // A collective is what a cut inserts; it is never cut itself.
      bool isCollective = isOneOf<
#define GET_OP_LIST
#include "dialects/nn/NNRankOps.cpp.inc"
          >(name);
      if (!isCollective)
        name.attachInterface<ShardModel>();
    }
  });
}

//===- Reshapes --------------------------------------------------------------===//

SmallVector<std::pair<unsigned, unsigned>> matchReshapedDims(Operation *reshape, ArrayRef<int64_t> operandSizes, ArrayRef<int64_t> resultSizes,
                                                             int64_t parts) {
  DimExprs from = getDims(reshape->getOperand(0).getType()), to = getDims(reshape->getResult(0).getType());
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  if (hasStrings(reshape))
    return pairs;
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
