//===- WinogradGuard.cpp - Tiles that Winograd's form would spoil ----------===//
//
// The rounding errors of a tile are relative to the largest element of its patch, those of a direct sum to the elements of its own window. So a tile is even,
// and computed in Winograd's form, if
//
//   sum of squares of the patch <= (32 ^ 2) * sum of squares of each window
//
// In place of windows stand the four squares inside of the patch: each window has one of them, or all, which then count together.
//
//   . . . . . .
//   . a a b b .        tile 4: windows of lines 0 and 1 have lines 1 and 2 of the patch, those of lines 2 and 3 have lines 3 and 4
//   . a a b b .
//   . c c d d .        tile 2: squares of one pixel, which all windows have
//   . c c d d .
//   . . . . . .
//
// A NaN, an infinity, and a square that overflows make the comparison false. Squares may vanish, too: patches whose elements are that small are even if they
// are zero.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/builder/RowLoops.h"
#include "passes/lowering/convolution/WinogradLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// The square of 32.
static constexpr double mostUneven = 1024;
/// Below it, squares that vanish could be more than a rounding error of a sum.
static constexpr double leastSquares = 0x1p-90;
/// Sums for the rim of a patch, which has many elements: enough to hide the latency of additions.
static constexpr unsigned rimSums = 4;

static Value compare(KernelBuilder &k, arith::CmpFPredicate predicate, Value x, double y) {
  return arith::CmpFOp::create(k.builder(), k.loc(), predicate, x, k.number(x.getType(), y));
}

/// Sums of neighbouring lanes, in at most so many lanes, or four.
static Value foldLanes(KernelBuilder &k, Value value, int64_t most) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type || type.getNumElements() <= std::max<int64_t>(most, 4))
    return value;
  int64_t half = type.getNumElements() / 2;
  auto part = [&](int64_t first) {
    return vector::ShuffleOp::create(k.builder(), k.loc(), value, value, llvm::to_vector(llvm::seq<int64_t>(first, first + half)));
  };
  return foldLanes(k, arith::AddFOp::create(k.builder(), k.loc(), part(0), part(half)), most);
}

/// The smallest sum of what an existing window has for certain, lane by lane.
Value WinogradLoops::leastOfSquares(const Place &place, ArrayRef<Value> squares) const {
  OpBuilder &b = k.builder();
  Value least = squares.front();
  for (int64_t i = 1; i < static_cast<int64_t>(squares.size()); ++i) {
    if (tile == 2) {
      least = arith::AddFOp::create(b, k.loc(), least, squares[i]);
      continue;
    }
    int64_t line = i / 2 * 2, pixel = i % 2 * 2;
    Value isLess = arith::CmpFOp::create(b, k.loc(), arith::CmpFPredicate::OLT, squares[i], least);
    Value smaller = arith::SelectOp::create(b, k.loc(), isLess, squares[i], least);
    auto unlessBeyond = [&](AffineExpr at, AffineExpr extent) {
      if (isWhole(extent))
        return;
      Value exists = arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::slt, k.emit(at), k.emit(extent));
      smaller = arith::SelectOp::create(b, k.loc(), exists, smaller, least);
    };
    if (line > 0)
      unlessBeyond(place.down * tile + line, output[1]);
    if (pixel > 0)
      unlessBeyond(place.across * tile + pixel, output[2]);
    least = smaller;
  }
  return least;
}

/// Returns the part of channels [from, to) in the difference of the comparison's sides, which is positive for an even tile.
Value WinogradLoops::measurePart(const Place &place, const Patch &patch, int64_t from, int64_t to, unsigned lanes) const {
  OpBuilder &b = k.builder();
  constexpr unsigned squares = 4;
  int64_t extent = tile / 2;
  auto isInner = [&](int64_t at) { return at > 0 && at <= tile; };
  SmallVector<Value> sums(squares + rimSums, k.number(element, 0, lanes));
  sums = k.loop(k.constant(from), k.constant(to), lanes, "channel", sums, [&](AffineExpr channel, ValueRange carried) {
    SmallVector<Value> next(carried);
    unsigned rim = 0;
    for (int64_t y = 0; y < side; ++y)
      for (int64_t x = 0; x < side; ++x) {
        AffineExpr at = k.elementOffset(cast<BlockArgument>(op.getInput()), {place.image, patch.lines[y], patch.pixels[x], channel});
        Value value = k.loadBuffer(source, element, at, Lanes{cast<AffineDimExpr>(channel).getPosition(), lanes});
        Value &sum = next[isInner(y) && isInner(x) ? (y - 1) / extent * 2 + (x - 1) / extent : squares + rim++ % rimSums];
        if (lanes > 1)
          sum = vector::FMAOp::create(b, k.loc(), value, value, sum);
        else
          sum = arith::AddFOp::create(b, k.loc(), sum, arith::MulFOp::create(b, k.loc(), value, value));
      }
    return next;
  });
  // The smallest square is found lane by lane, which is no more than that of all lanes together. A lane has several channels, of which some may be zero.
  int64_t mostLanes = (to - from) / 2;
  Value total;
  for (Value &sum : sums) {
    total = total ? arith::AddFOp::create(b, k.loc(), total, sum) : sum;
    sum = foldLanes(k, sum, mostLanes);
  }
  Value least = leastOfSquares(place, ArrayRef(sums).take_front(squares));
  total = foldLanes(k, total, mostLanes);
  auto type = dyn_cast<VectorType>(total.getType());
  Value factor = k.number(element, mostUneven, type ? static_cast<unsigned>(type.getNumElements()) : 1);
  Value allowed = arith::MulFOp::create(b, k.loc(), least, factor);
  return reduceLanes(k, ReduceKind::Sum, element, arith::SubFOp::create(b, k.loc(), allowed, total));
}

