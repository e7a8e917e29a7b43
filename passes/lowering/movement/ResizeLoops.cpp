//===- ResizeLoops.cpp - Resampling ----------------------------------------===//
//
//   for each result index: per resized dimension, taps (source place, weight): 1 for nearest, 2 for linear, 4 for cubic;
//   out = sum over all combinations of taps: product of weights * in[places]
//
// Taps of a dimension are computed in its own loop. The dimensions behind the last resized one are copied or blended in vectors, which is all
// the work of a channels_last image. Nearest by a whole factor divides the index and computes no coordinate at all.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/lowering/builder/IndexLoops.h"
#include "passes/target/choice/Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;

namespace kiln {

using namespace nn;

namespace {
/// One place that a result reads; weight null: 1.
struct Tap {
  AffineExpr place;
  Value weight;
};

struct Resampling {
  KernelBuilder &k;
  mutable ResizeOp op;
  DimExprs in, out;

  Resampling(KernelBuilder &k, ResizeOp op) : k(k), op(op), in(getDims(op.getInput().getType())), out(getDims(op.getType())) {}

  bool isResized(unsigned i) const {
    return op.getScales()[i] != 1.0 || !provablyEqual(in[i], out[i]) || (op.getCoordinates() == "tf_crop_and_resize" && isCropped(i));
  }
  bool isCropped(unsigned i) const {
    auto roi = op.getRoi();
    return roi && ((*roi)[i] != 0 || (*roi)[in.size() + i] != 1);
  }
  Scalar scalar(Value value) const { return Scalar(k.builder(), k.loc(), value, value.getType()); }
  Scalar number(double value) const { return scalar(k.number(Float64Type::get(k.context()), value)); }
  Scalar toFloat(Value index) const {
    Value wide = arith::IndexCastOp::create(k.builder(), k.loc(), k.builder().getI64Type(), index);
    return scalar(arith::SIToFPOp::create(k.builder(), k.loc(), Float64Type::get(k.context()), wide));
  }
  Value toIndex(const Scalar &whole) const {
    Value wide = arith::FPToSIOp::create(k.builder(), k.loc(), k.builder().getI64Type(), whole.value());
    return arith::IndexCastOp::create(k.builder(), k.loc(), k.builder().getIndexType(), wide);
  }
  AffineExpr clamp(Value place, unsigned i) const {
    Value last = k.emit(in[i] - 1);
    return k.index(arith::MaxSIOp::create(k.builder(), k.loc(), k.minimum(place, last), k.emitConstant(0)));
  }
  bool isWholeSize(unsigned i) const;
  Scalar coordinate(AffineExpr at, unsigned i) const;
  std::optional<int64_t> wholeFactor(unsigned i) const;
  SmallVector<Tap> nearest(AffineExpr at, unsigned i) const;
  SmallVector<Tap> cubic(const Scalar &x, unsigned i) const;
  SmallVector<Tap> taps(AffineExpr at, unsigned i, Value &isOutside) const;
  /// Weighted sums of integers are taken in f64.
  Type sumType() const {
    Type element = op.getType().getElementType();
    return isa<FloatType>(element) ? computeType(element) : Type(Float64Type::get(k.context()));
  }
  Value blend(ArrayRef<SmallVector<Tap>> taps, IndexExprs &at, unsigned dim, Lanes lanes) const;
  void write(ArrayRef<SmallVector<Tap>> taps, Value isOutside, ArrayRef<AffineExpr> at, unsigned inner) const;
  void walk(SmallVector<SmallVector<Tap>> taps, Value isOutside, ArrayRef<AffineExpr> at, unsigned dim, unsigned inner) const;
};
} // namespace

/// Whether the result's size is the input's times the scale, not that rounded down.
bool Resampling::isWholeSize(unsigned i) const {
  double scale = op.getScales()[i];
  auto inSize = getConstantDim(in[i]), outSize = getConstantDim(out[i]);
  constexpr double tolerance = 1e-6;
  if (scale == 0 || scale == std::floor(scale))
    return true;
  return inSize && outSize && std::abs(static_cast<double>(*inSize) * scale - static_cast<double>(*outSize)) < tolerance * static_cast<double>(*outSize);
}

/// The place in the input, as a real number, that result coordinate `at` of dimension i stands for.
Scalar Resampling::coordinate(AffineExpr at, unsigned i) const {
  Scalar x = toFloat(k.emit(at)), inSize = toFloat(k.emit(in[i])), outSize = toFloat(k.emit(out[i]));
  Scalar scale = op.getScales()[i] != 0 ? number(op.getScales()[i]) : outSize / inSize;
  StringRef mode = op.getCoordinates();
  Scalar one = number(1), zero = number(0);
  Scalar halfPixel = (x + 0.5) / scale - 0.5;
  if (mode == "asymmetric")
    return x / scale;
  if (mode == "align_corners") {
    Scalar last = (isWholeSize(i) ? outSize : inSize * scale) - one;
    return select(outSize == one, zero, x * (inSize - one) / select(last > zero, last, one));
  }
  if (mode == "tf_half_pixel_for_nn")
    return (x + 0.5) / scale;
  if (mode == "pytorch_half_pixel")
    return select(outSize > one, halfPixel, zero);
  if (mode == "half_pixel_symmetric") {
    Scalar adjustment = outSize / (scale * inSize);
    return inSize / 2.0 * (one - adjustment) + halfPixel;
  }
  if (mode == "tf_crop_and_resize" && op.getRoi()) {
    Scalar start = number((*op.getRoi())[i]), end = number((*op.getRoi())[in.size() + i]);
    Scalar many = start * (inSize - one) + x * (end - start) * (inSize - one) / max(outSize - one, one);
    return select(outSize > one, many, (start + end) * 0.5 * (inSize - one));
  }
  return halfPixel;
}

/// s when the nearest source of coordinate i is floor(i / s).
std::optional<int64_t> Resampling::wholeFactor(unsigned i) const {
  double scale = op.getScales()[i];
  if (scale < 1 || scale != std::floor(scale))
    return std::nullopt;
  bool floors = op.getCoordinates() == "asymmetric" && op.getNearest() == "floor";
  bool rounds = op.getCoordinates() == "half_pixel" && op.getNearest().starts_with("round");
  return floors || rounds ? std::optional(static_cast<int64_t>(scale)) : std::nullopt;
}

SmallVector<Tap> Resampling::nearest(AffineExpr at, unsigned i) const {
  if (auto factor = wholeFactor(i))
    return {{k.index(k.emit(at.floorDiv(*factor))), Value()}};
  Scalar x = coordinate(at, i);
  StringRef mode = op.getNearest();
  Scalar place = mode == "floor"              ? floor(x)
                 : mode == "ceil"             ? ceil(x)
                 : mode == "round_prefer_ceil" ? floor(x + 0.5)
                                               : ceil(x - 0.5);
  return {{clamp(toIndex(place), i), Value()}};
}

/// Keys' kernel at the four neighbours.
SmallVector<Tap> Resampling::cubic(const Scalar &x, unsigned i) const {
  double a = op.getCubicCoefficient().convertToDouble();
  Scalar whole = floor(x), t = x - whole;
  auto near = [&](const Scalar &d) { return ((d * (a + 2) - (a + 3)) * d * d) + 1.0; };
  auto far = [&](const Scalar &d) { return ((d * a - 5 * a) * d + 8 * a) * d - 4 * a; };
  SmallVector<Scalar> weights{far(t + 1.0), near(t), near(number(1) - t), far(number(2) - t)};
  Value first = toIndex(whole);
  SmallVector<Tap> result;
  Value total = number(0).value();
  for (auto [j, weight] : llvm::enumerate(weights)) {
    Value place = k.emit(k.index(first) + (static_cast<int64_t>(j) - 1)), counted = weight.value();
    if (op.getExcludeOutside()) {
      OpBuilder &b = k.builder();
      Value low = arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::sge, place, k.emitConstant(0));
      Value high = arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::slt, place, k.emit(in[i]));
      counted = select(scalar(arith::AndIOp::create(b, k.loc(), low, high)), weight, number(0)).value();
      total = (scalar(total) + scalar(counted)).value();
    }
    result.push_back({clamp(place, i), counted});
  }
  for (Tap &tap : result)
    if (op.getExcludeOutside())
      tap.weight = (scalar(tap.weight) / scalar(total)).value();
  return result;
}

