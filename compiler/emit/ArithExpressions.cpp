//===- ArithExpressions.cpp - arith operations as C++ ----------------------===//
//
// ONNX integers wrap around and never trap, so their arithmetic is functions of kiln/wrap.h. Index arithmetic, which the compiler
// itself creates and keeps in range, uses plain operators.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/Expression.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {

static Expression binary(Operation *op, StringRef text, Binding binding, OperandText operand) {
  return infix(operand(op->getOperand(0)), text, operand(op->getOperand(1)), binding);
}

static Type elementOf(Operation *op) { return getElementTypeOrSelf(op->getResult(0).getType()); }

static Expression writeFloatBinary(Operation *op, OperandText operand) {
  Type element = elementOf(op);
  if (!element.isF32() && !element.isF64())
    return {}; // f16 and bf16 are storage; kernels compute in f32
  return TypeSwitch<Operation *, Expression>(op)
      .Case<arith::AddFOp>([&](auto) { return binary(op, "+", Binding::Add, operand); })
      .Case<arith::SubFOp>([&](auto) { return binary(op, "-", Binding::Add, operand); })
      .Case<arith::MulFOp>([&](auto) { return binary(op, "*", Binding::Multiply, operand); })
      .Case<arith::DivFOp>([&](auto) { return binary(op, "/", Binding::Multiply, operand); })
      .Case<arith::NegFOp>([&](auto) { return Expression{"-" + operand(op->getOperand(0)).at(Binding::Primary), Binding::Unary}; })
      .Default([](auto) { return Expression(); });
}

/// Whether an index division may be written with the plain operator: by a constant that cannot trap.
static bool isSafeDivisor(Value divisor) {
  auto constant = divisor.getDefiningOp<arith::ConstantIndexOp>();
  return constant && constant.value() > 0;
}

/// Index arithmetic that C++ has operators for.
static Expression writeIndexBinary(Operation *op, OperandText operand) {
  if (!elementOf(op).isIndex() || isCppVector(op->getResult(0).getType()))
    return {};
  if (isa<arith::AddIOp>(op))
    return binary(op, "+", Binding::Add, operand);
  if (isa<arith::SubIOp>(op))
    return binary(op, "-", Binding::Add, operand);
  if (isa<arith::MulIOp>(op))
    return binary(op, "*", Binding::Multiply, operand);
  if (isa<arith::DivSIOp, arith::DivUIOp>(op) && isSafeDivisor(op->getOperand(1)))
    return binary(op, "/", Binding::Multiply, operand);
  if (isa<arith::RemSIOp, arith::RemUIOp>(op) && isSafeDivisor(op->getOperand(1)))
    return binary(op, "%", Binding::Multiply, operand);
  return {};
}

static Expression writeBitwise(Operation *op, OperandText operand) {
  if (!isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return {};
  StringRef text = isa<arith::AndIOp>(op) ? "&" : isa<arith::OrIOp>(op) ? "|" : "^";
  Type type = op->getResult(0).getType();
  bool isBool = type.isInteger(1);
  Attribute mask;
  if (auto constant = op->getOperand(1).getDefiningOp<arith::ConstantOp>())
    mask = constant.getValue();
  if (isBool && isa<arith::XOrIOp>(op) && mask && cast<IntegerAttr>(mask).getValue().isOne())
    return {"!" + operand(op->getOperand(0)).at(Binding::Primary), Binding::Unary};
  // An "or" of comparisons is a function, because of Clang's code for MVE.
  if (isa<arith::OrIOp>(op) && isCppVector(type) && elementOf(op).isInteger(1))
    return {"kiln::either(" + operand(op->getOperand(0)).text + ", " + operand(op->getOperand(1)).text + ")", Binding::Primary};
  if (isBool) // neither side has an effect, so that one may be skipped; Clang warns of bitwise operators between bools
    text = text == "^" ? "!=" : text == "&" ? "&&" : "||";
  Expression result = binary(op, text, Binding::Bitwise, operand);
  unsigned width = elementOf(op).isIndex() ? indexBits() : elementOf(op).getIntOrFloatBitWidth();
  // Narrow integers are promoted to int.
  bool promoted = !isCppVector(type) && width < 32 && !(isBool && text == "!=");
  return promoted ? Expression{operand.type(type) + "(" + result.text + ")"} : result;
}

/// The function of the kernel headers for an operation.
static StringRef integerFunction(Operation *op) {
  static const llvm::StringMap<StringRef> names = {
      {"arith.addi", "add"},           {"arith.subi", "sub"},         {"arith.muli", "mul"},       {"arith.divsi", "div"},
      {"arith.divui", "div_unsigned"}, {"arith.remsi", "rem"},        {"arith.remui", "rem_unsigned"},
      {"arith.floordivsi", "floor_div"}, {"arith.ceildivsi", "ceil_div"}, {"arith.ceildivui", "ceil_div"},
      {"arith.shli", "shift_left"},    {"arith.shrui", "shift_right_unsigned"}, {"arith.shrsi", "shift_right"},
      {"arith.minsi", "min"},          {"arith.maxsi", "max"},        {"arith.minui", "min_unsigned"}, {"arith.maxui", "max_unsigned"},
      {"arith.minimumf", "min"},       {"arith.maximumf", "max"},     {"arith.minnumf", "min_number"}, {"arith.maxnumf", "max_number"},
      {"arith.remf", "fmod"}};
  return names.lookup(op->getName().getStringRef());
}

static StringRef comparisonText(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq: return "==";
  case P::ne: return "!=";
  case P::slt: case P::ult: return "<";
  case P::sle: case P::ule: return "<=";
  case P::sgt: case P::ugt: return ">";
  case P::sge: case P::uge: return ">=";
  }
  return "";
}

