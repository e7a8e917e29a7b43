//===- FunctionPrinter.cpp - Blocks of operations as C++ statements --------===//
#include "compiler/emit/FunctionPrinter.h"

#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/KernelAttributeNames.h"
#include "dialects/kernel/Names.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {

/// An expression longer than this becomes a variable.
static constexpr size_t expressionColumns = 90;

void FunctionPrinter::line(const Twine &text) { out += std::string(2 * depth, ' ') + text.str() + "\n"; }

void FunctionPrinter::open(const Twine &text) {
  line(text);
  ++depth;
  scope.push();
}

void FunctionPrinter::close(const Twine &text) {
  scope.pop();
  --depth;
  line(text);
}

static StringRef locationName(Location loc) {
  auto name = dyn_cast<NameLoc>(loc);
  return name && kernel::isIdentifier(name.getName()) ? name.getName().getValue() : StringRef();
}

StringRef givenName(Operation *op) {
  Operation *function = op->getParentOp();
  while (function && !isa<FunctionOpInterface, kernel::EntryOp>(function))
    function = function->getParentOp();
  return function && function->getLoc() == op->getLoc() ? StringRef() : locationName(op->getLoc());
}

std::string FunctionPrinter::nameOf(Value value, StringRef fallback) {
  StringRef name = value.getDefiningOp() ? givenName(value.getDefiningOp()) : locationName(value.getLoc());
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()))
      if (auto attr = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kernel::nameAttrName))
        name = attr;
  return scope.unique(makeIdentifier(name.empty() ? fallback : name));
}

/// The name of a value that has no given name.
static StringRef defaultName(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (isa<MemRefType>(type))
    return "buffer";
  if (isCppVector(type))
    return element.isInteger(1) ? "mask" : "v";
  return element.isIndex() ? "n" : element.isInteger(1) ? "flag" : isa<FloatType>(element) ? "x" : "k";
}

//===- What is printed where ------------------------------------------------===//

static bool isConstant(Operation *op) { return isa<arith::ConstantOp>(op); }

static bool isLoad(Operation *op) { return isa<memref::LoadOp, vector::LoadOp, kernel::StridedLoadOp>(op); }

/// Whether C++ evaluates the operand repeatedly, as it does with the bound and the step of a loop.
static bool isRepeated(OpOperand &use) {
  return isa<scf::ForOp>(use.getOwner()) && (use.getOperandNumber() == 1 || use.getOperandNumber() == 2);
}

/// Whether the operand does not occur in the C++ text, like the size of a view.
static bool isUnwritten(OpOperand &use) { return isa<memref::ViewOp>(use.getOwner()) && use.getOperandNumber() > 1; }

/// Whether the operand occurs more than once in the user's text.
static bool isWrittenTwice(OpOperand &use) { return isa<vector::ExtractStridedSliceOp>(use.getOwner()); }

void FunctionPrinter::planBlock(Block &block) {
  // For each operation, the one whose statement its text is part of, and the number of writes before it.
  DenseMap<Operation *, Operation *> statement;
  DenseMap<Operation *, unsigned> writesBefore;
  unsigned writes = 0;
  for (Operation &op : block) {
    writesBefore[&op] = writes;
    if (!isMemoryEffectFree(&op) && !isLoad(&op))
      ++writes;
  }
  for (Operation &op : llvm::reverse(block)) {
    statement[&op] = &op;
    bool droppable = (isMemoryEffectFree(&op) || isLoad(&op)) && !op.hasTrait<OpTrait::IsTerminator>();
    if (droppable && llvm::all_of(op.getUses(), [&](OpOperand &use) { return dead.contains(use.getOwner()) || isUnwritten(use); })) {
      dead.insert(&op);
      continue;
    }
    if (op.getNumResults() != 1 || op.getNumRegions() || !droppable || !op.getResult(0).hasOneUse())
      continue;
    OpOperand &use = *op.getResult(0).use_begin();
    if (use.getOwner()->getBlock() != &block || isa<MemRefType>(op.getResult(0).getType()) || isWrittenTwice(use))
      continue;
    Operation *place = statement[use.getOwner()];
    bool starts = isa<scf::ForOp>(use.getOwner()) && !isRepeated(use) && use.getOperandNumber() > 2;
    bool stays = isLoad(&op) && (writesBefore[place] != writesBefore[&op] || (place->getNumRegions() && !starts));
    if (stays || !givenName(&op).empty())
      continue;
    inlined.insert(&op);
    statement[&op] = place;
  }
}

//===- Expressions ----------------------------------------------------------===//

Expression FunctionPrinter::expression(Value value) {
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    if (!names.contains(value))
      return literal(constant.getValue(), &vectors);
  if (auto found = pending.find(value); found != pending.end()) {
    Expression text = std::move(found->second);
    pending.erase(found);
    return text;
  }
  mentioned.insert(value);
  return {names.lookup(value)};
}

