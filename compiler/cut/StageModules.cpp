//===- StageModules.cpp - One module for each stage ------------------------===//
#include "compiler/cut/StageModules.h"
#include "dialects/nn/Constraints.h"
#include "dialects/nn/ModelAttributeNames.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/SignatureAttributeNames.h"
#include "passes/target/groups/Views.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace kiln::cut {

using namespace nn;

namespace {

/// What is known of a value that a stage gives away.
struct Output {
  /// The value as it leaves: a reshape of it where the model's output is one.
  Value value;
  /// The number among the model's outputs, or -1.
  int result;
  /// The number among the borders, or -1.
  int border;
};

class StageMaker {
public:
  StageMaker(ModuleOp module, const StepGraph &graph, ArrayRef<unsigned> cuts, StringRef name, std::vector<Border> &borders);
  bool checkInPlace(std::vector<std::string> &errors) const;
  void setForms(const llvm::DenseSet<Value> &parts);
  StageModule make(unsigned stage);

private:
  unsigned stageOf(unsigned step) const { return llvm::upper_bound(cuts, step) - cuts.begin(); }
  unsigned stageOf(Value value) const;
  unsigned countStages() const { return cuts.size() + 1; }
  void findOutputs();
  void findGiven();
  std::string nameBorder(Operation *producer);
  StringRef nameOf(bool isResult, unsigned number) const;

  func::FuncOp makeMain(unsigned stage, ModuleOp part);
  void addArguments(unsigned stage, func::FuncOp part, OpBuilder &b);
  Value take(Value value, OpBuilder &b);
  void setInPlacePairs(unsigned stage, ModuleOp part) const;
  void describe(unsigned stage, ModuleOp part) const;

  mutable func::FuncOp main;
  const StepGraph &graph;
  ArrayRef<unsigned> cuts;
  std::string name;
  std::vector<Border> &borders;
  llvm::DenseMap<Operation *, unsigned> stepOf;
  /// By stage.
  std::vector<std::vector<Output>> outputs;
  /// The arguments of the model that each stage reads, and the borders.
  std::vector<llvm::SetVector<unsigned>> given;
  std::vector<std::vector<int>> taken;
  /// For a border what it is: the value of its base, and the value that leaves.
  std::vector<std::pair<Value, Value>> borderValues;
  llvm::StringSet<> names;
  IRMapping mapping;
};

} // namespace

StageMaker::StageMaker(ModuleOp module, const StepGraph &graph, ArrayRef<unsigned> cuts, StringRef name, std::vector<Border> &borders)
    : main(module.lookupSymbol<func::FuncOp>("main")), graph(graph), cuts(cuts), name(name), borders(borders), outputs(countStages()), given(countStages()),
      taken(countStages()) {
  for (auto [i, step] : llvm::enumerate(graph.steps))
    stepOf[step.op] = i;
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    names.insert(nameOf(false, i));
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    names.insert(nameOf(true, i));
  findOutputs();
  findGiven();
}

StringRef StageMaker::nameOf(bool isResult, unsigned number) const {
  auto attr = isResult ? main.getResultAttrOfType<StringAttr>(number, nameAttrName) : main.getArgAttrOfType<StringAttr>(number, nameAttrName);
  return attr ? attr.getValue() : "";
}

/// The stage that computes a value; what nobody computes belongs to the last one.
unsigned StageMaker::stageOf(Value value) const {
  Operation *op = seeThroughReshapes(value).getDefiningOp();
  auto found = op ? stepOf.find(op) : stepOf.end();
  return found == stepOf.end() ? countStages() - 1 : stageOf(found->second);
}

/// Named after its node, as far as no other tensor is.
std::string StageMaker::nameBorder(Operation *producer) {
  std::vector<std::string> nodes = listStepNodes(producer);
  std::string stem = nodes.empty() ? "border" : StringRef(nodes.back()).rsplit('(').first.str(), name = stem;
  for (unsigned number = 1; !names.insert(name).second; ++number)
    name = stem + "_" + std::to_string(number);
  return name;
}