/// The sum of the patch's magnitudes, which do not vanish.
Value WinogradLoops::sumMagnitudes(const Place &place, unsigned lanes) const {
  auto inside = [&](AffineExpr at, AffineExpr extent) { return k.index(k.minimum(k.emit(at), k.emit(extent - 1))); };
  using Values = SmallVector<Value>;
  Values sum{k.number(element, 0)};
  return k.loop(k.constant(0), k.constant(side), 1, "y", sum, [&](AffineExpr y, ValueRange lines) {
    AffineExpr line = inside(place.down * tile + y, input[1]);
    return k.loop(k.constant(0), k.constant(side), 1, "x", lines, [&](AffineExpr x, ValueRange pixels) {
      AffineExpr pixel = inside(place.across * tile + x, input[2]);
      Value magnitudes = reduceRow(k, ReduceKind::Sum, element, input[3], lanes, [&](AffineExpr channel, Lanes across) {
        AffineExpr at = k.elementOffset(cast<BlockArgument>(op.getInput()), {place.image, line, pixel, channel});
        return math::AbsFOp::create(k.builder(), k.loc(), k.loadBuffer(source, element, at, across)).getResult();
      });
      return Values{arith::AddFOp::create(k.builder(), k.loc(), pixels.front(), magnitudes)};
    });
  }).front();
}

void WinogradLoops::noteEvenness(const Place &place, AffineExpr slot, unsigned lanes) const {
  Patch patch{clamped(place.down * tile, input[1], isWhole(output[1])), clamped(place.across * tile, input[2], isWhole(output[2]))};
  Value difference;
  auto addPart = [&](int64_t from, int64_t to, unsigned width) {
    if (from == to)
      return to;
    Value part = measurePart(place, patch, from, to, width);
    difference = difference ? arith::AddFOp::create(k.builder(), k.loc(), difference, part) : part;
    return to;
  };
  int64_t done = addPart(0, in / lanes * lanes, lanes);
  for (unsigned piece = lanes / 2; piece >= 4; piece /= 2)
    done = addPart(done, done + (in - done) / piece * piece, piece);
  addPart(done, in, 1);
  auto note = [&](Value unevenness) { k.storeBuffer(scratch.buffer, element, scratch.unevenness + slot, unevenness); };
  note(k.number(element, 0));
  k.branch(compare(k, arith::CmpFPredicate::ULT, difference, leastSquares), [&] { note(sumMagnitudes(place, lanes)); });
}

Value WinogradLoops::isEven(AffineExpr slot, bool yes) const {
  Value unevenness = k.loadBuffer(scratch.buffer, element, scratch.unevenness + slot);
  return compare(k, yes ? arith::CmpFPredicate::OEQ : arith::CmpFPredicate::UNE, unevenness, 0);
}

Value WinogradLoops::packWeight(int64_t columns) {
  width = columns;
  unsigned argument = cast<BlockArgument>(op.getWeight()).getArgNumber();
  k.packConstant(argument, packFilters(k.context(), out, in, width));
  return filters = k.buffer(argument);
}

void WinogradLoops::computeTile(AffineExpr number, AffineExpr panel, int64_t columns, TileShape shape) const {
  auto image = cast<BlockArgument>(op.getInput());
  SmallVector<ReductionLoop> window{{k.constant(in), k.constant(1), k.constant(9 * width)},
                                    {k.constant(3), k.elementStride(image, 1), k.constant(3 * width)},
                                    {k.constant(3), k.elementStride(image, 2), k.constant(width)}};
  TileEmitter emitter{k, source, filters, element, window, k.constant(1)};
  emitter.chainLength = TileEmitter::windowChain;
  Panel extent{static_cast<unsigned>(llvm::divideCeilSigned(columns, shape.lanes)), shape.lanes, static_cast<unsigned>(columns)};
  Place place = placeOf(number);
  auto isBelow = [&](AffineExpr at, AffineExpr end) -> Value {
    return arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::slt, k.emit(at), k.emit(end));
  };
  k.loop(k.constant(0), k.constant(tile), 1, "y", [&](AffineExpr y) {
    AffineExpr line = k.index(k.emit(place.down * tile + y)), first = k.index(k.emit(panel * width)), lane = k.index(k.emitConstant(0));
    k.branch(isBelow(line, output[1]), [&] {
      IndexExprs pixels = clamped(place.across * tile, output[2], isWhole(output[2]));
      pixels.resize(tile);
      SmallVector<AffineExpr> rows;
      for (AffineExpr pixel : pixels)
        rows.push_back(k.index(k.emit(k.elementOffset(image, {place.image, line, pixel, k.constant(0)}))));
      emitter.emit(k.constant(0), rows, k.index(k.emit(panel * (in * 9 * width))), extent, [&](unsigned row, unsigned at, Value sum, unsigned lanes) {
        AffineExpr pixel = place.across * tile + row;
        auto store = [&] {
          k.storeLanes(op.getResult(), sum, {place.image, line, pixel, first + at + lane}, {cast<AffineDimExpr>(lane).getPosition(), lanes});
        };
        if (row == 0 || isWhole(output[2]))
          return store();
        k.branch(isBelow(pixel, output[2]), store);
      });
    });
  });
}

} // namespace kiln
