//===- WinogradLoops.cpp - The parts of Winograd's convolution -------------===//
#include "passes/lowering/convolution/WinogradLoops.h"
#include "dialects/kernel/Tuning.h"
#include "dialects/nn/Scalar.h"
#include "passes/lowering/builder/RowLoops.h"
#include "passes/lowering/builder/StatementOrder.h"
#include "passes/lowering/builder/WaitingSums.h"
#include "passes/target/choice/RegisterBudget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;

namespace kiln {

using namespace nn;

//===- Transforms ----------------------------------------------------------===//

Value LinearForm::add(Value x, Value y) const { return x && y ? arith::AddFOp::create(k.builder(), k.loc(), x, y) : x ? x : y; }

Value LinearForm::subtract(Value x, Value y) const { return arith::SubFOp::create(k.builder(), k.loc(), x, y); }

/// Whether two lines of factors are equal in some places and opposite in all others: what points p and -p give.
static bool arePair(ArrayRef<double> x, ArrayRef<double> y) {
  return x != y && llvm::all_of(llvm::zip_equal(x, y), [](auto both) { return std::abs(std::get<0>(both)) == std::abs(std::get<1>(both)); });
}

Value LinearForm::addProduct(Value sum, double by, Value value) const {
  OpBuilder &b = k.builder();
  Value number = k.number(getElementTypeOrSelf(value.getType()), by, lanes);
  if (!sum || lanes == 1)
    return add(sum, arith::MulFOp::create(b, k.loc(), number, value));
  return vector::FMAOp::create(b, k.loc(), number, value, sum);
}

/// The largest factor that is not 1, where there are several and their quotients are powers of two, which round nothing. Otherwise 0.
double LinearForm::commonFactor(function_ref<double(unsigned)> factor, unsigned count) const {
  double common = 0;
  unsigned terms = 0;
  for (unsigned j = 0; j < count; ++j) {
    double by = factor(j);
    if (by == 0 || by == 1)
      continue;
    // The powers of a point are rounded, so that their quotient may be a power of two in float only.
    int exponent;
    if (by == -1 || (common != 0 && std::abs(std::frexp(static_cast<float>(by / common), &exponent)) != 0.5F))
      return 0;
    ++terms;
    common = std::abs(by) > std::abs(common) ? by : common;
  }
  return lanes > 1 && terms > 1 ? common : 0;
}

/// The sum of factor(j) * values[j]; null when all factors are zero. A common factor comes last, and the others become powers of two: those of F(4x4)
/// are immediate operands on 64-bit Arm, where all constants together did not fit the registers.
Value LinearForm::sum(function_ref<double(unsigned)> factor, ArrayRef<Value> values) const {
  Value result;
  for (unsigned j = 0; j < values.size(); ++j)
    if (factor(j) == 1)
      result = add(result, values[j]);
  if (double common = commonFactor(factor, values.size()); common != 0)
    return addProduct(result, common, sum([&](unsigned j) { return factor(j) == 1 ? 0.0 : factor(j) / common; }, values));
  for (auto [j, value] : llvm::enumerate(values)) {
    double by = factor(j);
    if (by != 0 && by != 1)
      result = result && by == -1 ? subtract(result, value) : addProduct(result, by, value);
  }
  return result;
}

/// even + odd and even - odd. A common factor of the odd terms goes to the two sums, which are fused with it:
///
///   odd = a * x + b * y                            rest = b / a * y + x
///   even + odd, even - odd          becomes        a * rest + even, -a * rest + even
std::pair<Value, Value> LinearForm::sumPair(Value even, ArrayRef<double> odd, ArrayRef<Value> values) const {
  double common = commonFactor([&](unsigned j) { return odd[j]; }, odd.size());
  Value rest = sum([&](unsigned j) { return common != 0 ? odd[j] / common : odd[j]; }, values);
  if (common == 0)
    return {add(even, rest), subtract(even, rest)};
  return {addProduct(even, common, rest), addProduct(even, -common, rest)};
}

bool LinearForm::Reduced::isPair(unsigned r) const { return r + 1 < matrix.rows && arePair(matrix.row(r), matrix.row(r + 1)); }

LinearForm::Reduced LinearForm::reduce(const Matrix &matrix, ArrayRef<Value> values) const {
  auto column = [&](unsigned j) {
    SmallVector<double> result;
    for (unsigned r = 0; r < matrix.rows; ++r)
      result.push_back(matrix.at(r, j));
    return result;
  };
  // Columns of a pair: their values' sum and difference serve all rows.
  Reduced form{matrix, SmallVector<Value>(values)};
  for (unsigned j = 0; j + 1 < matrix.columns; ++j) {
    if (!arePair(column(j), column(j + 1)))
      continue;
    if (!values.empty()) {
      form.values[j] = add(values[j], values[j + 1]);
      form.values[j + 1] = subtract(values[j], values[j + 1]);
    }
    for (unsigned r = 0; r < matrix.rows; ++r) {
      bool same = matrix.at(r, j) == matrix.at(r, j + 1);
      form.matrix.values[r * matrix.columns + j] = same ? matrix.at(r, j) : 0;
      form.matrix.values[r * matrix.columns + j + 1] = same ? 0 : matrix.at(r, j);
    }
    ++j;
  }
  return form;
}

SmallVector<Value> LinearForm::apply(const Reduced &form, unsigned first, unsigned end) const {
  SmallVector<Value> result;
  for (unsigned r = first; r < end; ++r) {
    ArrayRef<double> row = form.matrix.row(r);
    if (form.isPair(r)) {
      ArrayRef<double> next = form.matrix.row(++r);
      Value even = sum([&](unsigned j) { return row[j] == next[j] ? row[j] : 0.0; }, form.values);
      SmallVector<double> odd = llvm::map_to_vector(llvm::zip_equal(row, next), [](auto both) {
        return std::get<0>(both) == std::get<1>(both) ? 0.0 : std::get<0>(both);
      });
      auto [plus, minus] = sumPair(even, odd, form.values);
      result.append({plus, minus});
      continue;
    }
    result.push_back(sum([&](unsigned j) { return row[j]; }, form.values));
  }
  return result;
}

SmallVector<Value> LinearForm::apply(const Matrix &matrix, ArrayRef<Value> values) const { return apply(reduce(matrix, values), 0, matrix.rows); }

SmallVector<LinearForm::Rows> LinearForm::listParts(const Matrix &matrix) const {
  auto most = static_cast<unsigned>(chooseRowsAtOnce(k.target(), matrix.rows, matrix.columns));
  Reduced form = reduce(matrix, {});
  SmallVector<Rows> parts{{0, 0}};
  for (unsigned r = 0, size = 1; r < matrix.rows; r += size) {
    size = form.isPair(r) ? 2 : 1;
    if (r > parts.back().first && r + size - parts.back().first > most)
      parts.emplace_back(r, r);
    parts.back().second = r + size;
  }
  return parts;
}

void LinearForm::applyTwice(const Matrix &matrix, Rows rows, function_ref<Value(int64_t, int64_t)> square,
                            function_ref<void(int64_t, ArrayRef<Value>)> result) const {
  auto [first, end] = rows;
  std::vector<SmallVector<Value>> columns;
  for (int64_t x = 0; x < matrix.columns; ++x) {
    SmallVector<Value> column;
    for (int64_t y = 0; y < matrix.columns; ++y)
      column.push_back(square(y, x));
    columns.push_back(apply(reduce(matrix, column), first, end));
    for (Value value : columns.back())
      writeHere(k, value, "part");
  }
  for (unsigned y = first; y < end; ++y) {
    SmallVector<Value> row;
    for (const SmallVector<Value> &column : columns)
      row.push_back(column[y - first]);
    result(y, apply(matrix, row));
  }
}

SmallVector<Value> LinearForm::applyRow(const Matrix &matrix, int64_t y, function_ref<Value(int64_t, int64_t)> square) const {
  SmallVector<Value> row;
  ArrayRef<double> factors = matrix.row(y);
  for (int64_t x = 0; x < matrix.columns; ++x) {
    // What counts for nothing is not read.
    SmallVector<Value> column(matrix.columns);
    for (int64_t j = 0; j < matrix.columns; ++j)
      column[j] = factors[j] == 0 ? Value() : square(j, x);
    row.push_back(sum([&](unsigned j) { return factors[j]; }, column));
  }
  return apply(matrix, row);
}

std::string describeWinograd(WinogradConvOp conv) {
  std::string tile = std::to_string(conv.getTile());
  return "Winograd F(" + tile + "x" + tile + ", 3x3): " + (conv.getTile() == 4 ? "4" : "2.25") +
         " times fewer multiplications, by the cost model faster than the direct form";
}

void forShare(KernelBuilder &k, AffineExpr task, AffineExpr items, AffineExpr tasks, StringRef name, function_ref<void(AffineExpr)> body) {
  AffineExpr first = simplifyDim((task * items).floorDiv(tasks)), end = simplifyDim((task * items + items).floorDiv(tasks));
  if (items == tasks)
    return body(task);
  k.loop(k.index(k.emit(first)), k.index(k.emit(end)), 1, name, body);
}

//===- Tiles ---------------------------------------------------------------===//

WinogradLoops::WinogradLoops(KernelBuilder &k, WinogradConvOp op)
    : tile(op.getTile()), side(tile + 2), places(side * side), in(0), out(0), input(getDims(op.getInput().getType())),
      output(getDims(op.getType())), element(op.getType().getElementType()), down(simplifyDim(output[1].ceilDiv(tile))),
      across(simplifyDim(output[2].ceilDiv(tile))), tiles(simplifyDim(output[0] * down * across)), k(k), op(op),
      matrices(getWinogradMatrices(static_cast<unsigned>(tile))), source(k.buffer(cast<BlockArgument>(op.getInput()).getArgNumber())) {
  in = *getConstantDim(input[3]);
  out = *getConstantDim(output[3]);
}

WinogradLoops::Place WinogradLoops::placeOf(AffineExpr number) const {
  auto value = [&](AffineExpr expr) { return k.index(k.emit(expr)); };
  bool single = getConstantDim(output[0]) == 1;
  AffineExpr image = single ? k.constant(0) : value(number.floorDiv(down * across));
  AffineExpr inImage = single ? number : value(number - image * (down * across));
  AffineExpr y = value(inImage.floorDiv(across));
  return {image, y, value(inImage - y * across)};
}

std::pair<WinogradScratch, AffineExpr> WinogradScratch::make(KernelBuilder &k, Type element, int64_t places, int64_t slots, int64_t inputStride,
                                                             int64_t productStride, int64_t more) {
  int64_t line = elementsPerLine, sets = k.target().tuned(kernel::Tuned::SetBytes) / (line * static_cast<int64_t>(sizeof(float)));
  auto spread = [&](int64_t elements) {
    int64_t lines = llvm::divideCeilSigned(elements, line), shared = std::gcd(lines, sets);
    bool crowds = places * shared > sets * k.target().tuned(kernel::Tuned::SetRows);
    return crowds ? (lines | 1) * line : elements;
  };
  int64_t inputPlace = spread(slots * inputStride), productPlace = spread(slots * productStride);
  Value buffer = k.scratch(element, places * (inputPlace + productPlace) + more + slots);
  AffineExpr start = k.index(k.emit(k.scratchStart())), product = start + places * inputPlace, behind = product + places * productPlace;
  return {{buffer, start, product, inputStride, productStride, inputPlace, productPlace, behind + more}, behind};
}

/// `side` coordinates from `first` on; the last one stands in for those beyond it.
IndexExprs WinogradLoops::clamped(AffineExpr first, AffineExpr extent, bool fits) const {
  IndexExprs result;
  for (int64_t i = 0; i < side; ++i)
    result.push_back(fits ? first + i : k.index(k.minimum(k.emit(first + i), k.emit(extent - 1))));
  return result;
}

void WinogradLoops::transformTile(AffineExpr number, AffineExpr slot, unsigned lanes) const {
  Place place = placeOf(number);
  noteEvenness(place, slot, lanes);
  forPlace(place, [&](bool isInside) {
    IndexExprs lines = clamped(place.down * tile, input[1], isInside || isWhole(output[1]));
    IndexExprs pixels = clamped(place.across * tile, input[2], isInside || isWhole(output[2]));
    for (LinearForm::Rows rows : LinearForm(k, lanes).listParts(matrices.input))
      k.vectorLoop(input[3], lanes, "channel", [&](AffineExpr channel, Lanes across) {
        auto load = [&](int64_t y, int64_t x) {
          return k.loadBuffer(source, element, k.elementOffset(cast<BlockArgument>(op.getInput()), {place.image, lines[y], pixels[x], channel}), across);
        };
        LinearForm(k, across.count).applyTwice(matrices.input, rows, load, [&](int64_t y, ArrayRef<Value> row) {
          for (auto [x, value] : llvm::enumerate(row)) {
            AffineExpr at = slot * scratch.inputStride + (y * side + static_cast<int64_t>(x)) * scratch.inputPlace;
            k.storeBuffer(scratch.buffer, element, scratch.input + at + channel, value, across);
          }
        });
      });
  });
}

void WinogradLoops::multiplyTile(const TileEmitter &emitter, AffineExpr place, AffineExpr row, unsigned rows, AffineExpr depth, AffineExpr rhsAt,
                                 AffineExpr column, Panel panel, bool accumulate) const {
  SmallVector<AffineExpr> offsets;
  for (int64_t r = 0; r < rows; ++r)
    offsets.push_back(k.constant(r * scratch.inputStride));
  AffineExpr result = k.index(k.emit(scratch.product + place * scratch.productPlace + row * scratch.productStride + column)), lane = k.index(k.emitConstant(0));
  AffineExpr input = scratch.input + place * scratch.inputPlace + row * scratch.inputStride + depth;
  emitter.emit(input, offsets, rhsAt, panel, [&](unsigned r, unsigned at, Value value, unsigned count) {
    AffineExpr to = result + (r * scratch.productStride + at) + lane;
    Lanes across{cast<AffineDimExpr>(lane).getPosition(), count};
    if (accumulate)
      value = arith::AddFOp::create(k.builder(), k.loc(), k.loadBuffer(scratch.buffer, element, to, across), value);
    k.storeBuffer(scratch.buffer, element, to, value, across);
  });
}

/// Whether all pixels of a tile exist, or not all do.
Value WinogradLoops::isInside(const Place &place, bool yes) const {
  auto compare = [&](AffineExpr end, AffineExpr extent) -> Value {
    auto predicate = yes ? arith::CmpIPredicate::sle : arith::CmpIPredicate::sgt;
    return arith::CmpIOp::create(k.builder(), k.loc(), predicate, k.emit(end), k.emit(extent));
  };
  Value down = compare(place.down * tile + tile, output[1]), across = compare(place.across * tile + tile, output[2]);
  if (yes)
    return arith::AndIOp::create(k.builder(), k.loc(), down, across);
  return arith::OrIOp::create(k.builder(), k.loc(), down, across);
}

void WinogradLoops::forPlace(const Place &place, function_ref<void(bool)> body) const {
  auto isOpen = [&](AffineExpr dim) { return !getConstantDim(dim) && !isWhole(dim); };
  if (!isOpen(output[1]) && !isOpen(output[2]))
    return body(false);
  k.branch(isInside(place, true), [&] { body(true); });
  k.branch(isInside(place, false), [&] { body(false); });
}

void WinogradLoops::storePixels(const Place &place, int64_t y, ArrayRef<Value> pixels, AffineExpr channel, Lanes lanes, bool isInside) const {
  // The first line and pixel of a tile always exist.
  auto guard = [&](bool needed, AffineExpr at, AffineExpr extent, function_ref<void()> body) {
    if (!needed || isInside)
      return body();
    k.branch(arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::slt, k.emit(at), k.emit(extent)), body);
  };
  AffineExpr line = place.down * tile + y;
  guard(y > 0 && !isWhole(output[1]), line, output[1], [&] {
    if (isInside || isWhole(output[2]))
      return storeSums(k, element, pixels, lanes.count, /*together=*/2, hasLongFunction(k.group()), [&](AffineExpr pair, ArrayRef<Value> sums) {
        for (auto [i, sum] : llvm::enumerate(sums))
          k.storeLanes(op.getResult(), sum, {place.image, line, place.across * tile + pair * 2 + static_cast<int64_t>(i), channel}, lanes);
      });
    for (auto [x, value] : llvm::enumerate(pixels)) {
      AffineExpr pixel = place.across * tile + static_cast<int64_t>(x);
      guard(x > 0 && !isWhole(output[2]), pixel, output[2],
            [&, value = value] { k.storeLanes(op.getResult(), value, {place.image, line, pixel, channel}, lanes); });
    }
  });
}