SmallVector<Tap> Resampling::taps(AffineExpr at, unsigned i, Value &isOutside) const {
  if (op.getMode() == ResizeMode::Nearest && op.getCoordinates() != "tf_crop_and_resize")
    return nearest(at, i);
  Scalar x = coordinate(at, i);
  if (op.getCoordinates() == "tf_crop_and_resize") {
    Scalar outside = (x < number(0)) | (x > toFloat(k.emit(in[i] - 1)));
    isOutside = isOutside ? (scalar(isOutside) | outside).value() : outside.value();
  }
  if (op.getMode() == ResizeMode::Nearest)
    return nearest(at, i);
  if (op.getMode() == ResizeMode::Cubic)
    return cubic(x, i);
  Scalar whole = floor(x), t = x - whole;
  Value first = toIndex(whole);
  return {{clamp(first, i), (number(1) - t).value()}, {clamp(k.emit(k.index(first) + 1), i), t.value()}};
}

/// The weighted sum over the taps of dims from `dim` on.
Value Resampling::blend(ArrayRef<SmallVector<Tap>> taps, IndexExprs &at, unsigned dim, Lanes lanes) const {
  if (dim == taps.size())
    return k.value(op.getInput(), at, lanes);
  if (taps[dim].empty())
    return blend(taps, at, dim + 1, lanes);
  Type element = op.getType().getElementType(), real = sumType();
  Value sum;
  for (const Tap &tap : taps[dim]) {
    IndexExprs place(at);
    place[dim] = tap.place;
    Value value = blend(taps, place, dim + 1, lanes);
    if (!tap.weight)
      return value;
    Type have = getElementTypeOrSelf(value.getType());
    Scalar x = castTo(Scalar(k.builder(), k.loc(), value, have == real ? real : element), real);
    Scalar weight(k.builder(), k.loc(), k.broadcast(castTo(scalar(tap.weight), real).value(), lanes.count), real);
    Value term = (x * weight).value();
    sum = sum ? (Scalar(k.builder(), k.loc(), sum, real) + Scalar(k.builder(), k.loc(), term, real)).value() : term;
  }
  return sum;
}