/// Comparing vectors gives lanes of the operands' width, but a mask has int32 lanes.
static Expression asMask(Expression compare, Type operandType, Type maskType, OperandText operand) {
  Type element = getElementTypeOrSelf(operandType);
  unsigned width = element.isIndex() ? indexBits() : element.isInteger(1) ? 32 : element.getIntOrFloatBitWidth();
  if (!isCppVector(maskType) || width == 32)
    return compare;
  return call("kiln::convert<" + operand.type(maskType) + ">", {compare.text});
}

static Expression writeCompareInteger(arith::CmpIOp op, OperandText operand) {
  using P = arith::CmpIPredicate;
  Type type = op.getLhs().getType();
  Expression left = operand(op.getLhs()), right = operand(op.getRhs());
  P predicate = op.getPredicate();
  bool isUnsigned = predicate == P::ult || predicate == P::ule || predicate == P::ugt || predicate == P::uge;
  if (getElementTypeOrSelf(type).isInteger(1) && !isCppVector(type)) {
    // As a signed number, true is -1.
    bool isOrder = predicate != P::eq && predicate != P::ne;
    if (isOrder && !isUnsigned)
      std::swap(left, right);
  } else if (isUnsigned) {
    std::string name = operand.unsignedType(type), cast = isCppVector(type) ? "kiln::bitcast<" + name + ">" : name;
    left = call(cast, {left.text});
    right = call(cast, {right.text});
  }
  return asMask(infix(left, comparisonText(predicate), right, Binding::Compare), type, op.getType(), operand);
}

static Expression writeCompareFloat(arith::CmpFOp op, OperandText operand) {
  using P = arith::CmpFPredicate;
  Type type = op.getLhs().getType();
  Expression left = operand(op.getLhs()), right = operand(op.getRhs());
  auto compare = [&](StringRef text) { return asMask(infix(left, text, right, Binding::Compare), type, op.getType(), operand); };
  auto negated = [&](StringRef text) {
    return Expression{(isCppVector(type) ? "~" : "!") + compare(text).at(Binding::Primary), Binding::Unary};
  };
  auto function = [&](StringRef name) {
    return asMask(call("kiln::" + name.str() + "<" + operand.type(type) + ">", {left.text, right.text}), type, op.getType(), operand);
  };
  switch (op.getPredicate()) {
  case P::OEQ: return compare("==");
  case P::OLT: return compare("<");
  case P::OLE: return compare("<=");
  case P::OGT: return compare(">");
  case P::OGE: return compare(">=");
  case P::UNE: return compare("!=");
  case P::ULT: return negated(">=");
  case P::ULE: return negated(">");
  case P::UGT: return negated("<=");
  case P::UGE: return negated("<");
  case P::ONE: return function("less_or_greater");
  case P::UEQ: return function("equal_or_unordered");
  case P::ORD: return function("ordered");
  case P::UNO: return function("unordered");
  case P::AlwaysFalse: return operand.literal(cast<TypedAttr>(Builder(op.getContext()).getZeroAttr(op.getType())));
  case P::AlwaysTrue: return {};
  }
  return {};
}