void WinogradLoops::finishTile(AffineExpr number, AffineExpr slot, AffineExpr first, AffineExpr extent, bool relative, unsigned lanes) const {
  Place place = placeOf(number);
  forPlace(place, [&](bool isInside) {
    for (LinearForm::Rows rows : LinearForm(k, lanes).listParts(matrices.inverse))
      k.vectorLoop(extent, lanes, "channel", [&](AffineExpr channel, Lanes across) {
        auto load = [&](int64_t y, int64_t x) {
          AffineExpr at = slot * scratch.productStride + (y * side + x) * scratch.productPlace;
          return k.loadBuffer(scratch.buffer, element, scratch.product + at + channel + (relative ? k.constant(0) : first), across);
        };
        LinearForm(k, across.count).applyTwice(matrices.inverse, rows, load, [&](int64_t y, ArrayRef<Value> row) {
          storePixels(place, y, row, first + channel, across, isInside);
        });
      });
  });
}

void FilterTransform::forVectors(function_ref<void(AffineExpr, Lanes)> body) const {
  unsigned lanes = std::min<unsigned>(lanesOf(k.target(), element), static_cast<unsigned>(width));
  k.vectorLoop(k.constant(width), lanes, "column", body);
}

Value FilterTransform::loadTap(Value filters, AffineExpr from, int64_t y, int64_t x, AffineExpr column, Lanes across) const {
  return k.loadBuffer(filters, element, from + (y * 3 + x) * width + column, across);
}