Expression FunctionPrinter::address(Value buffer, ValueRange indices) {
  auto type = cast<MemRefType>(buffer.getType());
  Expression offset;
  for (auto [i, index] : llvm::enumerate(indices)) {
    Expression next = expression(index);
    if (i == 0) {
      offset = next;
      continue;
    }
    offset = infix(offset, "*", {std::to_string(type.getDimSize(i))}, Binding::Multiply);
    offset = infix(offset, "+", next, Binding::Add);
  }
  return offset;
}

Expression FunctionPrinter::element(Value buffer, ValueRange indices) {
  return {text(buffer) + "[" + (indices.empty() ? "0" : address(buffer, indices).text) + "]"};
}

/// buffer + offset, or the buffer alone.
static std::string addressOf(const std::string &buffer, const Expression &offset) {
  return offset.text.empty() || offset.text == "0" ? buffer : buffer + " + " + offset.at(Binding::Add);
}

Expression FunctionPrinter::writeLoad(Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return element(load.getMemRef(), load.getIndices());
  if (auto load = dyn_cast<vector::LoadOp>(op)) {
    if (!isCppVector(load.getType()))
      return element(load.getBase(), load.getIndices());
    std::string buffer = text(load.getBase());
    return call("kiln::load<" + writeType(load.getType()) + ">", {addressOf(buffer, address(load.getBase(), load.getIndices()))});
  }
  auto load = cast<kernel::StridedLoadOp>(op);
  std::string place = addressOf(text(load.getSource()), expression(load.getIndex()));
  return call("kiln::load_strided<" + writeType(load.getType()) + ">", {place, std::to_string(load.getStride())});
}

/// The C++ type of ui8, si8, ui16 or si16.
static std::string writeIntegerType(Type type) {
  Type bits = IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth());
  return type.isUnsignedInteger() ? cppUnsignedType(bits) : cppType(bits);
}

/// kernel.quantize and kernel.quantized_steps: the type is what the function is instantiated for.
static Expression writeQuantize(StringRef function, const std::string &type, Operation *op, FloatAttr divisor, OperandText operand) {
  std::vector<std::string> arguments{operand(op->getOperand(0)).text};
  if (divisor)
    arguments.push_back(literal(divisor).text);
  arguments.push_back(operand(op->getOperand(1)).text);
  return call("kiln::" + function.str() + "<" + type + ">", arguments);
}

Expression FunctionPrinter::writeExpression(Operation *op) {
  auto take = [&](Value value) { return expression(value); };
  OperandText operand(take, vectors);
  if (isLoad(op))
    return writeLoad(op);
  if (auto same = dyn_cast<kernel::SameBufferOp>(op))
    return infix(operand(same.getFirst()), "==", operand(same.getSecond()), Binding::Compare);
  if (auto step = dyn_cast<kernel::StepOp>(op)) {
    std::string lanes = std::to_string(step.getSum().getType().getNumElements());
    return call("kiln::" + takeName(step.getFunction()) + "<" + lanes + ">",
                {operand(step.getLhs()).text, operand(step.getRhs()).text, operand(step.getSum()).text});
  }
  if (auto rounded = dyn_cast<kernel::RoundedOp>(op))
    return call("kiln::rounded", {operand(rounded.getProduct()).text});
  if (auto after = dyn_cast<kernel::AfterOp>(op))
    return call("kiln::after", {operand(after.getX()).text, operand(after.getBefore()).text});
  if (auto quotient = dyn_cast<kernel::QuotientOp>(op))
    return call("kiln::quotient", {operand(quotient.getX()).text, operand(quotient.getDivisor()).text});
  if (auto quantize = dyn_cast<kernel::QuantizeOp>(op))
    return writeQuantize(quantize.getIsUnsigned() ? "quantize_unsigned" : "quantize", operand.type(quantize.getType()), op, quantize.getDivisorAttr(), operand);
  if (auto steps = dyn_cast<kernel::QuantizedStepsOp>(op))
    return writeQuantize("quantized_steps", writeIntegerType(steps.getInteger()), op, steps.getDivisorAttr(), operand);
  if (auto lookup = dyn_cast<kernel::LookupOp>(op))
    return call("kiln::lookup<" + operand.type(lookup.getType()) + ">", {tables.lookup(lookup.getTableAttr()), operand(lookup.getX()).text});
  if (auto quads = dyn_cast<kernel::QuadsOp>(op)) {
    std::vector<std::string> vectors;
    for (Value vector : quads.getOperands())
      vectors.push_back(operand(vector).text);
    return call("kiln::dot_quads<" + std::to_string(quads.getPart()) + ">", vectors);
  }
  if (isa<arith::ArithDialect>(op->getDialect()))
    return writeArith(op, operand);
  if (isa<math::MathDialect>(op->getDialect()))
    return writeMath(op, operand);
  if (isa<vector::VectorDialect>(op->getDialect()))
    return writeVector(op, operand);
  return {};
}

LogicalResult FunctionPrinter::printValue(Operation *op) {
  Value result = op->getResult(0);
  Expression value = isConstant(op) ? literal(cast<arith::ConstantOp>(op).getValue(), &vectors) : writeExpression(op);
  if (value.text.empty() || cppType(result.getType()).empty())
    return failure();
  if (inlined.contains(op) && value.text.size() <= expressionColumns) {
    pending[result] = std::move(value);
    return success();
  }
  std::string name = nameOf(result, defaultName(result.getType()));
  line("const " + writeType(result.getType()) + " " + name + " = " + value.text + ";");
  names[result] = name;
  return success();
}

