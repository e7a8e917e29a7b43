//===- VectorExpressions.cpp - vector operations as C++ --------------------===//
#include "compiler/emit/Expression.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {

static Expression writeBroadcast(vector::BroadcastOp op, OperandText operand) {
  Value source = op.getSource();
  Expression text = operand(source);
  if (!isCppVector(op.getType()) || isCppVector(source.getType()))
    return cppType(source.getType()) == cppType(op.getType()) ? text : Expression();
  bool mask = getElementTypeOrSelf(op.getType()).isInteger(1);
  std::string lane = mask ? "-int32_t(" + text.text + ")" : text.text;
  std::string type = operand.type(op.getType());
  return type.empty() ? Expression() : call("kiln::broadcast<" + type + ">", {lane});
}

static Expression writeFma(vector::FMAOp op, OperandText operand) {
  Expression product = infix(operand(op.getLhs()), "*", operand(op.getRhs()), Binding::Multiply);
  return infix(product, "+", operand(op.getAcc()), Binding::Add);
}

/// Lane `position` of a vector.
static Expression lane(Value vector, const std::string &position, OperandText operand) {
  Expression text = operand(vector);
  if (!isCppVector(vector.getType()))
    return text;
  Expression element{text.at(Binding::Primary) + "[" + position + "]"};
  if (getElementTypeOrSelf(vector.getType()).isInteger(1))
    return {element.text + " != 0", Binding::Compare};
  return element;
}

static std::string positionText(ArrayRef<OpFoldResult> positions, OperandText operand) {
  if (positions.empty())
    return "0";
  if (auto value = dyn_cast<Value>(positions.front()))
    return operand(value).text;
  return std::to_string(*getConstantIntValue(positions.front()));
}

static Expression writeInsert(vector::InsertOp op, OperandText operand) {
  std::string position = positionText(op.getMixedPosition(), operand);
  Expression value = operand(op.getValueToStore());
  if (!isCppVector(op.getType()))
    return value;
  if (isCppVector(op.getValueToStore().getType()))
    return {};
  bool mask = getElementTypeOrSelf(op.getType()).isInteger(1);
  std::string text = mask ? "-int32_t(" + value.text + ")" : value.text;
  return call("kiln::insert<" + operand.type(op.getType()) + ">", {operand(op.getDest()).text, position, text});
}

static Expression writeFromElements(vector::FromElementsOp op, OperandText operand) {
  if (!isCppVector(op.getType()))
    return operand(op.getElements().front());
  bool mask = getElementTypeOrSelf(op.getType()).isInteger(1);
  std::vector<std::string> elements;
  for (Value element : op.getElements())
    elements.push_back(mask ? "-int32_t(" + operand(element).text + ")" : operand(element).text);
  return {operand.type(op.getType()) + "{" + llvm::join(elements, ", ") + "}"};
}

/// Lanes picked from one or two vectors.
static Expression pick(Value first, Value second, ArrayRef<int64_t> positions, OperandText operand) {
  int64_t width = cast<VectorType>(first.getType()).getNumElements();
  if (positions.size() == 1 && positions[0] >= 0)
    return lane(positions[0] < width ? first : second, std::to_string(positions[0] % width), operand);
  if (!isCppVector(first.getType()))
    return {};
  if (llvm::equal(positions, llvm::seq<int64_t>(0, 2 * width)))
    return call("kiln::join", {operand(first).text, operand(second).text});
  std::string text = "__builtin_shufflevector(" + operand(first).text + ", " + operand(second).text;
  for (int64_t position : positions)
    text += ", " + std::to_string(position);
  return {text + ")"};
}