static Expression writeSelect(arith::SelectOp op, OperandText operand) {
  Expression condition = operand(op.getCondition()), yes = operand(op.getTrueValue()), no = operand(op.getFalseValue());
  if (cppType(op.getType()).empty())
    return {};
  if (isCppVector(op.getCondition().getType()))
    return call("kiln::select", {condition.text, yes.text, no.text});
  // Casts keep literals and promoted operands at the type of the value.
  bool narrow = getElementTypeOrSelf(op.getType()).isInteger(8) || getElementTypeOrSelf(op.getType()).isInteger(16);
  Expression result{condition.at(Binding::Bitwise) + " ? " + yes.at(Binding::Bitwise) + " : " + no.at(Binding::Bitwise), Binding::Conditional};
  return narrow ? Expression{operand.type(op.getType()) + "(" + result.text + ")"} : result;
}

/// A conversion of each lane with C++'s rules between the C++ types.
static Expression convert(const std::string &to, bool vector, const std::string &text) {
  if (to.empty())
    return {};
  return {vector ? "kiln::convert<" + to + ">(" + text + ")" : to + "(" + text + ")"};
}

/// The operand's bits as unsigned integers (or 0 and 1 for bool).
static std::string unsignedOperand(Value value, OperandText operand) {
  Type type = value.getType();
  Expression text = operand(value);
  if (getElementTypeOrSelf(type).isInteger(1))
    return isCppVector(type) ? text.at(Binding::Unary) + " & 1" : text.text;
  std::string name = operand.unsignedType(type);
  return (isCppVector(type) ? "kiln::bitcast<" + name + ">(" : name + "(") + text.text + ")";
}

static Expression writeNarrow(Operation *op, OperandText operand) {
  Type to = op->getResult(0).getType();
  bool vector = isCppVector(to);
  Expression text = operand(op->getOperand(0));
  if (!elementOf(op).isInteger(1))
    return convert(operand.type(to), vector, text.text);
  Expression bit{text.at(Binding::Unary) + " & 1", Binding::Bitwise};
  if (!vector)
    return {"(" + bit.text + ") != 0", Binding::Compare};
  return convert(operand.type(to), true, "-(" + bit.text + ")");
}

/// How the kernel headers call a type that is only stored; empty for one that is computed with.
static StringRef storage(Type type) { return type.isF16() ? "f16" : type.isBF16() ? "bf16" : ""; }

static Expression writeFloatConversion(Operation *op, OperandText operand) {
  Value from = op->getOperand(0);
  Type source = getElementTypeOrSelf(from.getType()), target = elementOf(op), to = op->getResult(0).getType();
  if (!storage(source).empty() && !storage(target).empty())
    return {};
  bool vector = isCppVector(from.getType());
  Type f32 = Float32Type::get(op->getContext());
  if (auto form = dyn_cast<VectorType>(from.getType()))
    f32 = form.clone(f32);
  if (!storage(source).empty()) {
    Expression wide = callOn((storage(source) + "_to_f32").str(), operand.type(from.getType()), from, operand);
    return target.isF64() ? convert(operand.type(to), vector, wide.text) : wide;
  }
  if (!storage(target).empty()) {
    std::string text = operand(from).text;
    if (source.isF64()) // by way of float
      text = convert(operand.type(f32), vector, text).text;
    return call(("kiln::f32_to_" + storage(target) + "<").str() + operand.type(f32) + ">", {text});
  }
  return convert(operand.type(to), isCppVector(to), operand(from).text);
}