//===- Statements -----------------------------------------------------------===//

LogicalResult FunctionPrinter::printBlock(Block &block) {
  planBlock(block);
  for (Operation &op : block) {
    if (dead.contains(&op))
      continue;
    if (failed(print(&op))) {
      op.emitOpError("internal error: the C++ printer has no rule for this operation on these types");
      return failure();
    }
  }
  return success();
}

/// A constant is written where it is used, unless that would repeat a long list of lanes.
static bool isWrittenInPlace(arith::ConstantOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  return !elements || elements.isSplat() || op->hasOneUse();
}

LogicalResult FunctionPrinter::print(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && isWrittenInPlace(constant))
    return success(!literal(constant.getValue()).text.empty());
  if (isa<scf::YieldOp, scf::ConditionOp>(op))
    return success(); // printed with the loop or branch around it
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return printFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return printIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return printWhile(loop);
  if (auto alloca = dyn_cast<memref::AllocaOp>(op))
    return printAlloca(alloca);
  if (auto cast = dyn_cast<memref::CastOp>(op)) {
    names[cast.getResult()] = text(cast.getSource());
    return success();
  }
  if (printMemory(op))
    return success();
  if (op->getNumResults() == 1 && succeeded(printValue(op)))
    return success();
  return printStatement(op);
}

LogicalResult FunctionPrinter::printStatement(Operation *op) {
  if (auto call = dyn_cast<kernel::RuntimeCallOp>(op))
    return printRuntimeCall(call);
  if (auto fail = dyn_cast<kernel::FailOp>(op)) {
    line("kiln::fail(" + text(fail.getStatus()) + ", " + takeName(fail.getCode()) + ");");
    return success();
  }
  if (auto external = dyn_cast<kernel::CallOp>(op)) {
    printExternalCall(external);
    return success();
  }
  auto ret = dyn_cast<func::ReturnOp>(op);
  if (!ret || ret.getNumOperands() > 1)
    return failure();
  if (ret.getNumOperands() == 1)
    line("return " + text(ret.getOperand(0)) + ";");
  return success();
}

void FunctionPrinter::printExternalCall(kernel::CallOp op) {
  std::vector<std::string> arguments;
  for (Value operand : op.getOperands_())
    arguments.push_back(text(operand));
  Value status = op.getStatus();
  // Values of the kernel may have the name of the program's function.
  std::string call = (status ? "::" : "") + takeName(op.getCallee()) + "(" + llvm::join(arguments, ", ") + ")";
  line(status ? "kiln::report(" + text(status) + ", " + call + ");" : call + ";");
}

bool FunctionPrinter::printMemory(Operation *op) {
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    std::string place = element(store.getMemRef(), store.getIndices()).text;
    line(place + " = " + text(store.getValueToStore()) + ";");
    return true;
  }
  if (auto store = dyn_cast<vector::StoreOp>(op)) {
    Value value = store.getValueToStore();
    if (!isCppVector(value.getType())) {
      std::string place = element(store.getBase(), store.getIndices()).text;
      line(place + " = " + text(value) + ";");
      return true;
    }
    std::string place = text(store.getBase());
    place = addressOf(place, address(store.getBase(), store.getIndices()));
    // The type is written out, so that an expression of another form is converted or fails to compile.
    line("kiln::store<" + writeType(value.getType()) + ">(" + place + ", " + text(value) + ");");
    return true;
  }
  if (auto numbers = dyn_cast<kernel::NumbersOp>(op)) {
    std::vector<std::string> values;
    for (Value value : numbers.getValues())
      values.push_back(text(value));
    std::string name = nameOf(numbers.getResult(), "numbers");
    names[numbers.getResult()] = name;
    line("const int64_t " + name + "[" + Twine(values.size()) + "] = {" + llvm::join(values, ", ") + "};");
    return true;
  }
  if (auto prefetch = dyn_cast<memref::PrefetchOp>(op)) {
    std::string place = text(prefetch.getMemref());
    place = addressOf(place, address(prefetch.getMemref(), prefetch.getIndices()));
    line("__builtin_prefetch(" + place + ", " + (prefetch.getIsWrite() ? "1" : "0") + ", " + Twine(prefetch.getLocalityHint()) + ");");
    return true;
  }
  return false;
}

LogicalResult FunctionPrinter::printAlloca(memref::AllocaOp op) {
  auto type = op.getType();
  std::string element = cppElementType(type.getElementType());
  if (!type.hasStaticShape() || element.empty() || type.getNumElements() == 0)
    return failure();
  std::string name = nameOf(op.getResult(), "scratch");
  names[op.getResult()] = name;
  uint64_t alignment = op.getAlignment().value_or(0);
  std::string prefix = alignment ? "alignas(" + std::to_string(alignment) + ") " : "";
  line(prefix + vectors.use(element) + " " + name + "[" + Twine(type.getNumElements()) + "];");
  return success();
}

} // namespace kiln
