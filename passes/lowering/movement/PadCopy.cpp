//===- PadCopy.cpp - Borders around a tensor -------------------------------===//
//
// Let d be the last padded dimension. For each index before d:
//
//   out[.., 0 .. low)  = border       one run each, over d and all that follows it
//   out[.., low .. +n) = in[.., ..]   (border, when an earlier coordinate lies outside)
//   out[.., the rest]  = border
//
// Negative amounts crop first; one that takes more than the input has takes the rest of the other side's border. The modes edge, reflect and wrap
// repeat the part that is left: a border element is read at its own source coordinate. Interior padding and pads that are not constant in d go
// element by element. An input that its producer put in place is left out (see Places.h): only the border is written.
//
// pad_squares is the same where the input is read across, as a convolution reads the caller's picture: the copy runs over squares that are transposed in
// registers.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDataMovementOps.h"
#include "passes/lowering/builder/IndexLoops.h"
#include "passes/lowering/movement/SquareLoops.h"
#include "passes/target/choice/Kernels.h"
#include "passes/target/groups/Places.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

static bool isPadded(PadOp op, unsigned i) {
  return getConstantDim(op.getLow().getResult(i)) != 0 || getConstantDim(op.getHigh().getResult(i)) != 0 || op.getInterior()[i] != 0;
}

namespace {
/// Where an element of the result comes from.
struct Source {
  IndexExprs at;
  /// Null: always inside the input.
  Value inside;
};

struct Padding {
  KernelBuilder &k;
  mutable PadOp op;
  DimExprs in, out;
  /// Set if the input is copied in squares, which have as many lanes as the plan's tile.
  std::optional<TransposedRead> across = std::nullopt;

  Padding(KernelBuilder &k, PadOp op) : k(k), op(op), in(getDims(op.getInput().getType())), out(getDims(op.getType())) {}

  AffineExpr low(unsigned i) const { return op.getLow().getResult(i); }
  AffineExpr high(unsigned i) const { return op.getHigh().getResult(i); }
  bool inPlace() const {
    auto argument = dyn_cast<BlockArgument>(op.getInput());
    return argument && isInPlace(k.group(), argument.getArgNumber());
  }
  Value larger(Value x, int64_t least) const { return arith::MaxSIOp::create(k.builder(), k.loc(), x, k.emitConstant(least)); }
  /// max(x, 0)
  AffineExpr positivePart(AffineExpr x) const {
    auto known = getConstantDim(x);
    return known ? k.constant(std::max<int64_t>(*known, 0)) : k.index(larger(k.emit(x), 0));
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) const { return arith::CmpIOp::create(k.builder(), k.loc(), predicate, x, y); }
  /// x modulo a positive n, never negative.
  Value modulo(Value x, Value n) const {
    OpBuilder &b = k.builder();
    Value rest = arith::RemSIOp::create(b, k.loc(), x, n);
    Value isNegative = compare(arith::CmpIPredicate::slt, rest, k.emitConstant(0));
    return arith::SelectOp::create(b, k.loc(), isNegative, arith::AddIOp::create(b, k.loc(), rest, n), rest);
  }
  AffineExpr outsideCoordinate(unsigned i, Value place) const;
  void addConstantMode(unsigned i, Value place, Value size, Source &source) const;
  Source locate(ArrayRef<AffineExpr> at, unsigned first, unsigned last) const;
  void element(ArrayRef<AffineExpr> at, unsigned first, const Source &outer) const;
  void border(ArrayRef<AffineExpr> outer, unsigned dim, AffineExpr start, AffineExpr count, const Source &source) const;
  void copy(ArrayRef<AffineExpr> outer, unsigned dim, AffineExpr start, AffineExpr from, AffineExpr count, const Source &source) const;
  void copySquares(ArrayRef<AffineExpr> dims, const IndexExprs &to, const IndexExprs &first) const;
  void row(ArrayRef<AffineExpr> outer, unsigned dim) const;
};
} // namespace

