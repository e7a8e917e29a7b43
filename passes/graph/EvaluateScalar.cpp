//===- EvaluateScalar.cpp - Element-wise operations at compile time --------===//
#include "passes/graph/EvaluateScalar.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/Scalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

/// Elements interpreted at a time.
static constexpr int64_t chunk = 4096;

namespace {
/// One value of the interpreted body for a chunk of elements: numbers for floating types; integers sign-extended, i1 as 0 or 1.
struct Column {
  SmallVector<double, 0> numbers;
  SmallVector<int64_t, 0> integers;
};
} // namespace

double kiln::roundTo(Type type, double number) {
  if (type.isF64())
    return number;
  if (type.isF32())
    return static_cast<float>(number);
  APFloat value(number);
  bool lost;
  value.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
  return value.convertToDouble();
}

static int64_t wrapTo(Type type, int64_t integer) {
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == 1)
    return integer & 1;
  return width == 64 ? integer : llvm::SignExtend64(static_cast<uint64_t>(integer), width);
}

static uint64_t unsignedValue(Type type, int64_t integer) {
  unsigned width = type.getIntOrFloatBitWidth();
  return width == 64 ? integer : static_cast<uint64_t>(integer) & llvm::maskTrailingOnes<uint64_t>(width);
}

/// Converts as kernels do: fractions are dropped, numbers out of range saturate, and NaN becomes 0.
static int64_t saturate(double number, unsigned width, bool isSigned) {
  llvm::APSInt integer(width, /*isUnsigned=*/!isSigned);
  bool isExact;
  if (std::isnan(number))
    return 0;
  // Saturates a number that does not fit.
  APFloat(number).convertToInteger(integer, APFloat::rmTowardZero, &isExact);
  return isSigned ? integer.getSExtValue() : static_cast<int64_t>(integer.getZExtValue());
}

void kiln::storeNumber(char *to, Type type, double number) {
  APInt bits = APFloat(number).bitcastToAPInt();
  if (!type.isF64()) {
    APFloat value(number);
    bool lost;
    value.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
    bits = value.bitcastToAPInt();
  }
  std::memcpy(to, bits.getRawData(), elementBytes(type));
}

void kiln::storeNumber(char *to, Type type, int64_t number) {
  if (isa<FloatType>(type))
    return storeNumber(to, type, static_cast<double>(number));
  std::memcpy(to, &number, elementBytes(type));
}

//===- The interpreter -----------------------------------------------------===//

namespace {

class Interpreter {
public:
  Interpreter(Block &body, int64_t size) : body(body), size(size) {}

  Column &operator[](Value value) { return columns[value]; }
  LogicalResult run() {
    for (Operation &op : body)
      if (failed(interpret(&op)))
        return failure();
    return success();
  }

private:
  LogicalResult interpret(Operation *op);
  LogicalResult interpretInteger(Operation *op);
  LogicalResult interpretConversion(Operation *op);
  LogicalResult interpretBytes(Operation *op);
  bool interpretConstant(arith::ConstantOp op);

  template <typename Function> LogicalResult numbers(Operation *op, Function function) {
    Column &result = columns[op->getResult(0)];
    Type type = op->getResult(0).getType();
    ArrayRef<double> x = columns[op->getOperand(0)].numbers, y = columns[op->getOperands().back()].numbers;
    for (int64_t i = 0; i < size; ++i)
      result.numbers.push_back(roundTo(type, function(x[i], y[i])));
    return success();
  }
  template <typename Function> LogicalResult integers(Operation *op, Function function) {
    Column &result = columns[op->getResult(0)];
    Type type = op->getResult(0).getType();
    ArrayRef<int64_t> x = columns[op->getOperand(0)].integers, y = columns[op->getOperands().back()].integers;
    for (int64_t i = 0; i < size; ++i)
      result.integers.push_back(wrapTo(type, function(x[i], y[i])));
    return success();
  }
  /// An integer operation on unsigned values of the operands' type.
  template <typename Function> LogicalResult naturals(Operation *op, Function function) {
    Type type = op->getOperand(0).getType();
    return integers(op, [&](int64_t x, int64_t y) { return static_cast<int64_t>(function(unsignedValue(type, x), unsignedValue(type, y))); });
  }
  bool dividesByZero(Operation *op) { return llvm::is_contained(columns[op->getOperand(1)].integers, 0); }

  Block &body;
  int64_t size;
  llvm::DenseMap<Value, Column> columns;
};

} // namespace

bool Interpreter::interpretConstant(arith::ConstantOp op) {
  Column &result = columns[op.getResult()];
  if (auto number = dyn_cast<FloatAttr>(op.getValue()))
    result.numbers.assign(size, number.getValueAsDouble());
  else if (auto integer = dyn_cast<IntegerAttr>(op.getValue()))
    result.integers.assign(size, wrapTo(op.getType(), integer.getValue().getSExtValue()));
  else
    return false;
  return true;
}

