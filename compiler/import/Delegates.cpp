//===- Delegates.cpp - Groups of nodes that the program computes ------------===//
//
// A group becomes a function of the model. Importing its body gives the types of its results; then a call of the program's function takes its place
// (BodyImporter::importDelegate), and the body has no users left.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Delegates.h"
#include "compiler/import/FunctionTable.h"
#include "compiler/import/GraphCut.h"
#include "compiler/import/Import.h"
#include "compiler/import/ModelCheck.h"
#include "compiler/import/ModelFile.h"
#include "compiler/import/Schema.h"
#include "compiler/import/TensorData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNCallOps.h"
#include "dialects/nn/SymbolAttributeNames.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <map>

using namespace llvm;

namespace kiln::import {

//===- Options ---------------------------------------------------------------===//

LogicalResult Delegates::readOne(StringRef text, Diagnostics &diagnostics) {
  auto [name, list] = text.split(':');
  std::string where = "--delegate=" + printable(text) + ": ";
  SmallVector<StringRef> listed;
  list.split(listed, ',');
  bool isName = !name.empty() && all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
  if (!isName || is_contained(listed, ""))
    return diagnostics.error(where + "expected a name in C and operators, as in npu:Conv,Relu");
  if (is_contained(names, name))
    return diagnostics.error(where + "there is a delegate of this name already");
  for (StringRef op : listed)
    if (auto [known, isNew] = operators.try_emplace(op, static_cast<int>(names.size())); !isNew)
      return diagnostics.error(where + "'" + printable(op) + "' is given " +
                               (known->second == static_cast<int>(names.size()) ? std::string("twice") : "to '" + names[known->second] + "', too"));
  names.push_back(name.str());
  return success();
}

LogicalResult Delegates::read(const ImportOptions &options, Diagnostics &diagnostics) {
  model = options.name.empty() ? makeModelName(options.path) : options.name;
  for (const std::string &text : options.delegates)
    if (failed(readOne(text, diagnostics)))
      return failure();
  return success();
}

LogicalResult Delegates::checkOperators(const onnx::ModelProto &model, Diagnostics &diagnostics) const {
  StringMap<int64_t> opsets = readOpsets(model.opset_import());
  Schemas schemas;
  // In alphabetical order, so that the same mistake has the same message.
  std::vector<StringRef> sorted(operators.keys().begin(), operators.keys().end());
  llvm::sort(sorted);
  for (StringRef op : sorted) {
    std::string where = "--delegate=" + names[operators.lookup(op)] + ": ";
    if (!schemas.find("", op, opsets.lookup("")))
      return diagnostics.error(where + "ONNX has no operator '" + printable(op) + "' in opset " + Twine(opsets.lookup("")));
    if (is_contained({"If", "Loop", "Scan", "SequenceMap", "Constant"}, op))
      return diagnostics.error(where + "'" + printable(op) + "' cannot be given to a delegate, because it " +
                               (op == "Constant" ? "goes along with what reads it" : "has bodies"));
  }
  return success();
}

//===- The cut ---------------------------------------------------------------===//

/// Names that a node reads, also in its bodies.
static std::vector<std::string> listReads(const onnx::NodeProto &node) {
  std::vector<std::string> reads(node.input().begin(), node.input().end());
  auto addGraph = [&](const onnx::GraphProto &graph) {
    for (const onnx::ValueInfoProto &output : graph.output())
      reads.push_back(output.name());
  };
  for (const auto &attribute : node.attribute()) {
    forEachNode(attribute.g().node(), [&](const onnx::NodeProto &inner) {
      reads.insert(reads.end(), inner.input().begin(), inner.input().end());
      for (const auto &nested : inner.attribute())
        addGraph(nested.g());
    });
    addGraph(attribute.g());
  }
  return reads;
}

/// The graph of one model while it is cut.
class Delegates::Cutter {
public:
  Cutter(Delegates &delegates, onnx::ModelProto &model);
  void run();

private:
  using Nodes = std::vector<unsigned>;
  std::vector<std::string> listResults(const Nodes &nodes) const;
  onnx::NodeProto makeCall(const Nodes &nodes, ArrayRef<std::string> results, int delegate);
  static bool isConstant(const onnx::NodeProto &node) { return node.op_type() == "Constant" && canonicalDomain(node.domain()).empty(); }