static Expression writeReduction(vector::ReductionOp op, OperandText operand) {
  using Kind = vector::CombiningKind;
  Value source = op.getVector();
  Expression text = operand(source);
  Type element = getElementTypeOrSelf(source.getType());
  std::string type = cppType(op.getType());
  auto reduce = [&](StringRef name) {
    return isCppVector(source.getType()) ? call("kiln::" + name.str() + "<" + operand.type(source.getType()) + ">", {text.text}) : text;
  };
  auto with = [&](StringRef reduction, StringRef combine) {
    Expression all = reduce(reduction);
    return op.getAcc() ? call("kiln::" + combine.str() + "<" + type + ">", {operand(op.getAcc()).text, all.text}) : all;
  };
  bool isFloat = isa<FloatType>(element);
  switch (op.getKind()) {
  case Kind::ADD:
    return isFloat && op.getAcc() ? infix(operand(op.getAcc()), "+", reduce("reduce_add"), Binding::Add)
                                  : with(isFloat ? "reduce_add" : "reduce_add_wrapping", "add");
  case Kind::MUL:
    return isFloat && op.getAcc() ? infix(operand(op.getAcc()), "*", reduce("reduce_mul"), Binding::Multiply)
                                  : with(isFloat ? "reduce_mul" : "reduce_mul_wrapping", "mul");
  case Kind::MINSI: case Kind::MINIMUMF:
    return with("reduce_min", "min");
  case Kind::MAXSI: case Kind::MAXIMUMF:
    return with("reduce_max", "max");
  case Kind::MINUI:
    return with("reduce_min_unsigned", "min_unsigned");
  case Kind::MAXUI:
    return with("reduce_max_unsigned", "max_unsigned");
  case Kind::AND:
    return element.isInteger(1) && !op.getAcc() ? reduce("all") : Expression();
  case Kind::OR:
    return element.isInteger(1) && !op.getAcc() ? reduce("any") : Expression();
  default:
    return {};
  }
}

static Expression writeStep(vector::StepOp op, OperandText operand) {
  std::vector<std::string> numbers;
  for (int64_t i = 0; i < op.getType().getNumElements(); ++i)
    numbers.push_back(std::to_string(i));
  return {operand.type(op.getType()) + "{" + llvm::join(numbers, ", ") + "}"};
}

Expression writeVector(Operation *op, OperandText operand) {
  if (op->getNumResults() != 1 || cppType(op->getResult(0).getType()).empty())
    return {};
  return TypeSwitch<Operation *, Expression>(op)
      .Case<vector::BroadcastOp>([&](auto broadcast) { return writeBroadcast(broadcast, operand); })
      .Case<vector::FMAOp>([&](auto fma) { return writeFma(fma, operand); })
      .Case<vector::ExtractOp>([&](auto extract) {
        return isa<VectorType>(extract.getType()) && isCppVector(extract.getType())
                   ? Expression()
                   : lane(extract.getSource(), positionText(extract.getMixedPosition(), operand), operand);
      })
      .Case<vector::InsertOp>([&](auto insert) { return writeInsert(insert, operand); })
      .Case<vector::FromElementsOp>([&](auto elements) { return writeFromElements(elements, operand); })
      .Case<vector::ShuffleOp>([&](auto shuffle) { return pick(shuffle.getV1(), shuffle.getV2(), shuffle.getMask(), operand); })
      .Case<vector::ExtractStridedSliceOp>([&](auto slice) {
        int64_t first = cast<IntegerAttr>(slice.getOffsets()[0]).getInt();
        auto positions = llvm::to_vector(llvm::seq<int64_t>(first, first + cast<IntegerAttr>(slice.getSizes()[0]).getInt()));
        return pick(slice.getSource(), slice.getSource(), positions, operand);
      })
      .Case<vector::ReductionOp>([&](auto reduction) { return writeReduction(reduction, operand); })
      .Case<vector::BitCastOp>([&](auto bits) { return callOn("bitcast", operand.type(bits.getType()), bits.getSource(), operand); })
      .Case<vector::StepOp>([&](auto step) { return writeStep(step, operand); })
      .Default([](auto) { return Expression(); });
}

} // namespace kiln
