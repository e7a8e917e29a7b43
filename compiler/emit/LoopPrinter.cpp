//===- LoopPrinter.cpp - scf loops and branches as C++ ---------------------===//
#include "compiler/emit/FunctionPrinter.h"
#include "dialects/kernel/EntryAttributeNames.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {

/// Whether `text` contains `name` as a whole word.
static bool mentions(StringRef text, StringRef name) {
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  for (size_t at = text.find(name); at != StringRef::npos; at = text.find(name, at + 1)) {
    bool begins = at == 0 || !isWord(text[at - 1]);
    size_t end = at + name.size();
    if (begins && (end == text.size() || !isWord(text[end])))
      return true;
  }
  return false;
}

void FunctionPrinter::assign(ArrayRef<std::string> targets, ValueRange values) {
  std::vector<std::string> texts;
  for (Value value : values)
    texts.push_back(text(value));
  // If an earlier assignment would change a value, a new variable keeps the value.
  for (size_t i = 0; i < texts.size(); ++i) {
    auto clobbers = [&](const std::string &target) { return mentions(texts[i], target); };
    bool changes = false;
    for (size_t j = 0; j < i; ++j)
      changes |= texts[j] != targets[j] && clobbers(targets[j]);
    if (!changes || texts[i] == targets[i])
      continue;
    std::string name = scope.unique("next");
    line("const " + writeType(values[i].getType()) + " " + name + " = " + texts[i] + ";");
    texts[i] = name;
  }
  for (size_t i = 0; i < texts.size(); ++i)
    if (texts[i] != targets[i])
      line(targets[i] + " = " + texts[i] + ";");
}

void FunctionPrinter::declare(Value value, const std::string &name) {
  names[value] = name;
  variables.insert(value);
}

void FunctionPrinter::carry(Value start, Value argument, Value result, Operation *loop) {
  bool own = variables.contains(start) && start.hasOneUse() && start.getParentBlock() == loop->getBlock();
  std::string name;
  if (own) {
    name = names[start];
  } else {
    std::string value = text(start);
    name = nameOf(argument, "acc");
    bool unused = argument.use_empty() && result.use_empty();
    line((unused ? "[[maybe_unused]] " : "") + writeType(start.getType()) + " " + name + " = " + value + ";");
  }
  declare(argument, name);
  declare(result, name);
}

/// The name of a loop's variable when its argument has none: i, j, k by depth.
static StringRef loopName(Operation *loop) {
  static constexpr StringLiteral names[] = {"i", "j", "k", "l", "m", "n"};
  unsigned depth = 0;
  for (Operation *around = loop->getParentOp(); around; around = around->getParentOp())
    depth += isa<scf::ForOp>(around);
  return names[std::min<unsigned>(depth, std::size(names) - 1)];
}

LogicalResult FunctionPrinter::printFor(scf::ForOp loop) {
  for (auto [start, argument, result] : llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getResults()))
    carry(start, argument, result, loop);
  std::string lower = text(loop.getLowerBound());
  Expression upper = expression(loop.getUpperBound()), step = expression(loop.getStep());
  scope.push();
  StringRef given = givenName(loop);
  std::string i = nameOf(loop.getInductionVar(), given.empty() ? loopName(loop) : given);
  names[loop.getInductionVar()] = i;
  std::string advance = step.text == "1" ? "++" + i : i + " += " + step.text;
  if (auto rounds = loop->getAttrOfType<IntegerAttr>(kernel::unrollAttrName))
    line("#pragma GCC unroll " + std::to_string(rounds.getInt())); // Clang knows it, too
  open("for (" + cppType(loop.getInductionVar().getType()) + " " + i + " = " + lower + "; " + i + " < " + upper.at(Binding::Add) + "; " + advance + ") {");
  if (failed(printBlock(*loop.getBody())))
    return failure();
  std::vector<std::string> targets;
  for (Value argument : loop.getRegionIterArgs())
    targets.push_back(names[argument]);
  assign(targets, loop.getBody()->getTerminator()->getOperands());
  close();
  scope.pop();
  return success();
}

LogicalResult FunctionPrinter::printIf(scf::IfOp op) {
  std::string condition = text(op.getCondition());
  std::vector<std::string> targets;
  for (Value result : op.getResults()) {
    if (cppType(result.getType()).empty())
      return failure();
    targets.push_back(nameOf(result, "chosen"));
    line((result.use_empty() ? "[[maybe_unused]] " : "") + writeType(result.getType()) + " " + targets.back() + ";");
  }
  open("if (" + condition + ") {");
  if (failed(printBlock(*op.thenBlock())))
    return failure();
  assign(targets, op.thenYield().getOperands());
  if (op.elseBlock() && (op.elseBlock()->getOperations().size() > 1 || !targets.empty())) {
    close("} else {");
    ++depth;
    scope.push();
    if (failed(printBlock(*op.elseBlock())))
      return failure();
    assign(targets, op.elseYield().getOperands());
  }
  close();
  for (auto [result, name] : llvm::zip(op.getResults(), targets))
    declare(result, name);
  return success();
}

LogicalResult FunctionPrinter::printWhile(scf::WhileOp loop) {
  std::vector<std::string> state, results;
  for (auto [start, argument] : llvm::zip(loop.getInits(), loop.getBeforeArguments())) {
    std::string value = text(start);
    state.push_back(nameOf(argument, "state"));
    line(writeType(start.getType()) + " " + state.back() + " = " + value + ";");
    declare(argument, state.back());
  }
  for (Value result : loop.getResults()) {
    results.push_back(nameOf(result, "last"));
    line((result.use_empty() ? "[[maybe_unused]] " : "") + writeType(result.getType()) + " " + results.back() + "{};");
  }
  open("while (true) {");
  if (failed(printBlock(*loop.getBeforeBody())))
    return failure();
  auto condition = loop.getConditionOp();
  std::string goesOn = scope.unique("more");
  line("const bool " + goesOn + " = " + text(condition.getCondition()) + ";");
  assign(results, condition.getArgs());
  line("if (!" + goesOn + ")");
  line("  break;");
  for (auto [argument, name] : llvm::zip(loop.getAfterArguments(), results))
    declare(argument, name);
  if (failed(printBlock(*loop.getAfterBody())))
    return failure();
  assign(state, loop.getYieldOp().getOperands());
  close();
  for (auto [result, name] : llvm::zip(loop.getResults(), results))
    declare(result, name);
  return success();
}

} // namespace kiln