void Resampling::write(ArrayRef<SmallVector<Tap>> taps, Value isOutside, ArrayRef<AffineExpr> outer, unsigned inner) const {
  Type element = op.getType().getElementType();
  auto body = [&](ArrayRef<AffineExpr> at, Lanes lanes) {
    IndexExprs to(at);
    std::copy(outer.begin(), outer.begin() + inner, to.begin());
    IndexExprs from(to);
    Value value = blend(taps, from, 0, lanes);
    if (!isa<FloatType>(element) && isa<FloatType>(getElementTypeOrSelf(value.getType())))
      value = castTo(scalar(value), element).value();
    if (isOutside) {
      Value fill = k.number(element, op.getExtrapolationValue().convertToDouble(), lanes.count);
      value = arith::SelectOp::create(k.builder(), k.loc(), isOutside, fill, value);
    }
    k.storeResults(op.getResult(), value, to, lanes);
  };
  unsigned lanes = op.getMode() == ResizeMode::Nearest ? k.vectorLanes() : lanesOf(k.target(), sumType());
  forEachIndex(k, keepDims(k, out, inner, out.size()), mergedReads(k, op.getInput()), body, lanes);
}

/// Loops over dims [dim, inner) whose taps are still to be computed.
void Resampling::walk(SmallVector<SmallVector<Tap>> done, Value isOutside, ArrayRef<AffineExpr> at, unsigned dim, unsigned inner) const {
  if (dim == inner)
    return write(done, isOutside, at, inner);
  k.loop(k.constant(0), out[dim], 1, "j", [&](AffineExpr j) {
    IndexExprs next(at);
    next[dim] = j;
    auto more = done;
    Value outside = isOutside;
    if (isResized(dim))
      more[dim] = taps(j, dim, outside);
    walk(more, outside, next, dim + 1, inner);
  });
}

FailureOr<LaunchInfo> lowerResizeLoops(KernelBuilder &k, Operation *anchor) {
  Resampling resampling(k, cast<ResizeOp>(anchor));
  unsigned rank = resampling.out.size(), inner = 0;
  for (unsigned i = 0; i < rank; ++i)
    if (resampling.isResized(i))
      inner = i + 1;
  // One loop stays within the task: the last resized dimension.
  unsigned outer = inner > 0 ? inner - 1 : 0;
  AffineExpr tasks = forEachTask(k, keepDims(k, resampling.out, 0, outer), {}, [&](ArrayRef<AffineExpr> at) {
    SmallVector<SmallVector<Tap>> taps(rank);
    Value isOutside;
    for (unsigned i = 0; i < outer; ++i)
      if (resampling.isResized(i))
        taps[i] = resampling.taps(at[i], i, isOutside);
    resampling.walk(taps, isOutside, at, outer, inner);
  });
  return moveInfo(k, tasks);
}

} // namespace kiln