void StageMaker::findOutputs() {
  llvm::DenseMap<Value, std::pair<Value, int>> results;
  for (auto [i, value] : llvm::enumerate(main.getBody().front().getTerminator()->getOperands()))
    results.try_emplace(seeThroughReshapes(value), value, int(i));
  llvm::DenseMap<Value, int> borderOf;
  for (const CrossingValue &value : graph.values) {
    if (stageOf(value.first) == stageOf(value.last))
      continue;
    llvm::SetVector<unsigned> to;
    for (unsigned step = value.first + 1; step <= value.last; ++step)
      if (llvm::any_of(graph.steps[step].op->getOperands(), [&](Value operand) { return seeThroughReshapes(operand) == value.value; }))
        to.insert(stageOf(step));
    to.remove(stageOf(value.first));
    auto result = results.find(value.value);
    Value leaves = result == results.end() ? value.value : result->second.first;
    std::string name = result == results.end() ? nameBorder(value.value.getDefiningOp()) : nameOf(true, result->second.second).str();
    int number = int(borders.size());
    borderOf[value.value] = number;
    borders.push_back({name, leaves.getType(), value.bytes, stageOf(value.first), {to.begin(), to.end()}});
    borderValues.push_back({value.value, leaves});
    outputs[stageOf(value.first)].push_back({leaves, result == results.end() ? -1 : result->second.second, number});
    for (unsigned stage : borders.back().to)
      taken[stage].push_back(number);
  }
  for (auto [i, value] : llvm::enumerate(main.getBody().front().getTerminator()->getOperands()))
    if (!borderOf.count(seeThroughReshapes(value)))
      outputs[stageOf(value)].push_back({value, int(i), -1});
}

/// Which arguments each stage reads; the first also has those that nobody reads.
void StageMaker::findGiven() {
  llvm::DenseSet<unsigned> read;
  auto add = [&](Value operand, unsigned stage) {
    if (auto argument = dyn_cast<BlockArgument>(seeThroughReshapes(operand))) {
      given[stage].insert(argument.getArgNumber());
      read.insert(argument.getArgNumber());
    }
  };
  for (auto [i, step] : llvm::enumerate(graph.steps))
    for (Value operand : step.op->getOperands())
      add(operand, stageOf(i));
  for (auto [stage, list] : llvm::enumerate(outputs))
    for (const Output &output : list)
      add(output.value, stage);
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (!read.count(i))
      given[0].insert(i);
  for (llvm::SetVector<unsigned> &list : given) {
    SmallVector<unsigned> sorted(list.begin(), list.end());
    llvm::sort(sorted);
    list = {sorted.begin(), sorted.end()};
  }
}

/// The value in the stage's function: what it computes or is given, with the constants and reshapes around it.
Value StageMaker::take(Value value, OpBuilder &b) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    take(reshape.getInput(), b);
  b.clone(*op, mapping);
  return mapping.lookup(value);
}

void StageMaker::addArguments(unsigned stage, func::FuncOp part, OpBuilder &b) {
  for (unsigned number : given[stage]) {
    BlockArgument argument = main.getArgument(number);
    mapping.map(argument, part.getBody().front().addArgument(argument.getType(), argument.getLoc()));
  }
  for (int number : taken[stage]) {
    auto [base, leaves] = borderValues[number];
    Value argument = part.getBody().front().addArgument(leaves.getType(), base.getLoc());
    mapping.map(leaves, argument);
    if (base != leaves)
      mapping.map(base, ReshapeOp::create(b, base.getLoc(), base.getType(), argument).getResult());
  }
}

func::FuncOp StageMaker::makeMain(unsigned stage, ModuleOp part) {
  OpBuilder b = OpBuilder::atBlockEnd(part.getBody());
  auto function = func::FuncOp::create(b, main.getLoc(), "main", b.getFunctionType({}, {}));
  function.addEntryBlock();
  b.setInsertionPointToEnd(&function.getBody().front());
  mapping.clear();
  addArguments(stage, function, b);
  unsigned first = stage == 0 ? 0 : cuts[stage - 1], last = stage + 1 == countStages() ? graph.steps.size() : cuts[stage];
  for (unsigned step = first; step < last; ++step) {
    for (Value operand : graph.steps[step].op->getOperands())
      take(operand, b);
    b.clone(*graph.steps[step].op, mapping);
  }
  SmallVector<Value> results;
  for (const Output &output : outputs[stage])
    results.push_back(take(output.value, b));
  func::ReturnOp::create(b, main.getLoc(), results);
  function.setFunctionType(b.getFunctionType(function.getBody().front().getArgumentTypes(), ValueRange(results).getTypes()));
  return function;
}

/// Pairs of an input and an output that are to be one buffer, by their numbers in the stage.
void StageMaker::setInPlacePairs(unsigned stage, ModuleOp part) const {
  auto pairs = main->getParentOfType<ModuleOp>()->getAttrOfType<DenseI64ArrayAttr>(askedInPlaceAttrName);
  SmallVector<int64_t> own;
  for (int64_t i = 0; pairs && i + 1 < pairs.size(); i += 2) {
    auto input = llvm::find(given[stage], unsigned(pairs[i]));
    auto output = llvm::find_if(outputs[stage], [&](const Output &output) { return output.result == pairs[i + 1]; });
    if (input != given[stage].end() && output != outputs[stage].end())
      own.append({input - given[stage].begin(), output - outputs[stage].begin()});
  }
  part->removeAttr(askedInPlaceAttrName);
  if (!own.empty())
    part->setAttr(askedInPlaceAttrName, DenseI64ArrayAttr::get(part.getContext(), own));
}