static bool compareNumbers(arith::CmpFPredicate predicate, double x, double y) {
  return arith::applyCmpPredicate(predicate, APFloat(x), APFloat(y));
}

static int64_t integerPower(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  uint64_t result = 1;
  for (uint64_t square = base; exponent; exponent >>= 1, square *= square)
    if (exponent & 1)
      result *= square;
  return static_cast<int64_t>(result);
}

#define KILN_CASE(OpTy, kind, expression)                                                                              \
  if (isa<OpTy>(op))                                                                                                   \
    return kind(op, [](auto x, auto y) { return expression; });

LogicalResult Interpreter::interpret(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return success(interpretConstant(constant));
  auto propagate = [](double x, double y, double other) { return std::isnan(x) ? x : std::isnan(y) ? y : other; };
  if (isa<arith::MaximumFOp>(op))
    return numbers(op, [&](double x, double y) { return propagate(x, y, std::fmax(x, y)); });
  if (isa<arith::MinimumFOp>(op))
    return numbers(op, [&](double x, double y) { return propagate(x, y, std::fmin(x, y)); });
  KILN_CASE(arith::AddFOp, numbers, x + y)
  KILN_CASE(arith::SubFOp, numbers, x - y)
  KILN_CASE(arith::MulFOp, numbers, x *y)
  KILN_CASE(arith::DivFOp, numbers, x / y)
  KILN_CASE(arith::RemFOp, numbers, std::fmod(x, y))
  KILN_CASE(arith::NegFOp, numbers, -x)
  KILN_CASE(math::PowFOp, numbers, std::pow(x, y))
  KILN_CASE(math::AbsFOp, numbers, std::fabs(x))
  auto roundEven = [](double x) { return std::nearbyint(x); };
#define KILN_SCALAR_FUNCTION_OPS(name, mathOp, nnOp)                                                                   \
  if (isa<math::mathOp>(op))                                                                                           \
    return numbers(op, [&](double x, double) {                                                                         \
      using namespace std;                                                                                             \
      return name(x);                                                                                                  \
    });
#include "dialects/nn/ScalarFunctions.def"
#undef KILN_SCALAR_FUNCTION_OPS
  return interpretInteger(op);
}

/// kernel.quantize and kernel.lookup.
LogicalResult Interpreter::interpretBytes(Operation *op) {
  Column &result = columns[op->getResult(0)];
  Type type = op->getResult(0).getType();
  if (auto lookup = dyn_cast<kernel::LookupOp>(op)) {
    for (int64_t x : columns[lookup.getX()].integers)
      result.integers.push_back(lookup.getTable()[x & 0xff]);
    return success();
  }
  auto quantize = dyn_cast<kernel::QuantizeOp>(op);
  if (!quantize)
    return failure();
  unsigned width = type.getIntOrFloatBitWidth();
  double low = quantize.getIsUnsigned() ? 0 : -std::ldexp(1.0, width - 1), high = low + std::ldexp(1.0, width) - 1;
  ArrayRef<double> x = columns[quantize.getX()].numbers;
  ArrayRef<int64_t> zero = columns[quantize.getZero()].integers;
  for (int64_t i = 0; i < size; ++i) {
    double rounded = std::nearbyint(x[i]) + static_cast<double>(zero[i]);
    result.integers.push_back(wrapTo(type, static_cast<int64_t>(rounded > low ? std::fmin(rounded, high) : low)));
  }
  return success();
}

LogicalResult Interpreter::interpretInteger(Operation *op) {
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op) && dividesByZero(op))
    return failure();
  KILN_CASE(arith::AddIOp, naturals, x + y)
  KILN_CASE(arith::SubIOp, naturals, x - y)
  KILN_CASE(arith::MulIOp, naturals, x *y)
  KILN_CASE(arith::DivUIOp, naturals, x / y)
  KILN_CASE(arith::RemUIOp, naturals, x % y)
  // The quotient of the smallest number and -1 wraps.
  KILN_CASE(arith::DivSIOp, integers, y == -1 ? static_cast<int64_t>(-static_cast<uint64_t>(x)) : x / y)
  KILN_CASE(arith::RemSIOp, integers, y == -1 ? 0 : x % y)
  KILN_CASE(arith::MaxSIOp, integers, std::max(x, y))
  KILN_CASE(arith::MinSIOp, integers, std::min(x, y))
  KILN_CASE(arith::MaxUIOp, naturals, std::max(x, y))
  KILN_CASE(arith::MinUIOp, naturals, std::min(x, y))
  KILN_CASE(arith::AndIOp, naturals, x &y)
  KILN_CASE(arith::OrIOp, naturals, x | y)
  KILN_CASE(arith::XOrIOp, naturals, x ^ y)
  KILN_CASE(arith::ShLIOp, naturals, y < 64 ? x << y : 0)
  KILN_CASE(arith::ShRUIOp, naturals, y < 64 ? x >> y : 0)
  KILN_CASE(arith::ShRSIOp, integers, x >> (y < 0 || y > 63 ? 63 : y))
  KILN_CASE(math::AbsIOp, integers, x < 0 ? static_cast<int64_t>(-static_cast<uint64_t>(x)) : x)
  KILN_CASE(math::IPowIOp, integers, integerPower(x, y))
  return interpretConversion(op);
}