  Delegates &delegates;
  onnx::ModelProto &model;
  StringMap<unsigned> producers;
  StringSet<> outputs, weights;
  std::vector<std::vector<std::string>> reads;
  /// The nodes that read a value.
  StringMap<SmallVector<unsigned, 2>> readers;
  std::vector<unsigned> counts;
};

Delegates::Cutter::Cutter(Delegates &delegates, onnx::ModelProto &model) : delegates(delegates), model(model), counts(delegates.names.size()) {
  const onnx::GraphProto &graph = model.graph();
  for (auto [i, node] : enumerate(graph.node())) {
    for (const std::string &name : node.output())
      producers[name] = i;
    reads.push_back(listReads(node));
    for (const std::string &name : reads.back())
      readers[name].push_back(i);
  }
  for (const auto &output : graph.output())
    outputs.insert(output.name());
  for (const auto &weight : graph.initializer())
    weights.insert(weight.name());
  // The caller may give these another value.
  for (const auto &input : graph.input())
    weights.erase(input.name());
}

int Delegates::delegateOf(const onnx::NodeProto &node) const {
  auto found = operators.find(node.op_type());
  return canonicalDomain(node.domain()).empty() && found != operators.end() ? found->second : -1;
}

/// The values of the group that somebody else reads.
std::vector<std::string> Delegates::Cutter::listResults(const Nodes &nodes) const {
  std::vector<std::string> results;
  auto isInside = [&](unsigned node) { return std::binary_search(nodes.begin(), nodes.end(), node); };
  for (unsigned node : nodes)
    for (const std::string &name : model.graph().node(node).output())
      if (!name.empty() && (outputs.contains(name) || !all_of(readers.lookup(name), isInside)))
        results.push_back(name);
  return results;
}

/// Makes the function of a group; returns its call.
onnx::NodeProto Delegates::Cutter::makeCall(const Nodes &nodes, ArrayRef<std::string> results, int delegate) {
  onnx::FunctionProto &function = *model.add_functions();
  DelegateGroup &group = delegates.groups[&function];
  onnx::NodeProto call;
  for (std::string *name : {function.mutable_name(), call.mutable_op_type(), call.mutable_name()})
    *name = delegates.model + "_" + delegates.names[delegate] + "_" + std::to_string(counts[delegate]);
  ++counts[delegate];
  for (std::string *domain : {function.mutable_domain(), call.mutable_domain()})
    *domain = "kiln.delegate";
  *function.mutable_opset_import() = model.opset_import();
  SetVector<StringRef> inputs, constants;
  SmallVector<unsigned> copied;
  for (unsigned node : nodes)
    for (const std::string &name : reads[node]) {
      auto producer = producers.find(name);
      bool isOutside = producer == producers.end() || !std::binary_search(nodes.begin(), nodes.end(), producer->second);
      if (name.empty() || !isOutside)
        continue;
      if (weights.contains(name))
        constants.insert(name);
      else if (producer == producers.end() || !isConstant(model.graph().node(producer->second)))
        inputs.insert(name);
      else if (!is_contained(copied, producer->second))
        copied.push_back(producer->second);
    }
  group.operands = inputs.size();
  for (StringRef name : constants)
    group.weights.push_back(name.str());
  inputs.insert(constants.begin(), constants.end());
  for (StringRef name : inputs)
    *function.add_input() = *call.add_input() = name.str();
  for (const auto &list : {ArrayRef<unsigned>(copied), ArrayRef<unsigned>(nodes)})
    for (unsigned node : list)
      *function.add_node() = model.graph().node(node);
  for (const std::string &name : results)
    *function.add_output() = *call.add_output() = name;
  return call;
}

void Delegates::Cutter::run() {
  std::vector<SmallVector<unsigned, 4>> operands;
  std::vector<int> kinds;
  for (auto [i, node] : enumerate(model.graph().node())) {
    SetVector<unsigned> sources;
    for (const std::string &name : reads[i])
      if (auto producer = producers.find(name); producer != producers.end() && producer->second < i)
        sources.insert(producer->second);
    operands.emplace_back(sources.begin(), sources.end());
    kinds.push_back(delegates.delegateOf(node));
  }
  google::protobuf::RepeatedPtrField<onnx::NodeProto> ordered;
  for (const Nodes &nodes : cutIntoGroups(operands, kinds)) {
    int delegate = kinds[nodes.front()];
    if (delegate < 0)
      *ordered.Add() = model.graph().node(nodes.front());
    else if (std::vector<std::string> results = listResults(nodes); !results.empty())
      *ordered.Add() = makeCall(nodes, results, delegate);
  }
  model.mutable_graph()->mutable_node()->Swap(&ordered);
}

LogicalResult Delegates::cut(onnx::ModelProto &model, Diagnostics &diagnostics) {
  if (failed(checkOperators(model, diagnostics)))
    return failure();
  // Nodes without a name are known by their number, which the cut would change.
  for (auto [i, node] : enumerate(*model.mutable_graph()->mutable_node()))
    if (node.name().empty())
      node.set_name("#" + std::to_string(i));
  Cutter(*this, model).run();
  return success();
}

const DelegateGroup *Delegates::find(const onnx::FunctionProto *function) const {
  auto found = groups.find(function);
  return found == groups.end() ? nullptr : &found->second;
}

std::vector<std::string> Delegates::describeLeft(const onnx::ModelProto &model, const Limits &limits) const {
  std::vector<std::map<std::string, unsigned>> left(names.size());
  FunctionTable functions(model, limits);
  SetVector<const onnx::FunctionProto *> called;
  // The graph itself has calls of the groups in their place.
  auto visit = [&](const onnx::NodeProto &node) {
    if (int delegate = delegateOf(node); delegate >= 0)
      ++left[delegate][node.op_type()];
    if (const onnx::FunctionProto *function = functions.find(node); function && !find(function))
      called.insert(function);
  };
  forEachNode(model.graph().node(), visit);
  for (size_t i = 0; i < called.size(); ++i)
    forEachNode(called[i]->node(), visit);
  std::vector<std::string> lines;
  for (auto [name, counts] : zip_equal(names, left)) {
    auto describe = [](const auto &entry) { return std::to_string(entry.second) + " of " + entry.first; };
    if (!counts.empty())
      lines.push_back("--delegate=" + name + ": nodes in functions and in the bodies of others stay with Kiln: " + join(map_range(counts, describe), ", "));
  }
  return lines;
}

//===- Files -----------------------------------------------------------------===//

/// A value as the group's file declares it. Sizes that are neither numbers nor names stay open.
static onnx::ValueInfoProto declareValue(StringRef name, mlir::Type value, ArrayRef<mlir::Attribute> symbols) {
  auto type = cast<mlir::RankedTensorType>(value);
  onnx::ValueInfoProto info;
  info.set_name(name.str());
  auto &tensor = *info.mutable_type()->mutable_tensor_type();
  // Behind the ordinary type are those that are held like it, which cross no border.
  int number = onnx::TensorProto::FLOAT;
  while (getElementType(number, type.getContext()) != type.getElementType())
    ++number;
  tensor.set_elem_type(number);
  auto &shape = *tensor.mutable_shape();
  for (mlir::AffineExpr dim : nn::getDims(type)) {
    auto &declared = *shape.add_dim();
    if (std::optional<int64_t> size = nn::getConstantDim(dim))
      declared.set_dim_value(*size);
    else if (auto symbol = dyn_cast<mlir::AffineSymbolExpr>(dim))
      declared.set_dim_param(cast<mlir::StringAttr>(symbols[symbol.getPosition()]).str());
  }
  return info;
}

/// Adds a weight with its data.
static LogicalResult addWeight(const onnx::TensorProto &weight, ModelFile &file, onnx::GraphProto &graph, Diagnostics &diagnostics) {
  onnx::TensorProto &tensor = *graph.add_initializer();
  tensor = weight;
  std::string reason;
  return embedExternal(tensor, file, reason) ? success() : diagnostics.error("'" + printable(weight.name()) + "': " + reason);
}

LogicalResult Delegates::write(ModelFile &file, ImportedModel &imported, Diagnostics &diagnostics) const {
  StringMap<const onnx::TensorProto *> initializers;
  for (const auto &tensor : file.model().graph().initializer())
    initializers[tensor.name()] = &tensor;
  StringMap<nn::ExternCallOp> calls;
  imported.module->walk([&](nn::ExternCallOp call) { calls[call.getFunction()] = call; });
  ArrayRef<mlir::Attribute> symbols = (*imported.module)->getAttrOfType<mlir::ArrayAttr>(nn::symbolsAttrName).getValue();
  for (const onnx::FunctionProto &function : file.model().functions()) {
    const DelegateGroup *group = find(&function);
    if (!group)
      continue;
    nn::ExternCallOp call = calls.lookup(function.name());
    onnx::ModelProto part;
    part.set_ir_version(file.model().ir_version());
    part.set_producer_name("kiln");
    *part.mutable_opset_import() = file.model().opset_import();
    onnx::GraphProto &graph = *part.mutable_graph();
    graph.set_name(function.name());
    *graph.mutable_node() = function.node();
    for (auto [i, type] : enumerate(call.getOperandTypes()))
      *graph.add_input() = declareValue(function.input(i), type, symbols);
    for (auto [i, type] : enumerate(call.getResultTypes()))
      *graph.add_output() = declareValue(function.output(i), type, symbols);
    for (const std::string &name : group->weights)
      if (failed(addWeight(*initializers.lookup(name), file, graph, diagnostics)))
        return failure();
    if (part.ByteSizeLong() > INT32_MAX)
      return diagnostics.error("the group '" + function.name() + "' of a delegate has more than 2 GiB, which no ONNX file can hold");
    imported.delegated.push_back({function.name() + ".onnx", part.SerializeAsString()});
  }
  return success();
}

} // namespace kiln::import
