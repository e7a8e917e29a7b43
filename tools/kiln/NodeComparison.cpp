//===- NodeComparison.cpp - A model's values against its plainest form -----===//
#include "tools/kiln/NodeComparison.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNAttentionOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Rounding.h"
#include "tools/kiln/Commands.h"
#include "compiler/Decisions.h"
#include "tools/kiln/Reporting.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

#include <map>

using namespace llvm;

namespace kiln {

namespace {

/// A kernel's result: the last node that went into it, and the kernel.
struct KernelResult {
  std::set<std::string> lastNodes;
  std::string algorithm;
  std::set<std::string> nodes;
  /// What the factors of its products are rounded to on request: NODE=TYPE, where the type may be empty.
  std::set<std::string> factors;
  /// That type for what the kernel itself computes between two products and rounds before a reference would divide it: attention's weights. Empty: none.
  std::string between;
};

std::set<std::string> nodesOf(mlir::Operation *op) {
  std::set<std::string> nodes;
  for (StringRef node : listNodes(op->getLoc()))
    nodes.insert(node.str());
  return nodes;
}

/// The kernels that a compile would make, without making objects, for the target that runs; empty: for all.
int listKernels(CompileOptions options, StringRef runs, std::vector<KernelResult> &kernels) {
  options.stopAfter = "target";
  Compilation compilation;
  if (int status = compileOrReport(options, compilation))
    return status;
  auto collect = [&](nn::GroupOp group) {
    std::set<std::string> nodes, factors;
    std::string between;
    for (mlir::Operation &op : group.getBody().front().without_terminator()) {
      nodes.merge(nodesOf(&op));
      StringRef type = nn::getRoundedFactors(&op);
      SetVector<StringRef> names = listNodes(op.getLoc());
      if (isa<nn::MatmulOp, nn::ConvOp>(op) && !names.empty())
        factors.insert((names.front() + "=" + type).str());
      if (isa<nn::AttentionOp>(op) && !type.empty()) {
        // The reference may have a node for each of its products.
        for (StringRef name : names)
          factors.insert((name + "=" + type).str());
        between = type.str();
      }
    }
    for (mlir::Value result : group.getBody().front().getTerminator()->getOperands())
      if (mlir::Operation *op = result.getDefiningOp())
        kernels.push_back({nodesOf(op), describeGroup(group).algorithm, nodes, factors, between});
  };
  for (TargetModule &target : compilation.targets)
    if (target.sizes.empty() && (runs.empty() || target.name == runs))
      target.module->walk(collect);
  return Done;
}

/// One comparison on its way.
class NodeComparer {
public:
  NodeComparer(const CompileOptions &options, const NodeRequest &request, const kiln_context &context)
      : options(options), request(request), context(context) {}

  int listAll();
  int compareAt(const std::set<std::string> &names, StringRef fault, MakeInputs makeInputs, std::vector<Tensor> &inputs, RunnableModel &model,
                std::optional<Execution> &execution, std::vector<NodeVerdict> &verdicts);
  std::set<std::string> kernelResults() const;
  std::set<std::string> insideOf(const std::set<std::string> &nodes) const;

  std::vector<ObservableValue> values;
  std::vector<KernelResult> kernels;

private:
  CompileOptions observing(const std::set<std::string> &names) const;
  int runReference(const CompileOptions &shown, const std::set<std::string> &emulated, const LoadedModel &model, const Execution &execution,
                   ArrayRef<Tensor> inputs, RunnableModel &reference, std::vector<Tensor> &referenceInputs, std::optional<Execution> &expected);
  /// The first kernel whose result is a node's, by the node.
  using KernelsByNode = std::map<StringRef, const KernelResult *>;
  KernelsByNode findKernels(ArrayRef<KernelResult> kernels) const;