LogicalResult Interpreter::interpretConversion(Operation *op) {
  Column &result = columns[op->getResult(0)];
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  Column x = columns[op->getOperand(0)], y = columns[op->getOperands().back()];
  for (int64_t i = 0; i < size; ++i) {
    if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
      result.integers.push_back(compareNumbers(compare.getPredicate(), x.numbers[i], y.numbers[i]));
    } else if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
      unsigned width = from.getIntOrFloatBitWidth();
      APInt a(width, x.integers[i], true, true), b(width, y.integers[i], true, true);
      result.integers.push_back(arith::applyCmpPredicate(compare.getPredicate(), a, b));
    } else if (isa<arith::SelectOp>(op)) {
      Column &chosen = columns[op->getOperand(x.integers[i] ? 1 : 2)];
      if (isa<FloatType>(to))
        result.numbers.push_back(chosen.numbers[i]);
      else
        result.integers.push_back(chosen.integers[i]);
    } else if (isa<arith::TruncFOp, arith::ExtFOp>(op)) {
      result.numbers.push_back(roundTo(to, x.numbers[i]));
    } else if (isa<arith::FPToSIOp>(op)) {
      result.integers.push_back(saturate(x.numbers[i], to.getIntOrFloatBitWidth(), /*isSigned=*/true));
    } else if (isa<arith::FPToUIOp>(op)) {
      result.integers.push_back(wrapTo(to, saturate(x.numbers[i], to.getIntOrFloatBitWidth(), /*isSigned=*/false)));
    } else if (isa<arith::SIToFPOp>(op)) {
      result.numbers.push_back(to.isF32() ? static_cast<float>(x.integers[i]) : static_cast<double>(x.integers[i]));
    } else if (isa<arith::UIToFPOp>(op)) {
      uint64_t natural = unsignedValue(from, x.integers[i]);
      result.numbers.push_back(to.isF32() ? static_cast<float>(natural) : static_cast<double>(natural));
    } else if (isa<arith::TruncIOp, arith::ExtSIOp>(op)) {
      result.integers.push_back(wrapTo(to, from.isInteger(1) ? -x.integers[i] : x.integers[i]));
    } else if (isa<arith::ExtUIOp>(op)) {
      result.integers.push_back(wrapTo(to, static_cast<int64_t>(unsignedValue(from, x.integers[i]))));
    } else {
      return interpretBytes(op);
    }
  }
  return success();
}

//===- Whole tensors -------------------------------------------------------===//

static void loadColumn(Column &column, Type computed, const ConstantData &data, int64_t begin, int64_t size) {
  for (int64_t i = begin; i < begin + size; ++i)
    if (isa<FloatType>(computed))
      column.numbers.push_back(data.asDouble(i));
    else
      column.integers.push_back(wrapTo(computed, data.asInt(i)));
}

FailureOr<std::vector<char>> kiln::evaluateScalarBody(ScalarBody op, ArrayRef<ConstantData> operands) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Type element = type.getElementType();
  Block body;
  for (Value operand : op->getOperands())
    body.addArgument(computeType(getElementTypeOrSelf(operand)), op.getLoc());
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&body);
  Value result = op.buildScalar(builder, op.getLoc(), body.getArguments());

  int64_t count = type.getNumElements(), bytes = elementBytes(element);
  std::vector<char> out(count * bytes);
  for (int64_t begin = 0; begin < count; begin += chunk) {
    int64_t size = std::min(chunk, count - begin);
    Interpreter interpreter(body, size);
    for (auto [argument, data] : llvm::zip(body.getArguments(), operands))
      loadColumn(interpreter[argument], argument.getType(), data, begin, size);
    if (failed(interpreter.run()))
      return failure();
    const Column &column = interpreter[result];
    for (int64_t i = 0; i < size; ++i)
      if (isa<FloatType>(element))
        storeNumber(&out[(begin + i) * bytes], element, column.numbers[i]);
      else
        storeNumber(&out[(begin + i) * bytes], element, column.integers[i]);
  }
  return out;
}