/// Modes edge, reflect and wrap: the coordinate of the input, counted from the first one that is left of dimension i, for any place.
AffineExpr Padding::outsideCoordinate(unsigned i, Value place) const {
  OpBuilder &b = k.builder();
  AffineExpr cut = positivePart(-low(i));
  Value size = k.emit(in[i] - cut - positivePart(-high(i))), one = k.emitConstant(1);
  place = k.emit(k.index(place) - cut);
  Value last = arith::SubIOp::create(b, k.loc(), size, one);
  if (op.getMode() == PadMode::Edge)
    return cut + k.index(larger(arith::MinSIOp::create(b, k.loc(), place, last), 0));
  if (op.getMode() == PadMode::Wrap)
    return cut + k.index(modulo(place, larger(size, 1)));
  // Reflections repeat every 2 * (size - 1) places.
  Value period = larger(arith::AddIOp::create(b, k.loc(), last, last), 1);
  Value within = modulo(place, period);
  return cut + k.index(arith::MinSIOp::create(b, k.loc(), within, arith::SubIOp::create(b, k.loc(), period, within)));
}

void Padding::addConstantMode(unsigned i, Value place, Value size, Source &source) const {
  OpBuilder &b = k.builder();
  Value zero = k.emitConstant(0);
  Value isInside = compare(arith::CmpIPredicate::sge, place, zero);
  if (int64_t interior = op.getInterior()[i]) {
    Value step = k.emitConstant(interior + 1);
    Value isElement = compare(arith::CmpIPredicate::eq, arith::RemSIOp::create(b, k.loc(), place, step), zero);
    isInside = arith::AndIOp::create(b, k.loc(), isInside, isElement);
    place = arith::DivSIOp::create(b, k.loc(), place, step);
  }
  isInside = arith::AndIOp::create(b, k.loc(), isInside, compare(arith::CmpIPredicate::slt, place, size));
  source.inside = source.inside ? Value(arith::AndIOp::create(b, k.loc(), source.inside, isInside)) : isInside;
  source.at[i] = k.index(place);
}

/// The source of a result index, looking at dims [first, last).
Source Padding::locate(ArrayRef<AffineExpr> at, unsigned first, unsigned last) const {
  Source source{IndexExprs(at), Value()};
  for (unsigned i = first; i < last; ++i) {
    if (!isPadded(op, i))
      continue;
    Value place = arith::SubIOp::create(k.builder(), k.loc(), k.emit(at[i]), k.emit(low(i)));
    if (op.getMode() == PadMode::Constant)
      addConstantMode(i, place, k.emit(in[i]), source);
    else
      source.at[i] = outsideCoordinate(i, place);
  }
  return source;
}

/// One element whose dims from `first` on are still to be located.
void Padding::element(ArrayRef<AffineExpr> at, unsigned first, const Source &outer) const {
  Source source = locate(at, first, in.size());
  std::copy(outer.at.begin(), outer.at.begin() + first, source.at.begin());
  if (outer.inside)
    source.inside = source.inside ? Value(arith::AndIOp::create(k.builder(), k.loc(), source.inside, outer.inside)) : outer.inside;
  IndexExprs to(at);
  if (!source.inside)
    return k.storeResults(op.getResult(), k.value(op.getInput(), source.at), to);
  Value yes = arith::ConstantIntOp::create(k.builder(), k.loc(), 1, 1);
  Value isOutside = arith::XOrIOp::create(k.builder(), k.loc(), source.inside, yes);
  k.branch(source.inside, [&] { k.storeResults(op.getResult(), k.value(op.getInput(), source.at), to); });
  k.branch(isOutside, [&] { k.storeResults(op.getResult(), k.value(op.getValue(), {}), to); });
}

static IndexExprs join(ArrayRef<AffineExpr> outer, ArrayRef<AffineExpr> inner, unsigned dim, AffineExpr start) {
  IndexExprs at(inner);
  std::copy(outer.begin(), outer.begin() + dim, at.begin());
  at[dim] = at[dim] + start;
  return at;
}