  const CompileOptions &options;
  const NodeRequest &request;
  const kiln_context &context;
};

} // namespace

static int listObservable(const CompileOptions &options, std::vector<ObservableValue> &values) {
  CompileOptions import = options;
  import.stopAfter = "import";
  import.observation.everything = true;
  Compilation compilation;
  import.targets.resize(1);
  if (int status = compileOrReport(import, compilation))
    return status;
  values = listValues(*compilation.targets.front().module, compilation.outputs);
  return Done;
}

int listQuantized(const CompileOptions &options, std::map<std::string, nn::TensorQuantization> &quantized) {
  std::vector<ObservableValue> values;
  if (int status = listObservable(options, values))
    return status;
  for (const ObservableValue &value : values)
    if (value.quantization)
      quantized.emplace(value.name, *value.quantization);
  return Done;
}

int NodeComparer::listAll() {
  if (int status = listObservable(options, values))
    return status;
  return listKernels(options, "", kernels);
}

NodeComparer::KernelsByNode NodeComparer::findKernels(ArrayRef<KernelResult> kernels) const {
  std::map<StringRef, size_t> positions;
  for (auto [position, value] : enumerate(values))
    positions[value.node] = position;
  KernelsByNode byNode;
  for (const KernelResult &kernel : kernels) {
    // Folding also gives a kernel's result the nodes that were folded into it. The last one in the file names the value.
    auto last = positions.end();
    for (const std::string &node : kernel.lastNodes)
      if (auto found = positions.find(node); found != positions.end() && (last == positions.end() || last->second < found->second))
        last = found;
    if (last != positions.end())
      byNode.try_emplace(last->first, &kernel);
  }
  return byNode;
}

std::set<std::string> NodeComparer::kernelResults() const {
  std::set<std::string> names;
  KernelsByNode byNode = findKernels(kernels);
  for (const ObservableValue &value : values)
    if (value.isOutput || request.everyNode || byNode.count(value.node))
      names.insert(value.name);
  return names;
}

std::set<std::string> NodeComparer::insideOf(const std::set<std::string> &nodes) const {
  std::set<std::string> names;
  for (const ObservableValue &value : values)
    if (nodes.count(value.node))
      names.insert(value.name);
  return names;
}

CompileOptions NodeComparer::observing(const std::set<std::string> &names) const {
  CompileOptions shown = options;
  shown.observation.values.assign(names.begin(), names.end());
  return shown;
}

static Error runOn(const LoadedModel &model, ArrayRef<Tensor> inputs, const kiln_context &context, std::optional<Execution> &execution) {
  Expected<Execution> prepared = prepareRun(model, inputs);
  if (!prepared)
    return prepared.takeError();
  execution.emplace(std::move(*prepared));
  return execution->run(&context);
}

int NodeComparer::runReference(const CompileOptions &shown, const std::set<std::string> &emulated, const LoadedModel &model,
                               const Execution &execution, ArrayRef<Tensor> inputs, RunnableModel &reference, std::vector<Tensor> &referenceInputs,
                               std::optional<Execution> &expected) {
  CompileOptions plain = shown;
  plain.plain = plain.observation.cut = true;
  plain.targets = {"generic"};
  // The compiler of a model that another program runs makes code for its machine.
  if (model.getProgram())
    plain.cxx.clear();
  plain.specialize.clear();
  plain.ranks.clear();
  plain.shardings.clear();
  plain.compute.clear();
  plain.opCompute.assign(emulated.begin(), emulated.end());
  plain.name = std::string(model.getInfo().name) + "_reference";
  if (int status = loadOrReport(plain, reference))
    return status;
  auto take = [&](const Tensor &tensor) -> Error {
    Expected<Tensor> copy = tensor.copy();
    if (!copy)
      return copy.takeError();
    referenceInputs.push_back(std::move(*copy));
    return Error::success();
  };
  for (const Tensor &input : inputs)
    if (Error error = take(input))
      return report(std::move(error), AtFault);
  for (const kiln_tensor_info &info : reference.loaded->getInputs().drop_front(inputs.size()))
    for (auto [output, tensor] : zip_equal(model.getOutputs(), execution.getOutputs()))
      if (StringRef(output.name) == info.name) {
        if (Error error = take(tensor))
          return report(std::move(error), AtFault);
        break;
      }
  if (Error error = runOn(*reference.loaded, referenceInputs, makePlainContext(), expected))
    return report(makeError("the reference: " + toString(std::move(error))), AtFault);
  return Done;
}

Comparison compareQuantized(const Tensor &got, const Tensor &want, double rtol, double atol, const nn::TensorQuantization *quantization,
                            StepBounds bounds) {
  // Wider integers are as exact as any others.
  bool isStepped = is_contained({KILN_ELEMENT_I8, KILN_ELEMENT_U8, KILN_ELEMENT_F32}, want.getType());
  if (!quantization || !isStepped)
    return compare(got, want, rtol, atol);
  bounds.scales = quantization->scales;
  bounds.axis = quantization->axis;
  return compareInSteps(got, want, rtol, atol, bounds);
}

/// Of both factors, in units of the product: half an ulp each, and the product of the low terms that two terms leave out.
static double boundOfFactors(StringRef type) {
  return StringSwitch<double>(type).Case("bf16", 0x1p-7).Case("f16", 0x1p-10).Case("bf16x2", 0x1p-15).Default(0);
}

/// The factors that a reference can round as the kernels do: all products of the node have the same type, of one term.
static std::set<std::string> listEmulated(ArrayRef<KernelResult> kernels) {
  std::map<StringRef, std::set<StringRef>> types;
  for (const KernelResult &kernel : kernels)
    for (StringRef factors : kernel.factors)
      types[factors.rsplit('=').first].insert(factors.rsplit('=').second);
  std::set<std::string> emulated;
  for (auto &[node, kinds] : types)
    if (kinds == std::set<StringRef>{"bf16"} || kinds == std::set<StringRef>{"f16"})
      emulated.insert((node + "=" + *kinds.begin()).str());
  return emulated;
}

/// What is allowed for because factors are rounded, relative to a tensor's largest value.
struct RoundingBounds {
  /// For all values: the reference does not round these factors.
  double all = 0;
  /// For one value in a hundred: it does. A factor that the kernel computes in another order than the reference may be rounded to the other side.
  double few = 0;
};

/// Of the products of a kernel, and of those that an earlier kernel computed for the same nodes.
static RoundingBounds boundRounding(const KernelResult &result, ArrayRef<KernelResult> kernels, const std::set<std::string> &emulated) {
  RoundingBounds bounds{boundOfFactors(result.between)};
  for (const KernelResult &kernel : kernels)
    for (const std::string &factors : kernel.factors) {
      auto [node, type] = StringRef(factors).rsplit('=');
      if (!result.factors.count(factors) && !result.nodes.count(node.str()))
        continue;
      double &bound = emulated.count(factors) ? bounds.few : bounds.all;
      bound = std::max(bound, boundOfFactors(type));
    }
  return bounds;
}

static double boundOfAllFactors(const CompileOptions &options) {
  double factors = boundOfFactors(options.compute);
  for (StringRef request : options.opCompute)
    factors = std::max(factors, boundOfFactors(request.rsplit('=').second));
  return factors;
}

double getRoundingBound(const CompileOptions &options) {
  // Four times half a unit of a weight, or half a step of the largest one, 127 and 8 of them: the errors of a result's weights add up at random, and its
  // numbers may cancel.
  return boundOfAllFactors(options) +
         StringSwitch<double>(options.weightsType).Case("f16", 0x1p-9).Case("bf16", 0x1p-6).Case("int8", 0x1p-6).Case("int4", 0x1p-2).Default(0);
}

/// Half a unit in the last place of a number of 16 bits, as a part of it; 0 for other types.
static double getUnit(ElementType type) { return type == KILN_ELEMENT_F16 ? 0x1p-11 : type == KILN_ELEMENT_BF16 ? 0x1p-8 : 0; }

double getUnitOfValues(const Execution &execution) {
  double unit = 0;
  for (const Tensor &value : execution.getOutputs())
    unit = std::max(unit, getUnit(value.getType()));
  return unit;
}

/// Bounds for one kernel's error: a few units in the last place an operation, and as many of the largest value where sums cancel; besides, what is rounded on
/// request.
static Comparison compareValues(const Tensor &got, const Tensor &want, const ObservableValue &value, const NodeRequest &request, RoundingBounds rounding) {
  bool half = want.getType() == KILN_ELEMENT_F16, brain = want.getType() == KILN_ELEMENT_BF16;
  // The reference rounds what a kernel keeps in f32, four times at most before numbers cancel.
  double unit = 4 * getUnit(want.getType());
  auto compareWithin = [&](double bound) {
    double rtol = request.rtol >= 0 ? request.rtol : (brain ? 5e-2 : half ? 1e-2 : 1e-3) + bound;
    double atol = request.atol >= 0 ? request.atol : getLargest(want) * std::max({rtol * 1e-2, unit, bound});
    return compareQuantized(got, want, rtol, atol, value.quantization ? &*value.quantization : nullptr, request.steps);
  };
  Comparison comparison = compareWithin(rounding.all);
  bool isFew = !comparison.agrees() && comparison.wrong > 0 && comparison.wrong <= (comparison.elements + 99) / 100;
  return isFew && rounding.few > 0 ? compareWithin(rounding.all + rounding.few) : comparison;
}

int NodeComparer::compareAt(const std::set<std::string> &names, StringRef fault, MakeInputs makeInputs, std::vector<Tensor> &inputs,
                            RunnableModel &model, std::optional<Execution> &execution, std::vector<NodeVerdict> &verdicts) {
  CompileOptions shown = observing(names), falsified = shown;
  falsified.observation.fault = fault.str();
  if (int status = loadOrReport(falsified, model))
    return status;
  if (inputs.empty()) {
    Expected<std::vector<Tensor>> made = makeInputs(*model.loaded);
    if (!made)
      return report(made.takeError(), AtFault);
    inputs = std::move(*made);
  }
  if (Error error = runOn(*model.loaded, inputs, context, execution))
    return report(std::move(error), AtFault);
  std::vector<KernelResult> shownKernels;
  if (int status = listKernels(shown, model.loaded->getTarget(), shownKernels))
    return status;
  RunnableModel reference;
  std::vector<Tensor> referenceInputs;
  std::optional<Execution> expected;
  std::set<std::string> emulated = listEmulated(shownKernels);
  if (int status = runReference(shown, emulated, *model.loaded, *execution, inputs, reference, referenceInputs, expected))
    return status;
  KernelsByNode byNode = findKernels(shownKernels);
  for (auto [info, got, want] : zip_equal(model.loaded->getOutputs(), execution->getOutputs(), expected->getOutputs())) {
    auto value = find_if(values, [&, name = info.name](const ObservableValue &value) { return value.name == name; });
    auto kernel = byNode.find(value->node);
    RoundingBounds rounding = kernel == byNode.end() ? RoundingBounds{boundOfAllFactors(options)} : boundRounding(*kernel->second, shownKernels, emulated);
    NodeVerdict verdict{*value, "", {}, compareValues(got, want, *value, request, rounding)};
    if (kernel != byNode.end()) {
      verdict.algorithm = kernel->second->algorithm;
      verdict.kernelNodes = kernel->second->nodes;
    }
    verdicts.push_back(std::move(verdict));
  }
  return Done;
}

int compareNodes(const CompileOptions &options, const NodeRequest &request, MakeInputs makeInputs, const kiln_context &context,
                 std::vector<Tensor> &inputs, NodeReport &report) {
  NodeComparer comparer(options, request, context);
  if (int status = comparer.listAll())
    return status;
  std::set<std::string> names = comparer.kernelResults();
  StringRef fault = request.fault;
  bool onlyTogether = fault.consume_front("+");
  if (int status = comparer.compareAt(names, fault, makeInputs, inputs, report.model, report.execution, report.verdicts))
    return status;
  for (const ObservableValue &value : comparer.values)
    if (!names.count(value.name))
      report.hidden.push_back(value);
  // In the file's order: the model's own outputs come last in a run.
  auto position = [&](const NodeVerdict &verdict) {
    return find_if(comparer.values, [&](const ObservableValue &value) { return value.name == verdict.value.name; }) - comparer.values.begin();
  };
  auto isOutput = [](const NodeVerdict &verdict) { return verdict.value.isOutput; };
  llvm::sort(report.verdicts, [&](const NodeVerdict &a, const NodeVerdict &b) {
    return std::make_pair(isOutput(a), position(a)) < std::make_pair(isOutput(b), position(b));
  });
  auto wrong = find_if(report.verdicts, [](const NodeVerdict &verdict) { return !verdict.comparison.agrees(); });
  std::set<std::string> inside = wrong == report.verdicts.end() ? std::set<std::string>() : comparer.insideOf(wrong->kernelNodes);
  if (inside.size() < 2)
    return Done;
  std::set<std::string> all = names;
  all.insert(inside.begin(), inside.end());
  if (all.size() == names.size())
    return Done;
  RunnableModel model;
  std::optional<Execution> execution;
  std::vector<NodeVerdict> verdicts;
  if (int status = comparer.compareAt(all, onlyTogether ? "" : fault, makeInputs, inputs, model, execution, verdicts))
    return status;
  for (NodeVerdict &verdict : verdicts)
    if (inside.count(verdict.value.name))
      report.inside.push_back(std::move(verdict));
  return Done;
}

} // namespace kiln