/// Stores row y of the places.
void FilterTransform::store(Value result, AffineExpr to, int64_t placeStride, ArrayRef<Value> row, Lanes across) const {
  for (auto [x, value] : llvm::enumerate(row))
    k.storeBuffer(result, element, to + static_cast<int64_t>(x) * placeStride, value, across);
}

void FilterTransform::emit(Value filters, AffineExpr from, Value result, AffineExpr to, int64_t placeStride) const {
  forVectors([&](AffineExpr column, Lanes across) {
    auto load = [&](int64_t y, int64_t x) { return loadTap(filters, from, y, x, column, across); };
    LinearForm(k, across.count).applyTwice(filter, load, [&](int64_t y, ArrayRef<Value> row) {
      store(result, to + y * filter.rows * placeStride + column, placeStride, row, across);
    });
  });
}

void FilterTransform::emitRow(Value filters, AffineExpr from, Value result, AffineExpr to, int64_t placeStride, int64_t y) const {
  forVectors([&](AffineExpr column, Lanes across) {
    auto load = [&](int64_t i, int64_t j) { return loadTap(filters, from, i, j, column, across); };
    store(result, to + column, placeStride, LinearForm(k, across.count).applyRow(filter, y, load), across);
  });
}

LaunchInfo WinogradLoops::info(AffineExpr tasks) const {
  AffineExpr bytes = getNumElements(input, k.context()) + getNumElements(output, k.context()) + in * out * 9;
  return LaunchInfo{tasks, simplifyDim(tiles * (places * in * out * 2)), simplifyDim(bytes * 4)};
}

/// [panel, in, tap, column] <- [out, in, 3, 3].
kernel::PackAttr packFilters(MLIRContext *context, int64_t out, int64_t in, int64_t width) {
  AffineExpr d[5];
  for (unsigned i = 0; i < 5; ++i)
    d[i] = getAffineDimExpr(i, context);
  auto map = AffineMap::get(5, 0, {d[0] * width + d[4], d[1], d[2], d[3]}, context);
  return kernel::PackAttr::get(context, {llvm::divideCeilSigned(out, width), in, 3, 3, width}, map);
}

} // namespace kiln