/// Places [start, start + count) of `dim`, outside the input.
void Padding::border(ArrayRef<AffineExpr> outer, unsigned dim, AffineExpr start, AffineExpr count, const Source &source) const {
  if (getConstantDim(count) == 0)
    return;
  IndexExprs dims = keepDims(k, out, dim, out.size());
  dims[dim] = count;
  if (op.getMode() != PadMode::Constant)
    return forEachElement(k, dims, [&](ArrayRef<AffineExpr> inner, Lanes) { element(join(outer, inner, dim, start), dim, source); });
  forEachIndex(k, dims, mergedReads(k, {}), [&](ArrayRef<AffineExpr> inner, Lanes lanes) {
    Value fill = k.broadcast(k.value(op.getValue(), {}), lanes.count);
    k.storeResults(op.getResult(), fill, join(outer, inner, dim, start), lanes);
  });
}

/// Places [start, start + count) of `dim`, which hold the input from `from` on when all earlier coordinates lie inside.
void Padding::copy(ArrayRef<AffineExpr> outer, unsigned dim, AffineExpr start, AffineExpr from, AffineExpr count, const Source &source) const {
  if (inPlace())
    return;
  IndexExprs dims = keepDims(k, out, dim, out.size());
  dims[dim] = count;
  IndexExprs zeros(out.size(), k.constant(0));
  if (across)
    return copySquares(dims, join(outer, zeros, dim, start), join(source.at, zeros, dim, from));
  forEachIndex(k, dims, mergedReads(k, op.getInput()), [&](ArrayRef<AffineExpr> inner, Lanes lanes) {
    Value value = k.value(op.getInput(), join(source.at, inner, dim, from), lanes);
    k.storeResults(op.getResult(), value, join(outer, inner, dim, start), lanes);
  });
}

namespace {
/// Elements of the input, counted from `from`, go to the result from `to` on.
struct PaddedSquares : SquareLoops {
  PadOp op;
  IndexExprs to, from;
  unsigned along, last;

  PaddedSquares(KernelBuilder &k, PadOp op, const TransposedRead &read, IndexExprs to, IndexExprs from)
      : SquareLoops(k, k.group().getPlan()->getTile()[0]), op(op), to(std::move(to)), from(std::move(from)), along(read.along), last(read.last) {}
  IndexExprs place(IndexExprs at, AffineExpr e, AffineExpr d) const {
    at[along] = at[along] + e;
    at[last] = at[last] + d;
    return at;
  }
  Value load(AffineExpr e, AffineExpr d, Lanes lanes) override { return k.value(op.getInput(), place(from, e, d), lanes); }
  void store(Value row, AffineExpr e, AffineExpr d, Lanes lanes) override { k.storeResults(op.getResult(), row, place(to, e, d), lanes); }
};
} // namespace

/// `dims` places of the result from `to` on, which hold the input from `first` on.
void Padding::copySquares(ArrayRef<AffineExpr> dims, const IndexExprs &to, const IndexExprs &first) const {
  IndexExprs others(dims);
  others[across->along] = others[across->last] = k.constant(1);
  forEachElement(k, others, [&](ArrayRef<AffineExpr> at, Lanes) {
    IndexExprs into(to), from(first);
    for (unsigned i = 0; i < at.size(); ++i) {
      into[i] = into[i] + at[i];
      from[i] = from[i] + at[i];
    }
    PaddedSquares(k, op, *across, into, from).runOverlapping(dims[across->along], dims[across->last]);
  });
}

