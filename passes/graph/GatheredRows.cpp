//===- GatheredRows.cpp - Rows of quantised tables --------------------------===//
//
//   %t = nn.dequantize %q, %s, %z                           (%q: a constant [V, D]; %s, %z: constants for all, rows, columns or blocks of rows)
//   %r = nn.gather %t, %i axis 0
//
// becomes
//
//   %g = nn.gather %q, %i axis 0
//   %r = nn.dequantize %g, ..., ...                         (what rows or their blocks have is gathered as well)
//
// so that the table stays packed. Numbers that fit four bits take four: those of the first half of a row stand in the low halves of its bytes.
//
//===----------------------------------------------------------------------===//
#include "passes/graph/GatheredRows.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/QuantizedProducts.h"
#include "passes/graph/BlockProducts.h"

using namespace mlir;

namespace kiln {

using namespace nn;

namespace {
/// A constant number for each element of the table, as it is given: one for all, for each column, or for each of `blocks` pieces of a row.
struct Parameter {
  enum class Of { All, Columns, Rows } of;
  SmallVector<double> numbers;
  int64_t blocks = 1;
};

class GatheredRows {
public:
  GatheredRows(GatherOp op, DequantizeOp table, OpBuilder &builder)
      : op(op), builder(builder), constant(getConstant(table.getX())), type(cast<RankedTensorType>(constant.getType())), element(type.getElementType()) {}
  /// False when the numbers cannot be gathered so.
  bool read(DequantizeOp table);
  Value build();

private:
  std::optional<Parameter> readParameter(Value value) const;
  bool isNarrow() const;
  Value gather(RankedTensorType table, ElementsAttr values);
  Value gatherPacked();
  Value spread(const Parameter &parameter, Type numberType);
  Value constantOf(ArrayRef<int64_t> shape, Type numberType, ArrayRef<double> numbers);
  DimExprs resultDims() const { return getDims(GatherOp(op).getType()); }

  GatherOp op;
  OpBuilder &builder;
  ElementsAttr constant;
  RankedTensorType type;
  /// Of the numbers that are gathered.
  Type element;
  std::optional<Parameter> scale, zero;
};
} // namespace

std::optional<Parameter> GatheredRows::readParameter(Value value) const {
  if (auto number = getSplatNumber(value))
    return Parameter{Parameter::Of::All, {*number}};
  if (auto columns = getNumbersAlong(value, 1))
    return Parameter{Parameter::Of::Columns, std::move(*columns)};
  // Pieces of a row are blocks along the second dimension; [blocks, rows] becomes [rows, blocks].
  auto pieces = readPerBlock(value, 1);
  if (!pieces)
    return std::nullopt;
  int64_t rows = type.getDimSize(0), blocks = type.getDimSize(1) / pieces->block;
  Parameter parameter{Parameter::Of::Rows, {}, blocks};
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t block = 0; block < blocks; ++block)
      parameter.numbers.push_back(pieces->numbers[block * rows + row]);
  return parameter;
}

bool GatheredRows::read(DequantizeOp table) {
  scale = readParameter(table.getScale());
  zero = readParameter(table.getZeroPoint());
  return scale && zero;
}

/// Whether all numbers and zero points have four bits.
bool GatheredRows::isNarrow() const {
  bool isUnsigned = type.getElementType().isUnsignedInteger();
  auto fits = [&](double number) { return isUnsigned ? number < 16 : number >= -8 && number < 8; };
  ConstantData data(constant);
  return type.getDimSize(1) % 2 == 0 && llvm::all_of(zero->numbers, fits) &&
         llvm::all_of(llvm::seq<int64_t>(0, data.numElements()), [&](int64_t i) { return fits(data.asDouble(i)); });
}

Value GatheredRows::constantOf(ArrayRef<int64_t> shape, Type numberType, ArrayRef<double> numbers) {
  auto tensor = RankedTensorType::get(shape, numberType);
  if (numberType.isF32())
    return ConstantOp::create(builder, op.getLoc(), makeConstantOf<float>(tensor, SmallVector<float>(numbers)));
  auto bytes = llvm::map_to_vector(numbers, [](double number) { return static_cast<int8_t>(static_cast<int64_t>(number)); });
  return ConstantOp::create(builder, op.getLoc(), makeConstantOf<int8_t>(tensor, bytes));
}