/// Conversions between integers and half types, which the text writes as two, by way of float.
static Expression writeHalfConversion(Operation *op, OperandText operand) {
  Value from = op->getOperand(0);
  Type source = getElementTypeOrSelf(from.getType()), target = elementOf(op), f32 = Float32Type::get(op->getContext());
  if (auto form = dyn_cast<VectorType>(from.getType()))
    f32 = form.clone(f32);
  bool vector = isCppVector(from.getType());
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op) && !storage(source).empty()) {
    std::string wide = callOn((storage(source) + "_to_f32").str(), operand.type(from.getType()), from, operand).text;
    std::string name = operand.type(op->getResult(0).getType());
    if (isa<arith::FPToSIOp>(op))
      return call("kiln::saturate<" + name + ">", {wide});
    std::string whole = call("kiln::saturate<" + operand.unsignedType(op->getResult(0).getType()) + ">", {wide}).text;
    return vector ? call("kiln::bitcast<" + name + ">", {whole}) : Expression{name + "(" + whole + ")"};
  }
  if (!isa<arith::SIToFPOp, arith::UIToFPOp>(op) || storage(target).empty())
    return {};
  bool isNegated = isa<arith::SIToFPOp>(op) && source.isInteger(1) && !vector;
  std::string whole = isa<arith::UIToFPOp>(op) ? unsignedOperand(from, operand) : isNegated ? "-int32_t(" + operand(from).text + ")" : operand(from).text;
  std::string wide = convert(operand.type(f32), vector, whole).text;
  return call(("kiln::f32_to_" + storage(target) + "<").str() + operand.type(f32) + ">", {wide});
}

/// An integer of 64 bits as an index of 32: what no tensor has becomes an index that no tensor has.
static Expression writeNarrowIndex(Operation *op, OperandText operand) {
  Value from = op->getOperand(0);
  bool isCast = isa<arith::IndexCastOp, arith::IndexCastUIOp>(op) && elementOf(op).isIndex() && getElementTypeOrSelf(from.getType()).isInteger(64);
  if (!isCast || indexBits() == 64)
    return {};
  return call("kiln::narrow_index<" + operand.type(op->getResult(0).getType()) + ">", {operand(from).text});
}

static Expression writeConversion(Operation *op, OperandText operand) {
  if (Expression narrow = writeNarrowIndex(op, operand); !narrow.text.empty())
    return narrow;
  if (Expression half = writeHalfConversion(op, operand); !half.text.empty())
    return half;
  Type to = op->getResult(0).getType();
  bool vector = isCppVector(to);
  auto name = [&] { return operand.type(to); };
  Value from = op->getOperand(0);
  bool fromBool = getElementTypeOrSelf(from.getType()).isInteger(1);
  return TypeSwitch<Operation *, Expression>(op)
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return writeFloatConversion(op, operand); })
      .Case<arith::TruncIOp>([&](auto) { return writeNarrow(op, operand); })
      .Case<arith::ExtUIOp, arith::UIToFPOp, arith::IndexCastUIOp>([&](auto) {
        return convert(name(), vector, unsignedOperand(from, operand));
      })
      .Case<arith::ExtSIOp, arith::SIToFPOp, arith::IndexCastOp>([&](auto) {
        Expression text = operand(from);
        if (fromBool && !vector)
          return Expression{name() + "(-int32_t(" + text.text + "))"};
        bool same = cppType(from.getType()) == cppType(to);
        return same ? text : convert(name(), vector, text.text);
      })
      .Case<arith::FPToSIOp>([&](auto) { return callOn("saturate", name(), from, operand); })
      .Case<arith::FPToUIOp>([&](auto) {
        Expression text = callOn("saturate", operand.unsignedType(to), from, operand);
        return vector ? call("kiln::bitcast<" + name() + ">", {text.text}) : Expression{name() + "(" + text.text + ")"};
      })
      .Case<arith::BitcastOp>([&](auto) {
        return cppType(from.getType()) == cppType(to) ? operand(from) : callOn("bitcast", name(), from, operand);
      })
      .Default([](auto) { return Expression(); });
}

Expression writeArith(Operation *op, OperandText operand) {
  if (!isa_and_nonnull<arith::ArithDialect>(op->getDialect()) || op->getNumResults() != 1)
    return {};
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return writeCompareInteger(compare, operand);
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return writeCompareFloat(compare, operand);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return writeSelect(select, operand);
  for (auto *rule : {writeFloatBinary, writeIndexBinary, writeBitwise, writeConversion})
    if (Expression text = rule(op, operand); !text.text.empty())
      return text;
  StringRef function = integerFunction(op);
  bool isFloat = isa<FloatType>(elementOf(op));
  if (function.empty() || elementOf(op).isInteger(1) || (isFloat && !elementOf(op).isF32() && !elementOf(op).isF64()))
    return {};
  return callOn(function, operand.type(op->getResult(0).getType()), op->getOperands(), operand);
}

} // namespace kiln