void Padding::row(ArrayRef<AffineExpr> outer, unsigned dim) const {
  Source source = locate(outer, 0, dim);
  auto before = getConstantDim(low(dim)), after = getConstantDim(high(dim));
  if (op.getInterior()[dim] || !before || !after) {
    IndexExprs dims = keepDims(k, out, dim, out.size());
    return forEachElement(k, dims, [&](ArrayRef<AffineExpr> inner, Lanes) { element(join(outer, inner, dim, k.constant(0)), dim, source); });
  }
  AffineExpr from = k.constant(std::max<int64_t>(-*before, 0));
  AffineExpr left = simplifyDim(in[dim] + std::min<int64_t>(*before, 0) + std::min<int64_t>(*after, 0));
  // Only where one side adds and the other takes may it take more than there is.
  bool isMixed = (*before > 0 && *after < 0) || (*before < 0 && *after > 0);
  AffineExpr count = isMixed ? positivePart(left) : left;
  AffineExpr start = isMixed && *before > 0 ? simplifyDim(out[dim] - count) : k.constant(std::max<int64_t>(*before, 0));
  AffineExpr end = simplifyDim(start + count);
  auto inside = [&] {
    border(outer, dim, k.constant(0), start, source);
    copy(outer, dim, start, from, count, source);
    border(outer, dim, end, simplifyDim(out[dim] - end), source);
  };
  if (!source.inside)
    return inside();
  Value yes = arith::ConstantIntOp::create(k.builder(), k.loc(), 1, 1);
  Value isOutside = arith::XOrIOp::create(k.builder(), k.loc(), source.inside, yes);
  k.branch(source.inside, inside);
  k.branch(isOutside, [&] { border(outer, dim, k.constant(0), out[dim], source); });
}

/// The last dimension that is padded; that of copies. The first one if none is.
static unsigned lastPadded(PadOp op) {
  unsigned last = 0;
  for (unsigned i = 0, rank = op.getType().getRank(); i < rank; ++i)
    if (isPadded(op, i))
      last = i;
  return last;
}

KernelMatch matchPadSquares(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto op = cast<PadOp>(anchor);
  auto read = readAcross(op.getInput(), getDims(op.getInput().getType()));
  if (!read)
    return refuse("the input is not read across");
  unsigned dim = lastPadded(op);
  if (read->along < dim || read->last <= dim)
    return refuse("the border lies within what is read across");
  if (llvm::any_of(op.getInterior(), [](int64_t between) { return between != 0; }))
    return refuse("there is a border between the input's elements");
  unsigned side = chooseSide(group, *read, target);
  if (side < 4)
    return refuse("the squares would have " + Twine(side) + " elements a side, expected at least 4");
  return accept("padding of what is read across: squares transposed in registers, with runs of border around", PlanNumbers{{side, 1, side}, {}});
}

static FailureOr<LaunchInfo> lowerPadding(KernelBuilder &k, Padding &padding) {
  unsigned dim = lastPadded(padding.op), rank = padding.out.size();
  if (rank == 0) {
    k.taskLoop(k.constant(1), [&](ArrayRef<AffineExpr>) { k.storeResults(padding.op.getResult(), k.value(padding.op.getInput(), {}), {}); });
    return moveInfo(k, k.constant(1));
  }
  AffineExpr tasks = forEachTask(k, keepDims(k, padding.out, 0, dim), {}, [&](ArrayRef<AffineExpr> at) { padding.row(at, dim); });
  LaunchInfo info = moveInfo(k, tasks);
  if (padding.inPlace()) {
    AffineExpr border = getNumElements(padding.out, k.context()) - getNumElements(padding.in, k.context());
    info = {tasks, simplifyDim(border), simplifyDim(border * 4)};
  }
  return info;
}

FailureOr<LaunchInfo> lowerPadCopy(KernelBuilder &k, Operation *anchor) {
  Padding padding(k, cast<PadOp>(anchor));
  return lowerPadding(k, padding);
}

FailureOr<LaunchInfo> lowerPadSquares(KernelBuilder &k, Operation *anchor) {
  Padding padding(k, cast<PadOp>(anchor));
  padding.across = readAcross(padding.op.getInput(), padding.in);
  return lowerPadding(k, padding);
}

} // namespace kiln