/// Rows of a constant table.
Value GatheredRows::gather(RankedTensorType table, ElementsAttr values) {
  DimExprs dims = resultDims();
  dims.back() = builder.getAffineConstantExpr(table.getDimSize(1));
  Value rows = ConstantOp::create(builder, op.getLoc(), values);
  return GatherOp::create(builder, op.getLoc(), makeTensorType(dims, table.getElementType()), rows, op.getIndices(), 0);
}

/// Rows of a table with two numbers in a byte; numbers and zero points count from the least one on.
Value GatheredRows::gatherPacked() {
  int64_t rows = type.getDimSize(0), half = type.getDimSize(1) / 2, offset = type.getElementType().isUnsignedInteger() ? 0 : 8;
  element = builder.getIntegerType(8, /*isSigned=*/false);
  ConstantData data(constant);
  std::vector<uint8_t> packed(rows * half);
  auto at = [&](int64_t i) { return static_cast<unsigned>(static_cast<int64_t>(data.asDouble(i)) + offset); };
  for (int64_t i = 0; i < rows * half; ++i) {
    int64_t low = i / half * 2 * half + i % half;
    packed[i] = static_cast<uint8_t>(at(low) | at(low + half) << 4);
  }
  for (double &number : zero->numbers)
    number += static_cast<double>(offset);
  auto bytes = RankedTensorType::get({rows, half}, element);
  Value gathered = gather(bytes, makeConstantOf<uint8_t>(bytes, packed));
  Type same = gathered.getType();
  auto splat = [&](int64_t number) { return SplatOp::create(builder, op.getLoc(), cast<RankedTensorType>(same), builder.getIntegerAttr(element, number)); };
  Value low = AndOp::create(builder, op.getLoc(), same, gathered, splat(15)), high = ShiftRightOp::create(builder, op.getLoc(), same, gathered, splat(4));
  auto axis = static_cast<int64_t>(resultDims().size()) - 1;
  return ConcatOp::create(builder, op.getLoc(), makeTensorType(resultDims(), element), ValueRange{low, high}, axis);
}

/// The parameter of each gathered number.
Value GatheredRows::spread(const Parameter &parameter, Type numberType) {
  auto result = makeTensorType(resultDims(), numberType);
  if (parameter.of != Parameter::Of::Rows) {
    bool isOne = parameter.of == Parameter::Of::All;
    Value numbers = constantOf(isOne ? ArrayRef<int64_t>() : ArrayRef<int64_t>{type.getDimSize(1)}, numberType, parameter.numbers);
    return BroadcastToOp::create(builder, op.getLoc(), result, numbers);
  }
  auto table = RankedTensorType::get({type.getDimSize(0), parameter.blocks}, numberType);
  Value rows = gather(table, getConstant(constantOf(table.getShape(), numberType, parameter.numbers)));
  DimExprs single = getDims(rows.getType()), spread;
  single.push_back(builder.getAffineConstantExpr(1));
  spread = single;
  spread.back() = builder.getAffineConstantExpr(type.getDimSize(1) / parameter.blocks);
  Value pieces = ReshapeOp::create(builder, op.getLoc(), makeTensorType(single, numberType), rows);
  pieces = BroadcastToOp::create(builder, op.getLoc(), makeTensorType(spread, numberType), pieces);
  return ReshapeOp::create(builder, op.getLoc(), result, pieces);
}

Value GatheredRows::build() {
  Value numbers = isNarrow() ? gatherPacked() : gather(type, constant);
  return DequantizeOp::create(builder, op.getLoc(), op.getType(), numbers, spread(*scale, builder.getF32Type()), spread(*zero, element));
}

LogicalResult raiseGather(GatherOp op, PatternRewriter &rewriter) {
  auto table = op.getInput().getDefiningOp<DequantizeOp>();
  ElementsAttr constant = table ? getConstant(table.getX()) : ElementsAttr();
  auto type = constant ? cast<RankedTensorType>(constant.getType()) : RankedTensorType();
  if (!type || op.getAxis() != 0 || type.getRank() != 2 || type.getNumElements() == 0 || !type.getElementType().isInteger(8) ||
      !op.getType().getElementType().isF32())
    return rewriter.notifyMatchFailure(op, "expected rows of a dequantised constant table of bytes");
  GatheredRows rows(op, table, rewriter);
  if (!rows.read(table))
    return rewriter.notifyMatchFailure(op, "expected constant scales and zero points for rows, their blocks, or columns");
  rewriter.replaceOp(op, rows.build());
  return success();
}

} // namespace kiln