bool StageMaker::checkInPlace(std::vector<std::string> &errors) const {
  auto pairs = main->getParentOfType<ModuleOp>()->getAttrOfType<DenseI64ArrayAttr>(askedInPlaceAttrName);
  for (int64_t i = 0; pairs && i + 1 < pairs.size(); i += 2) {
    unsigned writer = 0;
    for (auto [stage, list] : llvm::enumerate(outputs))
      if (llvm::any_of(list, [&](const Output &output) { return output.result == pairs[i + 1]; }))
        writer = stage;
    for (auto [stage, list] : llvm::enumerate(given))
      if (list.contains(unsigned(pairs[i])) && stage != writer)
        errors.push_back("--in-place=" + nameOf(true, pairs[i + 1]).str() + "=" + nameOf(false, pairs[i]).str() + ": stage " + std::to_string(writer) +
                         " writes the output and stage " + std::to_string(stage) + " reads the input");
  }
  return errors.empty();
}

void StageMaker::setForms(const llvm::DenseSet<Value> &parts) {
  for (auto [border, values] : llvm::zip_equal(borders, borderValues))
    border.form = parts.contains(values.first) ? "part" : "whole";
}

void StageMaker::describe(unsigned stage, ModuleOp part) const {
  removeMetadata(part, ownMetadata);
  std::vector<std::pair<std::string, std::string>> metadata = getMetadata(part);
  metadata.push_back({"kiln.stage", std::to_string(stage)});
  metadata.push_back({"kiln.stages", std::to_string(countStages())});
  for (unsigned number : given[stage])
    metadata.push_back({"kiln.input." + nameOf(false, number).str(), "given " + std::to_string(number)});
  auto addForm = [&](const Border &border) {
    if (!border.form.empty())
      metadata.push_back({"kiln.border." + border.name, border.form.str()});
  };
  for (int number : taken[stage]) {
    metadata.push_back({"kiln.input." + borders[number].name, "from " + std::to_string(borders[number].from)});
    addForm(borders[number]);
  }
  for (const Output &output : outputs[stage]) {
    std::string text = output.result < 0 ? "" : "result " + std::to_string(output.result);
    if (output.border >= 0) {
      text += text.empty() ? "to" : " to";
      for (unsigned to : borders[output.border].to)
        text += " " + std::to_string(to);
    }
    if (output.border >= 0)
      addForm(borders[output.border]);
    metadata.push_back({"kiln.output." + (output.border >= 0 ? borders[output.border].name : nameOf(true, output.result).str()), text});
  }
  setMetadata(part, metadata);
}

StageModule StageMaker::make(unsigned stage) {
  auto module = main->getParentOfType<ModuleOp>();
  StageModule result;
  result.name = name + "_stage" + std::to_string(stage);
  result.module = cast<ModuleOp>(module->cloneWithoutRegions());
  ModuleOp part = *result.module;
  part.getBodyRegion().emplaceBlock();
  OpBuilder b = OpBuilder::atBlockEnd(part.getBody());
  for (Operation &op : *module.getBody())
    if (&op != main)
      b.clone(op);
  func::FuncOp function = makeMain(stage, part);
  for (auto [i, number] : llvm::enumerate(given[stage]))
    function.setArgAttrs(i, main.getArgAttrDict(number));
  for (auto [i, number] : llvm::enumerate(taken[stage]))
    function.setArgAttr(given[stage].size() + i, nameAttrName, b.getStringAttr(borders[number].name));
  for (auto [i, output] : llvm::enumerate(outputs[stage])) {
    if (output.result >= 0)
      function.setResultAttrs(i, main.getResultAttrDict(output.result));
    else
      function.setResultAttr(i, nameAttrName, b.getStringAttr(borders[output.border].name));
  }
  part->setAttr(modelAttrName, b.getStringAttr(result.name));
  setInPlacePairs(stage, part);
  describe(stage, part);
  llvm::DenseSet<Value> weights;
  for (auto [i, step] : llvm::enumerate(graph.steps))
    for (Value weight : step.weights)
      if (stageOf(i) == stage && weights.insert(weight).second)
        result.weightsBytes += estimateBytes(weight.getType());
  return result;
}

bool makeStageModules(ModuleOp module, const StepGraph &graph, const llvm::DenseSet<Value> *parts, ArrayRef<unsigned> cuts, StringRef name,
                      std::vector<StageModule> &stages, std::vector<Border> &borders, std::vector<std::string> &errors) {
  StageMaker maker(module, graph, cuts, name, borders);
  if (parts)
    maker.setForms(*parts);
  if (!maker.checkInPlace(errors))
    return false;
  for (unsigned stage = 0; stage <= cuts.size(); ++stage)
    stages.push_back(maker.make(stage));
  return true;
}

} // namespace kiln::cut
